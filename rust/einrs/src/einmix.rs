//! The texts of an `EinMix` layer to one einsum with reshapes before and after it.

use crate::einsum::LETTERS;
use crate::parse::{Cursor, Grammar, normalise};
use crate::pattern::{Axis, AxisKind, Side};
use crate::{EinsumRule, Error, ErrorKind, Pattern, Span, nearest};

/// What an `EinMix` layer does: rearrange, contract with the weight, add the bias, rearrange.
///
/// ```
/// let mix = einrs::EinMix::parse("t (h c) -> t (h d)", "h c d", Some("h d"), &["h", "c", "d"])?;
/// assert_eq!(mix.pre.as_deref(), Some("t (h c) -> t h c"));
/// assert_eq!(mix.einsum, "dca,cab->dcb");
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EinMix {
    /// The rearrangement that takes the input apart, if it is not flat already.
    pub pre: Option<String>,
    /// The rearrangement that puts the output together, if it is not flat already.
    pub post: Option<String>,
    /// The contraction, in single letters given to the sorted names.
    pub einsum: String,
    /// The axes of the weight.
    pub weight: Vec<String>,
    /// The axes of the weight that are summed over.
    pub fan_in: Vec<String>,
    /// The axes of the bias as they stand in the flat output, with None for length 1.
    pub bias: Option<Vec<Option<String>>>,
}

const LIST: Grammar = Grammar { underscore: false, duplicates: false, commas: false };

impl EinMix {
    /// Reads pattern, shape of the weight and shape of the bias; `names` are those of the lengths
    /// that are given.
    ///
    /// ```
    /// let mix = einrs::EinMix::parse("b c -> b d", "c d", None, &["c", "d"])?;
    /// assert_eq!((mix.einsum.as_str(), mix.fan_in), ("ab,bc->ac", vec!["c".to_string()]));
    /// # Ok::<(), einrs::Error>(())
    /// ```
    pub fn parse(
        pattern: &str,
        weight: &str,
        bias: Option<&str>,
        names: &[&str],
    ) -> Result<Self, Error> {
        let parsed = Pattern::parse(pattern)?;
        let weight = List::parse(weight)?;
        let bias = bias.map(List::parse).transpose()?;
        let sides = Sides { text: pattern, left: &parsed.left, right: &parsed.right };
        sides.check(&weight)?;
        weight.check_shape()?;
        let given = |name: &str| names.iter().any(|known| normalise(known) == name);
        weight.check_lengths(given)?;
        sides.check_given(&weight, names)?;
        sides.check_redundant(&weight)?;
        let bias = bias.map(|bias| sides.bias(&bias, given)).transpose()?;
        let in_output = |name: &&String| parsed.right.named(name).is_some();
        let axes: Vec<String> = weight.side.names().map(Into::into).collect();
        Ok(Self {
            pre: sides.pre(),
            post: sides.post(),
            einsum: sides.einsum(&weight)?,
            fan_in: axes.iter().filter(|name| !in_output(name)).cloned().collect(),
            weight: axes,
            bias,
        })
    }
}

/// The shape of weight or bias: a list of names.
struct List<'t> {
    text: &'t str,
    side: Side<'t>,
}

impl<'t> List<'t> {
    fn parse(text: &'t str) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text, LIST)?;
        let side = cursor.side()?;
        cursor.expect_end()?;
        Ok(Self { text, side })
    }

    fn check_shape(&self) -> Result<(), Error> {
        if let Some(dim) = self.side.dims.iter().find(|dim| dim.group) {
            return Err(self.error(EinMixRule::GroupInWeight, &[dim.span]));
        }
        let number = |axis: &&Axis| matches!(axis.kind, AxisKind::Number(_));
        match self.side.axes.iter().find(number) {
            Some(axis) if axis.kind == AxisKind::Number(1) => {
                Err(self.error(EinMixRule::UnitInWeight, &[axis.span]))
            }
            Some(axis) => Err(self.error(EinMixRule::NumberInEinMix, &[axis.span])),
            None => Ok(()),
        }
    }

    fn check_lengths(&self, given: impl Fn(&str) -> bool) -> Result<(), Error> {
        let needs = |axis: &&Axis| axis.name().is_some_and(|name| !given(name));
        match self.side.axes.iter().find(needs) {
            None => Ok(()),
            Some(axis) => {
                let kind = EinMixRule::WeightLength { axis: axis.to_string() };
                Err(self.error(kind, &[axis.span]))
            }
        }
    }

    fn has(&self, axis: &Axis<'_>) -> bool {
        axis.name().is_some_and(|name| self.side.named(name).is_some())
    }

    #[cold]
    fn error(&self, kind: impl Into<ErrorKind>, spans: &[Span]) -> Error {
        Error::new(kind, self.text, spans)
    }
}

/// Both sides of the pattern.
struct Sides<'s, 't> {
    text: &'t str,
    left: &'s Side<'t>,
    right: &'s Side<'t>,
}

impl Sides<'_, '_> {
    fn check(&self, weight: &List<'_>) -> Result<(), Error> {
        let known = |name: &str| self.left.named(name).or(weight.side.named(name)).is_some();
        let unknown: Vec<_> =
            self.right.axes.iter().filter(|a| a.name().is_some_and(|name| !known(name))).collect();
        if let Some(first) = unknown.first() {
            return Err(
                self.error(EinMixRule::UnknownInOutput { axes: shown(&unknown) }, first.span)
            );
        }
        if let Some(dim) = weight.side.ellipsis() {
            return Err(weight.error(EinMixRule::EllipsisInWeight, &[dim.span]));
        }
        match (self.left.ellipsis(), self.right.ellipsis()) {
            (Some(dim), None) | (None, Some(dim)) => {
                return Err(self.error(EinMixRule::OneEllipsis, dim.span));
            }
            (Some(dim), _) if dim.group => {
                return Err(self.error(EinMixRule::MixEllipsisInGroup, dim.span));
            }
            _ => {}
        }
        let mut axes = self.left.axes.iter().chain(&self.right.axes);
        match axes.find(|axis| matches!(axis.kind, AxisKind::Number(2..))) {
            Some(number) => Err(self.error(EinMixRule::NumberInEinMix, number.span)),
            None => Ok(()),
        }
    }

    fn check_given(&self, weight: &List<'_>, names: &[&str]) -> Result<(), Error> {
        let known = || self.left.names().chain(weight.side.names());
        for name in names {
            let name = normalise(name);
            if known().any(|axis| axis == name) {
                continue;
            }
            let near = nearest(&name, known()).map(Into::into);
            let kind = EinMixRule::UnusedMixLength { name: name.into(), near };
            return Err(Error::new(kind, self.text, []));
        }
        Ok(())
    }

    fn check_redundant(&self, weight: &List<'_>) -> Result<(), Error> {
        let used = |name: &str| self.left.named(name).or(self.right.named(name)).is_some();
        let redundant: Vec<_> =
            weight.side.axes.iter().filter(|a| a.name().is_some_and(|name| !used(name))).collect();
        match redundant.first() {
            Some(first) => {
                let kind = EinMixRule::RedundantWeight { axes: shown(&redundant) };
                Err(weight.error(kind, &[first.span]))
            }
            None => Ok(()),
        }
    }

    fn bias(
        &self,
        bias: &List<'_>,
        given: impl Fn(&str) -> bool,
    ) -> Result<Vec<Option<String>>, Error> {
        // Unit axes and brackets make no difference to a bias, which is broadcast.
        let number = |axis: &&Axis| matches!(axis.kind, AxisKind::Number(2..));
        if let Some(axis) = bias.side.axes.iter().find(number) {
            return Err(bias.error(EinMixRule::NumberInEinMix, &[axis.span]));
        }
        if let Some(dim) = bias.side.ellipsis() {
            return Err(bias.error(EinMixRule::EllipsisInWeight, &[dim.span]));
        }
        let failing = |wrong: &dyn Fn(&str) -> bool| -> Vec<&Axis<'_>> {
            bias.side.axes.iter().filter(|axis| axis.name().is_some_and(wrong)).collect()
        };
        let strangers = failing(&|name| self.right.named(name).is_none());
        if let Some(first) = strangers.first() {
            let kind = EinMixRule::BiasNotInOutput { axes: shown(&strangers) };
            return Err(bias.error(kind, &[first.span]));
        }
        let needy = failing(&|name| !given(name));
        if let Some(first) = needy.first() {
            let kind = EinMixRule::BiasLength { axes: shown(&needy) };
            return Err(bias.error(kind, &[first.span]));
        }
        let flat = flat(self.right);
        let ellipsis = flat.iter().position(|axis| axis.kind == AxisKind::Ellipsis);
        let before = &flat[..ellipsis.unwrap_or(0)];
        if let Some(axis) = before.iter().find(|axis| bias.has(axis)) {
            return Err(self.error(EinMixRule::BiasBeforeEllipsis, axis.span));
        }
        let axes = flat.iter().filter(|axis| axis.kind != AxisKind::Ellipsis);
        Ok(axes.map(|axis| bias.has(axis).then(|| axis.to_string())).collect())
    }

    fn pre(&self) -> Option<String> {
        let written = self.left.text_of(self.text);
        is_composed(self.left).then(|| format!("{written}-> {}", joined(self.left)))
    }

    fn post(&self) -> Option<String> {
        let written = self.right.text_of(self.text);
        is_composed(self.right).then(|| format!("{} ->{written}", joined(self.right)))
    }

    fn einsum(&self, weight: &List<'_>) -> Result<String, Error> {
        let names = self.left.names().chain(self.right.names()).chain(weight.side.names());
        let mut names: Vec<&str> = names.collect();
        names.sort_unstable();
        names.dedup();
        if names.len() > LETTERS.len() {
            return Err(Error::new(EinsumRule::TooManyNames, self.text, []));
        }
        let write = |side: &Side<'_>| -> String {
            let letter = |axis: &Axis<'_>| match axis.name() {
                Some(name) => names
                    .binary_search(&name)
                    .map_or(String::new(), |i| char::from(LETTERS[i]).to_string()),
                None => axis.to_string(),
            };
            flat(side).into_iter().map(letter).collect()
        };
        Ok(format!("{},{}->{}", write(self.left), write(&weight.side), write(self.right)))
    }

    #[cold]
    fn error(&self, kind: EinMixRule, span: Span) -> Error {
        Error::new(kind, self.text, [span])
    }
}

/// The axes of a side without brackets and unit axes.
fn flat<'s, 't>(side: &'s Side<'t>) -> Vec<&'s Axis<'t>> {
    side.axes.iter().filter(|axis| axis.kind != AxisKind::Number(1)).collect()
}

/// Whether a side is more than its flat axes.
fn is_composed(side: &Side<'_>) -> bool {
    let ellipsis_in_group = side.ellipsis().is_some_and(|dim| dim.group);
    let one = |dim| side.axes_of(dim).iter().filter(|a| a.kind != AxisKind::Number(1)).count() == 1;
    ellipsis_in_group || !side.dims.iter().all(one)
}

fn joined(side: &Side<'_>) -> String {
    flat(side).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn shown(axes: &[&Axis<'_>]) -> Vec<String> {
    axes.iter().map(ToString::to_string).collect()
}

/// Why the texts of an `EinMix` layer do not go together.
///
/// ```
/// use einrs::{EinMix, EinMixRule};
/// let error = EinMix::parse("a -> b", "a b", None, &["a"]).unwrap_err();
/// assert_eq!(error.kind(), &EinMixRule::WeightLength { axis: "b".into() }.into());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EinMixRule {
    /// Axes of the output that neither input nor weight has.
    UnknownInOutput {
        /// The axes, in the order they are written.
        axes: Vec<String>,
    },
    /// An ellipsis in the shape of weight or bias.
    EllipsisInWeight,
    /// An ellipsis on one side only.
    OneEllipsis,
    /// An ellipsis inside brackets on the left.
    MixEllipsisInGroup,
    /// A number other than 1.
    NumberInEinMix,
    /// Brackets in the shape of weight or bias.
    GroupInWeight,
    /// A `1` in the shape of weight or bias.
    UnitInWeight,
    /// An axis of the weight without a length.
    WeightLength {
        /// The axis.
        axis: String,
    },
    /// A length for an axis that neither input nor weight has.
    UnusedMixLength {
        /// The name as given.
        name: String,
        /// A name that it was probably meant to be.
        near: Option<String>,
    },
    /// Axes of the weight that neither input nor output has.
    RedundantWeight {
        /// The axes, in the order they are written.
        axes: Vec<String>,
    },
    /// Axes of the bias that the output lacks.
    BiasNotInOutput {
        /// The axes, in the order they are written.
        axes: Vec<String>,
    },
    /// Axes of the bias without a length.
    BiasLength {
        /// The axes, in the order they are written.
        axes: Vec<String>,
    },
    /// An axis of the bias that stands before the ellipsis of the output.
    BiasBeforeEllipsis,
}
