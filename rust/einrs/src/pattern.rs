//! The syntax tree of a pattern: faithful to the text, printing back to it.

use std::borrow::Cow;
use std::fmt;

use crate::Span;

/// A parsed pattern such as `b (h d) -> b h d`. Syntax only: what an operation may do with it is
/// decided by [`Pattern::lower`].
///
/// ```
/// let pattern = einrs::Pattern::parse("b  (h d)->b h d")?;
/// assert_eq!(pattern.to_string(), "b (h d) -> b h d");
/// # Ok::<(), einrs::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern<'t> {
    pub(crate) text: &'t str,
    pub(crate) left: Side<'t>,
    pub(crate) right: Side<'t>,
}

impl<'t> Pattern<'t> {
    /// The text this was parsed from.
    ///
    /// ```
    /// assert_eq!(einrs::Pattern::parse("a->a")?.text(), "a->a");
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// How many dimensions the left side describes, and whether an ellipsis stands for more.
    ///
    /// ```
    /// assert_eq!(einrs::Pattern::parse("b (h w) ... -> b h w ...")?.rank(), (2, true));
    /// # Ok::<(), einrs::Error>(())
    /// ```
    #[must_use]
    pub fn rank(&self) -> (usize, bool) {
        let open = self.left.ellipsis().is_some();
        (self.left.dims.len() - usize::from(open), open)
    }
}

/// One side of a pattern: its dimensions, each made of elementary axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Side<'t> {
    pub(crate) axes: Vec<Axis<'t>>,
    /// An ellipsis outside brackets counts as one dimension here.
    pub(crate) dims: Vec<Dim>,
    pub(crate) span: Span,
}

impl<'t> Side<'t> {
    pub(crate) fn axes_of(&self, dim: &Dim) -> &[Axis<'t>] {
        &self.axes[dim.first..dim.first + dim.count]
    }

    /// The axis with this name (NFKC-normalised), if it stands on this side.
    pub(crate) fn named(&self, name: &str) -> Option<&Axis<'t>> {
        self.axes.iter().find(|axis| axis.name() == Some(name))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.axes.iter().filter_map(Axis::name)
    }

    /// From the first dimension to the last, without the space around them.
    pub(crate) fn trimmed(&self) -> Span {
        match (self.dims.first(), self.dims.last()) {
            (Some(first), Some(last)) => Span::new(first.span.start, last.span.end),
            _ => Span::new(self.span.start, self.span.start),
        }
    }

    /// The side as it is written, the space around it included.
    pub(crate) fn text_of<'p>(&self, pattern: &'p str) -> &'p str {
        self.span.of(pattern)
    }

    /// The dimension that holds the ellipsis.
    pub(crate) fn ellipsis(&self) -> Option<&Dim> {
        let holds = |dim: &&Dim| self.axes_of(dim).iter().any(|a| a.kind == AxisKind::Ellipsis);
        self.dims.iter().find(holds)
    }
}

/// One dimension of a side: a single axis, a `(group)`, `1` or `()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dim {
    pub(crate) first: usize,
    pub(crate) count: usize,
    /// Whether it is written in brackets.
    pub(crate) group: bool,
    /// Where it stands, brackets included.
    pub(crate) span: Span,
}

/// One elementary axis as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Axis<'t> {
    pub(crate) kind: AxisKind<'t>,
    pub(crate) span: Span,
}

impl Axis<'_> {
    pub(crate) fn name(&self) -> Option<&str> {
        match &self.kind {
            AxisKind::Name(name) => Some(name),
            AxisKind::Number(_) | AxisKind::Ellipsis => None,
        }
    }
}

/// What an elementary axis is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AxisKind<'t> {
    /// A named axis, NFKC-normalised as Python normalises keyword names.
    Name(Cow<'t, str>),
    /// An anonymous axis of this length; two equal numbers are two axes.
    Number(i64),
    /// The axes that the rest of the pattern does not mention.
    Ellipsis,
}

impl fmt::Display for Pattern<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.left.write(f)?;
        let gap = |side: &Side| if side.dims.is_empty() { "" } else { " " };
        write!(f, "{}->{}", gap(&self.left), gap(&self.right))?;
        self.right.write(f)
    }
}

impl Side<'_> {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, dim) in self.dims.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { " " })?;
            f.write_str(if dim.group { "(" } else { "" })?;
            for (j, axis) in self.axes_of(dim).iter().enumerate() {
                f.write_str(if j == 0 { "" } else { " " })?;
                write!(f, "{axis}")?;
            }
            f.write_str(if dim.group { ")" } else { "" })?;
        }
        Ok(())
    }
}

impl fmt::Display for Axis<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            AxisKind::Name(name) => f.write_str(name),
            AxisKind::Number(length) => write!(f, "{length}"),
            AxisKind::Ellipsis => f.write_str("..."),
        }
    }
}
