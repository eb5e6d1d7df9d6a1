//! Lists directory trees: names and file types by directory handle, and the state of each path for
//! the log.
//!
//! Called by `transfer` before a directory is moved or copied, by `list`, and by `tools` to report
//! the effect of a call.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;

use crate::handle;
use crate::read::{DEPTH_MAX, FileError, FileKind, IoContext};
use crate::state::PathState;
use crate::workspace::Workspace;

/// A name in a directory, and its file type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NamedEntry {
    pub(crate) name: OsString,
    pub(crate) kind: FileKind,
}

/// The names in a directory, in no order.
pub(crate) fn names(dir: &OwnedFd) -> io::Result<Vec<NamedEntry>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not report the type.
            FileType::Unknown => match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            },
            known => known,
        };
        found.push(NamedEntry {
            name: name.to_owned(),
            kind: FileKind::of_type(kind),
        });
    }
    Ok(found)
}

/// The target text of a link.
pub(crate) fn link_target(dir: &OwnedFd, name: &OsStr) -> io::Result<PathBuf> {
    let target = rustix::fs::readlinkat(dir, name, Vec::new())?;
    Ok(PathBuf::from(OsStr::from_bytes(target.to_bytes())))
}

impl Workspace {
    /// All paths below a directory with their types, each directory before its content.
    ///
    /// # Errors
    /// There are more than `max`, or the directory cannot be read.
    pub fn below(&self, dir: &Path, max: usize) -> Result<Vec<(PathBuf, FileKind)>, FileError> {
        let too_many = || FileError::TooMany {
            path: dir.to_owned(),
            max,
        };
        let mut found = Vec::new();
        let mut pending = vec![(dir.to_owned(), 0)];
        while let Some((here, depth)) = pending.pop() {
            let doing = "open directory";
            let handle = handle::directory(&self.slash, &here).at_no_link(doing, &here)?;
            for NamedEntry { name, kind } in names(&handle).at_no_link(doing, &here)? {
                let path = here.join(name);
                if found.len() >= max {
                    return Err(too_many());
                }
                if kind == FileKind::Directory {
                    if depth >= DEPTH_MAX {
                        return Err(too_many());
                    }
                    pending.push((path.clone(), depth + 1));
                }
                found.push((path, kind));
            }
        }
        Ok(found)
    }

    /// The permission bits of an absolute path without links. `None` if it does not exist or cannot
    /// be read.
    #[must_use]
    pub fn mode(&self, path: &Path) -> Option<u32> {
        let dir = handle::directory(&self.slash, path.parent()?).ok()?;
        let stat = rustix::fs::statat(&dir, path.file_name()?, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(stat.st_mode & 0o7777)
    }

    /// The states of a path and everything below it. For a directory with more than `max` entries,
    /// returns only the directory itself, as unknown.
    #[must_use]
    pub fn states(&self, path: &Path, max: usize) -> Vec<(PathBuf, PathState)> {
        let state = self.state(path);
        if state != PathState::Directory {
            return vec![(path.to_owned(), state)];
        }
        match self.below(path, max) {
            Ok(below) => {
                let below = below.into_iter().map(|(path, _)| {
                    let state = self.state(&path);
                    (path, state)
                });
                std::iter::once((path.to_owned(), PathState::Directory))
                    .chain(below)
                    .collect()
            }
            Err(error) => {
                let why = error.to_string();
                vec![(path.to_owned(), PathState::Unknown { why })]
            }
        }
    }
}

#[cfg(test)]
mod tests;
