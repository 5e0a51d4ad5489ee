//! A [`Recipe`] and numbers to a [`Plan`]: the only code that does arithmetic with lengths.

use std::fmt;

use crate::recipe::{Factors, Length};
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
    lengths: Sizes,
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
    #[inline]
    pub fn bind(&self, shape: &[i64], given: &[i64]) -> Result<Plan<'_>, Misfit> {
        assert_eq!(shape.len(), self.inputs.len(), "a recipe fits one rank");
        let mut lengths = Sizes::new();
        for length in &self.lengths {
            lengths.push(match *length {
                Length::Fixed(length) => length,
                Length::Inferred => 0,
                Length::Given(i) if given[i] < 0 => {
                    return Err(Misfit::NegativeLength { given: i, length: given[i] });
                }
                Length::Given(i) => given[i],
            });
        }
        self.infer(shape, lengths.as_mut_slice())?;
        let plan = Plan { recipe: self, lengths };
        plan.check_overflow()?;
        Ok(plan)
    }

    fn infer(&self, shape: &[i64], lengths: &mut [i64]) -> Result<(), Misfit> {
        for (dim, (input, &length)) in self.inputs.iter().zip(shape).enumerate() {
            if length < 0 {
                return Err(Misfit::NegativeDimension { dim, length });
            }
            if input.is_whole() {
                lengths[input.first] = length;
                continue;
            }
            let mut product: i64 = 1;
            for axis in input.axes().filter(|axis| Some(*axis) != input.inferred) {
                let checked = product.checked_mul(lengths[axis]);
                product = checked.ok_or(Misfit::InputOverflow { dim })?;
            }
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

impl Plan<'_> {
    fn check_overflow(&self) -> Result<(), Misfit> {
        for (dim, axes) in self.recipe.output.iter().enumerate() {
            if axes.len() > 1 && checked_product(axes, &self.lengths).is_none() {
                return Err(Misfit::OutputOverflow { dim });
            }
        }
        Ok(())
    }

    fn sizes(&self, factors: &Factors) -> Sizes {
        // No overflow: a size is a part of an output dimension, which is checked. Parts of a
        // product that is 0 may be larger, hence the saturation.
        let size = |axes: &[usize]| match *axes {
            [axis] => self.lengths[axis],
            _ => axes.iter().fold(1, |size: i64, axis| size.saturating_mul(self.lengths[*axis])),
        };
        factors.iter().map(size).collect()
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

fn checked_product(axes: &[usize], lengths: &[i64]) -> Option<i64> {
    axes.iter().try_fold(1, |product: i64, axis| product.checked_mul(lengths[*axis]))
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
