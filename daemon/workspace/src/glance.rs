//! Whether a file was touched since its content was known: one look at it, nothing is opened.

use std::path::Path;

use crate::read::{FileKind, Stamp};
use crate::workspace::Workspace;

/// What a look at a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glance {
    /// Not touched.
    Same,
    /// Written to, replaced, or nothing is known of it. Its content may be the same all the same.
    Touched {
        /// Bytes.
        size: u64,
        mtime_ns: i128,
    },
    /// Not there any more, or no file any more.
    Gone,
}

impl Workspace {
    /// Looks whether the file at a resolved path is the one of `known`. Links are not followed.
    #[must_use]
    pub fn glance(&self, path: &Path, known: &Stamp) -> Glance {
        match std::fs::symlink_metadata(path) {
            Ok(meta) if FileKind::of(&meta) == FileKind::File => {
                let now = Stamp::unhashed(&meta);
                if now.same_file(known) {
                    Glance::Same
                } else {
                    Glance::Touched {
                        size: now.size,
                        mtime_ns: now.mtime_ns,
                    }
                }
            }
            Ok(_) => Glance::Gone,
            Err(error) => match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Glance::Gone,
                // What cannot be looked at is not told as anything.
                _ => Glance::Same,
            },
        }
    }
}

#[cfg(test)]
mod tests;
