//! The file system queries of a plan. Links are not followed unless stated.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;
use rustix::path::Arg;

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    Directory,
    /// Neither a directory nor a link.
    File,
    Link,
    /// There is something, or not: the directory cannot be searched.
    Unknown,
}

/// Queries about paths.
pub trait FileSystem {
    /// The file type. `None` if there is nothing.
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
        let found = match path.symlink_metadata() {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Some(FileKind::Unknown);
            }
            Err(_) => return None,
        };
        Some(match found.file_type() {
            kind if kind.is_symlink() => FileKind::Link,
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

/// The text of a regular file in an open directory, of at most `max` bytes. Follows no link.
pub(crate) fn small_text(directory: impl AsFd, name: impl Arg, max: u64) -> Result<String, Errno> {
    let bytes = small_bytes(directory, name, max)?;
    String::from_utf8(bytes).map_err(|_| Errno::ILSEQ)
}

/// The content of such a file.
pub(crate) fn small_bytes(
    directory: impl AsFd,
    name: impl Arg,
    max: u64,
) -> Result<Vec<u8>, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(directory, name, flags, Mode::empty())?;
    let found = fstat(&file)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(Errno::INVAL);
    }
    let mut bytes = Vec::new();
    let mut limited = File::from(file).take(max + 1);
    let read = limited.read_to_end(&mut bytes).map_err(|_| Errno::IO)?;
    (read as u64 <= max).then_some(bytes).ok_or(Errno::FBIG)
}

/// Opened only to search it.
#[cfg(target_os = "linux")]
pub(crate) const SEARCH: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
pub(crate) const SEARCH: OFlags = OFlags::RDONLY;

/// Opens a directory from the root, without following links.
pub(crate) fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = open("/", flags, Mode::empty())?;
    for part in path.components() {
        match part {
            Component::RootDir => {}
            Component::Normal(name) => {
                at = openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
            }
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        }
    }
    Ok(at)
}
