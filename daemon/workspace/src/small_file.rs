//! Reading a small file that says how other files are to be treated, whatever was put in its place.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rustix::fd::AsFd;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SmallFile {
    Read(Vec<u8>),
    Missing,
    /// No regular file, too large, or unreadable.
    Unusable,
}

/// Reads a regular file of at most `max` bytes. Neither blocks on what is no file, nor follows a
/// link at the end of the path.
#[must_use]
pub fn read_small(path: &Path, max: usize) -> SmallFile {
    read_small_at(CWD, path, max)
}

/// As `read_small`, with a path relative to a directory.
pub(crate) fn read_small_at(dir: impl AsFd, path: &Path, max: usize) -> SmallFile {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match rustix::fs::openat(dir, path, flags | OFlags::NOCTTY, Mode::empty()) {
        Ok(file) => File::from(file),
        Err(Errno::NOENT | Errno::NOTDIR) => return SmallFile::Missing,
        Err(_) => return SmallFile::Unusable,
    };
    let limit = max as u64;
    let fits = |file: &File| {
        let found = file.metadata();
        found.is_ok_and(|found| found.is_file() && found.len() <= limit)
    };
    let mut bytes = Vec::new();
    // It may grow while it is read.
    match fits(&file).then(|| file.take(limit + 1).read_to_end(&mut bytes)) {
        Some(Ok(read)) if read <= max => SmallFile::Read(bytes),
        _ => SmallFile::Unusable,
    }
}
