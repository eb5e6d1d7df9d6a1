//! The end of an error about a name that does not exist.

use crate::messages::common::Msg;
use proto::near::nearest;

/// `Did you mean `a` or `b`? ` followed by what else can be done.
pub fn hint<'a>(wanted: &str, known: impl IntoIterator<Item = &'a str>, otherwise: &str) -> String {
    let near = nearest(wanted, known);
    if near.is_empty() {
        return otherwise.to_owned();
    }
    let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
    say!(Msg::DidYouMean, near.join(say!(Msg::Or)), otherwise)
}

#[cfg(test)]
mod tests;
