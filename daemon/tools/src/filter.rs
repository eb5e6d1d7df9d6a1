//! Filters lines of an output by a regular expression.
//!
//! The engine's time is proportional to the text for any pattern, and its program is bounded. That can still take long:
//! the rest is dropped after a time limit, and the text matched at once is bounded too. Called by `bash_output`.

use std::time::{Duration, Instant};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::truncate::TextPieces;

/// Bytes of a compiled pattern. Larger ones are refused: time goes with pattern times text.
const PROGRAM_MAX: usize = 1024 * 1024;
/// Bytes that are matched at once, and so the time until the clock is looked at. A longer line matches where a piece of
/// it does.
const PIECE_MAX: usize = 8 * 1024;
/// How long one text may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// A pattern, ready for use.
pub(crate) struct Filter {
    matcher: RegexMatcher,
    patience: Duration,
}

/// The filtered text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Filtered {
    pub head: String,
    pub tail: String,
    /// Lines that do not match.
    pub skipped: u64,
}

impl Filter {
    /// # Errors
    /// The error in the pattern, as text.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        RegexMatcherBuilder::new()
            .unicode(true)
            .octal(false)
            .size_limit(PROGRAM_MAX)
            .dfa_size_limit(PROGRAM_MAX)
            .build(pattern)
            .map(|matcher| Self {
                matcher,
                patience: PATIENCE,
            })
            .map_err(|error| error.to_string())
    }

    /// The matching lines. In a text without its middle, the pieces next to the gap count as lines. `None` if filtering
    /// would take too long.
    pub(crate) fn apply(&self, pieces: TextPieces<'_>) -> Option<Filtered> {
        let begun = Instant::now();
        let mut filtered = Filtered::default();
        if pieces.missing == 0 {
            let whole = format!("{}{}", pieces.head, pieces.tail);
            self.lines(&whole, begun, &mut filtered.head, &mut filtered.skipped)?;
        } else {
            self.lines(
                pieces.head,
                begun,
                &mut filtered.head,
                &mut filtered.skipped,
            )?;
            self.lines(
                pieces.tail,
                begun,
                &mut filtered.tail,
                &mut filtered.skipped,
            )?;
        }
        Some(filtered)
    }

    fn lines(
        &self,
        text: &str,
        begun: Instant,
        into: &mut String,
        skipped: &mut u64,
    ) -> Option<()> {
        for line in text.split_inclusive('\n') {
            let bare = line.strip_suffix('\n').unwrap_or(line);
            if self.matches(bare, begun)? {
                into.push_str(line);
            } else {
                *skipped += 1;
            }
        }
        Some(())
    }

    fn matches(&self, line: &str, begun: Instant) -> Option<bool> {
        let mut rest = line;
        loop {
            if begun.elapsed() >= self.patience {
                return None;
            }
            let (piece, behind) = rest.split_at(rest.floor_char_boundary(PIECE_MAX));
            // The engine has no way to fail: its error type has no values.
            if matches!(self.matcher.is_match(piece.as_bytes()), Ok(true)) {
                return Some(true);
            }
            if behind.is_empty() {
                return Some(false);
            }
            rest = behind;
        }
    }
}

#[cfg(test)]
mod tests;
