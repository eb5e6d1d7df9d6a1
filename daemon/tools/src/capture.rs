//! Everything a command prints: head and tail as clean text in bounded memory, all of it in a file once it is long.
//!
//! Called by `bash`. The file is private and lies in the session's own directory.

use std::path::{Path, PathBuf};

use tokio::fs::File;
use tokio::io::AsyncWriteExt;

use crate::clean::{Fold, Strip, live};
use crate::truncate::Pieces;

/// Bytes of output that are taken; a command that prints more is stopped.
pub(crate) const OUTPUT_MAX: u64 = 64 * 1024 * 1024;
/// Clean text kept of the beginning, and of the end.
const END_MAX: usize = 128 * 1024;
/// Up to this many bytes nothing is written to disk; no more than can be told whole to the model.
const EARLY_MAX: usize = 16 * 1024;

/// Where a piece of output came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

/// The output of one command.
#[derive(Debug)]
pub(crate) struct Capture {
    streams: [(Strip, Fold); 2],
    ends: Ends,
    /// Bytes that came, taken or not.
    bytes: u64,
    spill: Spill,
}

impl Capture {
    pub(crate) fn new(spill_dir: PathBuf) -> Self {
        Self {
            streams: Default::default(),
            ends: Ends::default(),
            bytes: 0,
            spill: Spill::Early {
                dir: spill_dir,
                bytes: Vec::new(),
            },
        }
    }

    /// Takes a piece of output; gives it as clean text for people who watch. Beyond `OUTPUT_MAX`, it only counts.
    pub(crate) async fn push(&mut self, stream: Stream, bytes: &[u8]) -> String {
        let room = usize::try_from(OUTPUT_MAX.saturating_sub(self.bytes)).unwrap_or(usize::MAX);
        self.bytes += bytes.len() as u64;
        let bytes = &bytes[..bytes.len().min(room)];
        if bytes.is_empty() {
            return String::new();
        }
        self.spill.push(bytes).await;
        let (strip, fold) = &mut self.streams[stream as usize];
        let text = strip.push(bytes);
        self.ends.push(&fold.push(&text));
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
        for (strip, fold) in &mut self.streams {
            let rest = strip.finish();
            let text = fold.push(&rest) + &fold.finish();
            self.ends.push(&text);
        }
        self.spill.finish().await;
    }

    /// The text, as far as it was kept.
    pub(crate) fn pieces(&self) -> Pieces<'_> {
        Pieces {
            head: &self.ends.head,
            missing: self.ends.missing,
            tail: &self.ends.tail,
        }
    }

    /// The end of the text, at most `chars_max` characters.
    pub(crate) fn tail(&self, chars_max: usize) -> String {
        let mut chars: Vec<char> = self
            .ends
            .tail
            .chars()
            .rev()
            .chain(
                self.ends
                    .head
                    .chars()
                    .rev()
                    .filter(|_| self.ends.missing == 0),
            )
            .take(chars_max)
            .collect();
        chars.reverse();
        chars.into_iter().collect()
    }

    /// The file that holds all of it, where there is one.
    pub(crate) fn spilled(&self) -> Option<&Path> {
        match &self.spill {
            Spill::Open { path, .. } => Some(path),
            Spill::Early { .. } | Spill::Failed { .. } => None,
        }
    }

    /// Why there is no file, where there should be one.
    pub(crate) fn spill_failure(&self) -> Option<&str> {
        match &self.spill {
            Spill::Failed { reason } => Some(reason),
            Spill::Early { .. } | Spill::Open { .. } => None,
        }
    }

    /// The model got everything: the file is not needed.
    pub(crate) async fn discard_spill(&mut self) {
        if let Spill::Open { path, .. } = &self.spill {
            // A file that stays behind does no harm; it goes with the session.
            let _ = tokio::fs::remove_file(path).await;
            self.spill = Spill::Failed {
                reason: String::new(),
            };
        }
    }

    /// Writes out what is held although it is short: the note names the file in any case.
    pub(crate) async fn keep_spill(&mut self) {
        self.spill.open().await;
        self.spill.finish().await;
    }
}

/// The first and the last of a text.
#[derive(Debug, Default)]
struct Ends {
    head: String,
    missing: u64,
    tail: String,
}

impl Ends {
    fn push(&mut self, text: &str) {
        let mut text = text;
        if self.tail.is_empty() && self.missing == 0 {
            let room = END_MAX - self.head.len().min(END_MAX);
            let taken = text.floor_char_boundary(room);
            self.head.push_str(&text[..taken]);
            text = &text[taken..];
        }
        self.tail.push_str(text);
        // Not at every piece: moving the whole tail has its price.
        if self.tail.len() > 2 * END_MAX {
            let dropped = self.tail.ceil_char_boundary(self.tail.len() - END_MAX);
            self.tail.drain(..dropped);
            self.missing += dropped as u64;
        }
    }
}

/// The file for everything, made only when output is long.
#[derive(Debug)]
enum Spill {
    Early { dir: PathBuf, bytes: Vec<u8> },
    Open { path: PathBuf, file: File },
    Failed { reason: String },
}

impl Spill {
    async fn push(&mut self, bytes: &[u8]) {
        match self {
            Self::Early { bytes: early, .. } => {
                early.extend_from_slice(bytes);
                if early.len() > EARLY_MAX {
                    self.open().await;
                }
            }
            Self::Open { path, file } => {
                if let Err(error) = file.write_all(bytes).await {
                    *self = Self::Failed {
                        reason: format!("write {}: {error}", path.display()),
                    };
                }
            }
            Self::Failed { .. } => {}
        }
    }

    async fn open(&mut self) {
        let Self::Early { dir, bytes } = self else {
            return;
        };
        *self = match create(dir, bytes).await {
            Ok((path, file)) => Self::Open { path, file },
            Err(error) => Self::Failed {
                reason: format!("make a file in {}: {error}", dir.display()),
            },
        };
    }

    async fn finish(&mut self) {
        if let Self::Open { path, file } = self
            && let Err(error) = file.flush().await
        {
            let reason = format!("write {}: {error}", path.display());
            *self = Self::Failed { reason };
        }
    }
}

async fn create(dir: &Path, bytes: &[u8]) -> std::io::Result<(PathBuf, File)> {
    tokio::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .await?;
    let path = dir.join(format!("bash-{}.txt", uuid::Uuid::now_v7().simple()));
    let mut file = tokio::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .await?;
    file.set_max_buf_size(256 * 1024);
    file.write_all(bytes).await?;
    Ok((path, file))
}

#[cfg(test)]
mod tests;
