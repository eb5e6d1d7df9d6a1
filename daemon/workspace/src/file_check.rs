//! Checks with one `stat` whether a file changed since its content was known.

use std::path::Path;

use crate::read::{FileKind, FileStamp};
use crate::workspace::Workspace;

/// Result of the check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileCheck {
    /// Unchanged.
    Same,
    /// Written to, replaced, or unknown. Its content may still be the same.
    Touched {
        /// Its length in bytes.
        size: u64,
        mtime_ns: i128,
    },
    /// It does not exist, or is not a file anymore.
    Gone,
}

impl Workspace {
    /// Checks whether the file at a resolved path is still the one of `known`. Does not follow
    /// links.
    #[must_use]
    pub fn check_file(&self, path: &Path, known: &FileStamp) -> FileCheck {
        match std::fs::symlink_metadata(path) {
            Ok(meta) if FileKind::of(&meta) == FileKind::File => {
                let now = FileStamp::unhashed(&meta);
                if now.same_file(known) {
                    FileCheck::Same
                } else {
                    FileCheck::Touched {
                        size: now.size,
                        mtime_ns: now.mtime_ns,
                    }
                }
            }
            Ok(_) => FileCheck::Gone,
            Err(error) => match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => FileCheck::Gone,
                // Says nothing about a file that cannot be checked.
                _ => FileCheck::Same,
            },
        }
    }
}

#[cfg(test)]
mod tests;
