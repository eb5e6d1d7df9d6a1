//! Facts about programs that launch others: the options and operands before the program, one row each in
//! `launchers.toml`.
//!
//! Called by `launch`.

use std::sync::LazyLock;

use super::types::Word;
use crate::tables::{FromToml, Names, from_toml, parsed};

/// What follows a launcher's options and operands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LaunchForm {
    /// A program with its arguments.
    Program,
    /// A program with its arguments; more arguments come from elsewhere.
    ProgramWithMore,
    /// A line for a shell: all words joined by blanks.
    Line,
}

impl FromToml for LaunchForm {
    fn from_toml(value: Option<toml::Value>) -> Self {
        match String::from_toml(value).as_str() {
            "" => Self::Program,
            "program_with_more" => Self::ProgramWithMore,
            "line" => Self::Line,
            other => panic!("unknown launch form: {other}"),
        }
    }
}

from_toml! {
    /// A launcher.
    pub(super) struct Launcher {
        names: Names,
        /// Short options without a value, …
        flags: String,
        /// … with one, …
        valued: String,
        /// … and long ones.
        long_flags: Names,
        long_valued: Names,
        /// Number of words before the program.
        operands: usize,
        /// Whether `NAME=value` may precede the program, with any text as a name.
        assigns: bool,
        pub(super) then: LaunchForm,
    }

    struct Table {
        launchers: Vec<Launcher>,
    }
}

/// The row of a launcher.
pub(super) fn row(program: &str) -> Option<&'static Launcher> {
    static TABLE: LazyLock<Table> = LazyLock::new(|| parsed(include_str!("launchers.toml")));
    let mut rows = TABLE.launchers.iter();
    rows.find(|row| row.names.contains(program))
}

impl Launcher {
    /// The index of the program, after options, operands and assignments. `None`: not understood.
    pub(super) fn program(&self, words: &[Word]) -> Option<usize> {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let text = word.text.as_str();
            if text == "--" {
                at += 1;
                break;
            }
            if !text.starts_with('-') || text == "-" && self.names.contains("env") {
                break;
            }
            if !word.is_known() || word.glob {
                return None;
            }
            at += match text.strip_prefix("--") {
                Some(long) => self.long(long)?,
                None => self.short(&text[1..])?,
            };
        }
        if words.get(at).is_some_and(|word| word.text == "-") && self.names.contains("env") {
            at += 1;
        }
        at += self.operands;
        let rest = words.get(at.min(words.len())..).unwrap_or_default();
        if self.assigns {
            at += rest
                .iter()
                .take_while(|word| word.text.contains('='))
                .count();
        }
        Some(at)
    }

    /// How many words a long option takes.
    fn long(&self, long: &str) -> Option<usize> {
        let (name, valued) = match long.split_once('=') {
            Some((name, _)) => (name, true),
            None => (long, false),
        };
        if self.long_valued.contains(name) {
            return Some(if valued { 1 } else { 2 });
        }
        (self.long_flags.contains(name)).then_some(1)
    }

    /// How many words a cluster of short options takes.
    fn short(&self, cluster: &str) -> Option<usize> {
        for (at, c) in cluster.char_indices() {
            if self.valued.contains(c) {
                let attached = at + c.len_utf8() < cluster.len();
                return Some(if attached { 1 } else { 2 });
            }
            if !self.flags.contains(c) {
                return None;
            }
        }
        Some(1)
    }
}
