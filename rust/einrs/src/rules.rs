//! Which pattern goes with which operation, lengths and rank: the only code that compares names.

use crate::parse::{check_name, normalise};
use crate::pattern::{Axis, AxisKind, Side};
use crate::{Error, ErrorKind, Given, Op, Pattern, Rule, Span, nearest};

/// The highest rank of a tensor that is accepted; no framework allows more than 64.
pub const MAX_RANK: usize = 1024;

impl Pattern<'_> {
    /// Who may stand on which side.
    pub(crate) fn check_sides(&self, op: Op) -> Result<(), Error> {
        match (self.left.ellipsis(), self.right.ellipsis()) {
            (None, Some(dim)) => return Err(self.error(Rule::EllipsisOnlyRight, [dim.span])),
            (Some(dim), _) if dim.group => {
                return Err(self.error(Rule::EllipsisInLeftGroup, [dim.span]));
            }
            _ => {}
        }
        match op {
            Op::Rearrange => self.check_rearrange(),
            Op::Repeat => self.check_repeat(),
            Op::Reduce => self.check_reduce(),
        }
    }

    fn check_rearrange(&self) -> Result<(), Error> {
        let mut axes = self.left.axes.iter().chain(&self.right.axes);
        if let Some(number) = axes.find(|axis| matches!(axis.kind, AxisKind::Number(2..))) {
            return Err(self.error(Rule::NumberInRearrange, [number.span]));
        }
        let vanished = missing_from(&self.left, &self.right);
        let appeared = missing_from(&self.right, &self.left);
        let Some(first) = vanished.first().or(appeared.first()) else { return Ok(()) };
        let others = if vanished.is_empty() { &vanished } else { &appeared };
        let near = suggestion(first, others);
        let spans = places(first, near);
        let axes = vanished.iter().chain(&appeared).map(ToString::to_string).collect();
        Err(self.error(Rule::OneSided { axes, near: owned_name(near) }, spans))
    }

    fn check_repeat(&self) -> Result<(), Error> {
        let lost = missing_from(&self.left, &self.right);
        let Some(first) = lost.first() else { return Ok(()) };
        Err(self.error(Rule::LostInRepeat { axes: shown(&lost) }, [first.span]))
    }

    fn check_reduce(&self) -> Result<(), Error> {
        let new = missing_from(&self.right, &self.left);
        let Some(first) = new.first() else { return Ok(()) };
        let near = suggestion(first, &missing_from(&self.left, &self.right));
        let spans = places(first, near);
        Err(self.error(Rule::NewInReduce { axes: shown(&new), near: owned_name(near) }, spans))
    }

    /// That each new axis of a repeat has a length.
    pub(crate) fn check_new_lengths(&self, names: &[&str]) -> Result<(), Error> {
        let has_length = |axis: &&Axis| match axis.name() {
            Some(name) => names.iter().any(|given| normalise(given) == name),
            None => true,
        };
        let mut needy = missing_from(&self.right, &self.left);
        needy.retain(|axis| !has_length(axis));
        let Some(first) = needy.first() else { return Ok(()) };
        let unused = names.iter().copied().filter(|name| self.axis_named(name).is_none());
        let near = nearest(first.name().unwrap_or_default(), unused).map(Into::into);
        Err(self.error(Given::NeedsLength { axes: shown(&needy), near }, [first.span]))
    }

    /// That each given length belongs to one axis of the pattern.
    pub(crate) fn check_given(&self, names: &[&str]) -> Result<(), Error> {
        for (i, name) in names.iter().enumerate() {
            if check_name(name).is_err() {
                return Err(self.error(Given::BadLengthName { name: (*name).into() }, []));
            }
            if self.axis_named(name).is_none() {
                return Err(self.unused_length(name, names));
            }
            if names[..i].iter().any(|earlier| normalise(earlier) == normalise(name)) {
                return Err(self.error(Given::LengthTwice { name: (*name).into() }, []));
            }
        }
        Ok(())
    }

    #[cold]
    fn unused_length(&self, name: &str, names: &[&str]) -> Error {
        let free = |axis: &&str| !names.iter().any(|given| normalise(given) == **axis);
        let near = nearest(name, self.left.names().chain(self.right.names()).filter(free));
        let span = near.and_then(|near| self.axis_named(near)).map(|axis| axis.span);
        let kind = Given::UnusedLength { name: name.into(), near: near.map(Into::into) };
        self.error(kind, span.as_slice())
    }

    /// How many dimensions the ellipsis stands for; 0 if there is none.
    pub(crate) fn ellipsis_rank(&self, ndim: usize) -> Result<usize, Error> {
        if ndim > MAX_RANK {
            return Err(self.error(Rule::HugeRank { ndim }, []));
        }
        let (expected, at_least) = self.rank();
        if ndim == expected || (at_least && ndim > expected) {
            return Ok(ndim - expected);
        }
        Err(self.error(Rule::WrongRank { expected, at_least, ndim }, [self.left.trimmed()]))
    }

    fn axis_named(&self, name: &str) -> Option<&Axis<'_>> {
        let name = normalise(name);
        self.left.named(&name).or_else(|| self.right.named(&name))
    }

    #[cold]
    pub(crate) fn error(&self, kind: impl Into<ErrorKind>, spans: impl Into<Box<[Span]>>) -> Error {
        Error::new(kind, self.text, spans)
    }
}

/// The axes of one side that the other side lacks. A number other than 1 is never shared.
fn missing_from<'s, 't>(side: &'s Side<'t>, other: &Side<'t>) -> Vec<&'s Axis<'t>> {
    let missing = |axis: &&Axis| match &axis.kind {
        AxisKind::Name(name) => other.named(name).is_none(),
        AxisKind::Number(length) => *length > 1,
        AxisKind::Ellipsis => other.ellipsis().is_none(),
    };
    side.axes.iter().filter(missing).collect()
}

fn suggestion<'s, 't>(axis: &Axis<'t>, others: &[&'s Axis<'t>]) -> Option<&'s Axis<'t>> {
    let near = nearest(axis.name()?, others.iter().filter_map(|other| other.name()))?;
    others.iter().copied().find(|other| other.name() == Some(near))
}

fn places(axis: &Axis<'_>, near: Option<&Axis<'_>>) -> Vec<Span> {
    std::iter::once(axis).chain(near).map(|axis| axis.span).collect()
}

fn owned_name(axis: Option<&Axis<'_>>) -> Option<String> {
    axis.map(ToString::to_string)
}

fn shown(axes: &[&Axis<'_>]) -> Vec<String> {
    axes.iter().map(ToString::to_string).collect()
}
