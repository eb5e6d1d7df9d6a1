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
        let staged = self.stage(at, bytes, expected, None, step)?;
        staged.take_place(step)
    }

    /// Writes the file beside its place, synced: what is left to do cannot fail for want of room. `mode` is that of a
    /// new file; one that is replaced keeps its own.
    pub(crate) fn stage<'a>(
        &self,
        at: &'a Resolved,
        bytes: &[u8],
        expected: Expected,
        mode: Option<u32>,
        step: &mut dyn FnMut(Step) -> io::Result<()>,
    ) -> Result<Staged<'a>, FileError> {
        self.check(at, Access::Write)?;
        if bytes.len() as u64 > SIZE_MAX {
            return Err(FileError::TooLarge {
                path: at.path().to_owned(),
                size: bytes.len() as u64,
            });
        }
        let target = self.target(at)?;
        let mut staged = target.stage(expected)?;
        let filled = fill(&mut staged, bytes, mode, step);
        filled.map_err(|source| FileError::io("write", at.path(), source))?;
        Ok(staged)
    }

    /// The place in its directory, which is made where it is missing.
    pub(crate) fn target<'a>(&self, at: &'a Resolved) -> Result<Target<'a>, FileError> {
        let path = at.path();
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
        let dir = handle::make_directory(&self.slash, parent)
            .map_err(|source| directory_failed(parent, source))?;
        Ok(Target {
            dir,
            name: Path::new(name),
            path,
        })
    }
}

/// Why a directory on the way was not opened.
pub(crate) fn directory_failed(path: &Path, source: io::Error) -> FileError {
    if handle::met_link(&source) {
        return FileError::Changed {
            path: path.to_owned(),
        };
    }
    FileError::io("open directory", path, source)
}

/// A file that is complete and waits beside its place. Dropped, it is gone.
pub(crate) struct Staged<'a> {
    pub(crate) target: Target<'a>,
    pub(crate) file: File,
    /// What it replaces.
    before: Option<Before>,
    temporary: String,
    expected: Expected,
    pub(crate) size: u64,
    pub(crate) hash: Sha256,
    taken: bool,
}

impl Staged<'_> {
    /// Takes the place, if it is still as expected.
    pub(crate) fn take_place(
        mut self,
        step: &mut dyn FnMut(Step) -> io::Result<()>,
    ) -> Result<Stamp, FileError> {
        self.target.check(self.expected)?;
        self.target.take_place(&self.temporary, self.expected)?;
        self.taken = true;
        let path = self.target.path;
        let done = |source| FileError::io("sync directory of", path, source);
        step(Step::Renamed).map_err(done)?;
        rustix::fs::fsync(&self.target.dir).map_err(|error| done(error.into()))?;
        let meta = self
            .file
            .metadata()
            .map_err(|source| FileError::io("look at", path, source))?;
        Ok(Stamp::new(&meta, self.size, self.hash.clone()))
    }

    /// Gives the new file the owner and mode of the one that it replaces, else `mode`.
    pub(crate) fn dress(&self, mode: Option<u32>) -> io::Result<()> {
        if let Some(before) = &self.before {
            let meta = self.file.metadata()?;
            let owner = (before.uid != meta.uid()).then(|| rustix::fs::Uid::from_raw(before.uid));
            let group = (before.gid != meta.gid()).then(|| rustix::fs::Gid::from_raw(before.gid));
            if owner.is_some() || group.is_some() {
                // Only the superuser may give files away; for others the new file is theirs.
                let _ = rustix::fs::fchown(&self.file, owner, group);
            }
        }
        if let Some(mode) = self.before.as_ref().map(|before| before.mode).or(mode) {
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode))?;
        }
        Ok(())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if !self.taken {
            // Best effort: the error that is told is the one that came first.
            let _ =
                rustix::fs::unlinkat(&self.target.dir, self.temporary.as_str(), AtFlags::empty());
        }
    }
}

/// A name in an open directory.
pub(crate) struct Target<'a> {
    pub(crate) dir: OwnedFd,
    pub(crate) name: &'a Path,
    pub(crate) path: &'a Path,
}

/// What a file that is replaced hands on.
pub(crate) struct Before {
    mode: u32,
    uid: u32,
    gid: u32,
}

impl<'a> Target<'a> {
    /// An empty file beside the place, which is as expected.
    pub(crate) fn stage(self, expected: Expected) -> Result<Staged<'a>, FileError> {
        let before = self.check(expected)?;
        let (temporary, file) = self.make_temporary(before.is_none())?;
        Ok(Staged {
            target: self,
            file,
            before,
            temporary,
            expected,
            size: 0,
            hash: Sha256::new(),
            taken: false,
        })
    }

    /// Whether the place is as expected; gives what stands there.
    pub(crate) fn check(&self, expected: Expected) -> Result<Option<Before>, FileError> {
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
            let name = temporary_name();
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
            Expected::Absent => rename_new(&self.dir, Path::new(temporary), &self.dir, self.name),
        };
        renamed.map_err(|error| match error {
            Errno::EXIST => FileError::Changed {
                path: self.path.to_owned(),
            },
            _ => FileError::io("replace", self.path, error),
        })
    }
}

/// Renames, failing with `EXIST` rather than replace what stands at the new name.
pub(crate) fn rename_new(
    from_dir: &OwnedFd,
    from: &Path,
    to_dir: &OwnedFd,
    to: &Path,
) -> Result<(), Errno> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    {
        let strict = rustix::fs::RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(from_dir, from, to_dir, to, strict) {
            // The file system does not know the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            done => return done,
        }
    }
    let stat = rustix::fs::statat(from_dir, from, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        // A directory has no second name. An empty one that is put there this instant would be replaced.
        return match rustix::fs::statat(to_dir, to, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => Err(Errno::EXIST),
            Err(Errno::NOENT) => rustix::fs::renameat(from_dir, from, to_dir, to),
            Err(error) => Err(error),
        };
    }
    rustix::fs::linkat(from_dir, from, to_dir, to, AtFlags::empty())?;
    rustix::fs::unlinkat(from_dir, from, AtFlags::empty())
}

fn fill(
    staged: &mut Staged<'_>,
    bytes: &[u8],
    mode: Option<u32>,
    step: &mut dyn FnMut(Step) -> io::Result<()>,
) -> io::Result<()> {
    step(Step::Made)?;
    let (one, two) = bytes.split_at(bytes.len() / 2);
    staged.file.write_all(one)?;
    step(Step::Half)?;
    staged.file.write_all(two)?;
    staged.dress(mode)?;
    step(Step::Written)?;
    staged.file.sync_all()?;
    staged.size = bytes.len() as u64;
    staged.hash.update(bytes);
    step(Step::Synced)
}

/// A name that nobody can have prepared.
pub(crate) fn temporary_name() -> String {
    format!(".reasonix-{:016x}.tmp", random())
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
