//! What a plan asks about the file system it is made for. Links are never followed unless it says so.

use std::ffi::OsString;
use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Directory,
    /// Anything that is neither a directory nor a link.
    File,
    Link,
    /// An empty directory of ours, or a file that says nothing, which only keeps the place from being taken.
    Stub,
}

/// Answers about paths.
pub trait Look {
    /// What stands there. `None`: nothing that can be seen.
    fn kind(&self, path: &Path) -> Option<Kind>;
    /// The path without links. `None`: it leads nowhere.
    fn real(&self, path: &Path) -> Option<PathBuf>;
    /// Where a link says that it leads.
    fn link(&self, path: &Path) -> Option<PathBuf>;
    /// The names in a directory. `None`: it cannot be listed, or there are more than `most`.
    fn names(&self, path: &Path, most: usize) -> Option<Vec<OsString>>;
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host;

impl Look for Host {
    fn kind(&self, path: &Path) -> Option<Kind> {
        let found = path.symlink_metadata().ok()?;
        Some(match found.file_type() {
            kind if kind.is_symlink() => Kind::Link,
            _ if is_stub(&found) => Kind::Stub,
            kind if kind.is_dir() => Kind::Directory,
            _ => Kind::File,
        })
    }

    fn real(&self, path: &Path) -> Option<PathBuf> {
        path.canonicalize().ok()
    }

    fn link(&self, path: &Path) -> Option<PathBuf> {
        std::fs::read_link(path).ok()
    }

    fn names(&self, path: &Path, most: usize) -> Option<Vec<OsString>> {
        let entries = std::fs::read_dir(path).ok()?;
        let names: Result<Vec<_>, _> = entries
            .take(most + 1)
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect();
        names.ok().filter(|names| names.len() <= most)
    }
}

fn is_stub(found: &Metadata) -> bool {
    #[cfg(unix)]
    return crate::stub::is_marked(found);
    #[cfg(not(unix))]
    {
        let _ = found;
        false
    }
}
