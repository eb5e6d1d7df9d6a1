//! The names that a tool is known by, and whether a hook is for it.

use regex::{Regex, RegexBuilder};

/// Longer patterns than any that means something are not compiled.
const COMPILED_MAX: usize = 256 * 1024;

/// Tool, its name in Claude Code, and the names that it had.
const KNOWN: &[(&str, &str, &[&str])] = &[
    ("bash", "Bash", &["shell", "run_command"]),
    ("bash_output", "BashOutput", &[]),
    ("kill_shell", "KillShell", &["KillBash"]),
    ("read_file", "Read", &[]),
    ("write_file", "Write", &[]),
    ("edit_file", "Edit", &[]),
    ("multi_edit", "MultiEdit", &[]),
    // What guards edits by that name is to see these as well.
    ("apply_patch", "Edit", &[]),
    ("glob", "Glob", &["search_files"]),
    ("grep", "Grep", &["search_content"]),
    ("ls", "LS", &["list_directory"]),
    ("make_dir", "make_dir", &["create_directory"]),
    ("todo_write", "TodoWrite", &[]),
    ("ask", "AskUserQuestion", &[]),
    ("web_fetch", "WebFetch", &[]),
    ("web_search", "WebSearch", &[]),
    ("task", "Task", &[]),
];

/// What Claude Code calls the tool; a tool that it does not have keeps its own name.
#[must_use]
pub fn claude(tool: &str) -> &str {
    let known = KNOWN.iter().find(|(id, _, _)| *id == tool);
    known.map_or(tool, |(_, claude, _)| claude)
}

/// Every name that a pattern is tried on.
pub fn all(tool: &str) -> impl Iterator<Item = &str> {
    let known = KNOWN.iter().find(|(id, _, _)| *id == tool);
    let others = known.map(|(_, claude, old)| std::iter::once(*claude).chain(old.iter().copied()));
    std::iter::once(tool).chain(others.into_iter().flatten())
}

/// Which tools a hook is for.
#[derive(Clone, Debug)]
pub enum Match {
    All,
    Named(Regex),
}

impl Match {
    /// Reads a `match`: absent, empty or `*` is all.
    ///
    /// # Errors
    /// It is no regular expression, or too large a one: why, in one line.
    pub fn read(written: Option<&str>) -> Result<Self, String> {
        let Some(written) = written.filter(|text| !matches!(*text, "" | "*")) else {
            return Ok(Self::All);
        };
        // By itself first: what is wrong alone must not become right between our brackets.
        let compiled = build(written).and_then(|_| build(&format!("^(?:{written})$")));
        compiled.map(Self::Named).map_err(|error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            format!(
                "`match` is no regular expression: {}",
                last.trim_start_matches("error: ")
            )
        })
    }

    /// Whether it is for this tool, by any of its names.
    #[must_use]
    pub fn fits(&self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Named(pattern) => all(tool).any(|name| pattern.is_match(name)),
        }
    }
}

fn build(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(COMPILED_MAX).build()
}

#[cfg(test)]
mod tests;
