//! Parses a command line: every simple command in it, how it is reached, its words, variables and redirections.
//!
//! Deciding, showing and logging use the same parse. It is total and bounded. Text that the grammar does not
//! understand, or is known to misread, makes a [`Doubt`]; a script with a doubt never counts as harmless. Only this
//! module knows the shell's grammar; rules and programs are known elsewhere. Called by `call`, `command` and `rule`.

mod ansi;
mod braces;
mod characters;
mod commands;
mod conditions;
mod evaluating;
mod expansion;
mod heredoc;
mod holes;
mod launch;
mod launchers;
mod option_lines;
mod parse;
mod place;
mod rough;
mod shells;
mod statements;
mod types;
mod words;

pub(crate) use launch::{launched, launches_by};
pub use parse::read;
pub(crate) use rough::readings;
pub use types::{Assignment, Doubt, NestingStep, Part, Redirection, Script, Span, Value, Word};

/// The command in the form that exact rules compare: without surrounding blanks.
#[must_use]
pub(crate) fn trim(command: &str) -> &str {
    command.trim_matches([' ', '\t', '\n'])
}

pub(crate) fn join<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for (index, word) in words.enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(word);
    }
    text
}

/// The words of a text without special shell characters that does not start with a keyword.
#[must_use]
pub(crate) fn plain_words(text: &str) -> Option<Vec<String>> {
    let plain = |c: char| {
        c.is_ascii_alphanumeric()
            || matches!(c, '_' | '-' | '.' | '/' | ':' | '@' | '+' | ',' | ' ')
    };
    let words: Vec<String> = text
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    let first = words.first()?;
    (text.chars().all(plain) && !commands::KEYWORDS.contains(&first.as_str())).then_some(words)
}

/// `NAME=`, `NAME+=`, `NAME[…]=`.
pub(crate) fn is_assignment(word: &str) -> bool {
    let Some((name, _)) = word.split_once('=') else {
        return false;
    };
    let name = name.strip_suffix('+').unwrap_or(name);
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    is_name(name)
}

/// A text without its line continuations, which the shell takes out before it looks at words and operators. Not for texts in
/// single quotes. A line end after an escaped backslash is not one.
fn without_continuations(text: &str) -> String {
    let pieces = text.split("\\\\").map(|piece| piece.replace("\\\n", ""));
    pieces.collect::<Vec<_>>().join("\\\\")
}

/// Whether a text may be the name of a variable.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
