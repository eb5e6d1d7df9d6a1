//! Which names and labels a session may have: text that a user can type, and that cannot be read as a pid, path or option.

use proto::{ErrorName, Failure};

/// Characters of a name or label.
const CHARACTERS_MAX: usize = 64;

/// Checks a session's name, if it is to get one.
///
/// # Errors
/// `invalid_params`, in words.
pub fn check_name(name: &str) -> Result<(), Failure> {
    check("name", name)
}

/// Checks labels.
///
/// # Errors
/// `invalid_params`, in words, for the first that cannot be one.
pub fn check_labels(labels: &[String]) -> Result<(), Failure> {
    labels.iter().try_for_each(|label| check("label", label))
}

fn check(what: &str, text: &str) -> Result<(), Failure> {
    let why = if text.is_empty() {
        "is empty"
    } else if text.chars().count() > CHARACTERS_MAX {
        "is longer than 64 characters"
    } else if text.chars().any(char::is_control) {
        "contains a control character"
    } else if text.contains('/') {
        "holds a `/`"
    } else if text.starts_with(['-', '.']) {
        "starts with `-` or `.`"
    } else if text.chars().all(|c| c.is_ascii_digit()) {
        "is a number, which looks like a pid"
    } else if text.trim().len() != text.len() {
        "starts or ends with a space"
    } else {
        return Ok(());
    };
    let shown: String = text
        .chars()
        .take(CHARACTERS_MAX)
        .flat_map(char::escape_debug)
        .collect();
    Err(Failure::new(
        ErrorName::InvalidParams,
        format!("The {what} `{shown}` {why}."),
        format!(
            "A {what} has 1 to 64 characters, is not a number, has no `/` and no control characters, and does not start with `-` or `.`."
        ),
    ))
}
