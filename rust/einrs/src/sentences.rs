//! Error kinds to English: every sentence that einrs says about a pattern is in this file.
//!
//! The first line is einops' own, word for word up to the names, where einops has one: programs
//! match on it. The next lines say what einrs adds: what is wrong, then what to do.

use std::fmt::{self, Display, Formatter};

use crate::{
    EinMixRule, EinsumRule, ErrorKind, Given, MAX_AXES, MAX_BYTES, MAX_RANK, Misfit, PackRule,
    Rule, ShapeRule, Syntax,
};

impl Display for ErrorKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(kind) => syntax(kind, f),
            Self::Rule(kind) => rule(kind, f),
            Self::Given(kind) => given(kind, f),
            Self::Misfit(kind) => misfit(*kind, f),
            Self::Einsum(kind) => einsum(kind, f),
            Self::Pack(kind) => pack(kind, f),
            Self::Shape(kind) => shape(kind, f),
            Self::EinMix(kind) => einmix(kind, f),
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

fn einsum(kind: &EinsumRule, f: &mut Formatter<'_>) -> fmt::Result {
    match kind {
        EinsumRule::NoArrowInEinsum => {
            write!(f, "Einsum pattern must contain '->'.\n write the axes of the result after it")
        }
        EinsumRule::UnitInEinsum => write!(
            f,
            "Singleton () axes are not yet supported in einsum.\n \
             take them out by rearrange before"
        ),
        EinsumRule::GroupInEinsum => write!(
            f,
            "Shape rearrangement is not yet supported in einsum.\n \
             split or join axes by rearrange, before or after"
        ),
        EinsumRule::NumberInEinsum => {
            write!(f, "Anonymous axes are not yet supported in einsum.\n give the axis a name")
        }
        EinsumRule::TooManyNames => {
            write!(f, "Too many axes in einsum.\n there are 52 letters for their names")
        }
        EinsumRule::UnknownOutput { near, glued: None, .. } => {
            write!(f, "no tensor has this axis{}", Near(near))
        }
        EinsumRule::UnknownOutput { glued: Some(glued), .. } => write!(
            f,
            "'{glued}' is one axis: names are separated by spaces, as in '{}'",
            Spaced(glued),
        ),
        EinsumRule::OperandCount { expected, given } => {
            write!(f, "einsum pattern describes {expected} tensors, {given} are given")
        }
        EinsumRule::OperandRank { operand, expected, at_least, ndim } => write!(
            f,
            "tensor #{operand} of einsum (the first is #0) has {ndim} dimensions, \
             its axes describe {}{expected}",
            if *at_least { "at least " } else { "" },
        ),
        EinsumRule::AxisMismatch { name, first, second } => write!(
            f,
            "axis '{name}' of einsum has length {} in tensor #{} and length {} in tensor #{} \
             (the first is #0)",
            first.1, first.0, second.1, second.0,
        ),
    }
}

fn pack(kind: &PackRule, f: &mut Formatter<'_>) -> fmt::Result {
    match kind {
        PackRule::DuplicateInPack => write!(f, "each name and the * stand once"),
        PackRule::NoStar => write!(f, "the * stands for the axes that are packed"),
        PackRule::BadNameInPack { .. } => {
            write!(f, "a pattern holds names and one *, separated by spaces")
        }
        PackRule::TooFewAxes { index, at_least, ndim } => write!(
            f,
            "tensor #{index} (the first is #0) has {ndim} dimensions, the pattern names {at_least}"
        ),
        PackRule::WrongPackedRank { expected, ndim } => write!(
            f,
            "the tensor to unpack has {ndim} dimensions, the pattern describes {expected}"
        ),
        PackRule::PackMismatch { name, first, other } => write!(
            f,
            "axis '{name}' has length {first} in tensor #0 and length {} in tensor #{}: \
             only the axes of * may differ",
            other.1, other.0,
        ),
        PackRule::TwoUnknownLengths => {
            write!(f, "the shapes to unpack hold more than one -1: one length can be inferred")
        }
        PackRule::NegativeInShape { length } => {
            write!(
                f,
                "a shape to unpack holds {length}: lengths are never negative, but for one -1"
            )
        }
        PackRule::ShapeOverflow => write!(f, "the shapes to unpack multiply to more than 64 bits"),
        PackRule::CannotSplit { length, total, unknown: false } => {
            write!(f, "the axis has length {length}, the shapes to unpack need {total}")
        }
        PackRule::CannotSplit { length, total, unknown: true } => write!(
            f,
            "the axis has length {length}, the shapes to unpack need {total} without the unknown one"
        ),
        PackRule::UnknownNotDivisible { rest, product } => write!(
            f,
            "the shape with -1 is left {rest} elements, which its other lengths ({product}) do \
             not divide into one length"
        ),
    }
}

fn shape(kind: &ShapeRule, f: &mut Formatter<'_>) -> fmt::Result {
    match kind {
        ShapeRule::ComposedShape => {
            write!(f, "parse_shape names whole dimensions: it takes no axes in brackets")
        }
        ShapeRule::WrongShapeRank { expected, at_least, ndim } => write!(
            f,
            "the shape has {ndim} dimensions, the pattern describes {}{expected}",
            if *at_least { "at least " } else { "" },
        ),
        ShapeRule::NotOne { dim, length } => {
            write!(f, "dimension {dim} has length {length}, the pattern says 1")
        }
        ShapeRule::NumberMismatch { dim, length, number } => {
            write!(f, "dimension {dim} has length {length}, the pattern says {number}")
        }
    }
}

fn einmix(kind: &EinMixRule, f: &mut Formatter<'_>) -> fmt::Result {
    match kind {
        EinMixRule::UnknownInOutput { axes } => write!(
            f,
            "Unrecognized identifiers on the right side of EinMix {}\n \
             neither input nor weight has them",
            Names(axes),
        ),
        EinMixRule::EllipsisInWeight => {
            write!(f, "Ellipsis is not supported in weight, as its shape should be fully specified")
        }
        EinMixRule::OneEllipsis => write!(f, "Ellipsis in EinMix should be on both sides"),
        EinMixRule::MixEllipsisInGroup => {
            write!(f, "Ellipsis on left side can't be in parenthesis")
        }
        EinMixRule::NumberInEinMix => {
            write!(f, "Anonymous axes (numbers) are not allowed in EinMix")
        }
        EinMixRule::GroupInWeight => write!(f, "Parenthesis is not allowed in weight shape"),
        EinMixRule::UnitInWeight => {
            write!(f, "a shape of weight or bias holds names only: leave the 1 out")
        }
        EinMixRule::WeightLength { axis } => write!(
            f,
            "Dimension {axis} of weight should be specified\n give its length, as in {axis}=2"
        ),
        EinMixRule::UnusedMixLength { name, near } => {
            write!(f, "Axes {name} are not used in pattern{}", Near(near))
        }
        EinMixRule::RedundantWeight { axes } => write!(
            f,
            "Weight axes {} are redundant\n neither input nor output has them",
            Names(axes),
        ),
        EinMixRule::BiasNotInOutput { axes } => {
            write!(f, "Bias axes {} not present in output", Names(axes))
        }
        EinMixRule::BiasLength { axes } => {
            write!(f, "Sizes not provided for bias axes {}", Names(axes))
        }
        EinMixRule::BiasBeforeEllipsis => {
            write!(f, "all bias dimensions should go after ellipsis in the output")
        }
    }
}

/// The letters of a word with spaces between them.
struct Spaced<'n>(&'n str);

impl Display for Spaced<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, letter) in self.0.chars().enumerate() {
            write!(f, "{}{letter}", if i == 0 { "" } else { " " })?;
        }
        Ok(())
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
