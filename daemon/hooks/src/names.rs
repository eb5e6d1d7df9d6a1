//! Matches a hook's pattern against every name of a tool.

use contract::ToolSpec;
use regex::{Regex, RegexBuilder};

/// Larger compiled patterns are refused.
const COMPILED_MAX: usize = 256 * 1024;

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
    pub fn fits(&self, tool: &ToolSpec) -> bool {
        match self {
            Self::All => true,
            Self::Named(pattern) => tool.names().any(|name| pattern.is_match(name)),
        }
    }
}

fn build(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(COMPILED_MAX).build()
}

#[cfg(test)]
pub(crate) mod tests;
