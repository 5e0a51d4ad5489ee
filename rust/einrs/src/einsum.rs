//! An einsum pattern in named axes to one in single letters, which every framework reads.

use crate::parse::{Cursor, Grammar};
use crate::pattern::{Axis, AxisKind, Side};
use crate::{Error, ErrorKind, Span, Syntax, nearest};

/// The letters that stand for axes, in the order they are given out.
pub(crate) const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

const NAMES: Grammar = Grammar { underscore: true, duplicates: true, commas: true };

/// A parsed einsum pattern such as `batch i, i j -> batch j`.
///
/// Names may stand twice in one operand (a diagonal), `_` is a name like any other, and each
/// operand and the result may have an ellipsis, as in einops 0.8.2.
///
/// ```
/// let einsum = einrs::Einsum::parse("batch i, i j -> batch j")?;
/// assert_eq!(einsum.compact(), "ab,bc->ac");
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Einsum<'t> {
    text: &'t str,
    operands: Vec<Side<'t>>,
    compact: String,
}

impl<'t> Einsum<'t> {
    /// Reads a pattern.
    ///
    /// ```
    /// use einrs::{Einsum, EinsumRule};
    /// let error = Einsum::parse("(a b) -> a b").unwrap_err();
    /// assert_eq!(error.kind(), &EinsumRule::GroupInEinsum.into());
    /// ```
    pub fn parse(text: &'t str) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text, NAMES)?;
        let mut operands = vec![cursor.side()?];
        while cursor.comma() {
            operands.push(cursor.side()?);
        }
        let Some(arrow) = cursor.arrow() else {
            let end = Span::new(text.len(), text.len());
            return Err(Error::new(EinsumRule::NoArrowInEinsum, text, [end]));
        };
        cursor.grammar = Grammar { duplicates: false, commas: false, ..NAMES };
        let output = cursor.side()?;
        if let Some(second) = cursor.arrow() {
            return Err(Error::new(Syntax::TwoArrows, text, [arrow, second]));
        }
        let compact = Letters::new(text).compact(&operands, &output)?;
        Ok(Self { text, operands, compact })
    }

    /// The pattern in single letters, `a` first.
    ///
    /// ```
    /// assert_eq!(einrs::Einsum::parse("... k, k -> ...")?.compact(), "...a,a->...");
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    pub fn compact(&self) -> &str {
        &self.compact
    }

    /// Says why tensors of these shapes do not go with the pattern, if number, ranks or lengths
    /// say so. An axis of length 1 goes with any other length, since frameworks broadcast it.
    ///
    /// ```
    /// use einrs::{Einsum, EinsumRule};
    /// let einsum = Einsum::parse("i j, j -> i")?;
    /// let error = einsum.check(&[vec![2, 3], vec![4]]).unwrap_err();
    /// let mismatch =
    ///     EinsumRule::AxisMismatch { name: "j".into(), first: (0, 3), second: (1, 4) };
    /// assert_eq!(error.kind(), &mismatch.into());
    /// # Ok::<(), einrs::Error>(())
    /// ```
    pub fn check(&self, shapes: &[Vec<i64>]) -> Result<(), Error> {
        let (expected, given) = (self.operands.len(), shapes.len());
        if expected != given {
            return Err(self.error(EinsumRule::OperandCount { expected, given }, []));
        }
        let mut seen: Vec<(&Axis<'t>, usize, i64)> = Vec::new();
        for (operand, (side, shape)) in self.operands.iter().zip(shapes).enumerate() {
            self.check_rank(operand, shape.len())?;
            for (axis, length) in named_lengths(side, shape) {
                let known = seen.iter().find(|known| known.0.kind == axis.kind && known.2 != 1);
                if let Some(&(first, other, size)) = known
                    && size != length
                    && length != 1
                {
                    let kind = EinsumRule::AxisMismatch {
                        name: axis.to_string(),
                        first: (other, size),
                        second: (operand, length),
                    };
                    return Err(self.error(kind, [first.span, axis.span]));
                }
                seen.push((axis, operand, length));
            }
        }
        Ok(())
    }

    fn check_rank(&self, operand: usize, ndim: usize) -> Result<(), Error> {
        let side = &self.operands[operand];
        let at_least = side.ellipsis().is_some();
        let expected = side.dims.len() - usize::from(at_least);
        if ndim == expected || (at_least && ndim > expected) {
            return Ok(());
        }
        let kind = EinsumRule::OperandRank { operand, expected, at_least, ndim };
        Err(self.error(kind, [side.trimmed()]))
    }

    #[cold]
    fn error(&self, kind: impl Into<ErrorKind>, spans: impl Into<Box<[Span]>>) -> Error {
        Error::new(kind, self.text, spans)
    }
}

/// The named axes of an operand with their lengths; those after an ellipsis count from the end.
fn named_lengths<'s, 't>(
    side: &'s Side<'t>,
    shape: &'s [i64],
) -> impl Iterator<Item = (&'s Axis<'t>, i64)> {
    let count = side.dims.len();
    let named = |dim| side.axes_of(dim).iter().find(|axis| axis.name().is_some());
    let open = side.ellipsis().map(|dim| dim.first);
    side.dims.iter().enumerate().filter_map(move |(i, dim)| {
        let axis = named(dim)?;
        let behind = open.is_some_and(|first| dim.first > first);
        let at = if behind { shape.len() - (count - i) } else { i };
        Some((axis, shape[at]))
    })
}

/// Gives letters out to names.
struct Letters<'t> {
    text: &'t str,
    names: Vec<String>,
}

impl<'t> Letters<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, names: Vec::with_capacity(8) }
    }

    fn compact(mut self, operands: &[Side<'t>], output: &Side<'t>) -> Result<String, Error> {
        let mut compact = String::with_capacity(self.text.len());
        for (i, side) in operands.iter().enumerate() {
            compact.push_str(if i == 0 { "" } else { "," });
            self.write(side, &mut compact, Self::letter_of_operand)?;
        }
        compact.push_str("->");
        self.write(output, &mut compact, Self::letter_of_output)?;
        Ok(compact)
    }

    fn write(
        &mut self,
        side: &Side<'t>,
        compact: &mut String,
        letter: impl Fn(&mut Self, &Axis<'t>, &str) -> Result<char, Error>,
    ) -> Result<(), Error> {
        for dim in &side.dims {
            let named: Vec<_> =
                side.axes_of(dim).iter().filter(|a| a.kind != AxisKind::Number(1)).collect();
            let [axis] = named[..] else {
                let kind = match named[..] {
                    [] => EinsumRule::UnitInEinsum,
                    _ => EinsumRule::GroupInEinsum,
                };
                return Err(Error::new(kind, self.text, [dim.span]));
            };
            match &axis.kind {
                AxisKind::Ellipsis if dim.group => {
                    return Err(Error::new(EinsumRule::GroupInEinsum, self.text, [dim.span]));
                }
                AxisKind::Ellipsis => compact.push_str("..."),
                AxisKind::Number(_) => {
                    return Err(Error::new(EinsumRule::NumberInEinsum, self.text, [axis.span]));
                }
                AxisKind::Name(name) => compact.push(letter(self, axis, name)?),
            }
        }
        Ok(())
    }

    fn letter_of_operand(&mut self, axis: &Axis<'t>, name: &str) -> Result<char, Error> {
        if let Some(letter) = self.known(name) {
            return Ok(letter);
        }
        if self.names.len() == LETTERS.len() {
            return Err(Error::new(EinsumRule::TooManyNames, self.text, [axis.span]));
        }
        self.names.push(name.into());
        Ok(char::from(LETTERS[self.names.len() - 1]))
    }

    fn letter_of_output(&mut self, axis: &Axis<'t>, name: &str) -> Result<char, Error> {
        self.known(name).ok_or_else(|| {
            let names = || self.names.iter().map(String::as_str);
            // A name such as `ii` is probably two axes, written as numpy writes them.
            let glued = names()
                .find(|known| name.chars().count() == 1 && known.len() < 5 && known.contains(name));
            let near = if glued.is_none() { nearest(name, names()) } else { None };
            let kind = EinsumRule::UnknownOutput {
                name: name.into(),
                near: near.map(Into::into),
                glued: glued.map(Into::into),
            };
            Error::new(kind, self.text, [axis.span])
        })
    }

    fn known(&self, name: &str) -> Option<char> {
        let i = self.names.iter().position(|known| known == name)?;
        Some(char::from(LETTERS[i]))
    }
}

/// Why a text is no einsum pattern, or does not go with the tensors.
///
/// ```
/// use einrs::{Einsum, EinsumRule};
/// assert_eq!(Einsum::parse("i j").unwrap_err().kind(), &EinsumRule::NoArrowInEinsum.into());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EinsumRule {
    /// No `->`.
    NoArrowInEinsum,
    /// An axis of length 1, `1` or `()`.
    UnitInEinsum,
    /// Several axes in brackets.
    GroupInEinsum,
    /// A number other than 1.
    NumberInEinsum,
    /// More names than there are letters.
    TooManyNames,
    /// A name of the result that no operand has.
    UnknownOutput {
        /// The name.
        name: String,
        /// A name of an operand that it was probably meant to be.
        near: Option<String>,
        /// A name of several letters that was probably meant to be several axes.
        glued: Option<String>,
    },
    /// Another number of tensors than the pattern describes.
    OperandCount {
        /// How many operands the pattern has.
        expected: usize,
        /// How many tensors there are.
        given: usize,
    },
    /// A tensor of another rank than its part of the pattern describes.
    OperandRank {
        /// Which tensor.
        operand: usize,
        /// The rank that is described.
        expected: usize,
        /// Whether an ellipsis allows more.
        at_least: bool,
        /// The rank of the tensor.
        ndim: usize,
    },
    /// One axis with two lengths.
    AxisMismatch {
        /// The axis.
        name: String,
        /// The tensor that has it first, and the length there.
        first: (usize, i64),
        /// The tensor that has another length, and that.
        second: (usize, i64),
    },
}
