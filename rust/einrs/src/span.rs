//! A byte range of a pattern's text: how every part and every error says where it is.

/// A half-open byte range into the text of a pattern, always on character boundaries.
///
/// ```
/// use einrs::Span;
/// let span = Span::new(2, 5);
/// assert_eq!(span.of("b (h d)"), "(h ");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    /// First byte of the range.
    pub start: usize,
    /// One past the last byte of the range.
    pub end: usize,
}

impl Span {
    /// The range from `start` up to, not including, `end`.
    ///
    /// ```
    /// assert_eq!(einrs::Span::new(0, 1).end, 1);
    /// ```
    #[must_use]
    pub const fn new(start: usize, end: usize) -> Self {
        Self { start, end }
    }

    /// The text this range covers; empty if it does not fit `text`.
    ///
    /// ```
    /// assert_eq!(einrs::Span::new(0, 9).of("short"), "");
    /// ```
    #[must_use]
    pub fn of(self, text: &str) -> &str {
        text.get(self.start..self.end).unwrap_or("")
    }

    /// The same range counted in characters, as Python counts them.
    ///
    /// ```
    /// assert_eq!(einrs::Span::new(2, 3).in_characters("é b"), (1, 2));
    /// ```
    #[must_use]
    pub fn in_characters(self, text: &str) -> (usize, usize) {
        let count = |end: usize| text.get(..end).map_or(0, |before| before.chars().count());
        (count(self.start), count(self.end))
    }
}
