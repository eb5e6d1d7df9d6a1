//! Facts about git: its global options, and what its subcommands may run, write or only show.
//!
//! Called by `options`, `programs` and `command`.

use crate::dangers::has_option;
use crate::shell::Word;
use crate::tables::{Names, tables};

/// Maximum colons of an argument to look behind.
const COLONS_MAX: usize = 8;

/// Whether a word is an option of git before its subcommand: `Some(true)` if its value is the next word.
pub(crate) fn global(word: &str) -> Option<bool> {
    word.starts_with('-')
        .then(|| tables().git.valued_globals.contains(word))
}

/// The index of a git command's subcommand, after the program and its global options.
pub(crate) fn globals(words: &[Word]) -> usize {
    let mut at = 1;
    while let Some(valued) = words.get(at).and_then(|word| global(&word.text)) {
        at += if valued { 2 } else { 1 };
    }
    at.min(words.len().max(1))
}

/// Whether the options before the subcommand change nothing.
pub(crate) fn harmless_globals(words: &[Word]) -> bool {
    let before = words.get(1..globals(words)).unwrap_or_default();
    before
        .iter()
        .all(|word| tables().git.globals.contains(&word.text))
}

/// Whether a subcommand of this name is read-only.
pub(crate) fn is_reader(name: &str) -> bool {
    tables().git.readers.contains(&name.to_ascii_lowercase())
}

/// Whether a read-only git command, given without its program, reads neither files nor objects: then no config makes it
/// run anything.
pub(crate) fn reads_nothing(arguments: &[Word]) -> bool {
    let words: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    match words.as_slice() {
        ["--version" | "version"] | ["branch", "--show-current"] => true,
        ["remote"] | ["remote", "-v"] => true,
        ["rev-parse", rest @ ..] => rest.iter().all(|word| tables().git.places.contains(*word)),
        _ => false,
    }
}

/// Whether a git command, given without its program, is read-only.
pub(crate) fn only_reads(arguments: &[Word]) -> bool {
    let globals = arguments
        .iter()
        .take_while(|word| tables().git.globals.contains(&word.text))
        .count();
    let Some((subcommand, rest)) = arguments[globals..].split_first() else {
        return false;
    };
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.text.as_str()));
    let first = rest.first().map(|word| word.text.as_str());
    let reads = match subcommand.text.as_str() {
        name if tables().git.readers.contains(name) => true,
        "branch" => lists_refs(rest, &["-a", "-r", "-v", "-vv", "-l", "-i"]),
        "tag" => lists_refs(rest, &["-l", "-n", "-i"]),
        "remote" => {
            rest.is_empty()
                || matches!(rest, [only] if matches!(only.text.as_str(), "-v" | "--verbose"))
                || first == Some("get-url")
        }
        "stash" => matches!(first, Some("list" | "show")),
        "reflog" => !has(&["expire", "delete", "drop", "write"]),
        "worktree" => first == Some("list"),
        "config" => config_reads(rest),
        _ => false,
    };
    // Formats that show signatures (`%GK`, `%(signature)`) have gpg check them.
    let checks_signatures =
        |word: &Word| word.text.contains("%G") || word.text.contains("%(signature");
    reads
        && risk(subcommand, rest).is_none()
        && !rest.iter().any(Word::may_become_option)
        && !rest.iter().any(checks_signatures)
}

/// The paths that an argument may name besides itself: of a file in a revision (`HEAD:f`, `:0:f`), after lines (`-L1,5:f`)
/// or after the signs of a pathspec (`:(top)f`, `:/f`).
pub(crate) fn paths_in(argument: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, _) in argument.match_indices(':').take(COLONS_MAX) {
        let path = &argument[at + 1..];
        let signs = path.strip_prefix('(').and_then(|path| path.split_once(')'));
        let plain = signs.map_or(path, |(_, path)| path);
        found.push(path);
        found.push(plain.trim_start_matches(['/', '!', '^']));
    }
    found
}

/// `git branch` and `git tag` only list unless a name is given.
fn lists_refs(rest: &[Word], shorts: &[&str]) -> bool {
    const LISTS: &[&str] = &["-l", "--list"];
    let git = &tables().git;
    let listed = rest.iter().any(|word| LISTS.contains(&word.text.as_str()));
    let mut value = false;
    rest.iter().all(|word| {
        let text = word.text.as_str();
        let name = text.split('=').next().unwrap_or(text);
        let was_value = std::mem::replace(&mut value, git.valued_listing_options.contains(text));
        if text.starts_with('-') {
            shorts.contains(&text)
                || LISTS.contains(&text)
                || git.listing_options.contains(name)
                || git.valued_listing_options.contains(name)
        } else {
            listed || was_value
        }
    })
}

/// Options of git's subcommands.
pub(crate) fn risk(subcommand: &Word, rest: &[Word]) -> Option<String> {
    let name = subcommand.text.as_str();
    // The letters of risky options, and those after which the rest of the word is a value.
    let (short, valued) = match name {
        "clone" => ("uc", ""),
        "rebase" => ("xs", "X"),
        "grep" => ("O", ""),
        "format-patch" | "archive" => ("o", ""),
        "difftool" | "mergetool" => ("xtg", ""),
        "merge" => ("s", "Xm"),
        "pull" => ("s", "X"),
        _ => ("", ""),
    };
    // `rev-parse` is only asked for locations here.
    let asks = name == "rev-parse";
    let risky = |text: &str| has_risky_option(name, text, short, valued);
    rest.iter()
        .find(|word| (!asks && risky(&word.text)) || names_transport(name, &word.text))
        .map(|word| format!("no prefix rule can cover `{}`", word.text))
}

fn has_risky_option(subcommand: &str, text: &str, short: &str, valued: &str) -> bool {
    let git = &tables().git;
    let own = git.own_options.get(subcommand);
    let name = text.strip_prefix("--").map(|name| name.split('=').next());
    if let (Some(own), Some(Some(name))) = (own, name)
        && own.contains(name)
    {
        return false;
    }
    let letters = match text.starts_with("--") {
        true => "",
        false => text.split(|c| valued.contains(c)).next().unwrap_or(text),
    };
    has_option(text, "", &git.risky_options, true)
        || has_option(letters, short, &Names::new(), false)
}

/// Whether an argument is the address of a repository for which git starts another program than its own: `ext::sh`,
/// `foo::x` and `foo://x`, which are for `git-remote-foo`.
fn names_transport(subcommand: &str, text: &str) -> bool {
    const TRANSFERS: &[&str] = &[
        "archive",
        "clone",
        "fetch",
        "fetch-pack",
        "ls-remote",
        "pull",
        "push",
        "remote",
        "submodule",
    ];
    const OWN: &[&str] = &[
        "file", "ftp", "ftps", "git", "git+ssh", "http", "https", "ssh", "ssh+git",
    ];
    if tables().git.readers.contains(subcommand) {
        return false;
    }
    let value = text.split_once('=').map_or("", |(_, value)| value);
    [text, value].iter().any(|address| {
        let (name, rest) = address.split_once(':').unwrap_or_default();
        let is_name = !name.is_empty()
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "+-._".contains(c));
        let is_foreign = rest.starts_with(':') || rest.starts_with("//") && !OWN.contains(&name);
        let starts_any = matches!(name, "ext" | "fd") && rest.starts_with(':');
        is_name && is_foreign && (starts_any || TRANSFERS.contains(&subcommand))
    })
}

/// Subcommands of git that run programs or write anywhere.
pub(crate) fn subcommand(subcommand: &str, rest: &[Word], is_named: bool) -> Option<String> {
    let first = rest
        .iter()
        .find(|word| !word.text.starts_with('-'))
        .map(|word| word.text.as_str());
    let runs = tables().git.runners.contains(subcommand)
        || (subcommand == "submodule" && rest.iter().any(|word| word.text == "foreach"))
        || (subcommand == "bisect" && bisect_runs(rest))
        || (subcommand == "config" && !config_reads(rest))
        || (tables().git.elsewhere.contains(subcommand)
            && !is_named
            && !(subcommand == "remote" && first.is_none()))
        || (!is_named && !is_known(subcommand));
    runs.then(|| format!("this prefix rule does not cover `git {subcommand}`"))
}

/// Whether a subcommand belongs to git: another name is an alias, or a program `git-name`.
fn is_known(subcommand: &str) -> bool {
    let git = &tables().git;
    [&git.known, &git.readers, &git.elsewhere]
        .iter()
        .any(|names| names.contains(subcommand))
}

/// Whether `git bisect` runs its operands: `run make`, `visualize make`.
fn bisect_runs(rest: &[Word]) -> bool {
    let mut operands = rest.iter().filter(|word| !word.text.starts_with('-'));
    match operands.next().map(|word| word.text.as_str()) {
        Some("run") => true,
        Some("visualize" | "view") => operands.next().is_some(),
        _ => false,
    }
}

/// Whether `git config` only shows settings.
pub(crate) fn config_reads(rest: &[Word]) -> bool {
    let shows = [
        "--get",
        "--get-all",
        "--get-regexp",
        "--get-urlmatch",
        "--list",
        "-l",
        "get",
        "list",
    ];
    let changes = |text: &str| {
        let name = text.strip_prefix("--").unwrap_or_default();
        !name.is_empty()
            && [
                "unset",
                "unset-all",
                "replace-all",
                "add",
                "rename-section",
                "remove-section",
                "edit",
                "file",
            ]
            .iter()
            .any(|long| long.starts_with(name.split('=').next().unwrap_or(name)))
    };
    rest.first()
        .is_some_and(|word| shows.contains(&word.text.as_str()))
        && !rest
            .iter()
            .any(|word| changes(&word.text) || word.text == "-e" || word.text == "-f")
}
