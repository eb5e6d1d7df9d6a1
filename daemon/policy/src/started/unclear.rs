//! Commands that run something which the line does not show: launchers that are not understood, lines that are only
//! known when they run.

use super::code_lines::{self, CodeLine};
use super::interpreters;
use super::paths;
use crate::programs::{base, is_interpreter, is_launcher};
use crate::shell::{Doubt, Part, Script, Word};
use crate::tables::tables;

/// Maximum characters of a command that is shown in place of a program.
const SHOWN_MAX: usize = 40;

/// Maximum operands of a launcher that are taken for commands.
const OPERANDS_MAX: usize = 8;

/// A line that is not understood as a whole, in place of what it may start.
pub(super) fn unread(line: &str, script: &Script) -> Option<Word> {
    let doubt = script.doubt.filter(|doubt| doubt.is_hard())?;
    (doubt != Doubt::Empty).then(|| shown(line.trim()))
}

fn shown(command: &str) -> Word {
    let first = command.lines().next().unwrap_or_default();
    paths::unknown(first.chars().take(SHOWN_MAX).collect())
}

/// The arguments of a part that may be programs: all paths, if it is a launcher that is not understood. A command that
/// is only known when it runs is an unknown word.
pub(super) fn arguments(script: &Script, index: usize, part: &Part) -> Vec<Word> {
    let Some(program) = part.program() else {
        return Vec::new();
    };
    let has_inner = script.parts.iter().any(|one| one.parent == Some(index));
    if is_unclear(part.doubt, program, has_inner) {
        return vec![shown(&part.text())];
    }
    if has_inner || !is_unread_launcher(program) {
        return Vec::new();
    }
    let arguments = part.words.iter().skip(1);
    let arguments = arguments.filter(|word| word.text.contains('/') && word.is_known());
    arguments
        .flat_map(|word| paths::named_in(word, &[]))
        .collect()
}

/// The commands that a launcher may start whose options are not known: each operand may begin one.
pub(super) fn commands(script: &Script, index: usize, part: &Part) -> Vec<CodeLine> {
    let has_inner = script.parts.iter().any(|one| one.parent == Some(index));
    let is_launcher = part.program().is_some_and(is_unread_launcher);
    if has_inner || !is_launcher {
        return Vec::new();
    }
    let starts = part.words.iter().enumerate().skip(1);
    let starts = starts.filter(|(_, word)| word.is_known() && !word.text.starts_with('-'));
    let lines = starts.take(OPERANDS_MAX).flat_map(|(at, _)| {
        let words = part.words.get(at..).unwrap_or_default();
        code_lines::from_words(words)
    });
    let as_lines = lines.map(|text| CodeLine {
        text,
        elsewhere: false,
    });
    as_lines.collect()
}

/// Whether a program starts another one, and neither the parser nor a table knows which.
fn is_unread_launcher(program: &str) -> bool {
    is_launcher(program) && interpreters::row_of(program).is_none()
}

fn is_unclear(doubt: Option<Doubt>, program: &str, has_inner: bool) -> bool {
    let name = base(program);
    match doubt {
        // The text of `env -S` has its own quotes, and `find` may be given further actions by a variable.
        Some(Doubt::Launcher) => !has_inner || matches!(name, "env" | "genv" | "find" | "gfind"),
        // What is given to an interpreter is looked at with its options, and `ssh` runs its line elsewhere.
        Some(Doubt::Code) => {
            let is_read = interpreters::row_of(program).is_some() || has_inner || name == "ssh";
            tables().other_shells.contains(name) || !(is_read || is_interpreter(program))
        }
        // This doubt comes first and hides others.
        Some(Doubt::Evaluates) => is_launcher(program) || is_interpreter(program),
        _ => false,
    }
}
