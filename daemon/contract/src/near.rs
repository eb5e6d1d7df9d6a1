//! Names that are written nearly like one that is not there, for hints.

/// The longest name that is compared, in bytes: the work grows with its square.
const COMPARED_MAX: usize = 80;
/// Names that a hint gives, and letters that may be wrong.
const GIVEN: usize = 3;
const WRONG_MAX: usize = 3;
/// Characters of a name that somebody wrote that are shown.
const SHOWN_MAX: usize = 80;

/// The nearest of `names`, the best first; empty: none is near.
#[must_use]
pub fn nearest<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    if wanted.len() > COMPARED_MAX {
        return Vec::new();
    }
    let mut near: Vec<_> = names
        .map(|name| (distance(wanted, name), name))
        // Of a short name, nearly all letters could be wrong.
        .filter(|(distance, name)| *distance <= WRONG_MAX && *distance < name.len())
        .collect();
    near.sort_unstable();
    near.truncate(GIVEN);
    near.into_iter().map(|(_, name)| name).collect()
}

/// The nearest names as the end of a sentence.
#[must_use]
pub fn hint(nearest: &[&str]) -> String {
    match nearest.first() {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    }
}

/// A name that somebody wrote, for a line.
#[must_use]
pub fn shown(name: &str) -> String {
    name.escape_debug().take(SHOWN_MAX).collect()
}

/// Levenshtein's distance: letters to be changed, added or taken away.
fn distance(one: &str, two: &str) -> usize {
    let two: Vec<char> = two.chars().collect();
    let mut row: Vec<usize> = (0..=two.len()).collect();
    for (i, a) in one.chars().enumerate() {
        let mut left = i + 1;
        let mut diagonal = i;
        for (j, b) in two.iter().enumerate() {
            let cost = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j] = left;
            left = cost.min(left + 1).min(diagonal + 1);
        }
        row[two.len()] = left;
    }
    row[two.len()]
}
