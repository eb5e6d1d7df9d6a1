//! Names that are like one that does not exist, for hints. Pure.

use strsim::osa_distance;

/// Longest name to look for, in bytes: the work grows with its length.
const WANTED_MAX: usize = 80;
/// Names in a hint.
const NAMES_MAX: usize = 3;
/// Letters that may be wrong.
const WRONG_MAX: usize = 3;
/// Bytes that a part of a name must have to count as a part.
const PART_MIN: usize = 3;

/// The names most like `wanted`, best first, at most three; of equally good ones the shortest. Upper and lower case
/// are the same.
#[must_use]
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    if wanted.is_empty() || wanted.len() > WANTED_MAX {
        return Vec::new();
    }
    let wanted = wanted.to_lowercase();
    let mut near: Vec<_> = names
        .into_iter()
        .filter_map(|name| Some((distance(&wanted, &name.to_lowercase())?, name.len(), name)))
        .collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter()
        .take(NAMES_MAX)
        .map(|(_, _, name)| name)
        .collect()
}

/// The names that differ from `wanted` in one letter, or in the order of two: slips of the keyboard, not other words.
#[must_use]
pub fn mistyped<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let near = nearest(wanted, names);
    let wanted = wanted.to_lowercase();
    let is_slip = |name: &&str| osa_distance(&wanted, &name.to_lowercase()) <= 1;
    near.into_iter().filter(is_slip).collect()
}

/// How far apart two names are; `None`: they are not alike.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    let is_part = |part: &str, whole: &str| part.len() >= PART_MIN && whole.contains(part);
    if name.starts_with(wanted) || is_part(wanted, name) {
        return Some(0);
    }
    if is_part(name, wanted) {
        return Some(1);
    }
    let (letters, wanted_letters) = (name.chars().count(), wanted.chars().count());
    let wrong_max = (wanted_letters / 3 + 1).min(WRONG_MAX);
    let wrong = osa_distance(wanted, name);
    // In a short name, half of the letters could be wrong.
    (wrong <= wrong_max && 2 * wrong < letters.max(wanted_letters)).then_some(wrong)
}

#[cfg(test)]
mod tests;
