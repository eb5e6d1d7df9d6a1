//! What is known of git: its global options, and what its subcommands may run, write or only show.
//!
//! Called by `options`, `programs` and `command`.

use crate::dangers::has_option;
use crate::shell::Word;

/// Global options of git that change nothing and take no value.
const GIT_GLOBALS: &[&str] = &[
    "--no-pager",
    "-P",
    "--no-optional-locks",
    "--literal-pathspecs",
    "--no-replace-objects",
];

/// Whether a word is an option of git before its subcommand: `Some(true)` where its value is the next word.
pub(crate) fn global(word: &str) -> Option<bool> {
    const VALUED: &[&str] = &[
        "-c",
        "-C",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--config-env",
        "--super-prefix",
        "--attr-source",
    ];
    word.starts_with('-').then(|| VALUED.contains(&word))
}

/// Where the subcommand of a git command stands: behind the program and its global options.
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
        .all(|word| GIT_GLOBALS.contains(&word.text.as_str()))
}

/// Subcommands that only read, but for the options that `options` knows.
const GIT_READERS: &[&str] = &[
    "status",
    "log",
    "diff",
    "show",
    "blame",
    "shortlog",
    "describe",
    "rev-parse",
    "rev-list",
    "ls-files",
    "ls-tree",
    "cat-file",
    "merge-base",
    "name-rev",
    "for-each-ref",
    "show-ref",
    "count-objects",
    "grep",
    "range-diff",
    "diff-tree",
    "diff-index",
    "diff-files",
    "cherry",
    "whatchanged",
    "version",
    "--version",
];

/// Whether a name is that of a subcommand that only reads.
pub(crate) fn is_reader(name: &str) -> bool {
    GIT_READERS.contains(&name.to_ascii_lowercase().as_str())
}

/// Whether a git command that only reads, given without its program, looks neither at files nor at objects: no config
/// makes it run anything.
pub(crate) fn looks_at_nothing(arguments: &[Word]) -> bool {
    const PLACES: &[&str] = &[
        "--show-toplevel",
        "--show-prefix",
        "--show-cdup",
        "--git-dir",
        "--git-common-dir",
        "--absolute-git-dir",
        "--is-inside-work-tree",
        "--is-bare-repository",
        "--abbrev-ref",
        "HEAD",
    ];
    let words: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
    match words.as_slice() {
        ["--version" | "version"] | ["branch", "--show-current"] => true,
        ["remote"] | ["remote", "-v"] => true,
        ["rev-parse", rest @ ..] => rest.iter().all(|word| PLACES.contains(word)),
        _ => false,
    }
}

/// Whether a git command, given without its program, only reads.
pub(crate) fn only_reads(arguments: &[Word]) -> bool {
    let globals = arguments
        .iter()
        .take_while(|word| GIT_GLOBALS.contains(&word.text.as_str()))
        .count();
    let Some((subcommand, rest)) = arguments[globals..].split_first() else {
        return false;
    };
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.text.as_str()));
    let first = rest.first().map(|word| word.text.as_str());
    let reads = match subcommand.text.as_str() {
        name if GIT_READERS.contains(&name) => true,
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
    reads && risk(subcommand, rest).is_none() && !rest.iter().any(Word::may_become_option)
}

/// `git branch` and `git tag` list as long as no name stands alone.
fn lists_refs(rest: &[Word], shorts: &[&str]) -> bool {
    const LISTS: &[&str] = &["-l", "--list"];
    const LONGS: &[&str] = &[
        "--all",
        "--remotes",
        "--verbose",
        "--show-current",
        "--ignore-case",
        "--column",
        "--no-column",
        "--no-color",
        "--color",
    ];
    const VALUED: &[&str] = &[
        "--contains",
        "--no-contains",
        "--merged",
        "--no-merged",
        "--points-at",
        "--sort",
        "--format",
    ];
    let listed = rest.iter().any(|word| LISTS.contains(&word.text.as_str()));
    let mut value = false;
    rest.iter().all(|word| {
        let text = word.text.as_str();
        let name = text.split('=').next().unwrap_or(text);
        let was_value = std::mem::replace(&mut value, VALUED.contains(&text));
        if text.starts_with('-') {
            shorts.contains(&text)
                || LISTS.contains(&text)
                || LONGS.contains(&name)
                || VALUED.contains(&name)
        } else {
            listed || was_value
        }
    })
}

/// Options of git's subcommands.
pub(crate) fn risk(subcommand: &Word, rest: &[Word]) -> Option<String> {
    const LONG: &[&str] = &[
        "output",
        "output-directory",
        "ext-diff",
        "textconv",
        "filters",
        "exec",
        "upload-pack",
        "receive-pack",
        "open-files-in-pager",
        "extcmd",
        "config",
        "config-env",
        "template",
        "separate-git-dir",
        "exec-path",
        "git-dir",
        "work-tree",
        "namespace",
        "tool",
        "show-signature",
        "ext-grep",
        "contents",
        "to-cmd",
        "cc-cmd",
        "sendmail-cmd",
        "smtp-server",
        "edit-description",
        "pathspec-from-file",
        "strategy",
    ];
    let short = match subcommand.text.as_str() {
        "clone" => "uc",
        "rebase" => "xs",
        "grep" => "O",
        "format-patch" | "archive" => "o",
        "difftool" | "mergetool" => "xtg",
        "merge" | "pull" | "cherry-pick" | "revert" => "s",
        _ => "",
    };
    // Asked where things are, not told.
    let asks = subcommand.text == "rev-parse";
    let transport = |text: &str| text.contains("ext::") || text.contains("fd::");
    rest.iter()
        .find(|word| (!asks && has_option(&word.text, short, LONG, true)) || transport(&word.text))
        .map(|word| format!("`{}` is not covered by a prefix", word.text))
}

/// Subcommands of git that run programs or write anywhere.
pub(crate) fn subcommand(subcommand: &str, rest: &[Word], is_named: bool) -> Option<String> {
    const RUNNERS: &[&str] = &[
        "filter-branch",
        "difftool",
        "mergetool",
        "instaweb",
        "daemon",
        "send-email",
        "hook",
        "credential",
        "shell",
        "upload-pack",
        "receive-pack",
        "upload-archive",
        "remote-ext",
        "remote-fd",
        "fast-import",
        "fsmonitor--daemon",
        "web--browse",
        "gui",
        "citool",
        "gitk",
        "p4",
        "svn",
        "maintenance",
        "for-each-repo",
    ];
    const ELSEWHERE: &[&str] = &[
        "clone",
        "init",
        "worktree",
        "bundle",
        "archive",
        "format-patch",
        "submodule",
        "remote",
        "checkout-index",
    ];
    let first = rest
        .iter()
        .find(|word| !word.text.starts_with('-'))
        .map(|word| word.text.as_str());
    let runs = RUNNERS.contains(&subcommand)
        || (subcommand == "submodule" && rest.iter().any(|word| word.text == "foreach"))
        || (subcommand == "bisect" && first == Some("run"))
        || (subcommand == "config" && !config_reads(rest))
        || (ELSEWHERE.contains(&subcommand)
            && !is_named
            && !(subcommand == "remote" && first.is_none()));
    runs.then(|| format!("`git {subcommand}` is not covered by this prefix"))
}

/// `git config` that only shows.
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
