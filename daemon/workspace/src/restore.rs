//! Making a place what it was: a file with its mode, a link, a directory, or nothing.
//!
//! Each place is changed whole or not at all, by the handle of its directory, and only if it is still as it was looked
//! at. Called by `session`, for rewinds.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::handle;
use crate::read::FileError;
use crate::resolve::PathError;
use crate::state::{Look, Place, PlaceStamp, stamp_at};
use crate::workspace::Workspace;

/// What is to stand at a place.
#[derive(Clone, Copy, Debug)]
pub enum Wanted<'a> {
    Absent,
    File {
        bytes: &'a [u8],
        /// Permission bits.
        mode: u32,
    },
    Link {
        target: &'a Path,
    },
    /// How open it was nobody kept: it comes back no more open than the directory that it is in.
    Directory,
}

impl Workspace {
    /// Makes what was looked at what is wanted, with the directories above it. A directory goes only when it is empty.
    ///
    /// # Errors
    /// The place is outside the writable directories, closed, or not as it was looked at; or the disk fails. Nothing has
    /// changed then.
    pub fn restore(&self, found: &Look, wanted: Wanted<'_>) -> Result<(), FileError> {
        let path = found.path.as_path();
        if self.is_masked(path) {
            return Err(PathError::Masked {
                path: path.to_owned(),
            }
            .into());
        }
        let outside = || PathError::Outside {
            path: path.to_owned(),
            roots: self.roots.clone(),
        };
        // A root itself is nobody's to remove.
        let root = self.root_of(path).filter(|root| *root != path);
        root.ok_or_else(outside)?;
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(outside().into());
        };
        let fault = |doing| move |source: io::Error| self.fault(doing, path, source);
        let dir = match wanted {
            Wanted::Absent => match self.parent(parent).map_err(fault("open directory of"))? {
                Place::In(dir) => dir,
                Place::Nowhere => return Ok(()),
            },
            Wanted::File { .. } | Wanted::Link { .. } | Wanted::Directory => {
                handle::make_directory(&self.slash, parent).map_err(fault("open directory of"))?
            }
        };
        let spot = Spot {
            dir,
            name,
            stamp: found.stamp,
        };
        if stamp_at(&spot.dir, name).map_err(fault("look at"))? != found.stamp {
            return Err(FileError::Changed {
                path: path.to_owned(),
            });
        }
        match wanted {
            Wanted::Absent => spot.clear(),
            Wanted::Directory => spot.directory(),
            Wanted::Link { target } => spot.link(target),
            Wanted::File { bytes, mode } => spot.file(bytes, mode),
        }
        .and_then(|()| Ok(rustix::fs::fsync(&spot.dir)?))
        .map_err(fault("restore"))
    }

    #[allow(clippy::unused_self, reason = "it stands with those who use it")]
    fn fault(&self, doing: &'static str, path: &Path, source: io::Error) -> FileError {
        if handle::met_link(&source) {
            return FileError::Changed {
                path: path.to_owned(),
            };
        }
        FileError::io(doing, path, source)
    }
}

/// A name in an open directory, and what stands there.
struct Spot<'a> {
    dir: OwnedFd,
    name: &'a OsStr,
    stamp: Option<PlaceStamp>,
}

impl Spot<'_> {
    fn is_directory(&self) -> bool {
        self.stamp
            .is_some_and(|stamp| stamp.kind == FileType::Directory)
    }

    /// Nothing stands there then.
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
        // What it was is not kept: no more open than the one that it is in.
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
            // Only the superuser may give files away; for others the new file is theirs.
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
        // Best effort: the error that is told is the one that came first.
        let _ = rustix::fs::unlinkat(&self.dir, temporary, AtFlags::empty());
    }
}

#[cfg(test)]
mod tests;
