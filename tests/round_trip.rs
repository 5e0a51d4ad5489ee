//! Feeds the core any text: patterns print and parse back, errors point into the text, limits hold.

mod draw;

use std::collections::BTreeSet;

use draw::calls;
use einrs::{Error, ErrorKind, MAX_AXES, MAX_BYTES, Op, Pattern, Strided, Style, Syntax};
use proptest::prelude::*;

/// Text that is almost a pattern: its characters, wide and combining ones among them.
const ALMOST: &str = "[ab1_0 ().…é高\u{304}\t\n]{0,12}(->)?[ab10 ().é高\u{304}?-]{0,12}";

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3000) })]

    #[test]
    fn any_text_is_a_pattern_or_an_error_with_places(text in ".*") {
        check(&text)?;
    }

    #[test]
    fn what_is_almost_a_pattern_is_one_or_an_error_with_places(text in ALMOST) {
        check(&text)?;
    }

    #[test]
    fn a_spoilt_pattern_is_one_or_an_error_with_places(
        call in calls(),
        place in any::<prop::sample::Index>(),
        dropped in 0..3usize,
        inserted in "[a1 ().高>-]{0,2}",
    ) {
        let mut text: Vec<char> = call.pattern.chars().collect();
        let start = place.index(text.len() + 1);
        let end = (start + dropped).min(text.len());
        text.splice(start..end, inserted.chars());
        check(&text.iter().collect::<String>())?;
    }

    #[test]
    fn a_pattern_prints_as_it_was_written(call in calls(), spaces in spaces()) {
        prop_assert_eq!(Pattern::parse(&call.pattern)?.to_string(), &*call.pattern);
        let text = respaced(&call.pattern, &spaces);
        let parsed = Pattern::parse(&text)?;
        prop_assert_eq!(parsed.text(), &text);
        prop_assert_eq!(parsed.to_string(), call.pattern);
    }

    #[test]
    fn a_valid_call_gives_its_output(call in calls()) {
        let pattern = Pattern::parse(&call.pattern)?;
        let shape = call.shape();
        let recipe = pattern.lower(call.op, &call.names(), shape.len(), Style::default())?;
        let plan = recipe.bind(&shape, &call.lengths()).expect(&call.pattern);
        prop_assert_eq!(&*plan.output(), call.output());
    }

    #[test]
    fn any_numbers_give_a_plan_or_an_error_with_places(
        call in calls(),
        other_op in prop::option::weighted(0.1, op()),
        extra_size in prop::option::weighted(0.1, number()),
        changes in prop::collection::vec(prop::option::weighted(0.3, number()), 20),
    ) {
        let pattern = Pattern::parse(&call.pattern)?;
        let op = other_op.unwrap_or(call.op);
        let mut changes = changes.into_iter();
        let mut changed = |sizes: Vec<i64>| -> Vec<i64> {
            sizes.into_iter().map(|size| changes.next().flatten().unwrap_or(size)).collect()
        };
        let (mut shape, lengths) = (changed(call.shape()), changed(call.lengths()));
        shape.extend(extra_size);
        let names = call.names();
        match pattern.lower(op, &names, shape.len(), Style::default()) {
            Err(error) => check_error(&error)?,
            Ok(recipe) => match recipe.bind(&shape, &lengths) {
                Err(misfit) => check_error(&recipe.explain(misfit, &pattern, &names))?,
                Ok(plan) => {
                    prop_assert!(plan.output().iter().all(|size| *size >= 0), "{}", plan);
                    if op != Op::Reduce {
                        // Broadcast tensors of any size exist, with strides of 0.
                        let mut view = Strided::default();
                        let _ = plan.layout(&vec![0; shape.len()], 8, &mut view);
                    }
                }
            },
        }
    }
}

fn op() -> impl Strategy<Value = Op> {
    prop::sample::select(vec![Op::Rearrange, Op::Reduce, Op::Repeat])
}

/// Small, wrong and huge lengths.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![0..7i64, prop::sample::select(vec![0, 0, -1, 1 << 32, 1 << 62, i64::MAX, i64::MIN])]
}

fn spaces() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ \t\n\r\u{a0}\u{2003}]{0,2}", 80)
}

/// The pattern with other white space between its parts, and some where there was none.
fn respaced(pattern: &str, spaces: &[String]) -> String {
    let mut text = String::new();
    let mut spaces = spaces.iter().cycle();
    for part in pattern.split_inclusive([' ', '(', ')']) {
        let word = part.trim_end_matches([' ', '(', ')']);
        let mark = part[word.len()..].trim();
        let needed = if part.ends_with(' ') { " " } else { "" };
        text.extend([word, spaces.next().map_or("", |s| s), mark, needed]);
        text.push_str(spaces.next().map_or("", |s| s));
    }
    text
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let parsed = match Pattern::parse(text) {
        Ok(parsed) => parsed,
        Err(error) => return check_error(&error),
    };
    prop_assert_eq!(parsed.text(), text);
    let printed = parsed.to_string();
    prop_assert_eq!(Pattern::parse(&printed)?.to_string(), &*printed);
    for (op, ndim) in [(Op::Rearrange, 1), (Op::Reduce, 2), (Op::Repeat, 3)] {
        if let Err(error) = parsed.lower(op, &["a", "_"], ndim, Style::default()) {
            check_error(&error)?;
        }
    }
    Ok(())
}

fn check_error(error: &Error) -> Result<(), TestCaseError> {
    let text = error.pattern();
    prop_assert!(error.spans().len() <= 2);
    prop_assert!(!error.kind().to_string().trim().is_empty());
    for span in error.spans() {
        prop_assert!(text.get(span.start..span.end).is_some(), "{:?} in {:?}", span, text);
    }
    check_carets(error)
}

/// Where the last two lines show the whole pattern, the carets stand under the places, as far as
/// this test knows how wide the characters are.
fn check_carets(error: &Error) -> Result<(), TestCaseError> {
    let (text, message) = (error.pattern(), error.to_string());
    let known = text.chars().all(|c| matches!(c, ' '..='~' | 'é' | '…' | '高' | '\u{304}'));
    if error.spans().is_empty() || !known {
        return Ok(());
    }
    let mut lines = message.rsplit('\n');
    let (carets, shown) = (lines.next().unwrap_or(""), lines.next().unwrap_or(""));
    if shown != format!("  {text}") {
        prop_assert!(text.len() > 80, "{}", message);
        return Ok(());
    }
    let column = |end: usize| 2 + text[..end].chars().map(width).sum::<usize>();
    let under = |span: &einrs::Span| {
        let (start, end) = (column(span.start), column(span.end));
        start..end.max(start + 1)
    };
    let wanted: BTreeSet<usize> = error.spans().iter().flat_map(under).collect();
    let marked: BTreeSet<usize> =
        carets.char_indices().filter(|(_, c)| *c == '^').map(|(at, _)| at).collect();
    prop_assert_eq!(marked, wanted, "{}", message);
    Ok(())
}

fn width(c: char) -> usize {
    match c {
        '\u{304}' => 0,
        '高' => 2,
        _ => 1,
    }
}

#[test]
fn a_cut_pattern_has_its_carets_under_the_place() {
    for before in [0, 1, 40, 59, 60, 61, 62, 500] {
        let text = format!("{} ?{} -> a", "é".repeat(before), " b".repeat(500));
        check_cut(&Pattern::parse(&text).expect_err("a question mark"), '?');
    }
}

#[test]
fn a_cut_pattern_need_not_show_its_second_place() {
    let far = " ".repeat(500);
    let error = Pattern::parse(&format!("(x{far}(y -> z")).expect_err("a bracket in brackets");
    check_cut(&error, '(');
    let text = format!("height -> {far} heigth");
    let pattern = Pattern::parse(&text).expect("a pattern");
    let misspelt = pattern.lower(Op::Reduce, &[], 1, Style::default());
    check_cut(&misspelt.expect_err("a new axis"), 'h');
}

/// Where the last two lines show a part of the pattern, the first caret stands under `mark`.
fn check_cut(error: &Error, mark: char) {
    let message = error.to_string();
    let mut lines = message.rsplit('\n');
    let places = ['^', mark].map(|mark| {
        let line = lines.next().unwrap_or("");
        line.chars().position(|c| c == mark)
    });
    assert!(places[0].is_some() && places[0] == places[1], "{message}");
}

/// Text that exceeds a limit, with the kind of error: of 10 MB, of 100,000 parts, and of as many
/// parts as fit the limit on bytes.
fn excessive() -> Vec<(String, Syntax)> {
    let mut rows = Vec::new();
    for part in ["a ", "1 ", "()", "(1)", "( ", ") ", "... ", "é", "-> ", "  "] {
        for count in [100_000, 10_000_000 / part.len()] {
            rows.push((part.repeat(count), Syntax::TooLong));
        }
    }
    for part in ["1 ", "()", "(1)", "(1 1)"] {
        rows.push((part.repeat(MAX_BYTES / part.len()), Syntax::TooManyAxes));
        rows.push((format!("-> {}", part.repeat(10_000)), Syntax::TooManyAxes));
    }
    rows.push((distinct_names(10_000, 1), Syntax::TooManyAxes));
    rows
}

fn distinct_names(count: usize, length: usize) -> String {
    let names: Vec<String> = (0..count).map(|i| format!("{}{i}", "x".repeat(length))).collect();
    names.join(" ")
}

#[test]
fn what_exceeds_a_limit_is_refused_at_once() {
    for (text, kind) in excessive() {
        let error = Pattern::parse(&text).expect_err("a limit");
        assert_eq!(error.kind(), &ErrorKind::Syntax(kind));
        assert!(error.to_string().len() < 1000);
    }
}

#[test]
fn what_just_keeps_the_limits_is_read() {
    let side = distinct_names(MAX_AXES, 1);
    let units = "()".repeat(MAX_AXES);
    for text in [format!("{side} -> {side}"), format!("{units} -> {units}")] {
        assert!(Pattern::parse(&text).is_ok(), "{MAX_AXES} axes");
        assert!(Pattern::parse(&format!("1 {text}")).is_err(), "one axis more");
        let pattern = Pattern::parse(&text).expect("as above");
        assert!(pattern.lower(Op::Rearrange, &[], MAX_AXES, Style::default()).is_ok());
    }
    let longest = format!("{} -> a", "a".repeat(MAX_BYTES - 5));
    assert!(Pattern::parse(&longest).is_ok());
    assert!(Pattern::parse(&format!("{longest} ")).is_err());
}

/// Patterns as long as may be, of each shape that could cost more than linear time, which would
/// take hours.
#[test]
fn the_longest_patterns_are_read_many_times() {
    let name = "é".repeat(MAX_BYTES / 4);
    let names = distinct_names(MAX_AXES, 100);
    let texts = [
        format!("{name} -> {name}"),
        format!("{names}->{names}"),
        " ".repeat(MAX_BYTES),
        format!("{} a", " ".repeat(MAX_BYTES - 2)),
        ".".repeat(MAX_BYTES),
        "é".repeat(MAX_BYTES / 2),
    ];
    for text in texts.iter().filter(|text| text.len() <= MAX_BYTES) {
        let first = Pattern::parse(text).map(|pattern| pattern.to_string());
        for _ in 0..100 {
            assert_eq!(Pattern::parse(text).is_ok(), first.is_ok());
        }
    }
}
