//! Variables that a line sets and whose values name code: `LD_PRELOAD`, `BASH_ENV`, `PYTHONPATH`, `GIT_PAGER`.

use super::{Changes, Setting, StartedProgram, as_scripts, moves, paths};
use crate::programs::base;
use crate::shell::{Part, Script, Word};
use crate::variables::runs_code;

/// Variables that name directories whose settings name code.
const DIRECTORIES: [&str; 6] = [
    "CARGO_HOME",
    "HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "XDG_CONFIG_HOME",
    "ZDOTDIR",
];

/// Programs whose arguments may set variables.
const SETTERS: [&str; 9] = [
    "declare", "doas", "env", "export", "genv", "local", "readonly", "sudo", "typeset",
];

/// Endings that interpreters add to a name.
const SUFFIXES: [&str; 5] = [".awk", ".js", ".lua", ".pm", ".rb"];

/// The files that the variables set by a part name.
pub(super) fn files_of(script: &Script, part: &Part, changes: &Changes) -> Vec<StartedProgram> {
    let assigned = part.assignments.iter();
    let assigned = assigned.map(|one| (one.name.clone(), one.value.clone()));
    let program = part.program().map_or("", base);
    let arguments = part.words.iter().skip(1);
    let arguments = arguments.filter(|_| SETTERS.contains(&program));
    let given = arguments.filter_map(|word| {
        let (name, value) = word.text.split_once('=')?;
        let value = Word {
            text: value.to_owned(),
            ..word.clone()
        };
        Some((name.trim_end_matches('+').to_owned(), value))
    });
    let set = assigned.chain(given).filter(|(name, _)| names_code(name));
    let words = set.flat_map(|(name, value)| files_in(&name, &value));
    let mut found = as_scripts(script, part, changes, words.collect());
    // `env -C sub X=./y program`
    if moves(part, &Part::default()) {
        let relative = found.iter_mut().filter(|one| !one.name.starts_with('/'));
        relative.for_each(|one| one.dir = Setting::Unknown);
    }
    found
}

/// The line's own `PATH` is used where its programs are looked for.
fn names_code(name: &str) -> bool {
    name != "PATH"
        && (runs_code(name)
            || DIRECTORIES.contains(&name)
            || (name.starts_with("CARGO_TARGET_") && name != "CARGO_TARGET_DIR"))
}

fn files_in(name: &str, value: &Word) -> Vec<Word> {
    let text = &value.text;
    // Some programs expand the value themselves: `BASH_ENV='$PWD/x'`.
    if !value.is_known() || text.contains(['$', '`']) {
        return vec![paths::unknown(format!("{name}={text}"))];
    }
    let value = Word {
        // The shell inserts no file names here.
        glob: false,
        ..value.clone()
    };
    let mut files = paths::named_in(&value, &SUFFIXES);
    // An empty entry is the current directory.
    let has_empty = !text.is_empty() && text.split(':').any(str::is_empty);
    if has_empty && name.contains("PATH") {
        files.push(paths::local(&value, "."));
    }
    files
}
