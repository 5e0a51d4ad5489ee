//! Turns a row of the tables about several tensors into a call of the core: what `joins.rs` and
//! `errors.rs` share.

use einrs::{EinMix, Einsum, Error, Packing, Piece, ShapeNames};

/// The columns that `joins.tsv` and `joins_errors.tsv` share.
#[derive(Debug)]
pub(crate) struct Join<'t> {
    op: &'t str,
    pattern: &'t str,
    /// Of the tensors, or the names of the lengths that are given to an `EinMix`.
    shapes: &'t str,
    /// The shapes to unpack, or the shapes of weight and bias in words.
    extra: &'t str,
}

impl<'t> Join<'t> {
    pub(crate) fn read([op, pattern, shapes, extra]: [&'t String; 4]) -> Self {
        Self { op, pattern, shapes, extra }
    }

    /// What the core makes of it, as it is written in a table.
    pub(crate) fn run(&self) -> Result<String, Error> {
        match self.op {
            "einsum" => self.einsum(),
            "pack" => self.pack(),
            "unpack" => self.unpack(),
            "parse_shape" => self.parse_shape(),
            "einmix" => self.einmix(),
            other => panic!("no operation: {other}"),
        }
    }

    /// The pattern in single letters.
    fn einsum(&self) -> Result<String, Error> {
        let einsum = Einsum::parse(self.pattern)?;
        einsum.check(&shapes(self.shapes))?;
        Ok(einsum.compact().into())
    }

    /// How many axes stand before the `*` and after it.
    fn pack(&self) -> Result<String, Error> {
        let packing = Packing::parse(self.pattern)?;
        packing.check_pack(&shapes(self.shapes))?;
        Ok(format!("{} * {}", packing.before(), packing.after()))
    }

    /// Where the pieces begin and end, with what -1 stands for.
    fn unpack(&self) -> Result<String, Error> {
        let packing = Packing::parse(self.pattern)?;
        let pieces = packing.unpack(&sizes(self.shapes), &shapes(self.extra))?;
        Ok(written(pieces.iter().map(|piece| match *piece {
            Piece { start, stop, unknown: -1 } => format!("{start}:{stop}"),
            Piece { start, stop, unknown } => format!("{start}:{stop}={unknown}"),
        })))
    }

    /// Names with their dimensions, then dimensions with their lengths.
    fn parse_shape(&self) -> Result<String, Error> {
        let shape = sizes(self.shapes);
        let parsed = ShapeNames::parse(self.pattern, shape.len())?;
        parsed.check(&shape)?;
        let names = parsed.names().iter().map(|(dim, name)| format!("{name}@{dim}"));
        let lengths = parsed.lengths().iter().map(|(dim, length)| format!("{dim}={length}"));
        Ok(written(names.chain(lengths)))
    }

    /// The parts, those that are absent as `-`.
    fn einmix(&self) -> Result<String, Error> {
        let names: Vec<&str> = self.shapes.split(',').filter(|_| self.shapes != "-").collect();
        let (weight, bias) = match self.extra.split_once('|') {
            Some((weight, bias)) => (weight, Some(bias)),
            None => (self.extra, None),
        };
        let mix = EinMix::parse(self.pattern, weight, bias, &names)?;
        let bias = mix.bias.as_ref().map(|axes| {
            written(axes.iter().map(|axis| axis.clone().unwrap_or_else(|| "1".into())))
        });
        let part = |part: Option<String>| part.unwrap_or_else(|| "-".into());
        let list = |names: &[String]| written(names.iter().cloned());
        let (weight, fan_in) = (list(&mix.weight), list(&mix.fan_in));
        let texts = [part(mix.pre), mix.einsum, part(mix.post), weight, fan_in, part(bias)];
        Ok(texts.join("; "))
    }
}

/// The shapes of a cell, separated by semicolons; none for `none`.
fn shapes(cell: &str) -> Vec<Vec<i64>> {
    cell.split(';').filter(|_| cell != "none").map(sizes).collect()
}

fn sizes(cell: &str) -> Vec<i64> {
    cell.split(',').filter(|_| cell != "-").map(|size| size.parse().expect("a size")).collect()
}

fn written(parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "none".into() } else { parts.join(" ") }
}
