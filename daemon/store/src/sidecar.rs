//! Sidecar files: small files beside a log that may be lost, such as the draft of an answer in
//! progress.
//!
//! They are written without sync. After a power cut such a file may be old, missing or truncated.
//! Readers treat an unreadable one as absent, and no important decision depends on one.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use crate::disk::{DiskError, IoContext, private, remove_file};

/// The most bytes read from a sidecar: 16 MiB.
const READ_MAX: u64 = 16 * 1024 * 1024;

/// A sidecar file of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sidecar {
    /// The part of an answer in progress that subscribers have seen.
    Partial,
    /// The last record that a user has watched the session to.
    Seen,
}

impl Sidecar {
    fn name(self) -> &'static str {
        match self {
            Self::Partial => "partial.json",
            Self::Seen => "seen.json",
        }
    }

    fn path(self, dir: &Path) -> PathBuf {
        dir.join(self.name())
    }
}

/// Replaces the content of a sidecar. `dir` is the session's directory.
///
/// # Errors
/// The file cannot be written. The old content remains.
pub fn put(dir: &Path, sidecar: Sidecar, content: &[u8]) -> Result<(), DiskError> {
    let path = sidecar.path(dir);
    let temporary = path.with_extension("tmp");
    private()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&temporary)
        .and_then(|mut file| file.write_all(content))
        .at("write", &temporary)?;
    std::fs::rename(&temporary, &path).at("replace", &path)
}

/// Reads a sidecar. Returns `None` if it is missing or unreadable.
#[must_use]
pub fn get(dir: &Path, sidecar: Sidecar) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    File::open(sidecar.path(dir))
        .and_then(|file| file.take(READ_MAX).read_to_end(&mut content))
        .ok()?;
    Some(content)
}

/// Removes a sidecar if it exists.
///
/// # Errors
/// It exists and cannot be removed.
pub fn remove(dir: &Path, sidecar: Sidecar) -> Result<(), DiskError> {
    let path = sidecar.path(dir);
    remove_file(&path).at("remove", &path)
}

#[cfg(test)]
mod tests;
