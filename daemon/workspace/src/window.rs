//! Some lines of a file, out of however many, in memory that depends on the window alone.
//!
//! One pass over the file: it counts all lines and takes the stamp of the whole on the way.

use std::io::Read;

use sha2::{Digest, Sha256};

use crate::read::{FileError, OpenFile, SIZE_MAX, Stamp};
use crate::resolve::Resolved;
use crate::workspace::Workspace;

/// Which lines are wanted, and how much of them.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// The first line, from 1.
    pub first: u64,
    pub lines_max: u64,
    /// Bytes kept of one line.
    pub line_bytes_max: usize,
    /// Bytes kept in all.
    pub bytes_max: usize,
}

/// What a window shows.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The lines from `first` on, without their ends.
    pub lines: Vec<KeptLine>,
    /// Lines of the whole file.
    pub total: u64,
    pub stamp: Stamp,
    /// The first bytes of the file, by which its kind is told.
    pub head: Vec<u8>,
}

/// A line, or its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptLine {
    pub bytes: Vec<u8>,
    /// Bytes that were not kept.
    pub left_out: u64,
}

/// How much of the beginning is looked at to tell text from binary.
const HEAD: usize = 8192;

impl Workspace {
    /// Reads a window of a file.
    ///
    /// # Errors
    /// As `open_file`; or the disk fails.
    pub fn window(&self, at: &Resolved, window: Window) -> Result<Kept, FileError> {
        let OpenFile { file, meta } = self.open_file(at)?;
        let mut file = file.take(SIZE_MAX + 1);
        let mut hash = Sha256::new();
        let mut size = 0_u64;
        let mut head = Vec::with_capacity(HEAD);
        let mut taker = Taker::new(window);
        let mut chunk = vec![0; 128 * 1024];
        loop {
            let count = match file.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(FileError::io("read", at.path(), source)),
            };
            let part = &chunk[..count];
            head.extend_from_slice(&part[..count.min(HEAD - head.len())]);
            size += count as u64;
            hash.update(part);
            taker.take(part);
        }
        if size > SIZE_MAX {
            return Err(FileError::TooLarge {
                path: at.path().to_owned(),
                size,
            });
        }
        let (lines, total) = taker.finish();
        Ok(Kept {
            lines,
            total,
            stamp: Stamp::new(&meta, size, hash),
            head,
        })
    }
}

struct Taker {
    window: Window,
    lines: Vec<KeptLine>,
    kept: usize,
    /// Number of the line that the next byte belongs to.
    line: u64,
    /// That line has bytes already.
    begun: bool,
    current: KeptLine,
}

impl Taker {
    fn new(window: Window) -> Self {
        Self {
            window,
            lines: Vec::new(),
            kept: 0,
            line: 1,
            begun: false,
            current: KeptLine::default(),
        }
    }

    fn full(&self) -> bool {
        self.lines.len() as u64 >= self.window.lines_max || self.kept >= self.window.bytes_max
    }

    fn take(&mut self, mut part: &[u8]) {
        while !part.is_empty() {
            if self.full() {
                self.line += memchr::memchr_iter(b'\n', part).count() as u64;
                self.begun = part.last() != Some(&b'\n');
                return;
            }
            let end = if self.line < self.window.first {
                let wanted =
                    usize::try_from(self.window.first - self.line - 1).unwrap_or(usize::MAX);
                match memchr::memchr_iter(b'\n', part).nth(wanted) {
                    Some(end) => {
                        self.line = self.window.first;
                        self.begun = false;
                        end
                    }
                    None => {
                        self.line += memchr::memchr_iter(b'\n', part).count() as u64;
                        self.begun = part.last() != Some(&b'\n');
                        return;
                    }
                }
            } else {
                let end = memchr::memchr(b'\n', part);
                self.keep(&part[..end.unwrap_or(part.len())]);
                let Some(end) = end else {
                    self.begun = true;
                    return;
                };
                self.end_line();
                end
            };
            part = &part[end + 1..];
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.window.line_bytes_max - self.current.bytes.len();
        let taken = bytes.len().min(room);
        self.current.bytes.extend_from_slice(&bytes[..taken]);
        self.current.left_out += (bytes.len() - taken) as u64;
    }

    fn end_line(&mut self) {
        let mut line = std::mem::take(&mut self.current);
        if line.left_out == 0 && line.bytes.last() == Some(&b'\r') {
            line.bytes.pop();
        }
        self.kept += line.bytes.len() + 1;
        self.lines.push(line);
        self.line += 1;
        self.begun = false;
    }

    fn finish(mut self) -> (Vec<KeptLine>, u64) {
        let total = self.line - 1 + u64::from(self.begun);
        if self.begun && self.line >= self.window.first && !self.full() {
            self.end_line();
        }
        (self.lines, total)
    }
}

#[cfg(test)]
mod tests;
