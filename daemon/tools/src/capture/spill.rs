//! The file for everything that a command prints, made only when that is long.
//!
//! Private, in the session's own directory. A disk that fails costs the file alone.

use std::path::{Path, PathBuf};

use tokio::fs::File;
use tokio::io::AsyncWriteExt;

/// Up to this many bytes nothing is written to disk; no more than fits one result.
pub(super) const EARLY_MAX: usize = 16 * 1024;

#[derive(Debug)]
pub(super) enum SpillFile {
    Early {
        dir: PathBuf,
        bytes: Vec<u8>,
    },
    Open {
        path: PathBuf,
        file: File,
    },
    /// All that came is in it.
    Closed {
        path: PathBuf,
    },
    /// Nobody needs it.
    Gone,
    Failed {
        reason: String,
        /// What did get to the disk.
        left: Option<PathBuf>,
    },
}

impl SpillFile {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self::Early {
            dir,
            bytes: Vec::new(),
        }
    }

    pub(super) async fn push(&mut self, bytes: &[u8]) {
        match self {
            Self::Early { bytes: early, .. } => {
                early.extend_from_slice(bytes);
                if early.len() > EARLY_MAX {
                    self.open().await;
                }
            }
            Self::Open { path, file } => {
                if let Err(error) = file.write_all(bytes).await {
                    *self = not_written(path, &error);
                }
            }
            // After the end nothing comes any more.
            Self::Closed { .. } | Self::Gone | Self::Failed { .. } => {}
        }
    }

    /// Writes out buffered text, so that a reader of the file finds all output so far.
    pub(super) async fn write_out(&mut self) {
        self.open().await;
        if let Self::Open { path, file } = self
            && let Err(error) = file.flush().await
        {
            *self = not_written(path, &error);
        }
    }

    /// The output is complete: completes the file, if there is one.
    pub(super) async fn close(&mut self) {
        if let Self::Open { path, file } = self {
            *self = match file.flush().await {
                Ok(()) => Self::Closed {
                    path: std::mem::take(path),
                },
                Err(error) => not_written(path, &error),
            };
        }
    }

    /// Deletes the file. Later output is not stored.
    pub(super) async fn discard(&mut self) {
        let left = match self {
            Self::Failed { left, .. } => left.as_deref(),
            Self::Early { .. } | Self::Open { .. } | Self::Closed { .. } | Self::Gone => {
                self.path()
            }
        };
        if let Some(path) = left {
            // A leftover file does no harm; it is deleted with the session.
            let _ = tokio::fs::remove_file(path).await;
        }
        *self = Self::Gone;
    }

    pub(super) fn path(&self) -> Option<&Path> {
        match self {
            Self::Open { path, .. } | Self::Closed { path } => Some(path),
            Self::Early { .. } | Self::Gone | Self::Failed { .. } => None,
        }
    }

    /// Why the expected file is missing.
    pub(super) fn failure(&self) -> Option<&str> {
        match self {
            Self::Failed { reason, .. } => Some(reason),
            Self::Early { .. } | Self::Open { .. } | Self::Closed { .. } | Self::Gone => None,
        }
    }

    async fn open(&mut self) {
        let Self::Early { dir, bytes } = self else {
            return;
        };
        *self = match create(dir, bytes).await {
            Ok((path, file)) => Self::Open { path, file },
            Err((left, error)) => Self::Failed {
                reason: format!("make a file in {}: {error}", dir.display()),
                left,
            },
        };
    }
}

fn not_written(path: &Path, error: &std::io::Error) -> SpillFile {
    SpillFile::Failed {
        reason: format!("write {}: {error}", path.display()),
        left: Some(path.to_owned()),
    }
}

/// With an error, the file that was made all the same.
async fn create(
    dir: &Path,
    bytes: &[u8],
) -> Result<(PathBuf, File), (Option<PathBuf>, std::io::Error)> {
    tokio::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(dir)
        .await
        .map_err(|error| (None, error))?;
    let path = dir.join(format!("bash-{}.txt", uuid::Uuid::now_v7().simple()));
    let mut file = tokio::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path)
        .await
        .map_err(|error| (None, error))?;
    file.set_max_buf_size(256 * 1024);
    match file.write_all(bytes).await {
        Ok(()) => Ok((path, file)),
        Err(error) => Err((Some(path), error)),
    }
}

#[cfg(test)]
mod tests;
