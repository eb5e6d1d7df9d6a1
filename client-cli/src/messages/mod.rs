//! The words that a person reads on the command line, in every language: a catalog for each group of commands. What makes
//! a catalog, and the words that the terminal interface has too, are those of [`client::messages`].
//!
//! Output for programs is English whatever the user reads: see [`start`].

pub mod agents;
pub mod asking;
pub mod back;
pub mod common;
pub mod cost;
pub mod daemon;
pub mod goal;
pub mod help;
pub mod line_mode;
pub mod presets;
pub mod run;
pub mod running;
pub mod setup;
pub mod stored;
pub mod tables;
pub mod talk;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Display;
use std::sync::OnceLock;

use client::messages::{Language, Message};

pub use tables::{Head, Label, SessionSetting, Thing};

static LANGUAGE: OnceLock<Language> = OnceLock::new();

/// The words of a message; with values: the message with the values in their places, as a `String`.
macro_rules! say {
    ($message:expr) => {
        $crate::messages::language().say($message)
    };
    ($message:expr, $($value:expr),+ $(,)?) => {
        $crate::messages::filled($message, &[$(&$value),+])
    };
}

/// The language of this process.
pub fn language() -> Language {
    LANGUAGE.get().copied().unwrap_or_default()
}

/// Chooses the language, once: the setting `language` of the user, else the environment. Arguments that ask for JSON
/// choose English: programs read that.
pub fn start(arguments: &[OsString]) {
    let chosen = match is_for_programs(arguments) {
        true => Language::English,
        false => {
            setting().unwrap_or_else(|| Language::of_environment(&|name| std::env::var(name).ok()))
        }
    };
    // A second start keeps the first choice.
    let _ = LANGUAGE.set(chosen);
}

/// Whether the result is for programs.
fn is_for_programs(arguments: &[OsString]) -> bool {
    let words = arguments.iter().map(|argument| argument.to_string_lossy());
    let words: Vec<_> = words.take_while(|word| word != "--").collect();
    let is_json = |word: &str| matches!(word, "json" | "jsonl");
    words
        .iter()
        .zip(words.iter().skip(1))
        .any(|(option, value)| option == "--output-format" && is_json(value))
        || words.iter().any(|word| {
            word == "--json" || word.strip_prefix("--output-format=").is_some_and(is_json)
        })
}

/// The language that the user's config file names. A file that cannot be read or is wrong says nothing here: the daemon
/// reports it.
fn setting() -> Option<Language> {
    let file = client::paths::from_env().ok()?.home.join("config.toml");
    let table: toml::Table = std::fs::read_to_string(file).ok()?.parse().ok()?;
    Language::named(table.get("language")?.as_str()?)
}

/// A sentence of the daemon's in this language; as it came if it is not known.
pub fn translated(text: &str) -> Cow<'_, str> {
    language().translate(text)
}

/// A message with values in their places.
pub fn filled<M: Message>(message: M, values: &[&dyn Display]) -> String {
    let values: Vec<String> = values.iter().map(ToString::to_string).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    language().fill(message, &values)
}

#[cfg(test)]
mod tests;
