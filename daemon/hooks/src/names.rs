//! Which tools a hook is for: its pattern is tried on every name of a tool.

use contract::ToolSpec;
use regex::{Regex, RegexBuilder};

/// Longer patterns than any that means something are not compiled.
const COMPILED_MAX: usize = 256 * 1024;

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
