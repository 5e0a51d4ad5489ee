//! A [`Plan`] and strides to one strided view: what a strided framework can do without a copy.
//!
//! The rules for strides, those of axes of length 1 included, are numpy's
//! (`_attempt_nocopy_reshape`), so that the result is the view numpy itself would give.

use crate::{Plan, Sizes};

/// Sizes and strides of a view.
///
/// ```
/// use einrs::Strided;
/// let view = Strided::new(&[2, 3], &[3, 1]);
/// assert_eq!(*view.strides, [3, 1]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Strided {
    /// Length of each axis.
    pub shape: Sizes,
    /// Distance between neighbours along each axis, in the unit of the input's strides.
    pub strides: Sizes,
}

/// How the result of a plan lies in memory.
///
/// ```
/// use einrs::{Layout, Op, Pattern, Strided, Style};
/// let pattern = Pattern::parse("a b -> (b a)")?;
/// let recipe = pattern.lower(Op::Rearrange, &[], 2, Style::default())?;
/// let plan = recipe.bind(&[2, 3], &[]).unwrap();
/// let layout = plan.layout(&Strided::new(&[2, 3], &[3, 1]), 1);
/// assert_eq!(layout, Layout::Copy(Strided::new(&[3, 2], &[1, 3])));
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// A view of the input.
    View(Strided),
    /// The last reshape has to copy the elements of this view, in order.
    Copy(Strided),
}

impl Strided {
    /// A view with this shape and these strides.
    ///
    /// ```
    /// assert_eq!(*einrs::Strided::new(&[4], &[8]).shape, [4]);
    /// ```
    #[must_use]
    #[inline]
    pub fn new(shape: &[i64], strides: &[i64]) -> Self {
        Self { shape: shape.iter().copied().collect(), strides: strides.iter().copied().collect() }
    }
}

impl Plan<'_> {
    /// The layout of the result of a plan without a reduction, for an input that lies as `input`
    /// says, with elements of `item` units. New axes have stride 0.
    ///
    /// ```
    /// use einrs::{Layout, Op, Pattern, Strided, Style};
    /// let pattern = Pattern::parse("(a b) -> b a")?;
    /// let recipe = pattern.lower(Op::Rearrange, &["a"], 1, Style::default())?;
    /// let plan = recipe.bind(&[6], &[2]).unwrap();
    /// let layout = plan.layout(&Strided::new(&[6], &[8]), 8);
    /// assert_eq!(layout, Layout::View(Strided::new(&[3, 2], &[8, 24])));
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn layout(&self, input: &Strided, item: i64) -> Layout {
        let moved = self.moved(input, item);
        let Some(shape) = self.merge() else { return Layout::View(moved) };
        match regroup(&moved, &shape, item) {
            Some(strides) => Layout::View(Strided { shape, strides }),
            None => Layout::Copy(moved),
        }
    }

    /// The view before the last reshape: split, permuted and expanded, which never copies.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Strided, Style};
    /// let pattern = Pattern::parse("a -> (a r)")?;
    /// let recipe = pattern.lower(Op::Repeat, &["r"], 1, Style::default())?;
    /// let plan = recipe.bind(&[3], &[2]).unwrap();
    /// assert_eq!(plan.moved(&Strided::new(&[3], &[1]), 1), Strided::new(&[3, 2], &[1, 0]));
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn moved(&self, input: &Strided, item: i64) -> Strided {
        let mut view = match self.split() {
            Some(shape) => split(input, shape, item),
            None => input.clone(),
        };
        if let Some(axes) = &self.recipe.permute {
            view = Strided {
                shape: axes.iter().map(|axis| view.shape[*axis]).collect(),
                strides: axes.iter().map(|axis| view.strides[*axis]).collect(),
            };
        }
        if let (Some(expand), Some(shape)) = (&self.recipe.expand, self.expand()) {
            let missing = shape.len() - view.shape.len();
            let stride = |axis: usize| match axis.checked_sub(missing) {
                Some(old) if !expand.new.contains(&axis) => view.strides[old],
                _ => 0,
            };
            let strides = (0..shape.len()).map(stride).collect();
            view = Strided { shape, strides };
        }
        view
    }
}

/// Cutting axes into parts, and adding or dropping unit axes, never needs a copy.
fn split(input: &Strided, shape: Sizes, item: i64) -> Strided {
    match regroup(input, &shape, item) {
        Some(strides) => Strided { shape, strides },
        None => unreachable!("{input:?} cannot be split to {shape:?}"),
    }
}

/// The strides under which `input` can be seen with another shape of as many elements, if it can.
///
/// ```
/// use einrs::{Strided, regroup};
/// let transposed = Strided::new(&[2, 3, 4], &[1, 2, 6]);
/// assert_eq!(regroup(&transposed, &[2, 12], 1), None);
/// assert_eq!(regroup(&transposed, &[2, 3, 2, 2], 1).as_deref(), Some(&[1, 2, 12, 6][..]));
/// ```
#[must_use]
#[inline]
pub fn regroup(input: &Strided, shape: &[i64], item: i64) -> Option<Sizes> {
    if *input.shape == *shape {
        return Some(input.strides.clone());
    }
    if shape.contains(&0) {
        return Some(contiguous(shape, item));
    }
    let old = || (0..input.shape.len()).filter(|axis| input.shape[*axis] != 1);
    let mut strides = Sizes::filled(0, shape.len());
    let out = strides.as_mut_slice();
    let (mut first, mut axes) = (0, old());
    while let Some(start) = axes.next() {
        // The smallest group of old axes and of new axes with as many elements.
        let (mut end, mut last) = (first + 1, start);
        let (mut new, mut product) = (*shape.get(first)?, input.shape[start]);
        while new != product {
            if new < product {
                new *= shape.get(end)?;
                end += 1;
            } else {
                let next = axes.next()?;
                if input.strides[last] != input.strides[next] * input.shape[next] {
                    return None;
                }
                product *= input.shape[next];
                last = next;
            }
        }
        out[end - 1] = input.strides[last];
        for axis in (first..end - 1).rev() {
            out[axis] = out[axis + 1] * shape[axis + 1];
        }
        first = end;
    }
    let trailing = if first > 0 { out[first - 1] } else { item };
    out[first..].fill(trailing);
    Some(strides)
}

/// The strides of a C-contiguous array; an axis of length 0 counts as one of length 1.
fn contiguous(shape: &[i64], item: i64) -> Sizes {
    let mut strides = Sizes::filled(item, shape.len());
    let out = strides.as_mut_slice();
    for axis in (1..shape.len()).rev() {
        out[axis - 1] = out[axis] * shape[axis].max(1);
    }
    strides
}
