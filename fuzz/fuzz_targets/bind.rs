//! Turns a call written as text into a plan: whatever the numbers are, the core answers with a plan or an error, never a panic.
//!
//! An input is an operation, a shape, the given lengths and a pattern, a line each: `rearrange`,
//! `2 12`, `h=3`, `b (h d) -> b h d`. The pattern comes last because it may hold line breaks.
#![no_main]

use einrs::{Op, Pattern, Style};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = call(text);
});

fn call(text: &str) -> Option<String> {
    let mut lines = text.splitn(4, '\n');
    let op = match lines.next()? {
        "rearrange" => Op::Rearrange,
        "reduce" => Op::Reduce,
        "repeat" => Op::Repeat,
        _ => return None,
    };
    let shape = numbers(lines.next()?)?;
    let given: Vec<_> = lines.next()?.split(' ').filter_map(|word| word.split_once('=')).collect();
    let names: Vec<_> = given.iter().map(|(name, _)| *name).collect();
    let lengths: Option<Vec<i64>> = given.iter().map(|(_, length)| length.parse().ok()).collect();
    let pattern = Pattern::parse(lines.next()?).ok()?;
    let recipe = match pattern.lower(op, &names, shape.len(), Style::default()) {
        Ok(recipe) => recipe,
        Err(error) => return Some(error.to_string()),
    };
    recipe.bind(&shape, &lengths?).ok().map(|plan| plan.to_string())
}

fn numbers(line: &str) -> Option<Vec<i64>> {
    line.split(' ').filter(|word| !word.is_empty()).map(|word| word.parse().ok()).collect()
}
