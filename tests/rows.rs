//! Turns the text of a table into its rows: what all tests of tables share.

/// The rows of a table, each with one cell per column. A table without rows is a mistake.
pub(crate) fn rows<const COLUMNS: usize>(table: &str) -> Vec<[String; COLUMNS]> {
    let lines = table.lines().filter(|line| !line.starts_with('#'));
    let rows: Vec<_> = lines.map(cells).collect();
    assert!(!rows.is_empty(), "a table without rows tests nothing");
    rows
}

fn cells<const COLUMNS: usize>(line: &str) -> [String; COLUMNS] {
    let cells: Vec<String> = line.split('\t').map(|cell| repeated(&unescaped(cell))).collect();
    let found = cells.len();
    cells.try_into().unwrap_or_else(|_| panic!("{found} cells, not {COLUMNS}: {line}"))
}

/// Replaces `\t`, `\n`, `\\` and `\u` with four hex digits.
fn unescaped(cell: &str) -> String {
    let mut text = String::new();
    let mut characters = cell.chars();
    while let Some(c) = characters.next() {
        let escape = if c == '\\' { characters.next() } else { None };
        text.push(match escape {
            None => c,
            Some('t') => '\t',
            Some('n') => '\n',
            Some('\\') => '\\',
            Some('u') => {
                let digits: String = characters.by_ref().take(4).collect();
                let number = u32::from_str_radix(&digits, 16).expect("four hex digits");
                char::from_u32(number).expect("a character")
            }
            Some(other) => panic!("\\{other} in {cell}"),
        });
    }
    text
}

/// Replaces `{text*3}` by the text three times.
fn repeated(cell: &str) -> String {
    let Some((before, rest)) = cell.split_once('{') else { return cell.into() };
    let (braces, after) = rest.split_once('}').expect("a closing brace");
    let (text, count) = braces.split_once('*').expect("a text and a count");
    let count = count.parse().expect("a count");
    format!("{before}{}{}", text.repeat(count), repeated(after))
}
