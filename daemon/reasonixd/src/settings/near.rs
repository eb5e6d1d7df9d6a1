//! Unknown names in messages: how they are shown, and the names like them.

/// Characters of a name that somebody wrote that are shown.
const SHOWN_MAX: usize = 80;

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
