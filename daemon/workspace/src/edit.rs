//! Exact replacement in a file's bytes, with helpful errors if the passage is missing or ambiguous.
//!
//! Pure. Never guesses: a similar passage is shown, not replaced. `tools` calls this.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use memchr::memmem;
use similar::TextDiff;

use crate::read::SIZE_MAX;

/// How many matches an error lists.
const PLACES_MAX: usize = 20;
/// How many bytes of a file are searched for a similar passage.
const SEARCHED_MAX: usize = 4 * 1024 * 1024;
/// Time limit of that search.
const TIME_MAX: Duration = Duration::from_millis(300);
/// How many lines of a similar passage an error shows.
const SHOWN_MAX: usize = 30;
/// Minimum similarity of a passage.
const ALIKE_MIN: f32 = 0.5;

/// Content after a replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EditResult {
    pub bytes: Vec<u8>,
    pub count: usize,
    /// The line of the first replacement, from 1.
    pub first_line: u64,
}

/// A passage of the file that resembles the searched text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SimilarPassage {
    /// Its first line, from 1.
    pub first_line: u64,
    pub text: String,
    /// It differs only in white space.
    pub blanks_only: bool,
}

/// Where it is, as a clause of one line.
impl std::fmt::Display for SimilarPassage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let line = self.first_line;
        if self.blanks_only {
            write!(
                f,
                "the passage from line {line} on differs only in white space"
            )
        } else {
            write!(f, "the most similar passage is from line {line} on")
        }
    }
}

/// Why nothing was replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("the old text is empty")]
    Empty,
    #[error("old and new text are the same")]
    Same,
    #[error("the file would become larger than {SIZE_MAX} bytes")]
    TooLong,
    #[error("the line `{line}` is a placeholder for omitted text")]
    Elision { line: String },
    #[error("the old text is not in the file")]
    Missing { nearest: Option<SimilarPassage> },
    #[error("the old text is in the file {count} times")]
    Several { count: usize, lines: Vec<u64> },
}

/// Replaces `old` by `new`: its only occurrence, or `all` of them.
///
/// If all lines of the file end in CR LF, plain line feeds in the texts match those.
///
/// # Errors
/// Nothing was replaced. The error says why.
pub fn replace(content: &[u8], old: &str, new: &str, all: bool) -> Result<EditResult, EditError> {
    if old.is_empty() {
        return Err(EditError::Empty);
    }
    if old == new {
        return Err(EditError::Same);
    }
    // A placeholder that the passage already contains is part of the file.
    if let Some(line) = elision(new).filter(|line| !old.contains(line)) {
        return Err(EditError::Elision {
            line: line.trim().to_owned(),
        });
    }
    let (mut old, mut new) = (old.to_owned(), new.to_owned());
    let mut places: Vec<usize> = memmem::find_iter(content, old.as_bytes()).collect();
    if places.is_empty() && old.contains('\n') && memmem::find(content, b"\r\n").is_some() {
        old = with_crlf(&old);
        places = memmem::find_iter(content, old.as_bytes()).collect();
        new = with_crlf(&new);
    } else if new.contains('\n') && !new.contains("\r\n") && all_crlf(content) {
        new = with_crlf(&new);
    }
    if places.is_empty() {
        if let Some(line) = elision(&old) {
            return Err(EditError::Elision {
                line: line.trim().to_owned(),
            });
        }
        return Err(EditError::Missing {
            nearest: nearest(content, &old),
        });
    }
    if places.len() > 1 && !all {
        let lines = places
            .iter()
            .take(PLACES_MAX)
            .map(|at| line_of(content, *at))
            .collect();
        return Err(EditError::Several {
            count: places.len(),
            lines,
        });
    }
    // Many occurrences and a long text multiply.
    let grown = new.len().saturating_sub(old.len());
    let size = places
        .len()
        .saturating_mul(grown)
        .saturating_add(content.len());
    if size as u64 > SIZE_MAX {
        return Err(EditError::TooLong);
    }
    let mut bytes = Vec::with_capacity(content.len() + new.len());
    let mut done = 0;
    for at in &places {
        bytes.extend_from_slice(&content[done..*at]);
        bytes.extend_from_slice(new.as_bytes());
        done = at + old.len();
    }
    bytes.extend_from_slice(&content[done..]);
    Ok(EditResult {
        bytes,
        count: places.len(),
        first_line: line_of(content, places[0]),
    })
}

fn line_of(content: &[u8], at: usize) -> u64 {
    memchr::memchr_iter(b'\n', &content[..at]).count() as u64 + 1
}

fn with_crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

fn all_crlf(content: &[u8]) -> bool {
    let mut ends = memchr::memchr_iter(b'\n', content).peekable();
    ends.peek().is_some() && ends.all(|at| at > 0 && content[at - 1] == b'\r')
}

/// The first line that is only a placeholder for omitted text, such as `// ... existing code ...`.
fn elision(text: &str) -> Option<&str> {
    const WHAT: [&str; 8] = [
        "existing",
        "rest of",
        "remaining",
        "unchanged",
        "previous",
        "omitted",
        "other ",
        "same as",
    ];
    const OF: [&str; 13] = [
        "code",
        "file",
        "function",
        "method",
        "class",
        "implementation",
        "content",
        "lines",
        "imports",
        "unchanged",
        "before",
        "here",
        "omitted",
    ];
    text.lines().find(|line| {
        let line = line.trim();
        if line.len() > 120 {
            return false;
        }
        let bare = line
            .trim_start_matches([
                '/', '#', '*', '-', ';', '%', '<', '!', '{', '(', '[', ' ', '\t',
            ])
            .trim_end_matches(['/', '*', '-', '>', '}', ')', ']', ' ', '\t']);
        let dotted = ["...", "…"]
            .iter()
            .any(|dots| bare.starts_with(dots) || bare.ends_with(dots));
        let words = bare.to_lowercase();
        dotted
            && WHAT.iter().any(|word| words.contains(word))
            && OF.iter().any(|word| words.contains(word))
    })
}

/// The passage with as many lines as `old` that resembles it most. Best effort within `TIME_MAX`.
pub(crate) fn nearest(content: &[u8], old: &str) -> Option<SimilarPassage> {
    let until = Instant::now() + TIME_MAX;
    let searched = &content[..content.len().min(SEARCHED_MAX)];
    let text = String::from_utf8_lossy(searched);
    let lines: Vec<&str> = text.lines().collect();
    let wanted: Vec<&str> = old.trim_matches(['\n', '\r']).lines().collect();
    let count = wanted.len().clamp(1, lines.len().max(1));
    let equal: HashSet<&str> = wanted.iter().map(|line| line.trim()).collect();
    let grams: HashSet<[u8; 3]> = wanted
        .iter()
        .take(400)
        .flat_map(|line| trigrams(line))
        .collect();
    if lines.is_empty() || grams.is_empty() {
        return None;
    }
    // A cheap score per line, summed over a sliding window, finds the best candidate for the exact
    // comparison. Trigrams that only the line has count against it, so that a long line does not
    // win by its length.
    let mut scores = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        if index % 1024 == 0 && Instant::now() > until {
            break;
        }
        let (mut hits, mut misses) = (0_i64, 0_i64);
        for gram in trigrams(line) {
            if grams.contains(&gram) {
                hits += 1
            } else {
                misses += 1
            }
        }
        // Short lines, such as a closing brace, have no trigrams.
        scores.push(2 * hits - misses + i64::from(equal.contains(line.trim())));
    }
    let count = count.min(scores.len());
    let mut sum: i64 = scores[..count].iter().sum();
    let (mut best, mut best_sum) = (0, sum);
    for end in count..scores.len() {
        sum += scores[end] - scores[end - count];
        if sum > best_sum {
            (best, best_sum) = (end + 1 - count, sum);
        }
    }
    let found = &lines[best..best + count];
    let (one, two) = (clip(&wanted.join("\n")), clip(&found.join("\n")));
    let blanks_only = squeeze(&one) == squeeze(&two);
    let alike = TextDiff::configure()
        .deadline(until + TIME_MAX)
        .diff_chars(one.as_str(), two.as_str())
        .ratio();
    if !blanks_only && alike < ALIKE_MIN {
        return None;
    }
    let shown: Vec<&str> = found.iter().take(SHOWN_MAX).copied().collect();
    Some(SimilarPassage {
        first_line: best as u64 + 1,
        text: shown.join("\n"),
        blanks_only,
    })
}

/// The trigrams of the start of a line, without surrounding white space.
fn trigrams(line: &str) -> impl Iterator<Item = [u8; 3]> + '_ {
    let bytes = line.trim().as_bytes();
    let bytes = &bytes[..bytes.len().min(400)];
    bytes.windows(3).filter_map(|gram| gram.try_into().ok())
}

fn clip(text: &str) -> String {
    text.chars().take(4000).collect()
}

fn squeeze(text: &str) -> String {
    text.chars().filter(|char| !char.is_whitespace()).collect()
}

#[cfg(test)]
mod tests;
