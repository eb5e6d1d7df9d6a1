//! What stands below a place: names and kinds by directory handle, and the state of each for the log.
//!
//! Called by `transfer` before a directory is moved or copied, by `list`, and by `tools` to tell what a call has left.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;

use crate::handle;
use crate::read::{DEPTH_MAX, FileError, FileKind};
use crate::state::State;
use crate::workspace::Workspace;
use crate::write::directory_failed;

/// A name in a directory, and what it is of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: OsString,
    pub(crate) kind: FileKind,
}

/// The names in a directory, in no order.
pub(crate) fn names(dir: &OwnedFd) -> io::Result<Vec<Named>> {
    let mut found = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not tell.
            FileType::Unknown => match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            },
            known => known,
        };
        found.push(Named {
            name: name.to_owned(),
            kind: FileKind::of_type(kind),
        });
    }
    Ok(found)
}

/// Where a link leads, by its own words.
pub(crate) fn link_target(dir: &OwnedFd, name: &OsStr) -> io::Result<PathBuf> {
    let target = rustix::fs::readlinkat(dir, name, Vec::new())?;
    Ok(PathBuf::from(OsStr::from_bytes(target.to_bytes())))
}

impl Workspace {
    /// All paths below a directory with their kinds, each directory before what is in it.
    ///
    /// # Errors
    /// There are more than `max`, or it cannot be read.
    pub fn below(&self, dir: &Path, max: usize) -> Result<Vec<(PathBuf, FileKind)>, FileError> {
        let too_many = || FileError::TooMany {
            path: dir.to_owned(),
            max,
        };
        let mut found = Vec::new();
        let mut pending = vec![(dir.to_owned(), 0)];
        while let Some((here, depth)) = pending.pop() {
            let failed = |source| directory_failed(&here, source);
            let handle = handle::directory(&self.slash, &here).map_err(failed)?;
            for Named { name, kind } in names(&handle).map_err(failed)? {
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

    /// The permission bits of what stands at an absolute path without links; `None`: nothing that can be seen.
    #[must_use]
    pub fn mode(&self, path: &Path) -> Option<u32> {
        let dir = handle::directory(&self.slash, path.parent()?).ok()?;
        let stat = rustix::fs::statat(&dir, path.file_name()?, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(stat.st_mode & 0o7777)
    }

    /// What stands at a path and everywhere below it. A directory of more than `max` entries is told by itself, as not
    /// looked at.
    #[must_use]
    pub fn states(&self, path: &Path, max: usize) -> Vec<(PathBuf, State)> {
        let state = self.state(path);
        if state != State::Directory {
            return vec![(path.to_owned(), state)];
        }
        match self.below(path, max) {
            Ok(below) => {
                let below = below.into_iter().map(|(path, _)| {
                    let state = self.state(&path);
                    (path, state)
                });
                std::iter::once((path.to_owned(), State::Directory))
                    .chain(below)
                    .collect()
            }
            Err(error) => {
                let why = error.to_string();
                vec![(path.to_owned(), State::Unknown { why })]
            }
        }
    }
}

#[cfg(test)]
mod tests;
