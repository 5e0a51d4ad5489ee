//! A misspelt name to the known name it was probably meant to be.

/// The first candidate that is one edit away: a character inserted, dropped, replaced, or two
/// neighbours swapped.
///
/// ```
/// assert_eq!(einrs::nearest("hieght", ["width", "height"]), Some("height"));
/// assert_eq!(einrs::nearest("depth", ["width", "height"]), None);
/// ```
#[must_use]
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let name: Vec<char> = name.chars().collect();
    candidates.into_iter().find(|candidate| {
        let candidate: Vec<char> = candidate.chars().collect();
        // Between single letters every name is one edit from every other: no help.
        name.len().max(candidate.len()) > 1 && one_edit_apart(&name, &candidate)
    })
}

fn one_edit_apart(a: &[char], b: &[char]) -> bool {
    let shared = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a, b) = (&a[shared..], &b[shared..]);
    match (a, b) {
        ([_, rest @ ..], _) if rest == b => true,
        (_, [_, rest @ ..]) if rest == a => true,
        ([_, a_rest @ ..], [_, b_rest @ ..]) if a_rest == b_rest => true,
        ([a0, a1, a_rest @ ..], [b0, b1, b_rest @ ..]) => a0 == b1 && a1 == b0 && a_rest == b_rest,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn one_edit_is_near_and_two_are_not() {
        let rows = [
            ("heigth", "height", true),
            ("hight", "height", true),
            ("heightt", "height", true),
            ("hexght", "height", true),
            ("height", "height", false),
            ("hexgth", "height", false),
            ("a", "b", false),
            ("h", "h1", true),
            ("", "ab", false),
            ("größe", "grösse", false),
            ("grösse", "größse", true),
        ];
        for (name, candidate, near) in rows {
            assert_eq!(nearest(name, [candidate]).is_some(), near, "{name} against {candidate}");
        }
    }
}
