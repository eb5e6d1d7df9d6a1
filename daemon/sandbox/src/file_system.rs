//! The file system queries of a plan. Links are not followed unless stated.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Directory,
    /// Neither a directory nor a link.
    File,
    Link,
    /// Our placeholder: an empty directory, or a file with neutral content.
    Stub,
}

/// Queries about paths.
pub trait FileSystem {
    /// The file type. `None` if it cannot be determined.
    fn kind(&self, path: &Path) -> Option<FileKind>;
    /// The path with links resolved. `None` if it leads nowhere.
    fn real(&self, path: &Path) -> Option<PathBuf>;
    /// The target text of a link.
    fn link(&self, path: &Path) -> Option<PathBuf>;
    /// The names in a directory. `None` if it cannot be listed, or has more than `most`.
    fn names(&self, path: &Path, most: usize) -> Option<Vec<OsString>>;
}

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct HostFileSystem;

impl FileSystem for HostFileSystem {
    fn kind(&self, path: &Path) -> Option<FileKind> {
        let found = path.symlink_metadata().ok()?;
        Some(match found.file_type() {
            kind if kind.is_symlink() => FileKind::Link,
            _ if crate::stub::is_marked(&found) => FileKind::Stub,
            kind if kind.is_dir() => FileKind::Directory,
            _ => FileKind::File,
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
