//! File operations shared by this crate: private files and durable replacement.
//!
//! Callers decide what a failure means.

use std::error::Error;
use std::fs::{DirBuilder, DirEntry, File, OpenOptions, read_dir};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Dir, FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// An operating system error, with the operation and the path.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} `{}`", .path.display())]
pub struct DiskError {
    /// A verb with its object, as in "cannot *create the directory* …".
    pub doing: &'static str,
    pub path: PathBuf,
    pub source: io::Error,
}

/// Formats an error and all its causes in one line.
#[must_use]
pub fn reason(error: &dyn Error) -> String {
    let causes = std::iter::successors(Some(error), |&error| error.source());
    let texts: Vec<String> = causes.map(ToString::to_string).collect();
    texts.join(": ")
}

/// Whether the cause of an error is a full disk, or a quota that is used up.
#[must_use]
pub fn is_full(error: &(dyn Error + 'static)) -> bool {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.any(|cause| {
        let kind = cause.downcast_ref().map(io::Error::kind);
        matches!(
            kind,
            Some(io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
        )
    })
}

/// Adds the operation and the path to I/O errors.
pub(crate) trait IoContext<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, DiskError>;
}

impl<T> IoContext<T> for io::Result<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, DiskError> {
        self.map_err(|source| DiskError {
            doing,
            path: path.to_owned(),
            source,
        })
    }
}

/// Options for a file that only its owner may access. Refuses symbolic links.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = OFlags::NOFOLLOW.bits() as i32;
    options.mode(0o600).custom_flags(flags);
    options
}

/// Creates a directory that only its owner may enter. Returns whether it is new.
pub(crate) fn private_dir(path: &Path) -> Result<bool, DiskError> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(DiskError {
            doing: "create the directory",
            path: path.to_owned(),
            source,
        }),
    }
}

/// The entries of a directory.
pub(crate) fn entries(dir: &Path) -> Result<Vec<DirEntry>, DiskError> {
    let entries = read_dir(dir).and_then(Iterator::collect);
    entries.at("read the directory", dir)
}

/// Takes each name in a directory, in no order. Quicker than `entries` where there are many.
pub(crate) fn each_name(dir: &Path, mut take: impl FnMut(&[u8])) -> Result<(), DiskError> {
    let mut look = || {
        for entry in Dir::read_from(File::open(dir)?)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                take(name);
            }
        }
        Ok(())
    };
    look().at("read the directory", dir)
}

/// Removes a file, if it exists.
pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes the entries of a directory durable. Without it, a synced file can lose its name.
pub(crate) fn sync_dir(path: &Path) -> Result<(), DiskError> {
    File::open(path)
        .and_then(|dir| dir.sync_all())
        .at("sync the directory", path)
}

/// Replaces the content of `path` through `temporary`, which is in the same directory. After a
/// power cut the file has either the whole old content or the whole new one.
pub(crate) fn replace(path: &Path, temporary: &Path, bytes: &[u8]) -> Result<(), DiskError> {
    let written = private()
        .write(true)
        .create(true)
        .truncate(true)
        .open(temporary)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        })
        .at("write", temporary)
        .and_then(|()| std::fs::rename(temporary, path).at("replace", path));
    if written.is_err() {
        // The first error counts. A leftover is overwritten or swept later.
        std::fs::remove_file(temporary).ok();
    }
    written?;
    match path.parent() {
        Some(parent) => sync_dir(parent),
        None => Ok(()),
    }
}

/// Tries to lock a file. The lock is released when its last descriptor closes.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(error) if error == Errno::WOULDBLOCK => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Releases the lock immediately. Closing the file may be too late, because a child between fork
/// and exec can still hold a copy of the descriptor.
pub(crate) fn unlock(file: &File) {
    // If this fails, closing the file releases the lock.
    flock(file, FlockOperation::Unlock).ok();
}
