//! Checks what the core makes of several tensors: each row of `joins.tsv` gives its answer, and any
//! pattern means what a naive twin says.

mod join;
mod rows;

use std::collections::HashMap;

use einrs::{EinMix, Einsum, EinsumRule, Error, PackRule, Packing, Piece, ShapeNames, pieces};
use join::Join;
use proptest::prelude::*;
use rows::rows;

const TABLE: &str = include_str!("joins.tsv");
const LETTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const NAMES: [&str; 8] = ["a", "b", "height", "x_1", "é", "高", "_", "if"];

/// Text that is almost a pattern of one of the grammars.
const ALMOST: &str = "[ab1_0 ().,*é高\u{304}\t\n]{0,12}(->)?[ab10, ().*é高\u{304}?-]{0,12}";

#[test]
fn every_row_gives_its_answer() {
    let mut wrong = Vec::new();
    for [op, pattern, shapes, extra, answer] in rows(TABLE) {
        let made = Join::read([&op, &pattern, &shapes, &extra]).run();
        if made.as_ref() != Ok(&answer) {
            wrong.push(format!("{op} {pattern} {extra}: {answer}, but {made:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(5000) })]

    #[test]
    fn pieces_are_those_of_a_naive_twin(length in 0..40i64, shapes in shapes(-2..6)) {
        let wanted = naive_pieces(length, &shapes);
        let made = pieces(length, shapes.iter().map(Vec::as_slice));
        prop_assert_eq!(made.as_ref().ok(), wanted.as_ref(), "{:?}", made);
    }

    #[test]
    fn what_is_packed_is_unpacked(shapes in shapes(0..5), hidden in any::<prop::sample::Index>()) {
        let counts: Vec<i64> = shapes.iter().map(|shape| shape.iter().product()).collect();
        let total = counts.iter().sum();
        let made = pieces(total, shapes.iter().map(Vec::as_slice)).expect("they add up");
        let lengths: Vec<i64> = made.iter().map(|piece| piece.stop - piece.start).collect();
        prop_assert_eq!(&lengths, &counts);
        prop_assert!(made.windows(2).all(|pair| pair[0].stop == pair[1].start));

        // One length that is not told is found again, if the others of its shape say so.
        let mut open = shapes.clone();
        let places: Vec<(usize, usize)> = (0..open.len())
            .flat_map(|i| (0..open[i].len()).map(move |j| (i, j)))
            .collect();
        if places.is_empty() {
            return Ok(());
        }
        let (i, j) = places[hidden.index(places.len())];
        open[i][j] = -1;
        let others: i64 = open[i].iter().filter(|size| **size != -1).product();
        let found = pieces(total, open.iter().map(Vec::as_slice));
        if others == 0 {
            let kind = PackRule::UnknownNotDivisible { rest: counts[i], product: 0 };
            prop_assert_eq!(found, Err(kind));
        } else {
            let found = found.expect("the others say it");
            prop_assert_eq!(found[i].unknown, shapes[i][j]);
            prop_assert_eq!(&*found[i].sizes(&open[i]), &*shapes[i]);
            let bounds = |pieces: &[Piece]| pieces.iter().map(|p| (p.start, p.stop)).collect::<Vec<_>>();
            prop_assert_eq!(bounds(&found), bounds(&made));
        }
    }

    #[test]
    fn pieces_of_huge_shapes_still_lie_side_by_side(
        length in prop_oneof![Just(0), Just(10), Just(i64::MAX)],
        shapes in shapes(i64::MIN..i64::MAX),
    ) {
        let Ok(pieces) = pieces(length, shapes.iter().map(Vec::as_slice)) else { return Ok(()) };
        let mut start = 0;
        for (piece, shape) in pieces.iter().zip(&shapes) {
            let count: i128 = piece.sizes(shape).iter().map(|size| i128::from(*size)).product();
            prop_assert_eq!(piece.start, start);
            prop_assert_eq!(i128::from(piece.stop - piece.start), count);
            start = piece.stop;
        }
        prop_assert_eq!(start, length);
    }

    #[test]
    fn letters_are_those_of_a_naive_renaming((operands, output) in contractions()) {
        let pattern = written(&operands, &output);
        let einsum = Einsum::parse(&pattern)?;
        prop_assert_eq!(einsum.compact(), naive_letters(&operands, &output));
    }

    #[test]
    fn letters_are_a_pattern_of_the_same_letters((operands, output) in contractions()) {
        let pattern = written(&operands, &output);
        let compact = Einsum::parse(&pattern)?.compact().to_owned();
        let spaced: String = compact
            .replace("...", "\u{2026}")
            .replace("->", "\u{2192}")
            .chars()
            .flat_map(|c| [c, ' '])
            .collect();
        let again = spaced.replace('\u{2026}', "...").replace('\u{2192}', "->");
        let again = Einsum::parse(&again)?;
        prop_assert_eq!(again.compact(), compact);
    }

    #[test]
    fn shapes_of_one_length_for_each_name_fit(
        (operands, output) in contractions(),
        lengths in proptest::collection::vec(2..9i64, NAMES.len()),
        hidden in proptest::collection::vec(1..4i64, 0..3),
        wrong in any::<prop::sample::Index>(),
    ) {
        let pattern = written(&operands, &output);
        let einsum = Einsum::parse(&pattern)?;
        let length = |name: &str| NAMES.iter().position(|known| *known == name).map(|i| lengths[i]);
        let shape = |operand: &Vec<String>| -> Vec<i64> {
            operand.iter().flat_map(|axis| length(axis).map_or(hidden.clone(), |n| vec![n])).collect()
        };
        let shapes: Vec<Vec<i64>> = operands.iter().map(shape).collect();
        prop_assert_eq!(einsum.check(&shapes), Ok(()));

        // A name that stands twice cannot have two lengths.
        let twice = |axis: &String| operands.iter().flatten().filter(|other| *other == axis).count() > 1;
        let named: Vec<(usize, usize)> = operands.iter().enumerate().flat_map(|(i, operand)| {
            let start = operand.iter().position(|axis| axis == "...").unwrap_or(operand.len());
            (0..start).filter(|j| twice(&operand[*j])).map(move |j| (i, j)).collect::<Vec<_>>()
        }).collect();
        if named.is_empty() {
            return Ok(());
        }
        let (i, j) = named[wrong.index(named.len())];
        let mut spoilt = shapes;
        spoilt[i][j] += 9;
        let error = einsum.check(&spoilt).expect_err("two lengths");
        let is_mismatch = matches!(
            error.kind(),
            einrs::ErrorKind::Einsum(EinsumRule::AxisMismatch { name, .. }) if *name == operands[i][j]
        );
        prop_assert!(is_mismatch, "{}", error);
    }

    #[test]
    fn named_dimensions_are_those_of_a_naive_twin(
        axes in proptest::collection::vec(0..NAMES.len() + 3, 0..6),
        ellipsis in proptest::option::of((any::<prop::sample::Index>(), 0..3usize)),
    ) {
        let mut words: Vec<String> = Vec::new();
        for axis in axes {
            let word = match axis.checked_sub(NAMES.len()) {
                None => NAMES[axis].to_string(),
                Some(0) => "()".into(),
                Some(number) => (number * 7).to_string(),
            };
            if word == "_" || word == "()" || word.starts_with(char::is_numeric) || !words.contains(&word) {
                words.push(word);
            }
        }
        let mut dims: Vec<Option<String>> = words.iter().cloned().map(Some).collect();
        if let Some((place, count)) = ellipsis {
            let at = place.index(words.len() + 1);
            words.insert(at, "...".into());
            dims.splice(at..at, vec![None; count]);
        }
        let parsed_text = words.join(" ");
        let parsed = ShapeNames::parse(&parsed_text, dims.len())?;
        let mut names = Vec::new();
        let mut numbers = Vec::new();
        for (dim, word) in dims.iter().enumerate() {
            match word.as_deref() {
                None | Some("_") => {}
                Some("()") => numbers.push((dim, 1)),
                Some(word) => match word.parse() {
                    Ok(number) => numbers.push((dim, number)),
                    Err(_) => names.push((dim, word.to_owned())),
                },
            }
        }
        prop_assert_eq!(parsed.names(), names);
        prop_assert_eq!(parsed.lengths(), numbers);
    }

    #[test]
    fn any_text_is_read_or_refused_with_places(text in prop_oneof![ALMOST, ".*"], ndim in 0..6usize) {
        let shapes = [vec![2; ndim], vec![3; ndim]];
        let tried: [Result<(), Error>; 6] = [
            Einsum::parse(&text).and_then(|einsum| einsum.check(&shapes)),
            Packing::parse(&text).and_then(|packing| packing.check_pack(&shapes)),
            Packing::parse(&text).and_then(|packing| packing.unpack(&shapes[0], &shapes).map(drop)),
            ShapeNames::parse(&text, ndim).and_then(|names| names.check(&shapes[0])),
            EinMix::parse(&text, "a b", Some("b"), &["a", "b"]).map(drop),
            EinMix::parse("a -> b", &text, None, &["a", "b"]).map(drop),
        ];
        for error in tried.into_iter().filter_map(Result::err) {
            let length = error.pattern().len();
            prop_assert!(error.spans().iter().all(|span| span.start <= span.end && span.end <= length));
            prop_assert!(!error.to_string().is_empty());
        }
    }
}

fn shapes(sizes: std::ops::Range<i64>) -> impl Strategy<Value = Vec<Vec<i64>>> {
    let size = prop_oneof![4 => 0..5i64, 1 => sizes];
    proptest::collection::vec(proptest::collection::vec(size, 0..4), 0..5)
}

/// Tries every value that -1 may stand for.
fn naive_pieces(length: i64, shapes: &[Vec<i64>]) -> Option<Vec<Piece>> {
    let open: Vec<i64> = shapes.iter().flatten().copied().filter(|size| *size < 0).collect();
    let candidates = match open[..] {
        [] => -1..0,
        [-1] => 0..length + 2,
        _ => return None,
    };
    let attempt = |unknown: i64| {
        let mut start = 0;
        let pieces: Vec<Piece> = shapes
            .iter()
            .map(|shape| {
                let sizes = shape.iter().map(|size| if *size < 0 { unknown } else { *size });
                let stop = start + sizes.product::<i64>();
                let unknown = if shape.contains(&-1) { unknown } else { -1 };
                let piece = Piece { start, stop, unknown };
                start = stop;
                piece
            })
            .collect();
        (start == length).then_some(pieces)
    };
    let mut fitting = candidates.filter_map(attempt);
    // What fits in more than one way is refused.
    let found = fitting.next();
    if fitting.next().is_some() { None } else { found }
}

/// Operands and the result of a contraction, as lists of names and ellipses.
fn contractions() -> impl Strategy<Value = (Vec<Vec<String>>, Vec<String>)> {
    let axis = (0..NAMES.len()).prop_map(|i| NAMES[i].to_string());
    let place = proptest::option::of(any::<prop::sample::Index>());
    let operand =
        (proptest::collection::vec(axis, 0..5), place).prop_map(|(mut axes, ellipsis)| {
            if let Some(place) = ellipsis {
                axes.insert(place.index(axes.len() + 1), "...".into());
            }
            axes
        });
    let operands = proptest::collection::vec(operand, 1..4);
    (operands, proptest::collection::vec(any::<prop::sample::Index>(), 0..5)).prop_map(
        |(operands, picks)| {
            let all: Vec<&String> = operands.iter().flatten().collect();
            let mut output: Vec<String> = Vec::new();
            for pick in picks.iter().filter(|_| !all.is_empty()) {
                let axis = all[pick.index(all.len())];
                if !output.contains(axis) {
                    output.push(axis.clone());
                }
            }
            (operands, output)
        },
    )
}

/// Some names in brackets of their own, with axes of length 1, which change nothing.
fn written(operands: &[Vec<String>], output: &[String]) -> String {
    let spelt = |axis: &String| match axis.as_str() {
        "height" => "(1 height 1)".into(),
        "x_1" => "(x_1)".into(),
        _ => axis.clone(),
    };
    let side = |axes: &[String]| axes.iter().map(spelt).collect::<Vec<_>>().join(" ");
    let operands: Vec<String> = operands.iter().map(|operand| side(operand)).collect();
    format!("{} -> {}", operands.join(", "), side(output))
}

fn naive_letters(operands: &[Vec<String>], output: &[String]) -> String {
    let mut letters: HashMap<&str, char> = HashMap::from([("...", '.')]);
    let mut free = LETTERS.chars();
    for axis in operands.iter().flatten() {
        letters.entry(axis).or_insert_with(|| free.next().expect("a letter"));
    }
    let word = |axes: &[String]| -> String {
        let text = |axis: &String| match letters[&**axis] {
            '.' => "...".into(),
            letter => letter.to_string(),
        };
        axes.iter().map(text).collect()
    };
    let operands: Vec<String> = operands.iter().map(|operand| word(operand)).collect();
    format!("{}->{}", operands.join(","), word(output))
}
