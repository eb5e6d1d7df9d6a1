//! Writes a file completely or not at all.
//!
//! A new file is written beside the old one, synced, and renamed over it. Readers see the old bytes
//! or the new ones, even after a crash. Other hard links of the file keep the old bytes. Every name
//! is opened and changed by the handle of its directory.

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
use crate::held_name::HeldName;
use crate::read::{FileError, FileKind, FileStamp, IoContext, SIZE_MAX, nanoseconds};
use crate::resolve::{Access, ResolvedPath};
use crate::workspace::Workspace;

/// The state that a path must still have when the new content replaces it.
#[derive(Clone, Copy, Debug)]
pub enum ExpectedFile {
    /// It does not exist.
    Absent,
    /// The file with this stamp.
    File(FileStamp),
}

/// The steps of a write, in order. Tests crash after each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteStep {
    /// The temporary file exists and is empty.
    Made,
    /// It has half of the bytes.
    Half,
    /// It has all bytes.
    Written,
    /// The bytes are on disk.
    Synced,
    /// It was renamed to its final path.
    Renamed,
}

impl Workspace {
    /// Writes a whole file, creating parent directories. Keeps the mode of a replaced file.
    ///
    /// # Errors
    /// The path is denied to write or has changed, or the disk fails. Nothing has changed then.
    pub fn write(
        &self,
        at: &ResolvedPath,
        bytes: &[u8],
        expected: ExpectedFile,
    ) -> Result<FileStamp, FileError> {
        self.write_in_steps(at, bytes, expected, &mut |_| Ok(()))
    }

    /// Like `write`, but calls `step` after each step. An error from `step` fails the write there.
    ///
    /// # Errors
    /// As `write`.
    pub fn write_in_steps(
        &self,
        at: &ResolvedPath,
        bytes: &[u8],
        expected: ExpectedFile,
        step: &mut dyn FnMut(WriteStep) -> io::Result<()>,
    ) -> Result<FileStamp, FileError> {
        let staged = self.stage(at, bytes, expected, None, step)?;
        staged.take_place(step)
    }

    /// Writes and syncs the temporary file, so that the rest cannot fail for lack of space. `mode`
    /// applies to a new file. A replaced one keeps its mode.
    pub(crate) fn stage<'a>(
        &self,
        at: &'a ResolvedPath,
        bytes: &[u8],
        expected: ExpectedFile,
        mode: Option<u32>,
        step: &mut dyn FnMut(WriteStep) -> io::Result<()>,
    ) -> Result<StagedFile<'a>, FileError> {
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
        filled.at("write", at.path())?;
        Ok(staged)
    }

    /// Opens the parent directory of a path, creating it if missing.
    pub(crate) fn target<'a>(&self, at: &'a ResolvedPath) -> Result<WriteTarget<'a>, FileError> {
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
        let dir =
            handle::make_directory(&self.slash, parent).at_no_link("open directory", parent)?;
        Ok(WriteTarget {
            dir,
            name: Path::new(name),
            path,
        })
    }
}

/// A complete temporary file, ready to be renamed. Removed on drop.
pub(crate) struct StagedFile<'a> {
    pub(crate) target: WriteTarget<'a>,
    pub(crate) file: File,
    /// The file that it replaces.
    before: Option<ReplacedFile>,
    temporary: String,
    expected: ExpectedFile,
    pub(crate) size: u64,
    pub(crate) hash: Sha256,
    taken: bool,
}

impl StagedFile<'_> {
    /// Renames it to its final path if that is still as expected.
    pub(crate) fn take_place(
        mut self,
        step: &mut dyn FnMut(WriteStep) -> io::Result<()>,
    ) -> Result<FileStamp, FileError> {
        let held = self.target.hold()?;
        self.target.check(self.expected)?;
        let temporary = Path::new(&self.temporary);
        let renamed = self.target.take(&self.target.dir, temporary, self.expected);
        renamed.map_err(|error| match error {
            Errno::EXIST => FileError::Changed(self.target.path.to_owned()),
            _ => FileError::io("replace", self.target.path, error),
        })?;
        drop(held);
        self.taken = true;
        let path = self.target.path;
        let doing = "sync directory of";
        step(WriteStep::Renamed).at(doing, path)?;
        rustix::fs::fsync(&self.target.dir).at(doing, path)?;
        let meta = self.file.metadata().at("look at", path)?;
        Ok(FileStamp::new(&meta, self.size, self.hash.clone()))
    }

    /// Gives the new file the owner and mode of the replaced one, or else `mode`.
    pub(crate) fn set_owner_and_mode(&self, mode: Option<u32>) -> io::Result<()> {
        if let Some(before) = &self.before {
            let meta = self.file.metadata()?;
            let owner = (before.uid != meta.uid()).then(|| rustix::fs::Uid::from_raw(before.uid));
            let group = (before.gid != meta.gid()).then(|| rustix::fs::Gid::from_raw(before.gid));
            if owner.is_some() || group.is_some() {
                // Only root can change the owner. For other users the new file belongs to them.
                let _ = rustix::fs::fchown(&self.file, owner, group);
            }
        }
        if let Some(mode) = self.before.as_ref().map(|before| before.mode).or(mode) {
            rustix::fs::fchmod(&self.file, Mode::from_raw_mode(mode))?;
        }
        Ok(())
    }
}

impl Drop for StagedFile<'_> {
    fn drop(&mut self) {
        if !self.taken {
            // Best effort: the first error is the one reported.
            let _ =
                rustix::fs::unlinkat(&self.target.dir, self.temporary.as_str(), AtFlags::empty());
        }
    }
}

/// A name in an open directory.
pub(crate) struct WriteTarget<'a> {
    pub(crate) dir: OwnedFd,
    pub(crate) name: &'a Path,
    pub(crate) path: &'a Path,
}

/// Attributes of a replaced file that the new one inherits.
pub(crate) struct ReplacedFile {
    mode: u32,
    uid: u32,
    gid: u32,
}

impl<'a> WriteTarget<'a> {
    /// Creates an empty temporary file if the path is as expected.
    pub(crate) fn stage(self, expected: ExpectedFile) -> Result<StagedFile<'a>, FileError> {
        let before = self.check(expected)?;
        let (temporary, file) = self.make_temporary(before.is_none())?;
        Ok(StagedFile {
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

    /// Checks that the path is as expected. Returns the existing file.
    pub(crate) fn check(&self, expected: ExpectedFile) -> Result<Option<ReplacedFile>, FileError> {
        let changed = || FileError::Changed(self.path.to_owned());
        let stat = match rustix::fs::statat(&self.dir, self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT) => {
                return match expected {
                    ExpectedFile::Absent => Ok(None),
                    ExpectedFile::File(_) => Err(changed()),
                };
            }
            Err(error) => return Err(FileError::io("look at", self.path, error)),
        };
        let ExpectedFile::File(stamp) = expected else {
            return Err(changed());
        };
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let now = FileStamp {
            mtime_ns: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
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
        Ok(Some(ReplacedFile {
            mode,
            uid: stat.st_uid,
            gid: stat.st_gid,
        }))
    }

    /// Creates an empty file beside the target, under an unpredictable name.
    fn make_temporary(&self, new: bool) -> Result<(String, File), FileError> {
        // A new file gets the default mode by umask. A replacement stays private until it is
        // complete.
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

    /// Keeps other sessions from replacing it, from [`WriteTarget::check`] to [`WriteTarget::take`].
    pub(crate) fn hold(&self) -> Result<HeldName, FileError> {
        HeldName::hold(&self.dir, self.name).at("look at the directory of", self.path)
    }

    /// Renames something to it. Where nothing is expected there, nothing is replaced.
    pub(crate) fn take(
        &self,
        from_dir: &OwnedFd,
        from: &Path,
        expected: ExpectedFile,
    ) -> Result<(), Errno> {
        match expected {
            ExpectedFile::File(_) => rustix::fs::renameat(from_dir, from, &self.dir, self.name),
            ExpectedFile::Absent => rename_new(from_dir, from, &self.dir, self.name),
        }
    }
}

/// Renames, and fails with `EXIST` instead of replacing an existing file.
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
            // The file system does not support the flag.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            done => return done,
        }
    }
    let stat = rustix::fs::statat(from_dir, from, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
        // A directory cannot be hard-linked. An empty one created at this instant would be
        // replaced.
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
    staged: &mut StagedFile<'_>,
    bytes: &[u8],
    mode: Option<u32>,
    step: &mut dyn FnMut(WriteStep) -> io::Result<()>,
) -> io::Result<()> {
    step(WriteStep::Made)?;
    let (one, two) = bytes.split_at(bytes.len() / 2);
    staged.file.write_all(one)?;
    step(WriteStep::Half)?;
    staged.file.write_all(two)?;
    staged.set_owner_and_mode(mode)?;
    step(WriteStep::Written)?;
    staged.file.sync_all()?;
    staged.size = bytes.len() as u64;
    staged.hash.update(bytes);
    step(WriteStep::Synced)
}

/// An unpredictable name.
pub(crate) fn temporary_name() -> String {
    format!(".reasonix-{:016x}.tmp", random())
}

/// Not guessable from outside the process, and never repeated within it.
fn random() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u64(COUNT.fetch_add(1, Ordering::Relaxed));
    hasher.finish()
}

#[cfg(test)]
mod tests;
