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
    let is_plain = |part| matches!(part, Component::RootDir | Component::Normal(_));
    if !path.is_absolute() || !path.components().all(is_plain) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let opened = match open_in_one_call(path, flags) {
        // The walk finds a link where a directory is wanted.
        Some(Err(Errno::LOOP)) => Err(Errno::NOTDIR),
        Some(opened) => opened,
        None => walk_to(path, flags),
    };
    Ok(opened?)
}

/// Opens a directory part by part.
fn walk_to(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let mut at = open("/", flags, Mode::empty())?;
    for part in path.components().skip(1) {
        let name = part.as_os_str();
        at = openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(at)
}

/// Whether there is nothing at a path, and no link on the way to it. `false`: there may be.
pub(crate) fn is_missing_without_links(path: &Path) -> bool {
    let flags = SEARCH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    matches!(open_in_one_call(path, flags), Some(Err(Errno::NOENT)))
}

/// Opens what is at an absolute path, with a kernel that refuses links by itself. `None`: this one cannot.
#[cfg(target_os = "linux")]
fn open_in_one_call(path: &Path, flags: OFlags) -> Option<Result<OwnedFd, Errno>> {
    use rustix::fs::{CWD, ResolveFlags, openat2};
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS) {
        // Kernels before 5.6, and containers whose filter does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => None,
        opened => Some(opened),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_in_one_call(_: &Path, _: OFlags) -> Option<Result<OwnedFd, Errno>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_are_opened_without_links_in_one_call_or_by_a_walk() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("a/b")).unwrap();
        std::fs::write(top.join("a/file"), "").unwrap();
        std::os::unix::fs::symlink("b", top.join("a/link")).unwrap();
        std::os::unix::fs::symlink("a", top.join("way")).unwrap();
        let flags = SEARCH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let not_found = Some(io::ErrorKind::NotFound);
        let not_a_directory = Some(io::ErrorKind::NotADirectory);
        for (path, error) in [
            ("a/b", None),
            ("a", None),
            ("a/none", not_found),
            ("none/b", not_found),
            ("a/file", not_a_directory),
            ("a/file/below", not_a_directory),
            ("a/link", not_a_directory),
            ("way/b", not_a_directory),
        ] {
            let path = top.join(path);
            let opened = open_directory(&path).map(|found| fstat(found).unwrap().st_ino);
            let walked = walk_to(&path, flags).map(|found| fstat(found).unwrap().st_ino);
            assert_eq!(opened.as_ref().ok(), walked.as_ref().ok(), "{path:?}");
            assert_eq!(opened.err().map(|error| error.kind()), error, "{path:?}");
            let walked = walked.err().map(|error| io::Error::from(error).kind());
            assert_eq!(walked, error, "{path:?}");
        }
        for path in [Path::new("a/b"), &top.join("a/../a/b")] {
            let opened = open_directory(path).map(drop);
            assert_eq!(opened.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
        let missing = |path: &str| is_missing_without_links(&top.join(path));
        assert!(missing("a/none") || cfg!(not(target_os = "linux")));
        assert!(["a/b", "a/link", "way/none", "a/file/below"].map(missing) == [false; 4]);
    }
}
