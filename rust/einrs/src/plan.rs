//! A [`Recipe`] and numbers to a [`Plan`]: the only code that does arithmetic with lengths.

use std::fmt;

use crate::recipe::Factors;
use crate::{Misfit, Recipe, Sizes};

/// What to do with one tensor: at most five steps in this order, each absent where it is idle.
///
/// It prints as one line. Making and asking it allocates nothing for up to eight axes.
///
/// ```
/// use einrs::{Op, Pattern, Style};
/// let pattern = Pattern::parse("b (h d) -> h b d")?;
/// let recipe = pattern.lower(Op::Rearrange, &["h"], 2, Style::default())?;
/// let plan = recipe.bind(&[2, 12], &[3]).unwrap();
/// assert_eq!(plan.to_string(), "split [2, 3, 4]; permute [1, 0, 2]");
/// assert_eq!(*plan.output(), [3, 2, 4]);
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan<'r> {
    pub(crate) recipe: &'r Recipe,
    pub(crate) lengths: Sizes,
}

impl Recipe {
    /// Finds the length of every axis from the shape and the given lengths, and checks them.
    ///
    /// # Panics
    /// If the shape has another rank, or `given` another number of lengths, than the recipe was
    /// lowered for.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Style};
    /// let recipe = Pattern::parse("(a b) -> b")?.lower(Op::Reduce, &["a"], 1, Style::default())?;
    /// assert!(recipe.bind(&[6], &[2]).is_ok());
    /// assert!(recipe.bind(&[7], &[2]).is_err());
    /// # Ok::<(), einrs::Error>(())
    /// ```
    pub fn bind(&self, shape: &[i64], given: &[i64]) -> Result<Plan<'_>, Misfit> {
        let mut plan = Plan::of(self);
        plan.bind(shape, given)?;
        Ok(plan)
    }

    #[inline(always)]
    fn infer(&self, shape: &[i64], lengths: &mut [i64]) -> Result<(), Misfit> {
        for (dim, (input, &length)) in self.inputs.iter().zip(shape).enumerate() {
            if length < 0 {
                return Err(Misfit::NegativeDimension { dim, length });
            }
            if input.is_whole() {
                lengths[input.first] = length;
                continue;
            }
            let known = || input.axes().filter(|axis| Some(*axis) != input.inferred);
            if checked_product(known(), lengths).is_none() {
                return Err(Misfit::InputOverflow { dim });
            }
            let product: i64 = known().map(|axis| lengths[axis]).product();
            match input.inferred {
                None if length != product => {
                    return Err(Misfit::Mismatch { dim, length, product });
                }
                None => {}
                Some(_) if product == 0 => return Err(Misfit::ZeroDivisor { dim, length }),
                Some(_) if length % product != 0 => {
                    return Err(Misfit::NotDivisible { dim, length, product });
                }
                Some(axis) => lengths[axis] = length / product,
            }
        }
        Ok(())
    }
}

impl<'r> Plan<'r> {
    /// A plan without numbers, to be bound in place: handing a plan on costs as much as making it.
    ///
    /// ```
    /// use einrs::{Op, Pattern, Plan, Style};
    /// let recipe = Pattern::parse("a b -> (a b)")?.lower(Op::Rearrange, &[], 2, Style::default())?;
    /// let mut plan = Plan::of(&recipe);
    /// plan.bind(&[2, 3], &[]).unwrap();
    /// assert_eq!(plan.to_string(), "merge [6]");
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    #[inline(always)]
    pub const fn of(recipe: &'r Recipe) -> Self {
        Self { recipe, lengths: Sizes::new() }
    }

    /// [`Recipe::bind`], in place.
    ///
    /// # Panics
    /// As [`Recipe::bind`].
    ///
    /// ```
    /// # use einrs::{Op, Pattern, Plan, Style};
    /// # let recipe = Pattern::parse("a b -> b a")?.lower(Op::Rearrange, &[], 2, Style::default())?;
    /// assert!(Plan::of(&recipe).bind(&[2, -3], &[]).is_err());
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[inline(always)]
    pub fn bind(&mut self, shape: &[i64], given: &[i64]) -> Result<(), Misfit> {
        assert_eq!(shape.len(), self.recipe.inputs.len(), "a recipe fits one rank");
        if let Some((i, length)) = given.iter().enumerate().find(|(_, length)| **length < 0) {
            return Err(Misfit::NegativeLength { given: i, length: *length });
        }
        self.lengths.fill(self.recipe.lengths.iter().map(|length| length.value(given)));
        self.recipe.infer(shape, self.lengths.as_mut_slice())?;
        if self.recipe.merge {
            self.check_overflow()?;
        }
        if self.recipe.expand.is_some()
            && checked_product(0..self.lengths.len(), &self.lengths).is_none()
        {
            return Err(Misfit::TooManyElements);
        }
        Ok(())
    }

    #[inline(always)]
    fn check_overflow(&self) -> Result<(), Misfit> {
        for (dim, axes) in self.recipe.output.iter().enumerate() {
            if axes.len() > 1 && checked_product(axes.iter().copied(), &self.lengths).is_none() {
                return Err(Misfit::OutputOverflow { dim });
            }
        }
        Ok(())
    }

    #[inline(always)]
    pub(crate) fn sizes(&self, factors: &Factors) -> Sizes {
        factors.iter().map(|axes| self.size(axes)).collect()
    }

    /// The product of lengths. It does not overflow: it is a part of a dimension of the input or
    /// of the output, and those are checked.
    #[inline(always)]
    pub(crate) fn size(&self, dim: &[usize]) -> i64 {
        match *dim {
            [axis] => self.lengths[axis],
            _ => dim.iter().map(|axis| self.lengths[*axis]).product(),
        }
    }

    /// The shape of the first reshape.
    ///
    /// ```
    /// # use einrs::{Op, Pattern, Style};
    /// # let pattern = Pattern::parse("(a b) -> b a")?;
    /// # let recipe = pattern.lower(Op::Rearrange, &["a"], 1, Style::default())?;
    /// # let plan = recipe.bind(&[6], &[2]).unwrap();
    /// assert_eq!(*plan.split().unwrap(), [2, 3]);
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn split(&self) -> Option<Sizes> {
        self.recipe.split.as_ref().map(|factors| self.sizes(factors))
    }

    /// The shape that the expansion broadcasts to.
    ///
    /// ```
    /// # use einrs::{Op, Pattern, Style};
    /// # let pattern = Pattern::parse("a -> b a")?;
    /// # let recipe = pattern.lower(Op::Repeat, &["b"], 1, Style::default())?;
    /// # let plan = recipe.bind(&[6], &[2]).unwrap();
    /// assert_eq!(*plan.expand().unwrap(), [2, 6]);
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn expand(&self) -> Option<Sizes> {
        self.recipe.expand.as_ref().map(|expand| self.sizes(&expand.sizes))
    }

    /// The shape of the last reshape.
    ///
    /// ```
    /// # use einrs::{Op, Pattern, Style};
    /// # let recipe = Pattern::parse("a b -> (a b)")?.lower(Op::Rearrange, &[], 2, Style::default())?;
    /// # let plan = recipe.bind(&[2, 3], &[]).unwrap();
    /// assert_eq!(*plan.merge().unwrap(), [6]);
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn merge(&self) -> Option<Sizes> {
        self.recipe.merge.then(|| self.output())
    }

    /// The shape of the result.
    ///
    /// ```
    /// # use einrs::{Op, Pattern, Style};
    /// # let recipe = Pattern::parse("a b -> b")?.lower(Op::Reduce, &[], 2, Style::default())?;
    /// # let plan = recipe.bind(&[2, 3], &[]).unwrap();
    /// assert_eq!(*plan.output(), [3]);
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn output(&self) -> Sizes {
        self.sizes(&self.recipe.output)
    }
}

/// The product of lengths, those of 0 counted as 1: then no part of it overflows either.
#[inline(always)]
fn checked_product(mut axes: impl Iterator<Item = usize>, lengths: &[i64]) -> Option<i64> {
    axes.try_fold(1, |product: i64, axis| product.checked_mul(lengths[axis].max(1)))
}

impl fmt::Display for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = [
            self.split().map(|sizes| format!("split {sizes}")),
            self.recipe.permute.as_ref().map(|axes| format!("permute {axes:?}")),
            self.recipe.reduce.as_ref().map(|axes| format!("reduce {axes:?}")),
            self.expand().map(|sizes| format!("expand {sizes}")),
            self.merge().map(|sizes| format!("merge {sizes}")),
        ];
        let steps: Vec<String> = steps.into_iter().flatten().collect();
        f.write_str(if steps.is_empty() { "identity" } else { "" })?;
        f.write_str(&steps.join("; "))
    }
}
