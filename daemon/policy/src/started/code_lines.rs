//! Lines for a shell in the options and operands of other programs: `git rebase -x 'make test'`.

use super::{Changes, DEPTH_MAX, Setting, StartedProgram, paths, programs_after, unknown};
use crate::shell::{self, Doubt, Word, is_name};

/// Text that a program gives to a shell.
pub(super) struct CodeLine {
    pub(super) text: String,
    /// It may run in another directory than the program.
    pub(super) elsewhere: bool,
}

impl CodeLine {
    /// The programs that it starts, if it is started after these changes.
    pub(super) fn programs(&self, changes: &Changes) -> Vec<StartedProgram> {
        let mut within = changes.clone();
        within.depth += 1;
        if within.depth > DEPTH_MAX || !within.text_left.take(&self.text) {
            return vec![unknown(&paths::unknown(self.text.clone()))];
        }
        if self.elsewhere {
            within.dir = Setting::Unknown;
        }
        programs_after(&self.text, within)
    }
}

/// The parts of an option's value that may be a line: all of it, and the rest after `name=` or `!`.
pub(super) fn in_value(value: &str) -> Vec<&str> {
    let mut lines = vec![value.strip_prefix('!').unwrap_or(value)];
    if let Some((name, rest)) = value.split_once('=')
        && name
            .split(['.', '-', '@'])
            .all(|piece| is_name(piece) || piece.is_empty())
    {
        lines.push(rest.strip_prefix('!').unwrap_or(rest));
    }
    lines
}

/// The lines that a command's words from an operand on may be: a program with its arguments, and what they are joined.
pub(super) fn from_words(words: &[Word]) -> Vec<String> {
    let quoted = words.iter().map(|word| word.text.replace('\'', "'\\''"));
    let quoted: Vec<String> = quoted.map(|text| format!("'{text}'")).collect();
    let joined = shell::join(words.iter().map(|word| word.text.as_str()));
    let is_read = !shell::read(&joined).doubt.is_some_and(Doubt::is_hard);
    match words {
        [] => Vec::new(),
        [_] => vec![joined],
        // Unknown parts have to stay unknown.
        _ if words.iter().any(|word| !word.is_known()) => vec![joined],
        _ if is_read => vec![quoted.join(" "), joined],
        _ => vec![quoted.join(" ")],
    }
}
