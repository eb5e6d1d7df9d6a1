//! The names of a tool, and whether a hook matches it.

use regex::{Regex, RegexBuilder};

/// Larger compiled patterns are refused.
const COMPILED_MAX: usize = 256 * 1024;

/// Tool, its name in Claude Code, and its former names.
const KNOWN: &[(&str, &str, &[&str])] = &[
    ("bash", "Bash", &["shell", "run_command"]),
    ("bash_output", "BashOutput", &[]),
    ("kill_shell", "KillShell", &["KillBash"]),
    ("read_file", "Read", &[]),
    ("write_file", "Write", &[]),
    ("edit_file", "Edit", &[]),
    ("multi_edit", "MultiEdit", &[]),
    // A hook that guards edits must see these tools too.
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

/// The tool's name in Claude Code, or its own name if it has none there.
#[must_use]
pub fn claude(tool: &str) -> &str {
    let known = KNOWN.iter().find(|(id, _, _)| *id == tool);
    known.map_or(tool, |(_, claude, _)| claude)
}

/// Every name that a pattern is matched against.
pub fn all(tool: &str) -> impl Iterator<Item = &str> {
    let known = KNOWN.iter().find(|(id, _, _)| *id == tool);
    let others = known.map(|(_, claude, old)| std::iter::once(*claude).chain(old.iter().copied()));
    std::iter::once(tool).chain(others.into_iter().flatten())
}

/// The tools that a hook matches.
#[derive(Clone, Debug)]
pub enum ToolMatch {
    All,
    Named(Regex),
}

impl ToolMatch {
    /// Parses a `match`. Absent, empty or `*` matches all tools.
    ///
    /// # Errors
    /// The regular expression is invalid or too large: why, in one line.
    pub fn read(written: Option<&str>) -> Result<Self, String> {
        let Some(written) = written.filter(|text| !matches!(*text, "" | "*")) else {
            return Ok(Self::All);
        };
        // Compiled alone first: an invalid pattern could become valid inside our brackets.
        let compiled = build(written).and_then(|_| build(&format!("^(?:{written})$")));
        compiled.map(Self::Named).map_err(|error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            format!(
                "`match` is not a regular expression: {}",
                last.trim_start_matches("error: ")
            )
        })
    }

    /// Whether it matches this tool, by any of its names.
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
