//! Pattern text to [`Pattern`]: the only code that looks at characters.

use std::borrow::Cow;

use unicode_ident::{is_xid_continue, is_xid_start};
use unicode_normalization::UnicodeNormalization;

use crate::pattern::{Axis, AxisKind, Dim, Pattern, Side};
use crate::{Error, Span, Syntax};

/// The longest pattern that is read, in bytes.
pub const MAX_BYTES: usize = 1 << 16;

/// The most axes, and the most dimensions, that one side may have. It also bounds the search for
/// duplicates, which compares each name with those before it.
pub const MAX_AXES: usize = 256;

impl<'t> Pattern<'t> {
    /// Reads a pattern in the grammar of einops 0.8.2, with any white space between its parts.
    ///
    /// ```
    /// use einrs::{ErrorKind, Pattern, Syntax};
    /// let error = Pattern::parse("a (b (c)) -> a b c").unwrap_err();
    /// assert_eq!(error.kind(), &ErrorKind::Syntax(Syntax::NestedBracket));
    /// ```
    pub fn parse(text: &'t str) -> Result<Self, Error> {
        let mut cursor = Cursor::new(text, Grammar::default())?;
        let left = cursor.side()?;
        let arrow = cursor.arrow().ok_or_else(|| cursor.no_arrow())?;
        let right = cursor.side()?;
        match cursor.arrow() {
            None => Ok(Self { text, left, right }),
            Some(second) => Err(Error::new(Syntax::TwoArrows, text, [arrow, second])),
        }
    }
}

/// Whether Python would take `name` for an axis: an identifier without outer underscores.
pub(crate) fn check_name(name: &str) -> Result<(), Syntax> {
    let mut characters = name.chars();
    let starts = characters.next().is_some_and(|c| c == '_' || is_xid_start(c));
    if !starts || !characters.all(is_xid_continue) {
        return Err(Syntax::NotAnIdentifier { name: name.into() });
    }
    let normal = normalise(name);
    if normal.starts_with('_') || normal.ends_with('_') {
        return Err(Syntax::OuterUnderscore { name: name.into() });
    }
    Ok(())
}

/// The NFKC form of a name: Python compares keyword names in this form.
pub(crate) fn normalise(name: &str) -> Cow<'_, str> {
    if name.is_ascii() { Cow::Borrowed(name) } else { Cow::Owned(name.nfkc().collect()) }
}

/// What a text may hold besides a plain pattern.
#[derive(Clone, Copy, Default)]
pub(crate) struct Grammar {
    /// `_` by itself is an axis, which may stand more than once.
    pub(crate) underscore: bool,
    /// A name may stand twice on one side.
    pub(crate) duplicates: bool,
    /// A comma ends a side.
    pub(crate) commas: bool,
}

pub(crate) struct Cursor<'t> {
    text: &'t str,
    at: usize,
    pub(crate) grammar: Grammar,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str, grammar: Grammar) -> Result<Self, Error> {
        if text.len() > MAX_BYTES {
            return Err(Error::new(Syntax::TooLong, text, []));
        }
        Ok(Self { text, at: 0, grammar })
    }

    fn peek(&self) -> Option<char> {
        // Most patterns are ASCII: one byte read decides without decoding.
        match *self.text.as_bytes().get(self.at)? {
            byte if byte.is_ascii() => Some(char::from(byte)),
            _ => self.text[self.at..].chars().next(),
        }
    }

    fn eat_while(&mut self, keep: impl Fn(char) -> bool) -> Span {
        let start = self.at;
        while let Some(c) = self.peek().filter(|c| keep(*c)) {
            self.at += c.len_utf8();
        }
        Span::new(start, self.at)
    }

    fn eat_char(&mut self, c: char) -> Span {
        self.at += c.len_utf8();
        Span::new(self.at - c.len_utf8(), self.at)
    }

    #[cold]
    fn error(&self, kind: Syntax, spans: impl Into<Box<[Span]>>) -> Error {
        Error::new(kind, self.text, spans)
    }

    #[cold]
    fn no_arrow(&self) -> Error {
        let kind = if self.text.trim().is_empty() { Syntax::Empty } else { Syntax::NoArrow };
        self.error(kind, [Span::new(self.at, self.at)])
    }

    fn at_arrow(&self) -> bool {
        self.text.as_bytes()[self.at..].starts_with(b"->")
    }

    pub(crate) fn arrow(&mut self) -> Option<Span> {
        self.at_arrow().then(|| {
            self.at += 2;
            Span::new(self.at - 2, self.at)
        })
    }

    /// Eats a comma that ended a side.
    pub(crate) fn comma(&mut self) -> bool {
        let is_comma = self.peek() == Some(',');
        self.at += usize::from(is_comma);
        is_comma
    }

    /// Refuses what a side ended at, unless that is the end of the text.
    pub(crate) fn expect_end(&self) -> Result<(), Error> {
        match self.peek() {
            None => Ok(()),
            Some(character) => {
                let kind = Syntax::UnknownCharacter { character };
                Err(self.error(kind, [Span::new(self.at, self.at + character.len_utf8())]))
            }
        }
    }

    /// Everything up to the next arrow, comma or the end.
    pub(crate) fn side(&mut self) -> Result<Side<'t>, Error> {
        let mut side = SideBuilder::new(self.at);
        while let Some(c) = self.peek() {
            match c {
                '-' if self.at_arrow() => break,
                ',' if self.grammar.commas => break,
                '(' => self.open_group(&mut side)?,
                ')' => self.close_group(&mut side)?,
                '.' => {
                    let axis = self.ellipsis(&side)?;
                    side.push(axis);
                }
                _ if is_word(c) => {
                    let axis = self.word(&side)?;
                    side.push(axis);
                }
                _ if c.is_whitespace() => {
                    self.eat_char(c);
                }
                _ => {
                    let span = self.eat_char(c);
                    return Err(self.error(Syntax::UnknownCharacter { character: c }, [span]));
                }
            }
            if side.axes.len() > MAX_AXES || side.dims.len() > MAX_AXES {
                return Err(self.error(Syntax::TooManyAxes, [Span::new(side.start, self.at)]));
            }
        }
        match side.open {
            Some((bracket, _)) => Err(self.error(Syntax::UnclosedBracket, [bracket])),
            None => Ok(side.finish(self.at)),
        }
    }

    fn open_group(&mut self, side: &mut SideBuilder<'t>) -> Result<(), Error> {
        let bracket = self.eat_char('(');
        if let Some((outer, _)) = side.open {
            return Err(self.error(Syntax::NestedBracket, [outer, bracket]));
        }
        side.open = Some((bracket, side.axes.len()));
        Ok(())
    }

    fn close_group(&mut self, side: &mut SideBuilder<'t>) -> Result<(), Error> {
        let bracket = self.eat_char(')');
        let Some((opening, first)) = side.open.take() else {
            return Err(self.error(Syntax::UnopenedBracket, [bracket]));
        };
        let (count, span) = (side.axes.len() - first, Span::new(opening.start, bracket.end));
        side.dims.push(Dim { first, count, group: true, span });
        Ok(())
    }

    fn ellipsis(&mut self, side: &SideBuilder<'t>) -> Result<Axis<'t>, Error> {
        let dots = self.eat_while(|c| c == '.');
        let glued = self.eat_while(|c| is_word(c) || c == '.');
        if dots.end - dots.start != 3 {
            return Err(self.error(Syntax::StrayDot, [Span::new(dots.start, glued.end)]));
        }
        if glued.start != glued.end {
            let span = Span::new(dots.start, glued.end);
            let name = span.of(self.text).into();
            return Err(self.error(Syntax::NotAnIdentifier { name }, [span]));
        }
        match side.axes.iter().find(|axis| axis.kind == AxisKind::Ellipsis) {
            Some(first) => Err(self.error(Syntax::SecondEllipsis, [first.span, dots])),
            None => Ok(Axis { kind: AxisKind::Ellipsis, span: dots }),
        }
    }

    fn word(&mut self, side: &SideBuilder<'t>) -> Result<Axis<'t>, Error> {
        let span = self.eat_while(is_word);
        let glued = self.eat_while(|c| is_word(c) || c == '.');
        if glued.start != glued.end {
            let span = Span::new(span.start, glued.end);
            let name = span.of(self.text).into();
            return Err(self.error(Syntax::NotAnIdentifier { name }, [span]));
        }
        let word = span.of(self.text);
        if word.bytes().all(|byte| byte.is_ascii_digit()) {
            return self.number(word, span);
        }
        let skipped = self.grammar.underscore && word == "_";
        if !skipped {
            check_name(word).map_err(|kind| self.error(kind, [span]))?;
        }
        let name = normalise(word);
        if skipped || self.grammar.duplicates {
            return Ok(Axis { kind: AxisKind::Name(name), span });
        }
        match side.axes.iter().find(|axis| axis.name() == Some(&name)) {
            Some(first) => {
                let kind = Syntax::Duplicate { name: name.into() };
                Err(self.error(kind, [first.span, span]))
            }
            None => Ok(Axis { kind: AxisKind::Name(name), span }),
        }
    }

    fn number(&self, digits: &str, span: Span) -> Result<Axis<'t>, Error> {
        match digits.parse() {
            Ok(0) => Err(self.error(Syntax::ZeroAxis, [span])),
            Ok(length) => Ok(Axis { kind: AxisKind::Number(length), span }),
            Err(_) => Err(self.error(Syntax::HugeNumber { digits: digits.into() }, [span])),
        }
    }
}

/// What may stand in a word. Letters and digits that no identifier may hold are read as well, so
/// that the error is about the whole word.
fn is_word(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_alphanumeric() || c == '_'
    } else {
        c.is_alphanumeric() || is_xid_continue(c)
    }
}

struct SideBuilder<'t> {
    axes: Vec<Axis<'t>>,
    dims: Vec<Dim>,
    /// The opening bracket of the group being read, and the index of its first axis.
    open: Option<(Span, usize)>,
    start: usize,
}

impl<'t> SideBuilder<'t> {
    fn new(start: usize) -> Self {
        Self { axes: Vec::with_capacity(8), dims: Vec::with_capacity(8), open: None, start }
    }

    fn push(&mut self, axis: Axis<'t>) {
        if self.open.is_none() {
            let (first, span) = (self.axes.len(), axis.span);
            self.dims.push(Dim { first, count: 1, group: false, span });
        }
        self.axes.push(axis);
    }

    fn finish(self, end: usize) -> Side<'t> {
        Side { axes: self.axes, dims: self.dims, span: Span::new(self.start, end) }
    }
}
