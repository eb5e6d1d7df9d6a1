//! The end of an error about a name that does not exist.

use crate::messages::common::Msg;

/// The names most like one.
pub fn nearest<'a>(wanted: &str, known: Vec<&'a str>) -> Vec<&'a str> {
    proto::near::nearest(wanted, known)
}

/// The names that one is a slip of the keyboard for.
pub fn mistyped<'a>(wanted: &str, known: Vec<&'a str>) -> Vec<&'a str> {
    proto::near::mistyped(wanted, known)
}

/// Whether a name is like what was typed. Of a short word nearly all letters must be right: `foo` is not `yolo`.
pub fn is_near(typed: &str, name: &str) -> bool {
    const SHORT: usize = 4;
    let near = match typed.chars().count() {
        0..=SHORT => mistyped(typed, vec![name]),
        _ => nearest(typed, vec![name]),
    };
    name.starts_with(typed) || !near.is_empty()
}

/// `Did you mean `a` or `b`? ` followed by what else can be done.
pub fn hint<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    did_you_mean(&proto::near::nearest(wanted, known), otherwise)
}

/// The same with names that were found.
pub fn did_you_mean(near: &[&str], otherwise: &str) -> String {
    if near.is_empty() {
        return otherwise.to_owned();
    }
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    say!(Msg::DidYouMean, near.join(say!(Msg::Or)), otherwise)
}

#[cfg(test)]
mod tests;
