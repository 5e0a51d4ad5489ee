//! Turns a row of `cases.tsv` or `errors.tsv` into a call and makes it.

use einrs::{Error, Given, Op, Pattern, Style, nearest};

const REDUCTIONS: [&str; 7] = ["min", "max", "sum", "mean", "prod", "any", "all"];

/// A call as the first columns of both tables describe it.
#[derive(Debug)]
pub(crate) struct Call {
    op: Op,
    reduction: String,
    pattern: String,
    shape: Vec<i64>,
    /// Names and lengths, the latter as Python literals.
    given: Vec<(String, String)>,
}

impl Call {
    /// From the cells for operation, pattern, shape and lengths.
    pub(crate) fn read([op, pattern, shape, lengths]: [&String; 4]) -> Self {
        let (op, reduction) = op.split_once(':').unwrap_or((op, "sum"));
        let op = match op {
            "rearrange" => Op::Rearrange,
            "reduce" => Op::Reduce,
            "repeat" => Op::Repeat,
            other => panic!("no operation: {other}"),
        };
        let pair = |pair: &str| {
            let (name, length) = pair.split_once('=').expect("name=length");
            (name.into(), length.into())
        };
        Self {
            op,
            reduction: reduction.into(),
            pattern: pattern.into(),
            shape: list(shape).map(|size| size.parse().expect("a size")).collect(),
            given: list(lengths).map(pair).collect(),
        }
    }

    /// The plan and the shape of the result, as they are written in a table.
    pub(crate) fn run(&self, style: Style) -> Result<[String; 2], Error> {
        let pattern = Pattern::parse(&self.pattern)?;
        self.check_reduction()?;
        let names: Vec<&str> = self.given.iter().map(|(name, _)| name.as_str()).collect();
        let recipe = pattern.lower(self.op, &names, self.shape.len(), style)?;
        let lengths = self.lengths()?;
        let plan = recipe
            .bind(&self.shape, &lengths)
            .map_err(|misfit| recipe.explain(misfit, &pattern, &names))?;
        Ok([plan.to_string(), written(&plan.output())])
    }

    /// What the binding does before it comes to the core.
    fn check_reduction(&self) -> Result<(), Error> {
        if REDUCTIONS.contains(&&*self.reduction) {
            return Ok(());
        }
        let near = nearest(&self.reduction, REDUCTIONS).map(Into::into);
        let kind = Given::UnknownReduction { name: self.reduction.clone(), near };
        Err(Error::about(&self.pattern, "", kind))
    }

    /// What the binding does with lengths that are no integers of 64 bits.
    fn lengths(&self) -> Result<Vec<i64>, Error> {
        let length = |(name, literal): &(String, String)| {
            let wrong = |_| {
                let name = name.clone();
                let kind = if literal.parse::<i128>().is_ok() {
                    Given::HugeLength { name: name.clone(), length: literal.clone() }
                } else {
                    Given::LengthType { name: name.clone(), given: python_type(literal).into() }
                };
                Error::about(&self.pattern, &name, kind)
            };
            literal.parse().map_err(wrong)
        };
        self.given.iter().map(length).collect()
    }
}

fn python_type(literal: &str) -> &'static str {
    match literal.as_bytes() {
        b"None" => "NoneType",
        [b'\'', ..] => "str",
        _ => "float",
    }
}

/// The parts of a comma-separated cell; none for `-`.
fn list(cell: &str) -> impl Iterator<Item = &str> {
    cell.split(',').filter(move |_| cell != "-")
}

fn written(sizes: &[i64]) -> String {
    let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
    if sizes.is_empty() { "-".into() } else { sizes.join(",") }
}
