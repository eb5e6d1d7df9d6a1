//! Restores a path to an earlier state: a file with its mode, a link, a directory, or nothing.
//!
//! Each path changes completely or not at all, by the handle of its directory, and only if it still
//! matches its snapshot. `session` calls this for rewinds.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::handle;
use crate::read::{FileError, IoContext};
use crate::resolve::PathError;
use crate::state::{ParentDir, PathSnapshot, PathStamp, stamp_at};
use crate::workspace::Workspace;

/// The state to restore.
#[derive(Clone, Copy, Debug)]
pub enum RestoreTarget<'a> {
    Absent,
    File {
        bytes: &'a [u8],
        /// Permission bits.
        mode: u32,
    },
    Link {
        target: &'a Path,
    },
    /// Its mode was not recorded, so it gets at most the permissions of its parent.
    Directory,
}

impl Workspace {
    /// Brings a path to `wanted`, creating parent directories. Removes a directory only if it is
    /// empty.
    ///
    /// # Errors
    /// The path is outside the writable directories, denied, or differs from the snapshot, or the
    /// disk fails. Nothing has changed then.
    pub fn restore(
        &self,
        found: &PathSnapshot,
        wanted: RestoreTarget<'_>,
    ) -> Result<(), FileError> {
        let path = found.path.as_path();
        if self.is_masked(path) {
            return Err(PathError::Masked(path.to_owned()).into());
        }
        let outside = || self.outside(path.to_owned());
        // A root itself is never removed.
        let root = self.root_of(path).filter(|root| *root != path);
        root.ok_or_else(outside)?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(outside().into());
        };
        let dir = match wanted {
            RestoreTarget::Absent => {
                match self.parent(parent).at_no_link("open directory of", path)? {
                    ParentDir::In(dir) => dir,
                    ParentDir::Nowhere => return Ok(()),
                }
            }
            RestoreTarget::File { .. } | RestoreTarget::Link { .. } | RestoreTarget::Directory => {
                handle::make_directory(&self.slash, parent).at_no_link("open directory of", path)?
            }
        };
        let spot = OpenEntry {
            dir,
            name,
            stamp: found.stamp,
        };
        if stamp_at(&spot.dir, name).at_no_link("snapshot at", path)? != found.stamp {
            return Err(FileError::Changed(path.to_owned()));
        }
        match wanted {
            RestoreTarget::Absent => spot.clear(),
            RestoreTarget::Directory => spot.directory(),
            RestoreTarget::Link { target } => spot.link(target),
            RestoreTarget::File { bytes, mode } => spot.file(bytes, mode),
        }
        .and_then(|()| Ok(rustix::fs::fsync(&spot.dir)?))
        .at_no_link("restore", path)
    }
}

/// A name in an open directory, and the file it refers to.
struct OpenEntry<'a> {
    dir: OwnedFd,
    name: &'a OsStr,
    stamp: Option<PathStamp>,
}

impl OpenEntry<'_> {
    fn is_directory(&self) -> bool {
        self.stamp
            .is_some_and(|stamp| stamp.kind == FileType::Directory)
    }

    /// Removes the entry.
    fn clear(&self) -> io::Result<()> {
        let flags = match self.stamp {
            None => return Ok(()),
            Some(_) if self.is_directory() => AtFlags::REMOVEDIR,
            Some(_) => AtFlags::empty(),
        };
        Ok(rustix::fs::unlinkat(&self.dir, self.name, flags)?)
    }

    fn directory(&self) -> io::Result<()> {
        if self.is_directory() {
            return Ok(());
        }
        self.clear()?;
        // Its mode was not recorded: use at most the permissions of the parent.
        let parent = rustix::fs::fstat(&self.dir)?.st_mode;
        let mode = Mode::from_raw_mode(parent & 0o777);
        Ok(rustix::fs::mkdirat(&self.dir, self.name, mode)?)
    }

    fn link(&self, target: &Path) -> io::Result<()> {
        let temporary = crate::write::temporary_name();
        rustix::fs::symlinkat(target, &self.dir, temporary.as_str())?;
        self.take_place(&temporary)
    }

    fn file(&self, bytes: &[u8], mode: u32) -> io::Result<()> {
        let temporary = crate::write::temporary_name();
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let private = Mode::from_raw_mode(0o600);
        let made = rustix::fs::openat(&self.dir, temporary.as_str(), flags, private)?;
        let filled = self.fill(File::from(made), bytes, mode);
        if let Err(error) = filled {
            self.forget(&temporary);
            return Err(error);
        }
        self.take_place(&temporary)
    }

    fn fill(&self, mut file: File, bytes: &[u8], mode: u32) -> io::Result<()> {
        file.write_all(bytes)?;
        if let Some(stamp) = self.stamp.filter(|_| !self.is_directory()) {
            let owner = Some(rustix::fs::Uid::from_raw(stamp.uid));
            let group = Some(rustix::fs::Gid::from_raw(stamp.gid));
            // Only root can change the owner. For other users the new file belongs to them.
            let _ = rustix::fs::fchown(&file, owner, group);
        }
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode & 0o7777))?;
        file.sync_all()
    }

    fn take_place(&self, temporary: &str) -> io::Result<()> {
        let cleared = if self.is_directory() {
            self.clear()
        } else {
            Ok(())
        };
        let taken = cleared.and_then(|()| {
            Ok(rustix::fs::renameat(
                &self.dir, temporary, &self.dir, self.name,
            )?)
        });
        if taken.is_err() {
            self.forget(temporary);
        }
        taken
    }

    fn forget(&self, temporary: &str) {
        // Best effort: the first error is the one reported.
        let _ = rustix::fs::unlinkat(&self.dir, temporary, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests;
