//! Writing a file whole or not at all.
//!
//! A new file is made beside the old one, synced, and renamed over it; whoever looks, after a crash too, sees the old
//! bytes or the new ones. The other names of a hard-linked file keep the old bytes. Every name is opened and changed
//! by the handle of its directory.

use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::handle;
use crate::read::{FileError, FileKind, SIZE_MAX, Stamp};
use crate::resolve::{Access, Resolved};
use crate::workspace::Workspace;

/// What must still stand at the place when the new content takes it.
#[derive(Clone, Copy, Debug)]
pub enum Expected {
    /// Nothing.
    Absent,
    /// The file of this state.
    File(Stamp),
}

/// What has just been done, in this order: the places where a crash may fall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The temporary file exists, empty.
    Made,
    /// Half of the bytes are in it.
    Half,
    /// All of the bytes are in it.
    Written,
    /// They are on the disk.
    Synced,
    /// It has taken the place.
    Renamed,
}

impl Workspace {
    /// Writes a file whole, making the directories above it. Keeps the mode of a file that is replaced.
    ///
    /// # Errors
    /// The place is closed to writing, is not as expected, or the disk fails; nothing has changed then.
    pub fn write(
        &self,
        at: &Resolved,
        bytes: &[u8],
        expected: Expected,
    ) -> Result<Stamp, FileError> {
        self.write_in_steps(at, bytes, expected, &mut |_| Ok(()))
    }

    /// As `write`, telling each step when it is done. An error from `step` fails the write at that place.
    ///
    /// # Errors
    /// As `write`.
    pub fn write_in_steps(
        &self,
        at: &Resolved,
        bytes: &[u8],
        expected: Expected,
        step: &mut dyn FnMut(Step) -> io::Result<()>,
    ) -> Result<Stamp, FileError> {
        let path = at.path();
        self.check(at, Access::Write)?;
        if bytes.len() as u64 > SIZE_MAX {
            return Err(FileError::TooLarge {
                path: path.to_owned(),
                size: bytes.len() as u64,
            });
        }
        if let Some(kind) = at.kind().filter(|kind| *kind != FileKind::File) {
            return Err(FileError::NotAFile {
                path: path.to_owned(),
                kind,
            });
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(FileError::NotAFile {
                path: path.to_owned(),
                kind: FileKind::Directory,
            });
        };
        let dir = handle::make_directory(&self.slash, parent).map_err(|source| {
            if handle::met_link(&source) {
                FileError::Changed {
                    path: parent.to_owned(),
                }
            } else {
                FileError::io("open directory", parent, source)
            }
        })?;
        let target = Target {
            dir,
            name: Path::new(name),
            path,
        };
        let before = target.check(expected)?;
        let (temporary, mut file) = target.make_temporary(before.is_none())?;
        let filled = fill(&mut file, bytes, before.as_ref(), step)
            .map_err(|source| FileError::io("write", path, source))
            .and_then(|()| target.check(expected).map(drop))
            .and_then(|()| target.take_place(&temporary, expected));
        if let Err(error) = filled {
            // Best effort: the error that is told is the one that came first.
            let _ = rustix::fs::unlinkat(&target.dir, &temporary, AtFlags::empty());
            return Err(error);
        }
        let done = |source| FileError::io("sync directory of", path, source);
        step(Step::Renamed).map_err(done)?;
        rustix::fs::fsync(&target.dir).map_err(|error| done(error.into()))?;
        let meta = file
            .metadata()
            .map_err(|source| FileError::io("look at", path, source))?;
        Ok(Stamp::new(
            &meta,
            bytes.len() as u64,
            Sha256::new_with_prefix(bytes),
        ))
    }
}

/// A name in an open directory.
struct Target<'a> {
    dir: OwnedFd,
    name: &'a Path,
    path: &'a Path,
}

/// What a file that is replaced hands on.
struct Before {
    mode: u32,
    uid: u32,
    gid: u32,
}

impl Target<'_> {
    /// Whether the place is as expected; gives what stands there.
    fn check(&self, expected: Expected) -> Result<Option<Before>, FileError> {
        let changed = || FileError::Changed {
            path: self.path.to_owned(),
        };
        let stat = match rustix::fs::statat(&self.dir, self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => {
                return match expected {
                    Expected::Absent => Ok(None),
                    Expected::File(_) => Err(changed()),
                };
            }
            Err(error) => return Err(FileError::io("look at", self.path, error)),
        };
        let Expected::File(stamp) = expected else {
            return Err(changed());
        };
        let mtime_ns = i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec);
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let now = Stamp {
            mtime_ns,
            size,
            inode: stat.st_ino,
            sha256: stamp.sha256,
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || !now.same_file(&stamp)
        {
            return Err(changed());
        }
        let mode = stat.st_mode & 0o7777;
        if mode & 0o222 == 0 {
            return Err(FileError::ReadOnly {
                path: self.path.to_owned(),
                mode,
            });
        }
        Ok(Some(Before {
            mode,
            uid: stat.st_uid,
            gid: stat.st_gid,
        }))
    }

    /// Makes an empty file beside the target, under a name that nobody can have prepared.
    fn make_temporary(&self, new: bool) -> Result<(String, File), FileError> {
        // A new file gets the mode that any program's would, by umask; a replacement stays private until it is complete.
        let mode = Mode::from_raw_mode(if new { 0o666 } else { 0o600 });
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..16 {
            let name = format!(".reasonix-{:016x}.tmp", random());
            match rustix::fs::openat(&self.dir, name.as_str(), flags, mode) {
                Ok(fd) => return Ok((name, File::from(fd))),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(FileError::io("make a file beside", self.path, error)),
            }
        }
        Err(FileError::io("make a file beside", self.path, Errno::EXIST))
    }

    fn take_place(&self, temporary: &str, expected: Expected) -> Result<(), FileError> {
        let renamed = match expected {
            Expected::File(_) => rustix::fs::renameat(&self.dir, temporary, &self.dir, self.name),
            Expected::Absent => self.take_empty_place(temporary),
        };
        renamed.map_err(|error| match error {
            Errno::EXIST => FileError::Changed {
                path: self.path.to_owned(),
            },
            _ => FileError::io("replace", self.path, error),
        })
    }

    /// Fails with `EXIST` rather than replace what somebody put there meanwhile.
    fn take_empty_place(&self, temporary: &str) -> Result<(), Errno> {
        #[cfg(any(target_os = "linux", target_vendor = "apple"))]
        {
            let strict = rustix::fs::RenameFlags::NOREPLACE;
            match rustix::fs::renameat_with(&self.dir, temporary, &self.dir, self.name, strict) {
                // The file system does not know the flag.
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
                done => return done,
            }
        }
        rustix::fs::linkat(&self.dir, temporary, &self.dir, self.name, AtFlags::empty())?;
        rustix::fs::unlinkat(&self.dir, temporary, AtFlags::empty())
    }
}

fn fill(
    file: &mut File,
    bytes: &[u8],
    before: Option<&Before>,
    step: &mut dyn FnMut(Step) -> io::Result<()>,
) -> io::Result<()> {
    step(Step::Made)?;
    let (one, two) = bytes.split_at(bytes.len() / 2);
    file.write_all(one)?;
    step(Step::Half)?;
    file.write_all(two)?;
    if let Some(before) = before {
        let meta = file.metadata()?;
        let owner = (before.uid != meta.uid()).then(|| rustix::fs::Uid::from_raw(before.uid));
        let group = (before.gid != meta.gid()).then(|| rustix::fs::Gid::from_raw(before.gid));
        if owner.is_some() || group.is_some() {
            // Only the superuser may give files away; for others the new file is theirs.
            let _ = rustix::fs::fchown(&*file, owner, group);
        }
        rustix::fs::fchmod(&*file, Mode::from_raw_mode(before.mode))?;
    }
    step(Step::Written)?;
    file.sync_all()?;
    step(Step::Synced)
}

/// Not guessable from outside the process, never the same twice within it.
fn random() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u64(COUNT.fetch_add(1, Ordering::Relaxed));
    hasher.finish()
}

#[cfg(test)]
mod tests;
