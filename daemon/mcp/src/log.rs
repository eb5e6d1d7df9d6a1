//! What a server wrote beside its protocol, and what happened to it: the newest part, in memory.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::text::{clean, cut};

/// Bytes that are kept.
const KEPT: usize = 64 * 1024;
/// Bytes of one line.
const LINE_MAX: usize = 2 * 1024;

/// Lines, the oldest first.
#[derive(Debug, Default)]
pub struct ServerLog(Mutex<Lines>);

#[derive(Debug, Default)]
struct Lines {
    lines: VecDeque<String>,
    bytes: usize,
    /// The end of what came without an end of line.
    open: Vec<u8>,
}

impl Lines {
    fn push(&mut self, line: &str) {
        let line = clean(line);
        let line = cut(line.trim_end(), LINE_MAX).0.to_owned();
        self.bytes += line.len() + 1;
        self.lines.push_back(line);
        while self.bytes > KEPT
            && let Some(line) = self.lines.pop_front()
        {
            self.bytes -= line.len() + 1;
        }
    }
}

impl ServerLog {
    /// Takes bytes of the server's standard error.
    pub fn take(&self, bytes: &[u8]) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LINE_MAX.saturating_sub(lines.open.len()).min(piece.len());
            let kept = piece.get(..room).unwrap_or_default();
            lines.open.extend_from_slice(kept);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut lines.open);
                lines.push(&String::from_utf8_lossy(&line));
            }
        }
    }

    /// Adds a line of ours.
    pub fn note(&self, line: &str) {
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(&format!("[reasonix] {line}"));
    }

    /// The newest lines, the oldest first.
    #[must_use]
    pub fn tail(&self, lines_max: usize) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let open = (!lines.open.is_empty()).then(|| clean(&String::from_utf8_lossy(&lines.open)));
        let all: Vec<_> = lines.lines.iter().cloned().chain(open).collect();
        all.get(all.len().saturating_sub(lines_max)..)
            .unwrap_or_default()
            .to_vec()
    }

    /// The last words of the server itself, for a reason.
    #[must_use]
    pub fn last_words(&self) -> Option<String> {
        let tail = self.tail(20);
        let own = |line: &&String| !line.starts_with("[reasonix]") && !line.trim().is_empty();
        tail.iter().rev().find(own).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_lines_are_kept_within_bounds_and_without_escapes() {
        let log = ServerLog::default();
        log.take(b"first\nse");
        log.take(b"cond \x1b[31mred\nopen");
        log.note("it ended");
        assert_eq!(
            log.tail(10),
            ["first", "second red", "[reasonix] it ended", "open"]
        );
        assert_eq!(log.last_words().as_deref(), Some("open"));
        for _ in 0..10_000 {
            log.take(&[b'x'; 100]);
            log.take(b"\n");
        }
        log.take(&vec![b'y'; 10_000_000]);
        let all = log.tail(usize::MAX);
        assert!(all.iter().map(|line| line.len() + 1).sum::<usize>() <= KEPT + LINE_MAX + 1);
        assert_eq!(log.tail(1).len(), 1);
    }
}
