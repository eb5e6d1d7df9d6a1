//! The few file operations that everything in this crate needs: private files and durable replacement.
//!
//! Never decides what a failure means. Called by the other modules of this crate.

use std::error::Error;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;

/// The operating system refused something: what we were doing, and to which file.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} `{}`", .path.display())]
pub struct Fault {
    /// A verb with its object, as in "cannot *create the directory* …".
    pub doing: &'static str,
    pub path: PathBuf,
    pub source: io::Error,
}

/// An error with all its causes in one line, for reasons that are kept or shown.
#[must_use]
pub fn reason(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

/// Says what was being done when an operation failed.
pub(crate) trait At<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, Fault>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, doing: &'static str, path: &Path) -> Result<T, Fault> {
        self.map_err(|source| Fault {
            doing,
            path: path.to_owned(),
            source,
        })
    }
}

/// Options for a file that only its owner may touch. A link in its place is refused.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    let flags = OFlags::NOFOLLOW.bits() as i32;
    options.mode(0o600).custom_flags(flags);
    options
}

/// Makes a directory that only its owner may enter. Returns whether it was new.
pub(crate) fn private_dir(path: &Path) -> Result<bool, Fault> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(source) => Err(Fault {
            doing: "create the directory",
            path: path.to_owned(),
            source,
        }),
    }
}

/// Makes the entries of a directory durable: a file that was synced can still vanish with its name.
pub(crate) fn sync_dir(path: &Path) -> Result<(), Fault> {
    File::open(path)
        .and_then(|dir| dir.sync_all())
        .at("sync the directory", path)
}

/// Puts `bytes` at `path` through `temporary`, which stands in the same directory: after a power cut
/// there is the old content or the new, whole.
pub(crate) fn replace(path: &Path, temporary: &Path, bytes: &[u8]) -> Result<(), Fault> {
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
        // The failure that counts is the first one; a leftover is overwritten or swept later.
        std::fs::remove_file(temporary).ok();
    }
    written?;
    match path.parent() {
        Some(parent) => sync_dir(parent),
        None => Ok(()),
    }
}

/// Whether the kernel's lock of this file is now ours. It goes with the file's last descriptor.
pub(crate) fn try_lock(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(error) if error == Errno::WOULDBLOCK => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Gives the lock back at once. Closing would be too late where a child between fork and exec still
/// holds a copy of the descriptor.
pub(crate) fn unlock(file: &File) {
    // Nothing is left to do where it fails: closing the file releases the lock as well.
    flock(file, FlockOperation::Unlock).ok();
}
