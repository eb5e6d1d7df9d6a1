//! Variables that a line sets and whose values name code: `LD_PRELOAD`, `BASH_ENV`, `PYTHONPATH`, `GIT_PAGER`.

use super::{Changes, Setting, StartedProgram, as_scripts, moves, paths};
use crate::programs::base;
use crate::shell::{Part, Script, Word};
use crate::tables::tables;
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

/// Builtins whose arguments are the names of variables that they set; their values are unknown.
const FILLERS: [&str; 6] = ["getopts", "mapfile", "printf", "read", "readarray", "wait"];

/// Builtins whose arguments set variables, also by an expansion.
const DECLARERS: [&str; 5] = ["declare", "export", "local", "readonly", "typeset"];

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
    let words = words.chain(filled(part)).chain(declared(part));
    let mut found = as_scripts(script, part, changes, words.collect());
    // `env -C sub X=./y program`
    if moves(part, &Part::default()) {
        let relative = found.iter_mut().filter(|one| !one.name.starts_with('/'));
        relative.for_each(|one| one.dir = Setting::Unknown);
    }
    found
}

/// The variables that a builtin fills with a value that is unknown: `read PAGER`, `printf -v PAGER`.
fn filled(part: &Part) -> Vec<Word> {
    let program = part.program().unwrap_or_default();
    if !FILLERS.contains(&program) {
        return Vec::new();
    }
    let arguments = part.words.get(1..).unwrap_or_default();
    // Only the value of an option is a name.
    let by_option = matches!(program, "printf" | "wait");
    let name_of = |(at, word): (usize, &Word)| {
        let text = word.text.trim_start_matches("-v");
        let name = text
            .split_once('[')
            .map_or(text, |(name, _)| name)
            .to_owned();
        let before = at.checked_sub(1).and_then(|at| arguments.get(at));
        let follows = before.is_some_and(|before| matches!(before.text.as_str(), "-v" | "-p"));
        (!by_option || follows || word.text.starts_with("-v")).then_some((name, word.is_known()))
    };
    let names = arguments.iter().enumerate().filter_map(name_of);
    let of_code = names.filter(|(name, is_known)| names_code(name) || (by_option && !is_known));
    of_code.map(|(name, _)| paths::unknown(name)).collect()
}

/// The variables that a builtin declares whose names are unknown (`export "$x"`), or that stand for others.
fn declared(part: &Part) -> Vec<Word> {
    let program = part.program().unwrap_or_default();
    if !DECLARERS.contains(&program) {
        return Vec::new();
    }
    let arguments = part.words.get(1..).unwrap_or_default();
    let is_reference = |word: &Word| word.text.starts_with('-') && word.text.contains('n');
    let refers = program != "export" && arguments.iter().any(is_reference);
    let is_unknown = |word: &&Word| {
        let (name, value) = word.text.split_once('=').unwrap_or((&word.text, ""));
        let has_name = !name.contains(['$', '`', '{', '*', '?']);
        (!word.is_known() && !has_name) || (refers && names_code(value))
    };
    arguments
        .iter()
        .filter(is_unknown)
        .cloned()
        .map(|word| paths::unknown(word.text))
        .collect()
}

/// The variables that a line sets without an assignment, as unknown words: `${PAGER:=x}`, `for PAGER in x`.
pub(super) fn set_by_expansion(line: &str) -> Vec<Word> {
    let ends_name = |c: char| !c.is_ascii_alphanumeric() && c != '_';
    let expanded = line.split("${").skip(1).filter_map(|text| {
        let (name, rest) = text.split_at(text.find(ends_name)?);
        rest.strip_prefix(':')
            .unwrap_or(rest)
            .starts_with('=')
            .then_some(name)
    });
    let words: Vec<&str> = line.split([' ', '\t', '\n', ';', '(', '{']).collect();
    let loops = words.windows(2).filter_map(|pair| match pair {
        ["for" | "select", name] => Some(*name),
        _ => None,
    });
    let names = expanded.chain(loops).filter(|name| names_code(name));
    names.map(|name| paths::unknown(name.to_owned())).collect()
}

/// The line's own `PATH` is used where its programs are looked for.
fn names_code(name: &str) -> bool {
    name != "PATH"
        && (runs_code(name)
            || DIRECTORIES.contains(&name)
            || tables()
                .code_variables
                .iter()
                .any(|start| name.starts_with(start))
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
