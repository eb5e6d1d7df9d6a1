//! Keys that are held, taken out of what models and tools say before it is shown and logged (I11).
//!
//! Only exact occurrences: ordinary text stays as it is. Stars take their place, as many as the key has bytes, so that
//! places in the text stay valid. Linear in the text for each key.

use crate::Secret;

/// A shorter key is not looked for: it would take ordinary words with it.
const KEY_MIN: usize = 8;

/// The text without keys that are held.
#[must_use]
pub fn without_held_keys(text: String) -> String {
    without(text, &held())
}

fn held() -> Vec<String> {
    let held = Secret::held();
    let keys = held.iter().map(|secret| secret.expose().trim().to_owned());
    let mut keys: Vec<String> = keys.filter(|key| key.len() >= KEY_MIN).collect();
    // A key that begins like another one does not leave its end.
    keys.sort_by_key(|key| std::cmp::Reverse(key.len()));
    keys
}

fn without(mut text: String, keys: &[String]) -> String {
    for key in keys {
        if text.contains(key.as_str()) {
            text = text.replace(key.as_str(), &"*".repeat(key.len()));
        }
    }
    text
}

/// Takes keys out of a text that comes in pieces, also where a key is split over several of them: what may be the
/// beginning of a key waits for the next piece.
#[derive(Debug, Default)]
pub struct HeldKeyFilter {
    waiting: String,
}

impl HeldKeyFilter {
    /// Takes a piece in, and returns what can be passed on.
    pub fn push(&mut self, piece: &str) -> String {
        self.push_with(piece, &held())
    }

    fn push_with(&mut self, piece: &str, keys: &[String]) -> String {
        self.waiting.push_str(piece);
        let mut passed = without(std::mem::take(&mut self.waiting), keys);
        let waits = keys.iter().map(|key| beginning_at_end(&passed, key)).max();
        self.waiting = passed.split_off(passed.len() - waits.unwrap_or(0));
        passed
    }

    /// What is left when nothing more comes.
    pub fn finish(&mut self) -> String {
        std::mem::take(&mut self.waiting)
    }
}

/// The bytes at the end of a text that begin a key.
fn beginning_at_end(text: &str, key: &str) -> usize {
    let longest = (key.len() - 1).min(text.len());
    let begins = |count: &usize| {
        let end = text.as_bytes().get(text.len() - count..);
        end.is_some_and(|end| key.as_bytes().starts_with(end))
    };
    (1..=longest).rev().find(begins).unwrap_or(0)
}

#[cfg(test)]
mod tests;
