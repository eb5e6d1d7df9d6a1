//! Small files beside a log that may be lost: what was shown of an answer in progress, and what a person has seen.
//!
//! Written without sync and never the truth: after a power cut such a file is old, gone, or half, and its reader
//! takes what it cannot read for absent. No decision that matters stands on one.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::disk::{At, Fault, private};

/// The most that is read of such a file: 16 MiB.
const READ_MAX: u64 = 16 * 1024 * 1024;

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aside {
    /// What subscribers had seen of an answer that was in progress.
    Partial,
    /// Up to which record a person has watched the session.
    Seen,
}

impl Aside {
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

/// Puts new content in place of the old. `dir` is the session's.
///
/// # Errors
/// The file cannot be written; the old one then still stands.
pub fn put(dir: &Path, aside: Aside, content: &[u8]) -> Result<(), Fault> {
    let path = aside.path(dir);
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

/// The content; `None` where there is none that can be read.
#[must_use]
pub fn get(dir: &Path, aside: Aside) -> Option<Vec<u8>> {
    let mut content = Vec::new();
    File::open(aside.path(dir))
        .and_then(|file| file.take(READ_MAX).read_to_end(&mut content))
        .ok()?;
    Some(content)
}

/// Takes the file away, where there is one.
///
/// # Errors
/// It is there and cannot be removed.
pub fn remove(dir: &Path, aside: Aside) -> Result<(), Fault> {
    let path = aside.path(dir);
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
    .at("remove", &path)
}

#[cfg(test)]
mod tests;
