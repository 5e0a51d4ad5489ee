//! A pattern of `parse_shape` and a rank to the dimensions that have names.

use crate::parse::{Cursor, Grammar};
use crate::pattern::{AxisKind, Side};
use crate::{Error, Span};

const NAMES: Grammar = Grammar { underscore: true, duplicates: false, commas: false };

/// Which dimensions have which names, and which must have which length.
///
/// ```
/// let parsed = einrs::ShapeNames::parse("batch ... w 3", 5)?;
/// assert_eq!(parsed.names(), [(0, "batch".into()), (3, "w".into())]);
/// assert_eq!(parsed.lengths(), [(4, 3)]);
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShapeNames<'t> {
    text: &'t str,
    names: Vec<(usize, String)>,
    lengths: Vec<(usize, i64)>,
    /// Where the numbers stand.
    numbers: Vec<Span>,
}

impl<'t> ShapeNames<'t> {
    /// Reads a pattern for shapes of `ndim` dimensions: names, `_` for a dimension without one,
    /// numbers, and an ellipsis, after which names count from the end.
    ///
    /// ```
    /// assert!(einrs::ShapeNames::parse("a _ b", 2).is_err());
    /// ```
    pub fn parse(text: &'t str, ndim: usize) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text, NAMES)?;
        let side = cursor.side()?;
        cursor.expect_end()?;
        let mut names = Self { text, names: Vec::new(), lengths: Vec::new(), numbers: Vec::new() };
        names.read(&side, ndim)?;
        Ok(names)
    }

    fn read(&mut self, side: &Side<'t>, ndim: usize) -> Result<(), Error> {
        let ellipsis = side.dims.iter().position(|dim| {
            !dim.group && side.axes_of(dim).iter().any(|a| a.kind == AxisKind::Ellipsis)
        });
        let mut dims = Vec::with_capacity(side.dims.len());
        for dim in &side.dims {
            let mut named =
                side.axes_of(dim).iter().filter(|axis| axis.kind != AxisKind::Number(1));
            let (axis, second) = (named.next(), named.next());
            let hidden = dim.group && axis.is_some_and(|axis| axis.kind == AxisKind::Ellipsis);
            if second.is_some() || hidden {
                return Err(Error::new(ShapeRule::ComposedShape, self.text, [dim.span]));
            }
            dims.push((axis, dim.span));
        }
        let at_least = ellipsis.is_some();
        let expected = dims.len() - usize::from(at_least);
        if ndim < expected || (!at_least && ndim > expected) {
            let kind = ShapeRule::WrongShapeRank { expected, at_least, ndim };
            return Err(Error::new(kind, self.text, [side.trimmed()]));
        }
        for (i, (axis, span)) in dims.iter().enumerate() {
            let dim = if ellipsis.is_some_and(|at| i > at) { i + ndim - dims.len() } else { i };
            match axis.map(|axis| &axis.kind) {
                Some(AxisKind::Name(name)) if name == "_" => {}
                Some(AxisKind::Name(name)) => self.names.push((dim, name.as_ref().into())),
                Some(AxisKind::Ellipsis) => {}
                Some(AxisKind::Number(number)) => self.number(dim, *number, *span),
                None => self.number(dim, 1, *span),
            }
        }
        Ok(())
    }

    fn number(&mut self, dim: usize, number: i64, span: Span) {
        self.lengths.push((dim, number));
        self.numbers.push(span);
    }

    /// The dimensions that have names.
    ///
    /// ```
    /// assert_eq!(einrs::ShapeNames::parse("_ b", 2)?.names(), [(1, "b".into())]);
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    pub fn names(&self) -> &[(usize, String)] {
        &self.names
    }

    /// The dimensions whose length the pattern says.
    ///
    /// ```
    /// assert_eq!(einrs::ShapeNames::parse("a () 3", 3)?.lengths(), [(1, 1), (2, 3)]);
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    pub fn lengths(&self) -> &[(usize, i64)] {
        &self.lengths
    }

    /// Says which dimension has another length than the pattern says.
    ///
    /// ```
    /// let parsed = einrs::ShapeNames::parse("a 1", 2)?;
    /// assert!(parsed.check(&[5, 1]).is_ok());
    /// assert!(parsed.check(&[5, 2]).is_err());
    /// # Ok::<(), einrs::Error>(())
    /// ```
    pub fn check(&self, shape: &[i64]) -> Result<(), Error> {
        for (&(dim, number), span) in self.lengths.iter().zip(&self.numbers) {
            let length = shape[dim];
            if length != number {
                let kind = match number {
                    1 => ShapeRule::NotOne { dim, length },
                    _ => ShapeRule::NumberMismatch { dim, length, number },
                };
                return Err(Error::new(kind, self.text, [*span]));
            }
        }
        Ok(())
    }
}

/// Why a text is no pattern of `parse_shape`, or does not go with the shape.
///
/// ```
/// use einrs::{ShapeNames, ShapeRule};
/// assert_eq!(ShapeNames::parse("(a b)", 1).unwrap_err().kind(), &ShapeRule::ComposedShape.into());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShapeRule {
    /// Several axes in brackets.
    ComposedShape,
    /// A shape of another rank.
    WrongShapeRank {
        /// The rank that is described.
        expected: usize,
        /// Whether an ellipsis allows more.
        at_least: bool,
        /// The rank of the shape.
        ndim: usize,
    },
    /// A dimension that is to have length 1 and has not.
    NotOne {
        /// The dimension.
        dim: usize,
        /// Its length.
        length: i64,
    },
    /// A dimension that has another length than the number in the pattern.
    NumberMismatch {
        /// The dimension.
        dim: usize,
        /// Its length.
        length: i64,
        /// The number.
        number: i64,
    },
}
