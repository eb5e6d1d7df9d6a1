//! Which rows of the tables a command has. A row's name may have several words: `git rebase`.

use crate::programs::base;
use crate::shell::{Part, Word};
use crate::tables::{Names, tables};

/// The arguments of a command to which a row with these names applies.
pub(super) fn arguments<'p>(names: &Names, part: &'p Part) -> Option<&'p [Word]> {
    let program = base(part.program()?);
    let arguments = part.words.get(1..).unwrap_or_default();
    if names.contains(program) {
        return Some(arguments);
    }
    let mut subcommands = names.iter().filter_map(|name| {
        let (first, rest) = name.split_once(' ')?;
        (first == program).then_some(rest)
    });
    subcommands.find_map(|rest| after(rest, program, arguments))
}

/// The arguments after these subcommands. Options may be before each of them.
fn after<'p>(subcommands: &str, program: &str, arguments: &'p [Word]) -> Option<&'p [Word]> {
    let mut at = 0;
    for subcommand in subcommands.split(' ') {
        let mut follows_option = false;
        loop {
            let word = arguments.get(at)?;
            at += 1;
            if word.text == subcommand {
                break;
            }
            // What follows an option may be its value.
            let is_option = word.text.starts_with('-');
            if !is_option && !follows_option {
                return None;
            }
            let is_valued = is_option && has_value(program, &word.text);
            at += usize::from(is_valued);
            follows_option = is_option && !is_valued;
        }
    }
    arguments.get(at..)
}

/// Whether the value of a program's global option is the next word.
fn has_value(program: &str, option: &str) -> bool {
    let readers = &tables().code_readers;
    let row = readers.iter().find(|row| row.names.contains(program));
    row.is_some_and(|row| row.is_valued(option))
        || (program == "git" && tables().git.valued_globals.contains(option))
}

/// The module that Python is started with, and the arguments of that module.
pub(super) fn python_module(part: &Part) -> Option<(&str, &[Word])> {
    if !base(part.program()?).starts_with("py") {
        return None;
    }
    let arguments = part.words.get(1..).unwrap_or_default();
    let mut at = 0;
    loop {
        let text = arguments.get(at)?.text.as_str();
        at += 1;
        let letters = text.strip_prefix('-')?;
        let Some(found) = letters
            .find(['m', 'W', 'X'])
            .filter(|_| !letters.starts_with('-'))
        else {
            continue;
        };
        let attached = letters.get(found..).unwrap_or_default();
        let is_module = attached.starts_with('m');
        let attached = attached.get(1..).unwrap_or_default();
        let module = match attached {
            "" => {
                at += 1;
                arguments.get(at - 1)?.text.as_str()
            }
            attached => attached,
        };
        if is_module {
            return Some((module, arguments.get(at..).unwrap_or_default()));
        }
    }
}
