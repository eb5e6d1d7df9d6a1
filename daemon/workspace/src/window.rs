//! Reads some lines of a file in memory that depends only on the window, not on the file.
//!
//! A single pass counts all lines and computes the stamp of the whole file.

use std::io::Read;

use sha2::{Digest, Sha256};

use crate::read::{FileError, FileStamp, IoContext, OpenFile, SIZE_MAX, each_part};
use crate::resolve::ResolvedPath;
use crate::workspace::Workspace;

/// The lines to read, and their limits.
#[derive(Clone, Copy, Debug)]
pub struct LineWindow {
    /// The first line, from 1.
    pub first: u64,
    pub lines_max: u64,
    /// Maximum bytes kept of one line.
    pub line_bytes_max: usize,
    /// Maximum bytes kept in all.
    pub bytes_max: usize,
}

/// The content of a window.
#[derive(Clone, Debug)]
pub struct WindowContent {
    /// The lines from `first` on, without line ends.
    pub lines: Vec<WindowLine>,
    /// Number of lines of the whole file.
    pub total: u64,
    pub stamp: FileStamp,
    /// The first bytes of the file, to detect its type.
    pub head: Vec<u8>,
}

/// A line, or its start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowLine {
    pub bytes: Vec<u8>,
    /// Number of bytes truncated.
    pub left_out: u64,
}

/// How many bytes are used to tell text from binary data.
const HEAD: usize = 8192;

impl Workspace {
    /// Reads a window of a file.
    ///
    /// # Errors
    /// As `open_file`, or the disk fails.
    pub fn window(
        &self,
        at: &ResolvedPath,
        window: LineWindow,
    ) -> Result<WindowContent, FileError> {
        let OpenFile { file, meta } = self.open_file(at)?;
        let mut hash = Sha256::new();
        let mut head = Vec::with_capacity(HEAD);
        let mut taker = WindowReader::new(window);
        let size = each_part(file.take(SIZE_MAX + 1), meta.len(), |part| {
            head.extend_from_slice(&part[..part.len().min(HEAD - head.len())]);
            hash.update(part);
            taker.take(part);
        });
        let size = size.at("read", at.path())?;
        if size > SIZE_MAX {
            return Err(FileError::TooLarge {
                path: at.path().to_owned(),
                size,
            });
        }
        let (lines, total) = taker.finish();
        Ok(WindowContent {
            lines,
            total,
            stamp: FileStamp::new(&meta, size, hash),
            head,
        })
    }
}

struct WindowReader {
    window: LineWindow,
    lines: Vec<WindowLine>,
    kept: usize,
    /// Number of the line that the next byte belongs to.
    line: u64,
    /// That line already has bytes.
    begun: bool,
    current: WindowLine,
}

impl WindowReader {
    fn new(window: LineWindow) -> Self {
        Self {
            window,
            lines: Vec::new(),
            kept: 0,
            line: 1,
            begun: false,
            current: WindowLine::default(),
        }
    }

    fn full(&self) -> bool {
        self.lines.len() as u64 >= self.window.lines_max || self.kept >= self.window.bytes_max
    }

    fn take(&mut self, mut part: &[u8]) {
        while !part.is_empty() {
            if self.full() {
                return self.skip(part);
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
                    None => return self.skip(part),
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

    fn skip(&mut self, part: &[u8]) {
        self.line += memchr::memchr_iter(b'\n', part).count() as u64;
        self.begun = part.last() != Some(&b'\n');
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

    fn finish(mut self) -> (Vec<WindowLine>, u64) {
        let total = self.line - 1 + u64::from(self.begun);
        if self.begun && self.line >= self.window.first && !self.full() {
            self.end_line();
        }
        (self.lines, total)
    }
}

#[cfg(test)]
mod tests;
