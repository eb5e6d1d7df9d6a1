//! The first line of a text, to name it by.

/// The first line of a text that says something, at most 120 characters.
#[must_use]
pub fn first_line(text: &str) -> String {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .chars()
        .take(120)
        .collect()
}
