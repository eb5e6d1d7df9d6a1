//! Lines of an output that match a regular expression.
//!
//! The engine takes time in proportion to the text, whatever the pattern, and its program is bounded. Called by
//! `bash_output`.

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::truncate::Pieces;

/// Bytes of a compiled pattern. Larger ones are refused: time goes with pattern times text.
const PROGRAM_MAX: usize = 1024 * 1024;

/// A pattern, ready for use.
pub(crate) struct Filter {
    matcher: RegexMatcher,
}

/// What is left of a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Filtered {
    pub head: String,
    pub tail: String,
    /// Lines that do not match.
    pub skipped: u64,
}

impl Filter {
    /// # Errors
    /// What is wrong with the pattern, in words.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        RegexMatcherBuilder::new()
            .unicode(true)
            .octal(false)
            .size_limit(PROGRAM_MAX)
            .dfa_size_limit(PROGRAM_MAX)
            .build(pattern)
            .map(|matcher| Self { matcher })
            .map_err(|error| error.to_string())
    }

    /// The lines that match. Of a text without its middle, the pieces beside the gap count as lines.
    pub(crate) fn apply(&self, pieces: Pieces<'_>) -> Filtered {
        let mut filtered = Filtered::default();
        if pieces.missing == 0 {
            let whole = format!("{}{}", pieces.head, pieces.tail);
            self.lines(&whole, &mut filtered.head, &mut filtered.skipped);
        } else {
            self.lines(pieces.head, &mut filtered.head, &mut filtered.skipped);
            self.lines(pieces.tail, &mut filtered.tail, &mut filtered.skipped);
        }
        filtered
    }

    fn lines(&self, text: &str, into: &mut String, skipped: &mut u64) {
        for line in text.split_inclusive('\n') {
            let bare = line.strip_suffix('\n').unwrap_or(line);
            // The engine has no way to fail: its error type has no values.
            if matches!(self.matcher.is_match(bare.as_bytes()), Ok(true)) {
                into.push_str(line);
            } else {
                *skipped += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests;
