//! Words of a command that name files whose change could run something later, or could change the agent's own rules.
//!
//! Examines words only. `workspace`, which resolves paths, marks the paths of file tools.

use std::path::PathBuf;

use proto::login_files::LOGIN_FILES;
use proto::startup::{AGENT_SETTINGS, STARTUP_FILES};

use crate::shell::Word;
use crate::wildcards::may_match;

/// What commands may not change without a user's approval, besides `STARTUP_FILES` and `AGENT_SETTINGS`. It is what
/// `workspace` protects, but within `.git` only files that run programs later, because git itself changes the other
/// files.
const IN_COMMANDS: &[&str] = &[
    ".git/hooks",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/info/attributes",
    ".git/modules",
    ".git/worktrees",
    "reasonix.toml",
    ".reasonix",
    ".mcp.json",
    ".vscode",
    ".zed",
    ".idea",
    ".code-workspace",
];

/// Settings of git that name a program, or the directory of its hooks.
const GIT_SETTINGS: &[&str] = &[
    "core.hookspath",
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshcommand",
];

/// Whether a name that `word` returned is a setting of git, and no file.
pub(crate) fn is_git_setting(name: &str) -> bool {
    GIT_SETTINGS.contains(&name)
}

/// Whether a word of a command names such a file or setting. The check is rough and may find too much, because read-only commands
/// have already been accepted before. `text` is any part of the command without its quotes.
pub(crate) fn word(text: &str) -> Option<&'static str> {
    // Deliberately by substring: `of=.git/config`, `HEAD:.mcp.json` and `--file=reasonix.toml` are all meant.
    let mut lower = text.to_ascii_lowercase();
    while lower.contains("//") {
        lower = lower.replace("//", "/");
    }
    while lower.contains("/./") {
        lower = lower.replace("/./", "/");
    }
    if let Some(name) = IN_COMMANDS
        .iter()
        .chain(GIT_SETTINGS)
        .chain(&STARTUP_FILES)
        .chain(&AGENT_SETTINGS)
        .find(|name| mentions(&lower, name))
    {
        return Some(name);
    }
    let login = LOGIN_FILES.iter().map(|name| name.trim_end_matches('/'));
    // There, programs are named by their paths.
    let mut login = login.filter(|name| *name != ".local/bin");
    if let Some(name) = login.find(|name| mentions(&lower, name)) {
        return Some(name);
    }
    // The repository's own folder as a whole: moved away, replaced, linked, or entered.
    has_repository(&lower).then_some(".git")
}

/// Whether the shell may expand a word to such a file: `.git/hook*`, `.mcp.js?n`.
pub(crate) fn glob(word: &Word) -> Option<&'static str> {
    if !word.glob {
        return None;
    }
    let parts: Vec<&str> = word.text.split('/').collect();
    parts
        .iter()
        .find_map(|part| {
            if !part.contains(['*', '?', '[']) || is_bracket(part) {
                return None;
            }
            let lower = part.to_ascii_lowercase();
            // A wildcard does not match a leading dot, and a lone wildcard is too common to count.
            IN_COMMANDS_ALONE.iter().copied().find(|name| {
                let dot = name.starts_with('.');
                let begins = if dot {
                    lower.starts_with('.') && lower.len() > 2
                } else {
                    lower.contains(|c| c != '*')
                };
                begins && may_match(&lower, name)
            })
        })
        .or_else(|| {
            // Below the repository's own folder, any file may match.
            parts
                .iter()
                .any(|part| part.eq_ignore_ascii_case(".git"))
                .then_some(".git")
        })
}

/// Whether a part is one pair of brackets: it matches one character, or is as unknown as a variable within it.
fn is_bracket(part: &str) -> bool {
    let within = part
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    within.is_some_and(|within| !within.contains(['[', ']', '*', '?']))
}

/// Single names of such files and folders.
const IN_COMMANDS_ALONE: &[&str] = &[
    ".git",
    ".reasonix",
    "reasonix.toml",
    ".mcp.json",
    ".vscode",
    ".zed",
    ".idea",
];

/// Whether a part of a command names one of the agent's own directories, by its path or by its variable.
pub(crate) fn own(text: &str, masked: &[PathBuf]) -> Option<&'static str> {
    let named = |place: &PathBuf| {
        let place = place.to_string_lossy();
        place.len() > 1 && mentions(text, &place)
    };
    (text.contains("REASONIX_HOME") || masked.iter().any(named)).then_some("the agent's directory")
}

fn has_repository(lower: &str) -> bool {
    lower.split([' ', '\t', '\n']).any(|part| {
        let part = part.trim_end_matches('/');
        part == ".git" || part.ends_with("/.git") || part.ends_with("=.git")
    })
}

/// Whether the name occurs, but not within a longer name.
fn mentions(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + name.len()..].chars().next();
        let starts = name == ".code-workspace" || before.is_none_or(|c| !is_name(c));
        let ends = after.is_none_or(|c| !is_name(c));
        let workshop = name == ".reasonix" && text[at..].starts_with(".reasonix/autoresearch/");
        starts && ends && !workshop
    })
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.')
}
