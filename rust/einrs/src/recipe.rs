//! A pattern without its names: what is left to do once the numbers are known.

use std::ops::Range;

use crate::{Error, ErrorKind, Misfit, Pattern, Span};

/// How a framework wants its steps, where there is a choice.
///
/// ```
/// use einrs::{Op, Pattern, Style};
/// let pattern = Pattern::parse("a b c -> a c")?;
/// let lean = pattern.lower(Op::Reduce, &[], 3, Style::default())?;
/// assert_eq!(lean.bind(&[2, 3, 4], &[]).unwrap().to_string(), "reduce [1]");
/// let faithful = pattern.lower(Op::Reduce, &[], 3, Style::einops())?;
/// assert_eq!(
///     faithful.bind(&[2, 3, 4], &[]).unwrap().to_string(),
///     "permute [0, 2, 1]; reduce [2]",
/// );
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Style {
    /// Reduce axes where they stand; otherwise they are moved to the end first, as einops does.
    pub reduce_in_place: bool,
    /// Make room for the new axes of a repeat in the first reshape; otherwise they are inserted
    /// by the expansion, as einops does.
    pub fold_new_axes: bool,
    /// Treat axes that travel together as one; otherwise each is cut out and moved by itself, as
    /// einops does.
    pub join_axes: bool,
}

impl Style {
    /// einops' own order of steps.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Style};
    /// let pattern = Pattern::parse("(a b c) -> (b c) a")?;
    /// let recipe = pattern.lower(Op::Rearrange, &["a", "b"], 1, Style::einops())?;
    /// assert_eq!(
    ///     recipe.bind(&[24], &[2, 3]).unwrap().to_string(),
    ///     "split [2, 3, 4]; permute [1, 2, 0]; merge [12, 2]",
    /// );
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    pub const fn einops() -> Self {
        Self { reduce_in_place: false, fold_new_axes: false, join_axes: false }
    }
}

impl Default for Style {
    fn default() -> Self {
        Self { reduce_in_place: true, fold_new_axes: true, join_axes: true }
    }
}

/// A pattern lowered for one operation and one rank: indices only, no names and no numbers but
/// those written in the pattern. Its elementary axes are those of the input in order, then the
/// new ones.
///
/// ```
/// use einrs::{Length, Op, Pattern, Style};
/// let recipe = Pattern::parse("(a b) 2 -> b a")?.lower(Op::Reduce, &["a"], 2, Style::default())?;
/// assert_eq!(recipe.lengths, [Length::Given(0), Length::Inferred, Length::Fixed(2)]);
/// assert_eq!(recipe.permute.as_deref(), Some([1, 0, 2].as_slice()));
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recipe {
    /// Where the length of each elementary axis comes from.
    pub lengths: Vec<Length>,
    /// The elementary axes of each input dimension.
    pub inputs: Vec<Input>,
    /// The shape of the first reshape.
    pub split: Option<Factors>,
    /// The permutation after it.
    pub permute: Option<Vec<usize>>,
    /// The axes that are then reduced.
    pub reduce: Option<Vec<usize>>,
    /// The new axes that are then broadcast.
    pub expand: Option<Expand>,
    /// Whether the output is reached by a last reshape.
    pub merge: bool,
    /// The elementary axes of each output dimension.
    pub output: Factors,
    /// Where the input's ellipsis starts and how many dimensions it stands for.
    pub(crate) ellipsis: Option<(usize, usize)>,
}

impl Recipe {
    /// Whether there is nothing to do: the tensor itself is the result.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Style};
    /// let recipe = Pattern::parse("a b -> a b")?.lower(Op::Rearrange, &[], 2, Style::default())?;
    /// assert!(recipe.is_identity());
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    pub fn is_identity(&self) -> bool {
        let moves = self.permute.is_some() || self.reduce.is_some() || self.expand.is_some();
        !(moves || self.merge || self.split.is_some())
    }

    /// Whether the steps or their checks depend on the sizes of the input; otherwise its rank is
    /// all that counts.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Style};
    /// let recipe = Pattern::parse("a b -> b a")?.lower(Op::Rearrange, &[], 2, Style::default())?;
    /// assert!(!recipe.needs_sizes());
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    pub fn needs_sizes(&self) -> bool {
        let reshapes = self.split.is_some() || self.expand.is_some() || self.merge;
        reshapes || !self.inputs.iter().all(Input::is_whole)
    }

    /// The error for a misfit of this recipe, with its places in the pattern.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Style};
    /// let pattern = Pattern::parse("(a b) -> a b")?;
    /// let recipe = pattern.lower(Op::Rearrange, &["a"], 1, Style::default())?;
    /// let misfit = recipe.bind(&[7], &[2]).unwrap_err();
    /// assert_eq!(recipe.explain(misfit, &pattern, &["a"]).spans()[0].of("(a b) -> a b"), "(a b)");
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    pub fn explain(&self, misfit: Misfit, pattern: &Pattern<'_>, names: &[&str]) -> Error {
        let span = match misfit {
            Misfit::Mismatch { dim, .. }
            | Misfit::NotDivisible { dim, .. }
            | Misfit::ZeroDivisor { dim, .. }
            | Misfit::NegativeDimension { dim, .. }
            | Misfit::InputOverflow { dim } => self.input_span(dim, pattern),
            Misfit::NegativeLength { given, .. } => names.get(given).and_then(|name| {
                let name = crate::parse::normalise(name);
                let axis = pattern.left.named(&name).or(pattern.right.named(&name));
                axis.map(|axis| axis.span)
            }),
            Misfit::OutputOverflow { dim } => self.output_span(dim, pattern),
            Misfit::TooManyElements => None,
        };
        Error::new(ErrorKind::Misfit(misfit), pattern.text, span.as_slice())
    }

    fn input_span(&self, dim: usize, pattern: &Pattern<'_>) -> Option<Span> {
        pattern.left.dims.get(written_dim(dim, self.ellipsis)).map(|written| written.span)
    }

    fn output_span(&self, dim: usize, pattern: &Pattern<'_>) -> Option<Span> {
        let spread = pattern.right.ellipsis().filter(|written| !written.group);
        let start = spread.and_then(|spread| pattern.right.dims.iter().position(|d| d == spread));
        let ellipsis = start.zip(self.ellipsis.map(|(_, count)| count));
        pattern.right.dims.get(written_dim(dim, ellipsis)).map(|written| written.span)
    }
}

/// Which dimension, as written, a dimension of a tensor belongs to, given where the ellipsis
/// starts and how many dimensions it stands for.
fn written_dim(dim: usize, ellipsis: Option<(usize, usize)>) -> usize {
    match ellipsis {
        Some((start, count)) if dim >= start + count => dim + 1 - count,
        Some((start, _)) => dim.min(start),
        None => dim,
    }
}

/// Where the length of an elementary axis comes from.
///
/// ```
/// use einrs::{Length, Op, Pattern, Style};
/// let recipe = Pattern::parse("a -> a 3")?.lower(Op::Repeat, &[], 1, Style::default())?;
/// assert_eq!(recipe.lengths, [Length::Inferred, Length::Fixed(3)]);
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Written in the pattern.
    Fixed(i64),
    /// Given by the caller, at this position.
    Given(usize),
    /// Found from the input's shape.
    Inferred,
}

impl Length {
    /// The length, or 0 until it is inferred.
    #[inline(always)]
    pub(crate) fn value(self, given: &[i64]) -> i64 {
        match self {
            Self::Fixed(length) => length,
            Self::Given(i) => given[i],
            Self::Inferred => 0,
        }
    }
}

/// The elementary axes of one input dimension: `count` of them from `first` on, of which at most
/// one is inferred.
///
/// ```
/// use einrs::{Op, Pattern, Style};
/// let recipe = Pattern::parse("(a b) -> a b")?.lower(Op::Rearrange, &["b"], 1, Style::default())?;
/// assert_eq!((recipe.inputs[0].count, recipe.inputs[0].inferred), (2, Some(0)));
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The first elementary axis.
    pub first: usize,
    /// How many there are.
    pub count: usize,
    /// The one whose length is found from the dimension's.
    pub inferred: Option<usize>,
}

impl Input {
    /// The elementary axes.
    ///
    /// ```
    /// assert_eq!(einrs::Input { first: 2, count: 2, inferred: None }.axes(), 2..4);
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn axes(&self) -> Range<usize> {
        self.first..self.first + self.count
    }

    /// Whether the dimension is one axis of whatever length: nothing to compute and to check.
    ///
    /// ```
    /// assert!(einrs::Input { first: 0, count: 1, inferred: Some(0) }.is_whole());
    /// ```
    #[must_use]
    #[inline(always)]
    pub fn is_whole(&self) -> bool {
        self.count == 1 && self.inferred.is_some()
    }
}

/// The expansion of a repeat: the target sizes, and the positions that are inserted for it (none
/// if the first reshape has made room, or if all new axes lead).
///
/// ```
/// use einrs::{Op, Pattern, Style};
/// let inserted = Style { fold_new_axes: false, ..Style::default() };
/// let recipe = Pattern::parse("a -> a 3")?.lower(Op::Repeat, &[], 1, inserted)?;
/// assert_eq!(recipe.expand.unwrap().added, [1]);
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expand {
    /// The elementary axes of each dimension after the expansion.
    pub sizes: Factors,
    /// Positions among them that the expansion inserts.
    pub added: Vec<usize>,
    /// Positions among them that are new, inserted or not.
    pub new: Vec<usize>,
}

/// Sizes as products: for each dimension the elementary axes whose lengths multiply to its size.
///
/// ```
/// let factors: einrs::Factors = [vec![0, 1], vec![]].into_iter().collect();
/// assert_eq!(factors.iter().collect::<Vec<_>>(), [&[0, 1][..], &[]]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Factors {
    flat: Vec<usize>,
    ends: Vec<usize>,
}

impl Factors {
    /// The elementary axes of each dimension.
    ///
    /// ```
    /// assert_eq!(einrs::Factors::default().iter().count(), 0);
    /// ```
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = &[usize]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| {
            let dim = &self.flat[start..end];
            start = end;
            dim
        })
    }
}

impl<D: IntoIterator<Item = usize>> FromIterator<D> for Factors {
    fn from_iter<I: IntoIterator<Item = D>>(dims: I) -> Self {
        let mut factors = Self::default();
        for dim in dims {
            factors.flat.extend(dim);
            factors.ends.push(factors.flat.len());
        }
        factors
    }
}
