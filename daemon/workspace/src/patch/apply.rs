//! Applies hunks to a file's bytes.

use std::fmt::Write;

use super::{FilePatch, Hunk, HunkLine, LineKind};
use crate::edit::{self, SimilarPassage};

/// How many lines of a hunk that does not match are shown.
const SHOWN_MAX: usize = 12;
/// Maximum line comparisons in one file: a hostile patch ends in an error within seconds.
const WORK_MAX: u64 = 50_000_000;

/// Content after a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchedContent {
    pub bytes: Vec<u8>,
    /// Hunks that matched at another line: number from 1, and offset in lines.
    pub shifted: Vec<(usize, i64)>,
    /// Numbers, from 1, of hunks whose lines differ from the file in trailing white space.
    pub loose: Vec<usize>,
}

/// A hunk that does not match.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("hunk {hunk}: {reason}")]
pub struct HunkError {
    /// From 1. 0 refers to the whole file.
    pub hunk: usize,
    pub reason: String,
}

/// Applies all hunks of a file, or none.
///
/// # Errors
/// A hunk's old lines are not in the file, or match several places equally well.
pub fn apply(content: &[u8], patch: &FilePatch) -> Result<PatchedContent, HunkError> {
    let file: Vec<&[u8]> = content.split_inclusive(|byte| *byte == b'\n').collect();
    let crlf = !file.is_empty()
        && file
            .iter()
            .filter(|line| line.ends_with(b"\n"))
            .all(|line| line.ends_with(b"\r\n"));
    let mut state = HunkApplier {
        file,
        crlf,
        cursor: 0,
        shift: 0,
        work: 0,
        applied: PatchedContent {
            bytes: Vec::with_capacity(content.len()),
            shifted: Vec::new(),
            loose: Vec::new(),
        },
    };
    for (index, hunk) in patch.hunks.iter().enumerate() {
        state.hunk(index + 1, hunk).map_err(|reason| HunkError {
            hunk: index + 1,
            reason,
        })?;
    }
    state.copy_to(state.file.len());
    if patch.new.is_none() && !patch.whole && !state.applied.bytes.is_empty() {
        return Err(HunkError {
            hunk: 0,
            reason: "the patch deletes the file, but not all of its lines".to_owned(),
        });
    }
    Ok(state.applied)
}

struct HunkApplier<'a> {
    file: Vec<&'a [u8]>,
    crlf: bool,
    /// Lines of the file already processed.
    cursor: usize,
    /// Offset of the previous hunk from its line number.
    shift: i64,
    work: u64,
    applied: PatchedContent,
}

/// How strictly lines are compared.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineMatch {
    Exact,
    /// Ignoring trailing white space.
    Loose,
}

impl HunkApplier<'_> {
    fn hunk(&mut self, number: usize, hunk: &Hunk) -> Result<(), String> {
        let old: Vec<&HunkLine> = hunk
            .lines
            .iter()
            .filter(|line| line.kind != LineKind::Added)
            .collect();
        let first = self.anchor(hunk)?;
        if old.is_empty() {
            let at = self.insertion(hunk, first)?;
            self.put(hunk, at, LineMatch::Exact);
            return Ok(());
        }
        let given = hunk.start.map(|start| {
            let start = i64::try_from(start).unwrap_or(i64::MAX);
            start.saturating_sub(1).saturating_add(self.shift)
        });
        let exact = self.places(&old, first, hunk.at_end, LineMatch::Exact)?;
        let (at, fit) = match self.choose(&exact, given)? {
            Some(at) => (at, LineMatch::Exact),
            None => {
                let loose = self.places(&old, first, hunk.at_end, LineMatch::Loose)?;
                match loose.as_slice() {
                    [] => return Err(self.not_found(&old, hunk)),
                    [at] => (*at, LineMatch::Loose),
                    many => {
                        return Err(format!(
                            "its old lines differ from the file in trailing white space and match at lines {}; copy them exactly",
                            listed(many)
                        ));
                    }
                }
            }
        };
        if let Some(given) = given {
            let by = i64::try_from(at).unwrap_or(i64::MAX) - given;
            if by != 0 {
                self.applied.shifted.push((number, by + self.shift));
            }
            self.shift += by;
        }
        if fit == LineMatch::Loose {
            self.applied.loose.push(number);
        }
        self.put(hunk, at, fit);
        Ok(())
    }

    /// The line where the search starts.
    fn anchor(&self, hunk: &Hunk) -> Result<usize, String> {
        let Some(anchor) = &hunk.anchor else {
            return Ok(self.cursor);
        };
        let rest = self.file.get(self.cursor..).unwrap_or_default();
        let found = rest
            .iter()
            .position(|line| line.trim_ascii() == anchor.as_bytes());
        found
            .map(|at| self.cursor + at + 1)
            .ok_or_else(|| format!("its anchor `{anchor}` is not a line of the rest of the file"))
    }

    /// Where to insert lines of a hunk without old lines.
    fn insertion(&self, hunk: &Hunk, first: usize) -> Result<usize, String> {
        let Some(start) = hunk.start else {
            // After its anchor, or at the end without one.
            return Ok(if hunk.anchor.is_some() && !hunk.at_end {
                first
            } else {
                self.file.len()
            });
        };
        if self.file.is_empty() {
            return Ok(0);
        }
        let start = i64::try_from(start).unwrap_or(i64::MAX);
        let at = usize::try_from(start.saturating_add(self.shift)).unwrap_or(0);
        if at > self.file.len() || at < self.cursor {
            return Err(format!(
                "it adds after line {at}, and the file has {} lines; give lines around it",
                self.file.len()
            ));
        }
        Ok(at)
    }

    /// All matches of the old lines.
    fn places(
        &mut self,
        old: &[&HunkLine],
        first: usize,
        at_end: bool,
        fit: LineMatch,
    ) -> Result<Vec<usize>, String> {
        let Some(last) = self.file.len().checked_sub(old.len()) else {
            return Ok(Vec::new());
        };
        let first = if at_end { first.max(last) } else { first };
        let mut found = Vec::new();
        for at in first..=last {
            let lines = self.file.get(at..at + old.len()).unwrap_or_default();
            let mut fits = true;
            for (line, wanted) in lines.iter().zip(old) {
                self.work += 1;
                if !same(line, wanted, fit) {
                    fits = false;
                    break;
                }
            }
            if self.work > WORK_MAX {
                return Err("the search for its lines took too long; give more distinct lines around the change".to_owned());
            }
            if fits {
                found.push(at);
            }
        }
        Ok(found)
    }

    /// Chooses the match nearest to the given line.
    fn choose(&self, places: &[usize], given: Option<i64>) -> Result<Option<usize>, String> {
        let Some(given) = given else {
            return match places {
                [] => Ok(None),
                [at] => Ok(Some(*at)),
                many => Err(format!(
                    "its old lines are in {} places, from lines {}; add lines around the change until only one matches",
                    many.len(),
                    listed(many)
                )),
            };
        };
        let away = |at: &usize| i64::try_from(*at).unwrap_or(i64::MAX).abs_diff(given);
        let Some(nearest) = places.iter().copied().min_by_key(away) else {
            return Ok(None);
        };
        let rivals: Vec<usize> = places
            .iter()
            .copied()
            .filter(|at| away(at) == away(&nearest))
            .collect();
        if rivals.len() > 1 {
            return Err(format!(
                "its old lines are at lines {}, equally far from line {}; give the right line",
                listed(&rivals),
                given.saturating_add(1)
            ));
        }
        Ok(Some(nearest))
    }

    /// Copies the lines of the file before `end`.
    fn copy_to(&mut self, end: usize) {
        if self.cursor < end {
            self.end_line();
        }
        for line in self.file.get(self.cursor..end).unwrap_or_default() {
            self.applied.bytes.extend_from_slice(line);
        }
        self.cursor = self.cursor.max(end);
    }

    fn put(&mut self, hunk: &Hunk, at: usize, fit: LineMatch) {
        self.copy_to(at);
        let file_unended = self.file.last().is_some_and(|line| !line.ends_with(b"\n"));
        for line in &hunk.lines {
            match line.kind {
                // Copies the file's own line: it may differ in white space.
                LineKind::Context => {
                    if let Some(own) = self.file.get(self.cursor).copied() {
                        self.end_line();
                        self.applied.bytes.extend_from_slice(own);
                    }
                    self.cursor += 1;
                }
                LineKind::Deleted => self.cursor += 1,
                LineKind::Added => {
                    self.end_line();
                    self.applied.bytes.extend_from_slice(line.text.as_bytes());
                    if !line.unended {
                        let loose_crlf = self.crlf && fit == LineMatch::Loose;
                        if loose_crlf && !line.text.ends_with('\r') {
                            self.applied.bytes.push(b'\r');
                        }
                        self.applied.bytes.push(b'\n');
                    }
                }
            }
        }
        // If the hunk does not mention a missing final line feed and the file has none, it stays
        // missing.
        let says = hunk.lines.iter().any(|line| line.unended);
        let added_last = hunk
            .lines
            .last()
            .is_some_and(|line| line.kind == LineKind::Added);
        if fit == LineMatch::Loose
            && !says
            && added_last
            && file_unended
            && self.cursor == self.file.len()
        {
            let bytes = &mut self.applied.bytes;
            if bytes.ends_with(b"\r\n") {
                bytes.truncate(bytes.len() - 2);
            } else if bytes.ends_with(b"\n") {
                bytes.pop();
            }
        }
    }

    /// A line cannot follow one without a line end.
    fn end_line(&mut self) {
        if !self.applied.bytes.is_empty() && !self.applied.bytes.ends_with(b"\n") {
            let end: &[u8] = if self.crlf { b"\r\n" } else { b"\n" };
            self.applied.bytes.extend_from_slice(end);
        }
    }

    fn not_found(&self, old: &[&HunkLine], hunk: &Hunk) -> String {
        let mut text = match hunk.start {
            Some(start) => format!("its old lines are not in the file (expected at line {start})"),
            None => "its old lines are not in the file".to_owned(),
        };
        let wanted: Vec<&str> = old.iter().map(|line| line.text.as_str()).collect();
        let shown = |lines: &[&str]| {
            lines
                .iter()
                .take(SHOWN_MAX)
                .copied()
                .collect::<Vec<_>>()
                .join("\n")
        };
        let rest = self.file.get(self.cursor..).unwrap_or_default().concat();
        let similar = edit::nearest(&rest, &wanted.join("\n")).map(|passage| SimilarPassage {
            first_line: self.cursor as u64 + passage.first_line,
            ..passage
        });
        // People see the first line alone.
        match similar {
            Some(passage) => {
                let found: Vec<&str> = passage.text.lines().collect();
                let _ = write!(
                    text,
                    "; {passage}\nExpected:\n{}\nFound:\n{}",
                    shown(&wanted),
                    shown(&found)
                );
            }
            None => {
                let _ = write!(
                    text,
                    "; nothing in the file is similar\nExpected:\n{}",
                    shown(&wanted)
                );
            }
        }
        text
    }
}

fn same(line: &[u8], wanted: &HunkLine, fit: LineMatch) -> bool {
    match fit {
        LineMatch::Exact => match line.strip_suffix(b"\n") {
            Some(bare) => !wanted.unended && bare == wanted.text.as_bytes(),
            None => wanted.unended && line == wanted.text.as_bytes(),
        },
        LineMatch::Loose => line.trim_ascii_end() == wanted.text.as_bytes().trim_ascii_end(),
    }
}

/// Line numbers, from 1.
fn listed(places: &[usize]) -> String {
    let mut text = places
        .iter()
        .take(SHOWN_MAX)
        .map(|at| (at + 1).to_string())
        .collect::<Vec<_>>()
        .join(", ");
    if places.len() > SHOWN_MAX {
        text.push_str(", …");
    }
    text
}
