//! Checks that each row of `errors.tsv` is refused with the kind, places and message it says.

mod table;

use std::collections::BTreeSet;

use einrs::{Error, ErrorKind, Given, Misfit, Rule, Style, Syntax};
use table::{Call, rows};

const TABLE: &str = include_str!("errors.tsv");

/// Lists kinds, and matches on them without a default: a new kind does not compile until it is
/// listed here, and a listed one needs a row.
macro_rules! kinds {
    ($($stage:ident::$kind:ident)*) => {
        const KINDS: &[&str] = &[$(stringify!($kind)),*];

        fn listed(kind: &ErrorKind) -> &'static str {
            match kind {
                $(ErrorKind::$stage($stage::$kind { .. }) => stringify!($kind),)*
            }
        }
    };
}

kinds! {
    Syntax::TooLong
    Syntax::TooManyAxes
    Syntax::Empty
    Syntax::NoArrow
    Syntax::TwoArrows
    Syntax::UnknownCharacter
    Syntax::NestedBracket
    Syntax::UnopenedBracket
    Syntax::UnclosedBracket
    Syntax::StrayDot
    Syntax::SecondEllipsis
    Syntax::NotAnIdentifier
    Syntax::OuterUnderscore
    Syntax::ZeroAxis
    Syntax::HugeNumber
    Syntax::Duplicate
    Rule::EllipsisOnlyRight
    Rule::EllipsisInLeftGroup
    Rule::NumberInRearrange
    Rule::OneSided
    Rule::LostInRepeat
    Rule::NewInReduce
    Rule::WrongRank
    Rule::HugeRank
    Given::NeedsLength
    Given::TwoUnknown
    Given::BadLengthName
    Given::UnusedLength
    Given::LengthTwice
    Given::LengthType
    Given::HugeLength
    Given::UnknownReduction
    Misfit::Mismatch
    Misfit::NotDivisible
    Misfit::ZeroDivisor
    Misfit::NegativeLength
    Misfit::NegativeDimension
    Misfit::InputOverflow
    Misfit::OutputOverflow
    Misfit::TooManyElements
}

#[test]
fn every_row_is_refused_as_it_says() {
    let mut wrong = Vec::new();
    for [kind, op, pattern, shape, lengths, spans, message] in rows(TABLE) {
        let call = Call::read([&op, &pattern, &shape, &lengths]);
        let refused = call.run(Style::default()).err().map(|error| facts(&error));
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
    let rows: BTreeSet<String> = rows(TABLE).into_iter().map(|[kind, ..]: [_; 7]| kind).collect();
    let kinds: BTreeSet<String> = KINDS.iter().map(ToString::to_string).collect();
    assert_eq!(rows, kinds);
}

#[test]
fn a_kind_is_named_as_it_is_written_in_the_code() {
    for [_, op, pattern, shape, lengths, ..] in rows::<7>(TABLE) {
        let call = Call::read([&op, &pattern, &shape, &lengths]);
        let error = call.run(Style::default()).expect_err(&pattern);
        assert_eq!(error.kind().name(), listed(error.kind()));
    }
}
