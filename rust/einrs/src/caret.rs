//! Spans to carets: the pattern on one line and, below it, a mark under each place.

use std::fmt;

use unicode_normalization::char::is_combining_mark;

use crate::Span;

/// How much of a long pattern is shown on each side of the first place, in bytes.
const CONTEXT: usize = 60;

/// Writes the pattern and its carets, each line after a line break; nothing without a place.
pub(crate) fn write(f: &mut fmt::Formatter<'_>, pattern: &str, spans: &[Span]) -> fmt::Result {
    let Some(first) = spans.first() else { return Ok(()) };
    let window = window(pattern, *first);
    let shown = window.of(pattern);
    let before = if window.start > 0 { "... " } else { "" };
    let after = if window.end < pattern.len() { " ..." } else { "" };

    write!(f, "\n  {before}")?;
    for c in shown.chars() {
        write!(f, "{}", printable(c))?;
    }
    write!(f, "{after}\n  ")?;
    f.write_str(carets(before, shown, window.start, spans).trim_end())
}

/// The part of the text that is shown: all of it, or the surroundings of the first place.
fn window(pattern: &str, first: Span) -> Span {
    if pattern.len() <= 2 * CONTEXT {
        return Span::new(0, pattern.len());
    }
    let mut start = first.start.saturating_sub(CONTEXT);
    let mut end = (first.start + CONTEXT).min(pattern.len());
    while !pattern.is_char_boundary(start) {
        start -= 1;
    }
    while !pattern.is_char_boundary(end) {
        end += 1;
    }
    Span::new(start, end)
}

fn carets(before: &str, shown: &str, offset: usize, spans: &[Span]) -> String {
    let mut line = " ".repeat(before.len());
    for (at, c) in shown.char_indices() {
        let at = at + offset;
        let marked = spans.iter().any(|span| (span.start..span.end).contains(&at));
        let mark = if marked { "^" } else { " " };
        line.push_str(&mark.repeat(columns(c)));
    }
    // A span without a column, such as an empty one at the end, still marks its place.
    let width = |from: usize, to: usize| -> usize {
        shown.get(from..to).unwrap_or("").chars().map(columns).sum()
    };
    for span in spans {
        let Some(start) = span.start.checked_sub(offset) else { continue };
        let end = span.end - offset;
        if end <= shown.len() && width(start, end) == 0 {
            let column = before.len() + width(0, start);
            line.replace_range(column..line.len().min(column + 1), "^");
        }
    }
    line
}

/// White space as a space, and no character that would steer the terminal.
fn printable(c: char) -> char {
    match c {
        _ if c.is_whitespace() => ' ',
        _ if c.is_control() => char::REPLACEMENT_CHARACTER,
        _ => c,
    }
}

/// How many columns a terminal gives a character: none to a combining mark, two to the wide
/// blocks of East Asian scripts and to emoji (Unicode Annex 11), one to all others.
fn columns(c: char) -> usize {
    const WIDE: [(char, char); 12] = [
        ('\u{1100}', '\u{115F}'),
        ('\u{2E80}', '\u{303E}'),
        ('\u{3041}', '\u{33FF}'),
        ('\u{3400}', '\u{4DBF}'),
        ('\u{4E00}', '\u{A4CF}'),
        ('\u{A960}', '\u{A97C}'),
        ('\u{AC00}', '\u{D7A3}'),
        ('\u{F900}', '\u{FAFF}'),
        ('\u{FE30}', '\u{FE6F}'),
        ('\u{FF00}', '\u{FF60}'),
        ('\u{1F300}', '\u{1FAFF}'),
        ('\u{20000}', '\u{3FFFD}'),
    ];
    if c.is_ascii() {
        1
    } else if is_combining_mark(c) {
        0
    } else if WIDE.iter().any(|(first, last)| (*first..=*last).contains(&c)) {
        2
    } else {
        1
    }
}

#[cfg(test)]
mod tests {
    use crate::Pattern;

    fn shown(pattern: &str) -> Vec<String> {
        let error = Pattern::parse(pattern).expect_err(pattern).to_string();
        error.lines().skip_while(|line| !line.starts_with("  ")).map(Into::into).collect()
    }

    #[test]
    fn carets_stand_under_the_characters() {
        assert_eq!(shown("é b é -> b"), ["  é b é -> b", "  ^   ^"]);
        assert_eq!(shown("高 b 高 -> b"), ["  高 b 高 -> b", "  ^^   ^^"]);
        assert_eq!(shown("x\u{304} b x\u{304} -> b"), ["  x\u{304} b x\u{304} -> b", "  ^   ^"]);
        assert_eq!(shown("a\t(b\n-> b"), ["  a (b -> b", "    ^"]);
        assert_eq!(shown("a b"), ["  a b", "     ^"]);
    }

    #[test]
    fn a_long_pattern_is_cut_around_the_place() {
        let pattern = format!("é  ? {} -> a", "b".repeat(5000));
        let lines = shown(&pattern);
        assert!(lines[0].len() < 200, "{}", lines[0].len());
        assert_eq!(lines[1].trim(), "^");
        let late = format!("{} ? -> a", "é".repeat(4000));
        let lines = shown(&late);
        assert_eq!(
            lines[0].chars().position(|c| c == '?'),
            lines[1].chars().position(|c| c == '^')
        );
    }
}
