//! A [`Plan`] and strides to one strided view: what a strided framework can do without a copy.
//!
//! The strides, those of axes of length 1 included, are the ones that numpy's reshape and
//! transpose give (`_attempt_nocopy_reshape`), so that the result is the view of numpy itself.

use crate::recipe::Input;
use crate::{Plan, Recipe, Sizes};

/// Sizes and strides of a view.
///
/// The functions that make one write into a place of the caller's: moving the lists about would
/// cost as much as computing them.
///
/// ```
/// let mut view = einrs::Strided::default();
/// view.permute(&[2, 3], &[3, 1], Some(&[1, 0]));
/// assert_eq!((&*view.shape, &*view.strides), (&[3, 2][..], &[1, 3][..]));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strided {
    /// Length of each axis.
    pub shape: Sizes,
    /// Distance between neighbours along each axis, in the unit of the input's strides.
    pub strides: Sizes,
}

impl Strided {
    /// Makes this the view with these sizes and strides, its axes in the given order.
    ///
    /// ```
    /// let mut view = einrs::Strided::default();
    /// view.permute(&[4], &[8], None);
    /// assert_eq!(*view.strides, [8]);
    /// ```
    #[inline(always)]
    pub fn permute(&mut self, shape: &[i64], strides: &[i64], axes: Option<&[usize]>) {
        if let Some(axes) = axes {
            self.shape.fill(axes.iter().map(|axis| shape[*axis]));
            self.strides.fill(axes.iter().map(|axis| strides[*axis]));
        } else {
            self.shape.fill(shape.iter().copied());
            self.strides.fill(strides.iter().copied());
        }
    }

    /// Makes this the view of a part of one axis that begins at its first element, the axis split
    /// into `sizes`: what numpy's reshape gives for a slice.
    ///
    /// ```
    /// let mut view = einrs::Strided::default();
    /// view.part(&[2, 12], &[12, 1], 1, &[2, 3], 1);
    /// assert_eq!((&*view.shape, &*view.strides), (&[2, 2, 3][..], &[12, 3, 1][..]));
    /// ```
    pub fn part(&mut self, shape: &[i64], strides: &[i64], axis: usize, sizes: &[i64], item: i64) {
        self.shape.fill([&shape[..axis], sizes, &shape[axis + 1..]].concat());
        self.strides.fill([&strides[..axis], sizes, &strides[axis + 1..]].concat());
        let split = &mut self.strides.as_mut_slice()[axis..axis + sizes.len()];
        let mut stride = strides[axis];
        for (out, size) in split.iter_mut().zip(sizes).rev() {
            *out = stride;
            stride = stride.wrapping_mul(*size);
        }
        if sizes.len() == 1 {
            return;
        }
        if self.shape.contains(&0) {
            set_contiguous(&self.shape, self.strides.as_mut_slice(), item);
        } else {
            set_unit_strides(&self.shape, self.strides.as_mut_slice(), item);
        }
    }
}

impl Plan<'_> {
    /// The view that is the result of a plan without a reduction, for an input of these strides
    /// with elements of `item` units. New axes have stride 0.
    ///
    /// True if it is the result. False if the result has to be copied: then it is the view of its
    /// elements in order, with the shape still to be given to the copy.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Strided, Style};
    /// let mut view = Strided::default();
    ///
    /// let pattern = Pattern::parse("(a b) -> b a")?;
    /// let recipe = pattern.lower(Op::Rearrange, &["a"], 1, Style::default())?;
    /// let plan = recipe.bind(&[6], &[2]).unwrap();
    /// assert!(plan.layout(&[8], 8, &mut view));
    /// assert_eq!((&*view.shape, &*view.strides), (&[3, 2][..], &[8, 24][..]));
    ///
    /// let pattern = Pattern::parse("a b -> (b a)")?;
    /// let recipe = pattern.lower(Op::Rearrange, &[], 2, Style::default())?;
    /// let plan = recipe.bind(&[2, 3], &[]).unwrap();
    /// assert!(!plan.layout(&[24, 8], 8, &mut view));
    /// assert_eq!((&*view.shape, &*view.strides), (&[3, 2][..], &[8, 24][..]));
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn layout(&self, strides: &[i64], item: i64, view: &mut Strided) -> bool {
        let mut axes = Sizes::new();
        self.axis_strides(strides, item, &mut axes);
        self.recipe.join(&self.lengths, &axes, item, view)
    }

    /// The view of the elements of the result, in order, one axis for each elementary axis: what
    /// a copy reads.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Strided, Style};
    /// let pattern = Pattern::parse("a -> (a r)")?;
    /// let recipe = pattern.lower(Op::Repeat, &["r"], 1, Style::default())?;
    /// let plan = recipe.bind(&[3], &[2]).unwrap();
    /// let mut view = Strided::default();
    /// plan.elements(&[1], 1, &mut view);
    /// assert_eq!((&*view.shape, &*view.strides), (&[3, 2][..], &[1, 0][..]));
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[inline(always)]
    pub fn elements(&self, strides: &[i64], item: i64, view: &mut Strided) {
        let mut axes = Sizes::new();
        self.axis_strides(strides, item, &mut axes);
        self.recipe.scatter(&self.lengths, &axes, view);
    }

    /// The view that a reduction reduces: split and permuted, which never copies.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Strided, Style};
    /// let pattern = Pattern::parse("(a b) c -> a c")?;
    /// let recipe = pattern.lower(Op::Reduce, &["b"], 2, Style::default())?;
    /// let plan = recipe.bind(&[6, 5], &[2]).unwrap();
    /// let mut view = Strided::default();
    /// plan.moved(&[6, 5], &[5, 1], 1, &mut view);
    /// assert_eq!((&*view.shape, &*view.strides), (&[3, 2, 5][..], &[10, 5, 1][..]));
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[inline(always)]
    pub fn moved(&self, shape: &[i64], strides: &[i64], item: i64, view: &mut Strided) {
        let permutation = self.recipe.permute.as_deref();
        let Some(runs) = &self.recipe.split else {
            return view.permute(shape, strides, permutation);
        };
        let mut axes = Sizes::new();
        self.axis_strides(strides, item, &mut axes);
        // The axes of a run are neighbours in one dimension, so they always join.
        let stride = |run: &[usize]| joined(run, &self.lengths, &axes).1.unwrap_or(0);
        let strides: Sizes = runs.iter().map(stride).collect();
        view.permute(&self.sizes(runs), &strides, permutation);
    }

    /// The stride of each elementary axis; 0 for new ones.
    #[inline(always)]
    fn axis_strides(&self, strides: &[i64], item: i64, axes: &mut Sizes) {
        axes.fill(std::iter::repeat_n(0, self.lengths.len()));
        let out = axes.as_mut_slice();
        let mut old = 0;
        for (input, &stride) in self.recipe.inputs.iter().zip(strides) {
            let mut stride = stride;
            for axis in input.axes().rev() {
                out[axis] = stride;
                stride = stride.wrapping_mul(self.lengths[axis]);
            }
            old += input.count;
        }
        if self.recipe.split.is_some() {
            let (lengths, out) = (&self.lengths[..old], &mut out[..old]);
            if lengths.contains(&0) {
                set_contiguous(lengths, out, item);
            } else {
                set_unit_strides(lengths, out, item);
            }
        }
    }
}

impl Recipe {
    /// Whether every input dimension is an elementary axis of whatever length and no axis is new:
    /// then the sizes and strides of the input are those of the axes, and nothing is to be bound.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Style};
    /// let recipe = Pattern::parse("a b -> (b a)")?.lower(Op::Rearrange, &[], 2, Style::default())?;
    /// assert!(recipe.has_whole_inputs());
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    pub fn has_whole_inputs(&self) -> bool {
        self.lengths.len() == self.inputs.len() && self.inputs.iter().all(Input::is_whole)
    }

    /// [`Plan::layout`] for a recipe with [whole inputs](Recipe::has_whole_inputs), without a
    /// plan.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Strided, Style};
    /// let recipe = Pattern::parse("a b -> a 1 b")?.lower(Op::Rearrange, &[], 2, Style::default())?;
    /// let mut view = Strided::default();
    /// assert!(recipe.layout_of_whole(&[2, 3], &[24, 8], 8, &mut view));
    /// assert_eq!((&*view.shape, &*view.strides), (&[2, 1, 3][..], &[24, 24, 8][..]));
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn layout_of_whole(
        &self,
        shape: &[i64],
        strides: &[i64],
        item: i64,
        view: &mut Strided,
    ) -> bool {
        self.join(shape, strides, item, view)
    }

    #[inline(always)]
    fn join(&self, lengths: &[i64], axes: &[i64], item: i64, view: &mut Strided) -> bool {
        let mut joins = true;
        view.shape.clear();
        view.strides.clear();
        for dim in self.output.iter() {
            if let [axis] = *dim {
                view.shape.push(lengths[axis]);
                view.strides.push(axes[axis]);
                continue;
            }
            let (size, stride) = joined(dim, lengths, axes);
            joins &= stride.is_some();
            view.shape.push(size);
            view.strides.push(stride.unwrap_or(0));
        }
        if !self.merge {
            return true;
        }
        if view.shape.contains(&0) {
            set_contiguous(&view.shape, view.strides.as_mut_slice(), item);
            return true;
        }
        if joins {
            set_unit_strides(&view.shape, view.strides.as_mut_slice(), item);
        } else {
            self.scatter(lengths, axes, view);
        }
        joins
    }

    fn scatter(&self, lengths: &[i64], axes: &[i64], view: &mut Strided) {
        let order = || self.output.iter().flatten();
        view.shape.fill(order().map(|axis| lengths[*axis]));
        view.strides.fill(order().map(|axis| axes[*axis]));
    }
}

/// The size of axes joined to one, and its stride if one stride reaches all their elements.
#[inline(always)]
fn joined(dim: &[usize], lengths: &[i64], axes: &[i64]) -> (i64, Option<i64>) {
    let (mut size, mut stride, mut next) = (1_i64, None, 0);
    let mut joins = true;
    for &axis in dim.iter().rev() {
        let length = lengths[axis];
        size = size.saturating_mul(length);
        if length == 1 {
            continue;
        }
        joins &= stride.is_none() || axes[axis] == next;
        stride = stride.or(Some(axes[axis]));
        next = axes[axis].wrapping_mul(length);
    }
    (size, joins.then_some(stride.unwrap_or(0)))
}

/// The strides that numpy gives to axes of length 1 after a reshape: those of the axis behind them
/// times its length, or, at the end, the stride of the last longer axis.
#[inline(always)]
fn set_unit_strides(shape: &[i64], strides: &mut [i64], item: i64) {
    let last = shape.iter().rposition(|length| *length != 1);
    let behind = last.map_or(0, |last| last + 1);
    let trailing = last.map_or(item, |last| strides[last]);
    strides[behind..].fill(trailing);
    for axis in (0..behind).rev() {
        if shape[axis] == 1 {
            strides[axis] = strides[axis + 1].wrapping_mul(shape[axis + 1]);
        }
    }
}

/// The strides of a C-contiguous array; an axis of length 0 counts as one of length 1.
fn set_contiguous(shape: &[i64], strides: &mut [i64], item: i64) {
    let mut stride = item;
    for (out, length) in strides.iter_mut().zip(shape).rev() {
        *out = stride;
        stride = stride.wrapping_mul((*length).max(1));
    }
}
