//! What a yes may cover beyond the one call.
//!
//! A scope is a rule that the answer leaves in the session; one that would not even cover the call itself, or
//! not exactly what it says, is not offered. Called by `decide`.

use proto::params::approval::Scope;

use crate::options;
use crate::programs;
use crate::rule::{self, List, Matcher};
use crate::shell::{self, Analysis, Word};

/// Tools with subcommands, and the subcommands that may be granted with any further arguments.
const SUBCOMMANDS: &[(&str, &[&str])] = &[
    (
        "cargo",
        &[
            "test", "build", "check", "clippy", "fmt", "doc", "bench", "nextest", "tree",
            "metadata", "update",
        ],
    ),
    ("go", &["test", "build", "vet", "fmt", "mod", "list"]),
    ("npm", &["test", "ci", "run", "ls", "outdated", "audit"]),
    ("pnpm", &["test", "run", "build", "lint", "ls"]),
    ("yarn", &["test", "run", "build", "lint"]),
    (
        "git",
        &[
            "add", "commit", "fetch", "switch", "stash", "log", "diff", "show", "status",
        ],
    ),
    (
        "make",
        &[
            "all", "build", "test", "check", "lint", "fmt", "format", "clean",
        ],
    ),
    ("docker", &["ps", "images", "logs", "inspect"]),
    ("kubectl", &["get", "describe", "logs"]),
    ("gradle", &["test", "build", "check"]),
    ("mvn", &["test", "verify", "compile", "package"]),
];

/// Programs that do one thing.
const SINGLE: &[&str] = &[
    "pytest", "eslint", "tsc", "ruff", "mypy", "black", "prettier", "jest", "vitest", "rustfmt",
    "gofmt",
];

/// Scopes for a command, narrowest first.
pub(crate) fn command(line: &str, analysis: &Analysis) -> Vec<Scope> {
    let mut scopes = Vec::new();
    let line = shell::trim(line);
    let readable = match analysis {
        Analysis::Simple { .. } => true,
        Analysis::NotPlain { reason, .. } => reason.was_read(),
    };
    let exact = format!("Bash({line})");
    // What another line has in common with this one is no grant: here-documents and the like are never the same.
    if readable && !line.contains('\n') && is_line(&exact, line) {
        scopes.push(Scope {
            rule: exact,
            words: "this exact command, for the rest of the session".to_owned(),
        });
    }
    if let Analysis::Simple { words, .. } = analysis {
        scopes.extend(prefix(words));
    }
    scopes
}

fn is_line(rule: &str, line: &str) -> bool {
    rule::parse(rule, List::Allow).is_ok_and(|rule| rule.matcher == Matcher::Line(line.to_owned()))
}

fn prefix(words: &[Word]) -> Option<Scope> {
    let program = words.first()?.text.as_str();
    if program.contains('/') || programs::holds_commands(words) {
        return None;
    }
    let named = match SUBCOMMANDS.iter().find(|(name, _)| *name == program) {
        Some((_, known)) => {
            let subcommand = words.get(1)?.text.as_str();
            if !known.contains(&subcommand) {
                return None;
            }
            // `npm run` alone would be every script.
            if subcommand == "run" { 3 } else { 2 }
        }
        None if SINGLE.contains(&program) => 1,
        None => return None,
    };
    let plain = |word: &Word| {
        word.text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'))
    };
    let head = words.get(..named)?;
    if !head.iter().all(plain) || head.iter().skip(1).any(|word| word.text.starts_with('-')) {
        return None;
    }
    if options::risk(words, named).is_some() {
        return None;
    }
    let text = shell::join(head.iter().map(|word| word.text.as_str()));
    let rule = format!("Bash({text}:*)");
    let expected: Vec<String> = head.iter().map(|word| word.text.clone()).collect();
    let says_so =
        rule::parse(&rule, List::Allow).is_ok_and(|rule| rule.matcher == Matcher::Words(expected));
    says_so.then(|| Scope {
        rule,
        words: format!("`{text}` with any arguments, for the rest of the session"),
    })
}

/// Scopes for a file tool.
pub(crate) fn edit() -> Vec<Scope> {
    vec![Scope {
        rule: "Edit".to_owned(),
        words: "editing files in the workspace, for the rest of the session".to_owned(),
    }]
}

/// Scopes for any other tool.
pub(crate) fn tool(name: &str) -> Vec<Scope> {
    let plain = !name.is_empty()
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
    if !plain {
        return Vec::new();
    }
    vec![Scope {
        rule: name.to_owned(),
        words: format!("every call of `{name}`, for the rest of the session"),
    }]
}
