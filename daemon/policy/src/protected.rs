//! Words of a command that name files whose change could run something later, or change the agent's own rules.
//!
//! Looks at words only. The paths of file tools are marked by `workspace`, which knows where they lead.

use std::path::PathBuf;

use proto::login_files::LOGIN_FILES;
use proto::startup::{AGENT_SETTINGS, STARTUP_FILES};

use crate::shell::Word;
use crate::wildcards::may_match;

/// What a command must not touch without a person, beside `STARTUP_FILES` and `AGENT_SETTINGS`: what `workspace` protects, but of `.git` only what runs programs later,
/// since git itself is how commands work on the rest.
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
    "core.hookspath",
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshcommand",
];

/// Whether a word of a command names such a file. A rough look: it may find too much, as a command that
/// only reads has been let through before. `text` is any part of the command with quotes taken away.
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
        .chain(&STARTUP_FILES)
        .chain(&AGENT_SETTINGS)
        .find(|name| mentions(&lower, name))
    {
        return Some(name);
    }
    let login = LOGIN_FILES.iter().map(|name| name.trim_end_matches('/'));
    // Programs are named by their paths there.
    let mut login = login.filter(|name| *name != ".local/bin");
    if let Some(name) = login.find(|name| mentions(&lower, name)) {
        return Some(name);
    }
    // The repository's own folder as a whole: moved away, replaced, linked, entered.
    has_repository(&lower).then_some(".git")
}

/// Whether the shell may put such a file in the place of a word: `.git/hook*`, `.mcp.js?n`.
pub(crate) fn glob(word: &Word) -> Option<&'static str> {
    if !word.glob {
        return None;
    }
    let parts: Vec<&str> = word.text.split('/').collect();
    parts
        .iter()
        .find_map(|part| {
            if !part.contains(['*', '?', '[']) {
                return None;
            }
            let lower = part.to_ascii_lowercase();
            // A wildcard stands for no dot at the beginning; one alone is everybody's.
            IN_COMMANDS_ALONE.iter().copied().find(|name| {
                let dot = name.starts_with('.');
                let begins = if dot {
                    lower.starts_with('.') && lower.len() > 2
                } else {
                    lower.len() > 1
                };
                begins && may_match(&lower, name)
            })
        })
        .or_else(|| {
            // Below the repository's own folder anything may be meant.
            parts
                .iter()
                .any(|part| part.eq_ignore_ascii_case(".git"))
                .then_some(".git")
        })
}

/// Names of files and folders by themselves.
const IN_COMMANDS_ALONE: &[&str] = &[
    ".git",
    ".reasonix",
    "reasonix.toml",
    ".mcp.json",
    ".vscode",
    ".zed",
    ".idea",
];

/// Whether a part of a command names one of the agent's own directories, by its path or by the variable that says it.
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

/// Found, and not as the middle of a longer name.
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
