//! Programs that run code which they are given: shells, whose lines are parsed, and others, whose code is not.
//!
//! Called by `launch`.

use super::evaluating::{is_number_variable, set_names};
use super::launch::{Launched, leads_to_running, line_of};
use super::types::{Doubt, Part, Redirection, Span, Word};
use crate::tables::{Names, tables};
use crate::variables;

fn text(part: &Part, at: usize) -> &str {
    part.words.get(at).map_or("", |word| word.text.as_str())
}

/// The code that a program is given. `None`: the program takes no code.
pub(super) fn inner(name: &str, part: &Part) -> Option<Vec<Launched>> {
    if tables().shells.contains(name) {
        return Some(shell(name, part));
    }
    if tables().other_shells.contains(name) {
        return Some(if part.words.len() == 2 && text(part, 1) == "--version" {
            Vec::new()
        } else {
            vec![Launched::Doubt(Doubt::Code)]
        });
    }
    match name {
        "source" | "." => return Some(vec![Launched::Doubt(Doubt::Input)]),
        "coproc" | "parallel" | "sem" | "entr" | "watchexec" | "hyperfine" | "expect"
        | "run-parts" => {
            return Some(vec![Launched::Doubt(Doubt::Launcher)]);
        }
        // `jobs -x PROGRAM`
        "jobs" if part.words.len() > 1 && !text(part, 1).starts_with(['%', '+']) => {
            let only_lists = |word: &Word| word.is_known() && !word.text.contains('x');
            return Some(match part.words.iter().skip(1).all(only_lists) {
                true => Vec::new(),
                false => vec![Launched::Doubt(Doubt::Launcher)],
            });
        }
        "trap" => return Some(trap(part)),
        "at" | "batch" | "crontab" => return Some(later(part)),
        "nc" | "ncat" | "netcat" | "nc.traditional" | "nc.openbsd" | "socat" | "sqlite3"
            if names_program(name, part) =>
        {
            return Some(vec![Launched::Doubt(Doubt::Code)]);
        }
        "su" | "runuser" | "sg" | "script" | "flock" | "pkexec" | "systemd-run" | "nsenter"
        | "unshare" | "bwrap" => {
            return Some(with_line_option(name, part));
        }
        "mapfile" | "readarray"
            if part
                .words
                .iter()
                .any(|word| word.text.starts_with("-") && word.text.contains('C')) =>
        {
            return Some(vec![Launched::Doubt(Doubt::Code)]);
        }
        _ => {}
    }
    if tables().changing_builtins.contains(name) {
        return Some(changes(name, part));
    }
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let options = &tables().code_options;
    let row = options.get(name).or_else(|| options.get(plain));
    row.map(|row| interpreter(part, &row.short, &row.long))
}

/// `bash -c LINE`, `bash < file`, `bash script`.
fn shell(name: &str, part: &Part) -> Vec<Launched> {
    let posix = !matches!(name, "bash" | "rbash");
    let mut at = 1;
    let mut takes_line = false;
    let mut reads_input = false;
    let (mut is_rewritten, mut is_interactive) = (false, false);
    while let Some(word) = part.words.get(at) {
        let option = word.text.as_str();
        if !word.is_known() {
            break;
        }
        if matches!(option, "--version" | "--help") && part.words.len() == 2 {
            return Vec::new();
        }
        if option == "--" || option == "-" {
            at += 1;
            break;
        }
        // A file is run first, or another dialect is read. Long options may have a single dash.
        let long = option.trim_start_matches('-');
        if option.starts_with('-') && LONG_OPTIONS_THAT_RUN.contains(&long)
            || option.starts_with('+') && option.contains('O')
        {
            return vec![Launched::Doubt(Doubt::Code)];
        }
        let Some(letters) = option.strip_prefix(['-', '+']) else {
            break;
        };
        at += 1;
        if !letters.starts_with('-') {
            // History is put into the line, or words become variables.
            is_rewritten |= letters.contains(['H', 'O', 'k']);
            is_interactive |= letters.contains('i');
            takes_line |= letters.contains('c');
            reads_input |= letters.contains(['s', 'i']);
            // `-oe pipefail`: the option's name is the next word. Others take the rest of the cluster, if any.
            at += match name {
                "ksh" | "mksh" | "zsh" => usize::from(letters.ends_with(['o', 'O'])),
                _ => letters.matches(['o', 'O']).count(),
            };
        }
    }
    let operand = part.words.get(at);
    if is_rewritten || is_interactive && !takes_line {
        return vec![Launched::Doubt(Doubt::Code)];
    }
    match operand {
        Some(line) if takes_line => {
            let known = line.is_known() && !line.glob;
            let inner = Launched::Line {
                text: known.then(|| line.text.clone()),
                span: line.span,
                posix,
            };
            // Zsh differs in parts: the commands found are shown, but the line stays doubtful.
            if name == "zsh" {
                vec![inner, Launched::Doubt(Doubt::Code)]
            } else {
                vec![inner]
            }
        }
        None if takes_line => vec![Launched::Doubt(Doubt::Code)],
        Some(file) if !reads_input => {
            let is_stdin = file.text == "stdin" || file.text.starts_with("fd/");
            let plain = file.is_known() && !file.glob && !is_stdin && !leads_to_running(&file.text);
            if plain {
                Vec::new()
            } else {
                vec![Launched::Doubt(Doubt::Input)]
            }
        }
        Some(_) | None => from_input(part, posix),
    }
}

/// Options of Bash that run a file, or change what a line means.
const LONG_OPTIONS_THAT_RUN: &[&str] = &["init-file", "posix", "rcfile"];

/// A shell that reads its input: known if the input is text in the line, and nothing else.
fn from_input(part: &Part, posix: bool) -> Vec<Launched> {
    let is_other = |redirection: &Redirection| matches!(redirection, Redirection::Read(_));
    if part.redirections.iter().any(is_other) {
        return vec![Launched::Doubt(Doubt::Input)];
    }
    let texts: Vec<&Option<String>> = part
        .redirections
        .iter()
        .filter_map(|redirection| match redirection {
            Redirection::Text(text) => Some(text),
            _ => None,
        })
        .collect();
    match texts.as_slice() {
        [Some(text)] => {
            let span = Span {
                start: part.span.start,
                end: part.span.end,
            };
            vec![Launched::Line {
                text: Some(text.clone()),
                span,
                posix,
            }]
        }
        _ => vec![Launched::Doubt(Doubt::Input)],
    }
}

/// Lines that run later, from the input or a file. With these options it only lists or removes some.
fn later(part: &Part) -> Vec<Launched> {
    let words = part.words.get(1..).unwrap_or_default();
    let only_lists =
        |word: &Word| word.is_known() && matches!(word.text.as_str(), "-l" | "-r" | "-V");
    match words.iter().any(only_lists) {
        true => Vec::new(),
        false => vec![Launched::Doubt(Doubt::Input)],
    }
}

/// Whether an option or operand names a program that is run: `nc -e PROGRAM`, `socat - EXEC:PROGRAM`, `sqlite3 FILE .shell`.
fn names_program(name: &str, part: &Part) -> bool {
    let is_one = |word: &Word| {
        let text = word.text.as_str();
        match name {
            "socat" => {
                let text = text.to_ascii_lowercase();
                ["exec:", "system:", "shell:"]
                    .iter()
                    .any(|kind| text.contains(kind))
            }
            "sqlite3" => runs_in_sqlite(text),
            _ if text.starts_with("--") => text.contains("exec"),
            _ => text.starts_with('-') && text.contains(['e', 'c']),
        }
    };
    let mut words = part.words.iter().skip(1);
    let starts_open = |word: &Word| !word.is_known() && word.text.starts_with(['$', '`']);
    let may_be_one = |word: &Word| word.splits || name == "sqlite3" && starts_open(word);
    words.any(|word| is_one(word) || may_be_one(word))
}

/// Whether an argument of `sqlite3` may run a program, or read or write another file: a command that does more than show
/// something, or a function.
fn runs_in_sqlite(text: &str) -> bool {
    const SHOWS: &[&str] = &[
        "bail",
        "changes",
        "databases",
        "dump",
        "echo",
        "eqp",
        "explain",
        "fullschema",
        "header",
        "headers",
        "help",
        "indexes",
        "indices",
        "mode",
        "nullvalue",
        "schema",
        "separator",
        "show",
        "stats",
        "tables",
        "timer",
        "version",
        "width",
    ];
    let text = text.trim_start().to_ascii_lowercase();
    let functions = ["edit(", "load_extension(", "writefile("];
    match text.strip_prefix('.') {
        Some(command) => {
            let name = command.split_whitespace().next().unwrap_or_default();
            !SHOWS.contains(&name)
        }
        None => {
            let packed: String = text.split_whitespace().collect();
            matches!(text.trim_start_matches('-'), "init" | "cmd") && text.starts_with('-')
                || functions.iter().any(|function| packed.contains(function))
        }
    }
}

fn trap(part: &Part) -> Vec<Launched> {
    let words = part.words.get(1..).unwrap_or_default();
    let words = match words.first() {
        Some(first) if first.text == "--" => words.get(1..).unwrap_or_default(),
        _ => words,
    };
    match words.first() {
        None => Vec::new(),
        Some(first)
            if matches!(first.text.as_str(), "-" | "" | "-p" | "-l" | "-P") && first.is_known() =>
        {
            Vec::new()
        }
        Some(first) => vec![line_of(std::slice::from_ref(first), false)],
    }
}

/// `su -c LINE`, `script -qc LINE`, `flock FILE -c LINE`; or a program after their other words.
fn with_line_option(name: &str, part: &Part) -> Vec<Launched> {
    let words = part.words.as_slice();
    let has_line = matches!(name, "su" | "runuser" | "sg" | "script" | "flock");
    let cluster = |word: &Word| {
        let text = word.text.as_str();
        let short = text.starts_with('-') && !text.starts_with("--") && text.contains('c');
        short || text.starts_with("--command") || text.starts_with("--session-command")
    };
    let at = words.iter().skip(1).position(cluster).filter(|_| has_line);
    if let Some(at) = at {
        let option = words.get(at + 1).map_or("", |word| word.text.as_str());
        let value = match option.split_once('=') {
            Some((_, value)) if option.starts_with("--") => Some((value.to_owned(), at + 1)),
            _ => None,
        };
        let line = match value {
            Some((value, at)) => {
                let span = words.get(at).map_or_else(Span::default, |word| word.span);
                Launched::Line {
                    text: Some(value),
                    span,
                    posix: true,
                }
            }
            None => line_of(words.get(at + 2..at + 3).unwrap_or_default(), true),
        };
        return vec![line, Launched::Doubt(Doubt::Launcher)];
    }
    if name == "flock" {
        let operands = words
            .iter()
            .skip(1)
            .take_while(|word| word.text.starts_with('-'))
            .count();
        if words
            .iter()
            .skip(1)
            .take(operands)
            .all(|word| word.text.chars().all(|c| "-sxenuoFv".contains(c)))
        {
            let from = operands + 2;
            return if words.len() > from {
                vec![Launched::Tail { from, more: false }]
            } else {
                Vec::new()
            };
        }
    }
    vec![Launched::Doubt(Doubt::Launcher)]
}

fn changes(name: &str, part: &Part) -> Vec<Launched> {
    let words = part.words.get(1..).unwrap_or_default();
    let harmless = match name {
        "alias" => !words
            .iter()
            .any(|word| !word.is_known() || word.text.contains('=')),
        "set" => words.iter().all(|word| {
            let option = word.text.strip_prefix(['-', '+']);
            // `-e`, `-euo pipefail`: changes when the shell stops, not what words mean.
            word.is_known()
                && (option.is_some_and(|letters| letters.chars().all(|c| "euxvo".contains(c)))
                    || matches!(
                        word.text.as_str(),
                        "pipefail" | "errexit" | "nounset" | "xtrace"
                    ))
        }),
        "hash" => words.iter().all(|word| word.text == "-r"),
        _ => words.is_empty(),
    };
    if harmless {
        Vec::new()
    } else {
        vec![Launched::Doubt(Doubt::Changes)]
    }
}

/// Code of another language, in the arguments or on the input.
fn interpreter(part: &Part, short: &str, long: &Names) -> Vec<Launched> {
    let doubt = |doubt| vec![Launched::Doubt(doubt)];
    let mut words = part.words.get(1..).unwrap_or_default().iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if !word.is_known() {
            return doubt(Doubt::Code);
        }
        let bare = text
            .strip_prefix("--")
            .or_else(|| text.strip_prefix('-'))
            .or_else(|| text.strip_prefix('+'));
        match bare {
            // The script: the words after it are its own.
            None if long.contains(text) => return doubt(Doubt::Code),
            None if text.starts_with("/dev/") || text.starts_with("/proc/") => {
                return doubt(Doubt::Input);
            }
            None => return Vec::new(),
            Some("") => return doubt(Doubt::Input),
            Some(name) => {
                let name = name.split('=').next().unwrap_or(name);
                let clustered = !text.starts_with("--") && name.chars().any(|c| short.contains(c));
                if long.contains(name) || clustered || text.starts_with('+') {
                    return doubt(Doubt::Code);
                }
                // Modules that run code which they are given, and a script before its input.
                let runs_more = |word: &Word| {
                    let module = word.text.split('.').next().unwrap_or_default();
                    matches!(module, "asyncio" | "code" | "pdb" | "timeit")
                };
                if name == "m" && words.clone().next().is_some_and(runs_more)
                    || name == "i" && short == "c"
                {
                    return doubt(Doubt::Code);
                }
                // `-m module`, and queries about the program itself.
                if matches!(name, "m" | "V" | "v" | "version" | "help" | "h") {
                    return Vec::new();
                }
            }
        }
    }
    doubt(Doubt::Input)
}

/// Whether an array of this name says what commands mean.
fn is_shell_table(name: &str) -> bool {
    matches!(name, "BASH_ALIASES" | "BASH_CMDS")
}

/// Whether a part sets a variable whose value is run as code, or evaluated when it is set.
pub(super) fn sets_code(part: &Part) -> bool {
    let sets = matches!(
        part.program(),
        Some(
            "env"
                | "export"
                | "declare"
                | "typeset"
                | "readonly"
                | "local"
                | "sudo"
                | "time"
                | "nohup"
        )
    );
    let words = part.words.iter().skip(1).filter(|_| sets);
    let named = words
        .filter_map(|word| word.text.split_once('='))
        .map(|(name, _)| name.strip_suffix('+').unwrap_or(name));
    let assigned = part
        .assignments
        .iter()
        .map(|assignment| assignment.name.as_str());
    let sets_number = named.clone().any(is_number_variable);
    let mut names = named.chain(assigned).chain(set_names(part));
    sets_number
        || names.any(|name| variables::runs_code(name) || is_shell_table(name))
        || set_names(part).into_iter().any(is_number_variable)
}
