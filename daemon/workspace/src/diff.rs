//! A file change as a unified diff.
//!
//! Bounded in time and size for any file: diffs are for display. `tools` calls this.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use similar::{Algorithm, ChangeTag, TextDiff};

/// Lines shown around a change.
const CONTEXT: usize = 3;
/// After this time the diff algorithm returns a coarser result.
const TIME_MAX: Duration = Duration::from_millis(250);
/// Maximum bytes of diff text.
const TEXT_MAX: usize = 48 * 1024;

/// A file change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileDiff {
    /// Unified diff with its `---` and `+++` lines, empty if nothing changed. If it is truncated,
    /// the last line says so.
    pub text: String,
    pub added: u64,
    pub removed: u64,
}

/// The change from `old` to `new`. `None` means that the file did not exist.
#[must_use]
pub fn unified(path: &str, old: Option<&[u8]>, new: &[u8]) -> FileDiff {
    let existed = old.is_some();
    let old = old.unwrap_or_default();
    if existed && old == new {
        return FileDiff::default();
    }
    let (start, old_end, new_end) = differing(old, new);
    // Compares only the differing middle, with enough lines around it for the context.
    let first = back_lines(old, start, CONTEXT);
    let offset = memchr::memchr_iter(b'\n', &old[..first]).count();
    let old_text = lossy(&old[first..forward_lines(old, old_end, CONTEXT)]);
    let new_text = lossy(&new[first..forward_lines(new, new_end, CONTEXT)]);
    let diff = TextDiff::configure()
        .algorithm(Algorithm::Histogram)
        .deadline(Instant::now() + TIME_MAX)
        .diff_lines(old_text.as_ref(), new_text.as_ref());

    let from = if existed {
        format!("a/{path}")
    } else {
        "/dev/null".to_owned()
    };
    let mut text = format!("--- {from}\n+++ b/{path}\n");
    let (mut added, mut removed, mut left_out) = (0, 0, 0_u64);
    for group in diff.grouped_ops(CONTEXT) {
        let (Some(head), Some(tail)) = (group.first(), group.last()) else {
            continue;
        };
        let old_range = head.old_range().start..tail.old_range().end;
        let new_range = head.new_range().start..tail.new_range().end;
        let hunk = format!(
            "@@ -{} +{} @@\n",
            span(offset, &old_range),
            span(offset, &new_range)
        );
        push(&mut text, &hunk, &mut left_out);
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Equal => ' ',
                ChangeTag::Delete => {
                    removed += 1;
                    '-'
                }
                ChangeTag::Insert => {
                    added += 1;
                    '+'
                }
            };
            let end = if change.missing_newline() {
                "\n\\ No newline at end of file\n"
            } else {
                ""
            };
            push(
                &mut text,
                &format!("{sign}{}{end}", change.value()),
                &mut left_out,
            );
        }
    }
    if left_out > 0 {
        text.push_str(&format!(
            "[{left_out} more lines of the diff are not shown]\n"
        ));
    }
    FileDiff {
        text,
        added,
        removed,
    }
}

/// Adds a line while there is room. From the first line that does not fit, counts lines instead.
fn push(text: &mut String, line: &str, left_out: &mut u64) {
    if *left_out > 0 || text.len() + line.len() > TEXT_MAX {
        *left_out += 1;
    } else {
        text.push_str(line);
    }
}

fn lossy(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

fn span(offset: usize, range: &std::ops::Range<usize>) -> String {
    match range.len() {
        0 => format!("{},0", offset + range.start),
        1 => format!("{}", offset + range.start + 1),
        count => format!("{},{count}", offset + range.start + 1),
    }
}

/// Where the texts differ: the start of the first differing line, and the ends of the differing
/// parts, at line starts.
fn differing(old: &[u8], new: &[u8]) -> (usize, usize, usize) {
    let same = old
        .iter()
        .zip(new)
        .take_while(|(one, two)| one == two)
        .count();
    let start = memchr::memrchr(b'\n', &old[..same]).map_or(0, |end| end + 1);
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let tail = old_rest
        .iter()
        .rev()
        .zip(new_rest.iter().rev())
        .take_while(|(one, two)| one == two)
        .count();
    // Only whole lines count as equal: skip to the first line that begins inside the equal tail.
    let kept = &old_rest[old_rest.len() - tail..];
    let tail = memchr::memchr(b'\n', kept).map_or(0, |end| tail - end - 1);
    (start, old.len() - tail, new.len() - tail)
}

/// The start of the line `count` lines before the line that starts at `at`.
fn back_lines(bytes: &[u8], at: usize, count: usize) -> usize {
    let mut at = at;
    for _ in 0..count {
        if at == 0 {
            break;
        }
        at = memchr::memrchr(b'\n', &bytes[..at - 1]).map_or(0, |end| end + 1);
    }
    at
}

/// The end of the line `count` lines after `at`, a line's start.
fn forward_lines(bytes: &[u8], at: usize, count: usize) -> usize {
    let mut at = at;
    for _ in 0..count {
        match memchr::memchr(b'\n', &bytes[at..]) {
            Some(end) => at += end + 1,
            None => return bytes.len(),
        }
    }
    at
}

#[cfg(test)]
mod tests;
