//! Error kinds to English: every sentence that einrs says about a pattern is in this file.
//!
//! The first line is einops' own, word for word up to the names, where einops has one: programs
//! match on it. The next lines say what einrs adds: what is wrong, then what to do.

use std::fmt::{self, Display, Formatter};

use crate::{ErrorKind, Given, MAX_AXES, MAX_BYTES, MAX_RANK, Misfit, Rule, Syntax};

impl Display for ErrorKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(kind) => syntax(kind, f),
            Self::Rule(kind) => rule(kind, f),
            Self::Given(kind) => given(kind, f),
            Self::Misfit(kind) => misfit(*kind, f),
        }
    }
}

fn syntax(kind: &Syntax, f: &mut Formatter<'_>) -> fmt::Result {
    match kind {
        Syntax::TooLong => write!(f, "pattern is longer than {MAX_BYTES} bytes"),
        Syntax::TooManyAxes => write!(f, "pattern has more than {MAX_AXES} axes on one side"),
        Syntax::Empty => write!(f, "pattern is empty: write 'input -> output'"),
        Syntax::NoArrow => write!(f, "pattern has no '->' between its two sides"),
        Syntax::TwoArrows => write!(f, "pattern has more than one '->'"),
        Syntax::UnknownCharacter { character: '…' } => {
            write!(f, "Unknown character '…'\n an ellipsis is written as three dots: ...")
        }
        Syntax::UnknownCharacter { character } => write!(
            f,
            "Unknown character {character:?}\n a pattern holds names, numbers, brackets, '...' and '->'"
        ),
        Syntax::NestedBracket => write!(
            f,
            "Axis composition is one-level (brackets inside brackets not allowed)\n \
             close the first bracket before opening another"
        ),
        Syntax::UnopenedBracket => {
            write!(f, "Brackets are not balanced\n this ')' has no '(' before it")
        }
        Syntax::UnclosedBracket => {
            write!(f, "Imbalanced parentheses in expression\n this '(' is never closed")
        }
        Syntax::StrayDot => write!(
            f,
            "Expression may contain dots only inside ellipsis (...)\n \
             an ellipsis is exactly three dots"
        ),
        Syntax::SecondEllipsis => write!(
            f,
            "Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor "
        ),
        Syntax::NotAnIdentifier { name } => {
            write!(f, "Invalid axis identifier: {name}\nnot a valid python identifier")
        }
        Syntax::OuterUnderscore { name } => write!(
            f,
            "Invalid axis identifier: {name}\n\
             axis name should should not start or end with underscore"
        ),
        Syntax::ZeroAxis => write!(f, "Anonymous axis should have positive length, not 0"),
        Syntax::HugeNumber { digits } => write!(f, "axis length {digits} does not fit 64 bits"),
        Syntax::Duplicate { name } => write!(
            f,
            "Indexing expression contains duplicate dimension \"{name}\"\n \
             axis '{name}' appears twice on one side"
        ),
    }
}

fn rule(kind: &Rule, f: &mut Formatter<'_>) -> fmt::Result {
    match kind {
        Rule::EllipsisOnlyRight => {
            write!(f, "Ellipsis found in right side, but not left side of a pattern")
        }
        Rule::EllipsisInLeftGroup => {
            write!(f, "Ellipsis inside parenthesis in the left side is not allowed")
        }
        Rule::NumberInRearrange => write!(
            f,
            "Non-unitary anonymous axes are not supported in rearrange (exception is length 1)\n \
             name the axis and give its length by keyword"
        ),
        Rule::OneSided { axes, near } => write!(
            f,
            "Identifiers only on one side of expression (should be on both): {}{}",
            Names(axes),
            Near(near),
        ),
        Rule::LostInRepeat { axes } => write!(
            f,
            "Unexpected identifiers on the left side of repeat: {}\n \
             repeat keeps every axis of the input",
            Names(axes),
        ),
        Rule::NewInReduce { axes, near } => write!(
            f,
            "Unexpected identifiers on the right side of reduce: {}\n \
             reduce adds no axis{}",
            Names(axes),
            Near(near),
        ),
        Rule::WrongRank { expected, at_least, ndim } => write!(
            f,
            "Wrong shape: expected {}{expected} dims. Received {ndim}-dim tensor.",
            if *at_least { ">=" } else { "" },
        ),
        Rule::HugeRank { ndim } => {
            write!(f, "tensor of {ndim} dimensions: at most {MAX_RANK} are supported")
        }
    }
}

fn given(kind: &Given, f: &mut Formatter<'_>) -> fmt::Result {
    match kind {
        Given::NeedsLength { axes, near } => write!(
            f,
            "Specify sizes for new axes in repeat: {}\n give the length of each new axis, \
             as in {}=2{}",
            Names(axes),
            axes[0],
            Near(near),
        ),
        Given::TwoUnknown { group, axes } => write!(
            f,
            "Could not infer sizes for {}\n in '{group}' give the length of all axes but one",
            Names(axes),
        ),
        Given::BadLengthName { name } => write!(f, "Invalid name for an axis: {name}"),
        Given::UnusedLength { name, near } => {
            write!(f, "Axis {name} is not used in transform{}", Near(near))
        }
        Given::LengthTwice { name } => write!(f, "the length of axis '{name}' is given twice"),
        Given::LengthType { name, given } => write!(
            f,
            "'{given}' object cannot be interpreted as an integer\n \
             the length of axis '{name}' must be an integer, not {given}"
        ),
        Given::HugeLength { name, length } => {
            write!(f, "the length of axis '{name}' does not fit 64 bits: {length}")
        }
        Given::UnknownReduction { name, near } => write!(
            f,
            "Unknown reduction {name}. Expect one of \
             ('min', 'max', 'sum', 'mean', 'prod', 'any', 'all').\n \
             a reduction is one of these names or a callable f(tensor, axes){}",
            Near(near),
        ),
    }
}

fn misfit(kind: Misfit, f: &mut Formatter<'_>) -> fmt::Result {
    match kind {
        Misfit::Mismatch { dim, length, product } => write!(
            f,
            "Shape mismatch, {length} != {product}\n \
             dimension {dim} of the input has length {length}, its axes make {product}"
        ),
        Misfit::NotDivisible { dim, length, product } => write!(
            f,
            "Shape mismatch, can't divide axis of length {length} in chunks of {product}\n \
             dimension {dim} of the input has length {length}, no multiple of {product}"
        ),
        Misfit::ZeroDivisor { dim, length } => write!(
            f,
            "dimension {dim} of the input (length {length}) cannot be divided by an axis of \
             length 0: give the length of every axis here"
        ),
        Misfit::NegativeLength { length, .. } => {
            write!(f, "the length of this axis is given as {length}: a length is never negative")
        }
        Misfit::NegativeDimension { dim, length } => {
            write!(f, "the tensor says that its dimension {dim} has length {length}")
        }
        Misfit::InputOverflow { dim } => {
            write!(f, "the axes of input dimension {dim} multiply to more than 64 bits")
        }
        Misfit::TooManyElements => {
            write!(f, "the result would have more elements than 64 bits count")
        }
        Misfit::OutputOverflow { dim } => {
            write!(f, "the axes of output dimension {dim} multiply to more than 64 bits")
        }
    }
}

struct Names<'n>(&'n [String]);

impl Display for Names<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(", "))
    }
}

struct Near<'n>(&'n Option<String>);

impl Display for Near<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(name) => write!(f, "\n did you mean '{name}'?"),
            None => Ok(()),
        }
    }
}
