//! What went wrong, as data: a kind, the places in the text, and the pattern.

use std::fmt;

use crate::{
    EinMixRule, EinsumRule, Given, Misfit, PackRule, Rule, ShapeRule, Span, Syntax, caret,
};

/// An error about a pattern: its kind, the one or two places it is about, and the text.
///
/// It prints as einops' own line where einops has one, then what einrs adds, then the pattern
/// with carets under the places.
///
/// ```
/// let error = einrs::Pattern::parse("b h b -> b h").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     [
///         "Indexing expression contains duplicate dimension \"b\"",
///         " axis 'b' appears twice on one side",
///         "  b h b -> b h",
///         "  ^   ^",
///     ]
///     .join("\n"),
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    spans: Box<[Span]>,
    pattern: Box<str>,
}

impl Error {
    #[cold]
    pub(crate) fn new(
        kind: impl Into<ErrorKind>,
        pattern: &str,
        spans: impl Into<Box<[Span]>>,
    ) -> Self {
        Self { kind: kind.into(), spans: spans.into(), pattern: pattern.into() }
    }

    /// An error in something that goes with a pattern (a length, a reduction, the rank) and is
    /// found outside this crate: it points at the axis of that name, where there is one.
    ///
    /// ```
    /// use einrs::{Error, Given};
    /// let kind = Given::LengthType { name: "h".into(), given: "float".into() };
    /// assert_eq!(Error::about("b (h d) -> b h d", "h", kind).spans().len(), 1);
    /// ```
    #[must_use]
    pub fn about(pattern: &str, axis: &str, kind: Given) -> Self {
        let span = crate::Pattern::parse(pattern).ok().and_then(|parsed| {
            let axis = crate::parse::normalise(axis);
            let found = parsed.left.named(&axis).or(parsed.right.named(&axis));
            found.map(|axis| axis.span)
        });
        Self::new(kind, pattern, span.as_slice())
    }

    /// What kind of error it is.
    ///
    /// ```
    /// use einrs::{ErrorKind, Pattern, Syntax};
    /// assert_eq!(Pattern::parse("a b").unwrap_err().kind(), &ErrorKind::Syntax(Syntax::NoArrow));
    /// ```
    #[must_use]
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// The places it is about, at most two; none if it is about nothing that is written.
    ///
    /// ```
    /// assert_eq!(einrs::Pattern::parse("a a ->").unwrap_err().spans().len(), 2);
    /// ```
    #[must_use]
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// The pattern's text.
    ///
    /// ```
    /// assert_eq!(einrs::Pattern::parse("a b").unwrap_err().pattern(), "a b");
    /// ```
    #[must_use]
    pub fn pattern(&self) -> &str {
        &self.pattern
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        caret::write(f, &self.pattern, &self.spans)
    }
}

impl std::error::Error for Error {}

/// The kind of an error: which stage refused the pattern, and why.
///
/// ```
/// assert_eq!(einrs::Pattern::parse("a b").unwrap_err().kind().name(), "NoArrow");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text is not a pattern.
    Syntax(Syntax),
    /// The operation or the rank does not go with the pattern.
    Rule(Rule),
    /// The given lengths or the reduction do not go with the pattern.
    Given(Given),
    /// The sizes do not go with the pattern.
    Misfit(Misfit),
    /// An einsum pattern, or its operands.
    Einsum(EinsumRule),
    /// A pattern of `pack` or `unpack`, or the shapes to unpack.
    Pack(PackRule),
    /// A pattern of `parse_shape`, or the shape.
    Shape(ShapeRule),
    /// The texts of an `EinMix` layer.
    EinMix(EinMixRule),
}

impl ErrorKind {
    /// The name of the innermost kind, such as `NotDivisible`.
    ///
    /// ```
    /// assert_eq!(einrs::ErrorKind::from(einrs::Syntax::TwoArrows).name(), "TwoArrows");
    /// ```
    #[must_use]
    pub fn name(&self) -> String {
        let shown = match self {
            Self::Syntax(kind) => format!("{kind:?}"),
            Self::Rule(kind) => format!("{kind:?}"),
            Self::Given(kind) => format!("{kind:?}"),
            Self::Misfit(kind) => format!("{kind:?}"),
            Self::Einsum(kind) => format!("{kind:?}"),
            Self::Pack(kind) => format!("{kind:?}"),
            Self::Shape(kind) => format!("{kind:?}"),
            Self::EinMix(kind) => format!("{kind:?}"),
        };
        shown.chars().take_while(char::is_ascii_alphanumeric).collect()
    }
}

macro_rules! kind_from {
    ($($stage:ident($kind:ident))*) => {
        $(impl From<$kind> for ErrorKind {
            fn from(kind: $kind) -> Self {
                Self::$stage(kind)
            }
        })*
    };
}

kind_from! {
    Syntax(Syntax)
    Rule(Rule)
    Given(Given)
    Misfit(Misfit)
    Einsum(EinsumRule)
    Pack(PackRule)
    Shape(ShapeRule)
    EinMix(EinMixRule)
}
