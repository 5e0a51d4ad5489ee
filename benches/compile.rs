//! Measures text to plan, stage by stage, over patterns from real programs, as patterns per second.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput};
use einrs::{Op, Pattern, Recipe, Style};
use serde_json::Value;

const ROWS: &str = include_str!("../tests/data/patterns.jsonl");

/// A call found in a program: its pattern, and the shape and lengths it is run with.
struct Call<'v> {
    op: Op,
    pattern: &'v str,
    shape: Vec<i64>,
    names: Vec<&'v str>,
    lengths: Vec<i64>,
}

impl<'v> Call<'v> {
    /// Reads a row; `None` for operations that this crate does not have and for calls that fail.
    fn read(row: &'v Value) -> Option<Self> {
        let given = row["kwargs"].as_object()?;
        let call = Self {
            op: op(row["op"].as_str()?)?,
            pattern: row["pattern"].as_str()?,
            shape: row["shape"].as_array()?.iter().map(Value::as_i64).collect::<Option<_>>()?,
            names: given.keys().map(String::as_str).collect(),
            lengths: given.values().map(Value::as_i64).collect::<Option<_>>()?,
        };
        call.compiles().then_some(call)
    }

    fn parse(&self) -> Option<Pattern<'v>> {
        Pattern::parse(black_box(self.pattern)).ok()
    }

    fn lower(&self, pattern: &Pattern<'_>) -> Option<Recipe> {
        pattern.lower(self.op, &self.names, self.shape.len(), Style::default()).ok()
    }

    fn bind(&self, recipe: &Recipe) -> bool {
        black_box(recipe.bind(black_box(&self.shape), black_box(&self.lengths))).is_ok()
    }

    fn compiles(&self) -> bool {
        let recipe = self.parse().and_then(|pattern| self.lower(&pattern));
        recipe.is_some_and(|recipe| self.bind(&recipe))
    }
}

fn op(name: &str) -> Option<Op> {
    match name.to_ascii_lowercase().as_str() {
        "rearrange" => Some(Op::Rearrange),
        "reduce" => Some(Op::Reduce),
        "repeat" => Some(Op::Repeat),
        _ => None,
    }
}

fn stages(group: &mut BenchmarkGroup<'_, WallTime>, calls: &[Call<'_>]) {
    let patterns: Vec<_> = calls.iter().filter_map(Call::parse).collect();
    let recipes: Vec<_> =
        calls.iter().zip(&patterns).filter_map(|(call, pattern)| call.lower(pattern)).collect();

    group.throughput(Throughput::Elements(calls.len() as u64));
    group.bench_function("parse", |b| {
        b.iter(|| calls.iter().filter_map(|call| black_box(call.parse())).count());
    });
    group.bench_function("lower", |b| {
        b.iter(|| calls.iter().zip(&patterns).filter_map(|(c, p)| black_box(c.lower(p))).count());
    });
    group.bench_function("bind", |b| {
        b.iter(|| calls.iter().zip(&recipes).filter(|(call, recipe)| call.bind(recipe)).count());
    });
    group.bench_function("whole", |b| {
        b.iter(|| calls.iter().filter(|call| call.compiles()).count());
    });
}

fn main() {
    let rows: Vec<Value> = ROWS
        .lines()
        .map(|line| serde_json::from_str(line).expect("every line of the table is JSON"))
        .collect();
    let calls: Vec<_> = rows.iter().filter_map(Call::read).collect();
    eprintln!("{} of {} rows are calls that compile", calls.len(), rows.len());

    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("compile");
    stages(&mut group, &calls);
    group.finish();
    criterion.final_summary();
}
