//! Checks that each row of `errors.tsv` and of `joins_errors.tsv` is refused with the kind, places
//! and message it says.

mod join;
mod rows;
mod table;

use std::collections::BTreeSet;

use einrs::{
    EinMixRule, EinsumRule, Error, ErrorKind, Given, Misfit, PackRule, Rule, ShapeRule, Style,
    Syntax,
};
use join::Join;
use rows::rows;
use table::Call;

const TABLE: &str = include_str!("errors.tsv");
const JOINS: &str = include_str!("joins_errors.tsv");

/// Lists kinds, and matches on them without a default: a new kind does not compile until it is
/// listed here, and a listed one needs a row.
macro_rules! kinds {
    ($($stage:ident($rule:ident) { $($kind:ident)* })*) => {
        const KINDS: &[&str] = &[$($(stringify!($kind)),*),*];

        fn listed(kind: &ErrorKind) -> &'static str {
            match kind {
                $($(ErrorKind::$stage($rule::$kind { .. }) => stringify!($kind),)*)*
            }
        }
    };
}

kinds! {
    Syntax(Syntax) {
        TooLong
        TooManyAxes
        Empty
        NoArrow
        TwoArrows
        UnknownCharacter
        NestedBracket
        UnopenedBracket
        UnclosedBracket
        StrayDot
        SecondEllipsis
        NotAnIdentifier
        OuterUnderscore
        ZeroAxis
        HugeNumber
        Duplicate
    }
    Rule(Rule) {
        EllipsisOnlyRight
        EllipsisInLeftGroup
        NumberInRearrange
        OneSided
        LostInRepeat
        NewInReduce
        WrongRank
        HugeRank
    }
    Given(Given) {
        NeedsLength
        TwoUnknown
        BadLengthName
        UnusedLength
        LengthTwice
        LengthType
        HugeLength
        UnknownReduction
    }
    Misfit(Misfit) {
        Mismatch
        NotDivisible
        ZeroDivisor
        NegativeLength
        NegativeDimension
        InputOverflow
        OutputOverflow
        TooManyElements
    }
    Einsum(EinsumRule) {
        NoArrowInEinsum
        UnitInEinsum
        GroupInEinsum
        NumberInEinsum
        TooManyNames
        UnknownOutput
        OperandCount
        OperandRank
        AxisMismatch
    }
    Pack(PackRule) {
        DuplicateInPack
        NoStar
        BadNameInPack
        TooFewAxes
        WrongPackedRank
        PackMismatch
        TwoUnknownLengths
        NegativeInShape
        ShapeOverflow
        CannotSplit
        UnknownNotDivisible
    }
    Shape(ShapeRule) {
        ComposedShape
        WrongShapeRank
        NotOne
        NumberMismatch
    }
    EinMix(EinMixRule) {
        UnknownInOutput
        EllipsisInWeight
        OneEllipsis
        MixEllipsisInGroup
        NumberInEinMix
        GroupInWeight
        UnitInWeight
        WeightLength
        UnusedMixLength
        RedundantWeight
        BiasNotInOutput
        BiasLength
        BiasBeforeEllipsis
    }
}

/// A row of either table, and the error that it is about.
struct Refusal {
    kind: String,
    pattern: String,
    spans: String,
    message: String,
    error: Option<Error>,
}

fn refusals() -> Vec<Refusal> {
    let calls =
        rows(TABLE).into_iter().map(|[kind, op, pattern, shape, lengths, spans, message]| {
            let call = Call::read([&op, &pattern, &shape, &lengths]);
            let error = call.run(Style::default()).err();
            Refusal { kind, pattern, spans, message, error }
        });
    let joins =
        rows(JOINS).into_iter().map(|[kind, op, pattern, shapes, extra, spans, message]| {
            let error = Join::read([&op, &pattern, &shapes, &extra]).run().err();
            Refusal { kind, pattern, spans, message, error }
        });
    calls.chain(joins).collect()
}

#[test]
fn every_row_is_refused_as_it_says() {
    let mut wrong = Vec::new();
    for Refusal { kind, pattern, spans, message, error } in refusals() {
        let refused = error.as_ref().map(facts);
        if refused.as_ref() != Some(&[kind.clone(), spans, message]) {
            wrong.push(format!("{kind}: {pattern:.80}: {refused:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The kind, the places and the message as they are written in the table.
fn facts(error: &Error) -> [String; 3] {
    let place = |span: &einrs::Span| {
        let (start, end) = span.in_characters(error.pattern());
        format!("{start}-{end}")
    };
    let places: Vec<String> = error.spans().iter().map(place).collect();
    let places = if places.is_empty() { "-".into() } else { places.join(",") };
    [error.kind().name(), places, error.to_string()]
}

#[test]
fn every_kind_has_a_row() {
    let rows: BTreeSet<String> = refusals().into_iter().map(|row| row.kind).collect();
    let kinds: BTreeSet<String> = KINDS.iter().map(ToString::to_string).collect();
    assert_eq!(rows, kinds);
}

#[test]
fn a_kind_is_named_as_it_is_written_in_the_code() {
    for row in refusals() {
        let error = row.error.expect(&row.pattern);
        assert_eq!(error.kind().name(), listed(error.kind()));
    }
}
