//! Facts about programs: which start others, which run code, which are read-only.
//!
//! Independent of rules. The tables are in `programs.toml`; a program that is in none of them is unknown. Called by
//! `options`, `decide` and `grants`.

use crate::awk;
use crate::git;
use crate::options;
use crate::shell::{self, Word};
use crate::tables::tables;
use crate::variables::may_be_secret;

/// The program's name without its directory.
pub(crate) fn base(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Removes a version: `python3.12` becomes `python3`.
pub(crate) fn unversioned(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Whether a program starts the program in its arguments.
pub(crate) fn is_launcher(program: &str) -> bool {
    let name = base(program);
    tables().launchers.contains(name) || name.starts_with("ld-linux") || name.starts_with("ld-musl")
}

/// Whether a program runs code that it is given.
pub(crate) fn is_interpreter(program: &str) -> bool {
    let name = base(program);
    let plain = unversioned(name);
    let known = &tables().interpreters;
    known.contains(name) || (!plain.is_empty() && known.contains(plain))
}

/// Whether an argument of a plain command is, or may be, another command.
pub(crate) fn holds_commands(words: &[Word]) -> bool {
    let Some(program) = words.first().map(|word| base(&word.text)) else {
        return false;
    };
    let has = |names: &[&str]| {
        words
            .iter()
            .skip(1)
            .any(|word| names.contains(&word.text.as_str()))
    };
    if only_names_commands(program, words) {
        return false;
    }
    is_launcher(program)
        || is_interpreter(program)
        || match program {
            "find" | "gfind" => has(&["-exec", "-execdir", "-ok", "-okdir"]),
            "git" => {
                has(&[
                    "foreach",
                    "run",
                    "filter-branch",
                    "rebase",
                    "-c",
                    "config",
                    "difftool",
                    "hook",
                    "alias",
                ]) || words.iter().any(|word| word.text.starts_with("--exec"))
            }
            "docker" | "podman" | "kubectl" | "nerdctl" => has(&["run", "exec"]),
            "npm" => has(&["e", "ex", "exe", "exec", "x"]),
            "pnpm" | "yarn" => has(&["exec", "x", "dlx"]),
            "poetry" | "uv" | "pdm" | "hatch" | "pipenv" | "rye" | "bundle" | "conda" | "mamba" => {
                has(&["run", "exec"])
            }
            "fd" | "fdfind" => true,
            // Options that run something may be at any position: `--to-command=…`, `--rsh=…`, `-I …`.
            "tar" | "bsdtar" | "gtar" | "rsync" | "scp" | "rg" | "sort" | "split" | "sed"
            | "zip" | "go" => options::risk(words, 1).is_some(),
            _ => false,
        }
}

/// Whether a command only shows something about the commands or files that it names: `man rm`, `command -v curl`.
fn only_names_commands(program: &str, words: &[Word]) -> bool {
    let arguments = words.get(1..).unwrap_or_default();
    let is_name = |word: &Word| {
        let text = word.text.as_str();
        word.is_known() && !word.glob && !text.starts_with(['-', '+']) && !text.contains('=')
    };
    match program {
        "alias" | "hash" | "info" | "less" | "man" | "more" => arguments.iter().all(is_name),
        "command" => arguments.split_first().is_some_and(|(option, names)| {
            matches!(option.text.as_str(), "-v" | "-V") && names.iter().all(is_name)
        }),
        _ => false,
    }
}

/// How a command that is known to be read-only reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadingKind {
    /// Whether it shows the contents of files.
    pub(crate) files: bool,
}

/// Whether the only argument of one of the `versioned` programs has it print its version. `-v` has Python print more, and run
/// its input.
fn asks_version(program: &str, argument: &str) -> bool {
    match argument {
        "--version" => true,
        "-V" | "-version" => !matches!(program, "bash" | "docker"),
        "-v" => !matches!(program, "bash" | "docker" | "python" | "python3"),
        _ => false,
    }
}

/// The kind of reading, if a plain command is known to be read-only. The program must be named without a directory:
/// `./ls` may be any file.
pub(crate) fn reading(words: &[Word]) -> Option<ReadingKind> {
    let (program, arguments) = words.split_first()?;
    let program = program.text.as_str();
    if program == "git" {
        return git::only_reads(arguments).then_some(ReadingKind { files: true });
    }
    if program == "command" {
        // It only prints where a program is.
        let asks = matches!(arguments, [option, names @ ..] if matches!(option.text.as_str(), "-v" | "-V")
            && !names.is_empty() && !names.iter().any(Word::may_become_option));
        return asks.then_some(ReadingKind { files: false });
    }
    if let [only] = arguments
        && tables().versioned.contains(program)
        && asks_version(program, &only.text)
    {
        return Some(ReadingKind { files: false });
    }
    if program == "printenv" {
        let may_show = |word: &Word| shell::is_name(&word.text) && !may_be_secret(&word.text);
        let names = !arguments.is_empty() && arguments.iter().all(may_show);
        return names.then_some(ReadingKind { files: false });
    }
    let tables = tables();
    if tables.awks.contains(program) {
        return awk::only_prints(arguments).then_some(ReadingKind { files: true });
    }
    let files = tables.shallow_readers.contains(program) || tables.deep_readers.contains(program);
    if !files && !tables.plain_readers.contains(program) {
        return None;
    }
    options::risk(words, 1)
        .is_none()
        .then_some(ReadingKind { files })
}
