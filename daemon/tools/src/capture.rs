//! Everything a command prints: head and tail as clean text in bounded memory, all of it in a file once it is long.
//!
//! Called by `bash` and, for commands in the background, by `shells`, which take the text from it piece by piece.

use std::path::{Path, PathBuf};

use crate::clean::{ControlStripper, LineFolder, live};
use crate::truncate::{self, TextPieces, TruncatedText};

mod ends;
mod spill;

pub(crate) use ends::HeadAndTail;
use spill::SpillFile;

/// Lines of [`Capture::first_lines`], and characters of each.
const FIRST_LINES: usize = 3;
const FIRST_LINE_CHARS: usize = 300;

/// The end of a line that is cut.
fn cut_end(line: &str) -> Option<char> {
    line.chars().nth(FIRST_LINE_CHARS).map(|_| '\n')
}

/// Bytes of output that are taken; a command that prints more is stopped.
pub(crate) const OUTPUT_MAX: u64 = 64 * 1024 * 1024;

/// The output of one command.
#[derive(Debug)]
pub(crate) struct Capture {
    strip: ControlStripper,
    fold: LineFolder,
    ends: HeadAndTail,
    /// Bytes that came, taken or not.
    bytes: u64,
    spill: SpillFile,
    /// Bytes of the text, all of which the file gets.
    text_bytes: u64,
    /// HeadAndTail of lines in the text.
    lines: u64,
    /// The text ends in a line without an end.
    begun: bool,
}

impl Capture {
    /// `end_max`: bytes of clean text that are kept of the beginning, and of the end.
    pub(crate) fn new(spill_dir: PathBuf, end_max: usize) -> Self {
        Self {
            strip: ControlStripper::default(),
            fold: LineFolder::default(),
            ends: HeadAndTail::new(end_max),
            bytes: 0,
            spill: SpillFile::new(spill_dir),
            text_bytes: 0,
            lines: 0,
            begun: false,
        }
    }

    /// Takes a piece of output; gives it as clean text for people who watch. Beyond `OUTPUT_MAX`, it only counts.
    pub(crate) async fn push(&mut self, bytes: &[u8]) -> String {
        let room = usize::try_from(OUTPUT_MAX.saturating_sub(self.bytes)).unwrap_or(usize::MAX);
        self.bytes += bytes.len() as u64;
        let bytes = &bytes[..bytes.len().min(room)];
        if bytes.is_empty() {
            return String::new();
        }
        let text = self.strip.push(bytes);
        let lines = self.fold.push(&text);
        self.keep(&lines).await;
        live(&text)
    }

    /// Bytes that came.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// More came than is taken.
    pub(crate) fn too_much(&self) -> bool {
        self.bytes > OUTPUT_MAX
    }

    /// Nothing more comes: lines without an end are taken as they are, the file is complete.
    pub(crate) async fn finish(&mut self) {
        let rest = self.strip.finish();
        let text = self.fold.push(&rest) + &self.fold.finish();
        self.keep(&text).await;
        self.spill.close().await;
    }

    async fn keep(&mut self, text: &str) {
        self.ends.push(text);
        self.spill.push(text.as_bytes()).await;
        self.text_bytes += text.len() as u64;
        self.lines += text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        self.begun = match text.is_empty() {
            true => self.begun,
            false => !text.ends_with('\n'),
        };
    }

    /// Lines of the text, the last one whether it has an end or not.
    pub(crate) fn lines(&self) -> u64 {
        self.lines + u64::from(self.begun)
    }

    /// Whether the last so many characters of the text are all of it.
    pub(crate) fn fits(&self, chars_max: usize) -> bool {
        let TextPieces {
            head,
            missing,
            tail,
        } = self.pieces();
        missing == 0 && head.chars().chain(tail.chars()).nth(chars_max).is_none()
    }

    /// The text, as far as it was kept.
    pub(crate) fn pieces(&self) -> TextPieces<'_> {
        self.ends.pieces()
    }

    /// The end of the text, at most `chars_max` characters.
    pub(crate) fn tail(&self, chars_max: usize) -> String {
        self.ends.last(chars_max)
    }

    /// The first lines of a text of which the last `chars_max` characters are not all: as many as nobody scrolls past.
    pub(crate) fn first_lines(&self, chars_max: usize) -> String {
        if self.fits(chars_max) {
            return String::new();
        }
        let lines = self.pieces().head.split_inclusive('\n').take(FIRST_LINES);
        lines
            .flat_map(|line| line.chars().take(FIRST_LINE_CHARS).chain(cut_end(line)))
            .collect()
    }

    /// Takes the unfinished lines in their current form; their continuation follows later.
    pub(crate) async fn take_begun(&mut self) {
        let text = self.fold.finish();
        self.keep(&text).await;
    }

    /// The text since the last time it was taken.
    pub(crate) fn take(&mut self) -> HeadAndTail {
        self.ends.take()
    }

    /// Keeps no more than twice `end_max` bytes of text.
    pub(crate) fn shrink(&mut self, end_max: usize) {
        self.ends.shrink(end_max);
    }

    /// Where all of it is. The file is written out although it may be short.
    pub(crate) async fn keep_spill(&mut self) -> FullOutput {
        self.spill.write_out().await;
        match (self.spill.path(), self.spill.failure()) {
            (Some(path), _) => FullOutput::File {
                path: path.to_owned(),
                bytes: self.text_bytes,
            },
            (None, reason) => FullOutput::Nowhere(reason.unwrap_or_default().to_owned()),
        }
    }

    /// The file is not needed: it is deleted, and none is made any more.
    pub(crate) async fn discard_spill(&mut self) {
        self.spill.discard().await;
    }
}

/// Where all of an output is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FullOutput {
    File {
        path: PathBuf,
        /// Its length.
        bytes: u64,
    },
    /// With the reason, if one is known.
    Nowhere(String),
}

impl FullOutput {
    /// Cuts a text for the model; the note says where the rest is.
    pub(crate) fn cut(&self, pieces: TextPieces<'_>, tokens_max: usize) -> TruncatedText {
        let hint = match self {
            Self::File { path, bytes } => {
                let with = if *bytes > workspace::SIZE_MAX {
                    "`grep`: it is too long for `read_file`"
                } else {
                    "`read_file` or `grep`"
                };
                format!("all of it is in {}, for {with}", path.display())
            }
            Self::Nowhere(reason) if reason.is_empty() => "the rest is lost".to_owned(),
            Self::Nowhere(reason) => format!("the rest is lost ({reason})"),
        };
        truncate::cut(pieces, tokens_max, &hint)
    }

    pub(crate) fn file(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } => Some(path),
            Self::Nowhere(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
