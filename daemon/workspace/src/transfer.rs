//! Moves and copies files, links and directories.
//!
//! The destination either does not exist or is complete: it is written beside its path and renamed.
//! Every name is opened and changed by the handle of its directory, and no link is followed.
//! `tools` calls this.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;
use sha2::Digest;

use crate::handle;
use crate::read::{DEPTH_MAX, FileError, FileKind, FileStamp, OpenFile};
use crate::resolve::{Access, ResolvedPath};
use crate::tree::{self, NamedEntry};
use crate::workspace::Workspace;
use crate::write::{
    ExpectedFile, WriteStep, WriteTarget, directory_failed, rename_new, temporary_name,
};

/// Maximum entries of a copied directory.
pub const COPIED_MAX: usize = 10_000;
/// Maximum entries of a moved directory: all are checked before.
pub const MOVED_MAX: usize = 100_000;

/// How a move was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveMethod {
    /// The file was renamed.
    Renamed,
    /// The destination is on another device: a copy was written and synced, then the source was
    /// deleted.
    Copied,
}

/// The effect of a transfer on the source, which determines the content that it may have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TransferKind {
    Move,
    Copy,
}

impl Workspace {
    /// Moves `from` (see [`Workspace::entry`]) to `to`, creating parent directories. If bytes are
    /// copied, calls `step` after each step. An error from `step` aborts there.
    ///
    /// # Errors
    /// One of the paths is denied or has changed, or the disk fails. Nothing has changed then,
    /// except that the source may remain beside a complete copy if its deletion failed.
    pub fn move_entry(
        &self,
        from: &ResolvedPath,
        to: &ResolvedPath,
        expected: ExpectedFile,
        step: &mut dyn FnMut(WriteStep) -> io::Result<()>,
    ) -> Result<MoveMethod, FileError> {
        self.check(from, Access::Write)?;
        self.sift(from, to, TransferKind::Move)?;
        let source = self.source(from)?;
        let target = self.target(to)?;
        let held = target.hold()?;
        target.check(expected)?;
        step(WriteStep::Made).map_err(|source| FileError::io("move", from.path(), source))?;
        let renamed = target.take(&source.dir, source.name, expected);
        drop(held);
        let moved = match renamed {
            Ok(()) => MoveMethod::Renamed,
            Err(Errno::XDEV) => {
                self.move_far(from, &source, target, expected, step)?;
                let _ = rustix::fs::fsync(&source.dir);
                return Ok(MoveMethod::Copied);
            }
            Err(Errno::EXIST) => {
                return Err(FileError::Exists {
                    path: to.path().to_owned(),
                });
            }
            Err(error) => return Err(FileError::io("move", from.path(), error)),
        };
        let done = |source| FileError::io("sync directory of", to.path(), source);
        step(WriteStep::Renamed).map_err(done)?;
        for dir in [&target.dir, &source.dir] {
            rustix::fs::fsync(dir).map_err(|error| done(error.into()))?;
        }
        Ok(moved)
    }

    /// Moves to another device: copies, syncs, then deletes the source.
    fn move_far(
        &self,
        from: &ResolvedPath,
        source: &WriteTarget<'_>,
        target: WriteTarget<'_>,
        expected: ExpectedFile,
        step: &mut dyn FnMut(WriteStep) -> io::Result<()>,
    ) -> Result<(), FileError> {
        match from.kind() {
            Some(FileKind::Directory) => {
                return Err(FileError::AcrossDevices {
                    path: from.path().to_owned(),
                });
            }
            Some(FileKind::Link) => copy_link(source, &target, expected)?,
            _ => {
                let file = self.open_regular(from.path())?;
                let before = FileStamp::unhashed(&file.meta);
                copy_file(&file, target, expected, &|| false, step)?;
                // Data written meanwhile must not be lost.
                let now = self.open_regular(from.path())?;
                if !FileStamp::unhashed(&now.meta).same_file(&before) {
                    return Err(FileError::Changed {
                        path: from.path().to_owned(),
                    });
                }
            }
        }
        rustix::fs::unlinkat(&source.dir, source.name, AtFlags::empty())
            .map_err(|error| FileError::io("delete", from.path(), error))
    }

    /// Copies `from` (see [`Workspace::entry`]) to `to`, creating parent directories: a file with
    /// its mode, a link as a link, a directory with its content. `stop` is polled to cancel.
    ///
    /// # Errors
    /// One of the paths is denied or has changed, the disk fails, or the copy was cancelled.
    /// Nothing has changed then.
    pub fn copy_entry(
        &self,
        from: &ResolvedPath,
        to: &ResolvedPath,
        expected: ExpectedFile,
        stop: &dyn Fn() -> bool,
        step: &mut dyn FnMut(WriteStep) -> io::Result<()>,
    ) -> Result<(), FileError> {
        self.sift(from, to, TransferKind::Copy)?;
        let source = self.source(from)?;
        let target = self.target(to)?;
        target.check(expected)?;
        match from.kind() {
            Some(FileKind::Link) => copy_link(&source, &target, expected),
            Some(FileKind::Directory) => self.copy_directory(from, target, stop, step),
            _ => {
                let file = self.open_regular(from.path())?;
                copy_file(&file, target, expected, stop, step)
            }
        }
    }

    fn copy_directory(
        &self,
        from: &ResolvedPath,
        target: WriteTarget<'_>,
        stop: &dyn Fn() -> bool,
        step: &mut dyn FnMut(WriteStep) -> io::Result<()>,
    ) -> Result<(), FileError> {
        let failed = |source| FileError::io("copy", from.path(), source);
        let source = handle::directory(&self.slash, from.path())
            .map_err(|source| directory_failed(from.path(), source))?;
        let temporary = temporary_name();
        rustix::fs::mkdirat(&target.dir, temporary.as_str(), Mode::RWXU)
            .map_err(|error| failed(error.into()))?;
        let copied = (|| {
            step(WriteStep::Made).map_err(failed)?;
            let made = handle::subdirectory(&target.dir, OsStr::new(&temporary)).map_err(failed)?;
            let mut copy = DirectoryCopy {
                room: COPIED_MAX,
                stop,
                path: from.path(),
            };
            copy.directory(&source, &made, 0)?;
            step(WriteStep::Written).map_err(failed)?;
            // One sync for all: thousands of single ones take minutes on a slow disk.
            #[cfg(target_os = "linux")]
            rustix::fs::syncfs(&made).map_err(|error| failed(error.into()))?;
            #[cfg(not(target_os = "linux"))]
            rustix::fs::sync();
            step(WriteStep::Synced).map_err(failed)?;
            let name = Path::new(&temporary);
            rename_new(&target.dir, name, &target.dir, target.name).map_err(|error| match error {
                Errno::EXIST => FileError::Exists {
                    path: target.path.to_owned(),
                },
                error => failed(error.into()),
            })
        })();
        if let Err(error) = copied {
            // Best effort: the first error is the one reported.
            let _ = remove_tree(&target.dir, OsStr::new(&temporary), 0);
            return Err(error);
        }
        step(WriteStep::Renamed).map_err(failed)?;
        rustix::fs::fsync(&target.dir).map_err(|error| failed(error.into()))
    }

    /// Deletes a file, a link or an empty directory (see [`Workspace::entry`]).
    ///
    /// # Errors
    /// The path is denied, a directory is not empty, or the disk fails. Nothing has changed then.
    pub fn delete_entry(&self, at: &ResolvedPath) -> Result<(), FileError> {
        self.check(at, Access::Read)?;
        self.check(at, Access::Write)?;
        self.no_root(at.path())?;
        let source = self.source(at)?;
        let flags = if at.kind() == Some(FileKind::Directory) {
            AtFlags::REMOVEDIR
        } else {
            AtFlags::empty()
        };
        match rustix::fs::unlinkat(&source.dir, source.name, flags) {
            Ok(()) => {}
            Err(Errno::NOTEMPTY | Errno::EXIST) => {
                let dir = handle::subdirectory(&source.dir, source.name.as_os_str());
                let entries = dir.and_then(|dir| tree::names(&dir)).unwrap_or_default();
                return Err(FileError::NotEmpty {
                    path: at.path().to_owned(),
                    entries: entries.len(),
                });
            }
            Err(Errno::ISDIR | Errno::NOTDIR) => {
                return Err(FileError::Changed {
                    path: at.path().to_owned(),
                });
            }
            Err(error) => return Err(FileError::io("delete", at.path(), error)),
        }
        rustix::fs::fsync(&source.dir)
            .map_err(|error| FileError::io("sync directory of", at.path(), error))
    }

    /// Creates a directory and its parents. Returns false if it already exists.
    ///
    /// # Errors
    /// The path is denied, another file is there, or the disk fails.
    pub fn make_directory(&self, at: &ResolvedPath) -> Result<bool, FileError> {
        self.check(at, Access::Write)?;
        match at.kind() {
            Some(FileKind::Directory) => Ok(false),
            Some(_) => Err(FileError::Exists {
                path: at.path().to_owned(),
            }),
            None => {
                handle::make_directory(&self.slash, at.path())
                    .map_err(|source| directory_failed(at.path(), source))?;
                Ok(true)
            }
        }
    }

    /// The directory entry of an existing path.
    fn source<'a>(&self, from: &'a ResolvedPath) -> Result<WriteTarget<'a>, FileError> {
        let path = from.path();
        let missing = || FileError::Missing {
            path: path.to_owned(),
        };
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(FileError::Root {
                path: path.to_owned(),
            });
        };
        if from.kind().is_none() {
            return Err(missing());
        }
        let dir = handle::directory(&self.slash, parent)
            .map_err(|source| directory_failed(parent, source))?;
        Ok(WriteTarget {
            dir,
            name: Path::new(name),
            path,
        })
    }

    fn no_root(&self, path: &Path) -> Result<(), FileError> {
        let held = self.roots.iter().chain([&self.cwd]);
        if held.into_iter().any(|root| root.starts_with(path)) {
            return Err(FileError::Root {
                path: path.to_owned(),
            });
        }
        Ok(())
    }

    /// Checks everything in a transferred directory. It must not give denied or protected files
    /// another name, unless the directory itself was judged as protected.
    fn sift(
        &self,
        from: &ResolvedPath,
        to: &ResolvedPath,
        way: TransferKind,
    ) -> Result<(), FileError> {
        self.check(from, Access::Read)?;
        self.check(to, Access::Write)?;
        let (old, new) = (from.path(), to.path());
        match from.kind() {
            None => {
                return Err(FileError::Missing {
                    path: old.to_owned(),
                });
            }
            Some(FileKind::File | FileKind::Link | FileKind::Directory) => {}
            Some(kind) => {
                return Err(FileError::NotAFile {
                    path: old.to_owned(),
                    kind,
                });
            }
        }
        if way == TransferKind::Move {
            self.no_root(old)?;
        }
        if old == new {
            return Err(FileError::Exists {
                path: new.to_owned(),
            });
        }
        if from.kind() != Some(FileKind::Directory) {
            return Ok(());
        }
        if new.starts_with(old) {
            return Err(FileError::Inside {
                path: new.to_owned(),
                outer: old.to_owned(),
            });
        }
        if to.kind().is_some() {
            return Err(FileError::Exists {
                path: new.to_owned(),
            });
        }
        let max = match way {
            TransferKind::Move => MOVED_MAX,
            TransferKind::Copy => COPIED_MAX,
        };
        for (path, kind) in self.below(old, max)? {
            let there = path.strip_prefix(old).map(|rest| new.join(rest));
            let closed = self.closed(&path);
            let protected =
                (way == TransferKind::Move && !from.protected() && self.is_protected(&path))
                    || (!to.protected() && there.is_ok_and(|there| self.is_protected(&there)));
            let special = !matches!(kind, FileKind::File | FileKind::Link | FileKind::Directory);
            let why = if closed {
                "is denied to tools"
            } else if protected {
                "only the user may change"
            } else if special && way == TransferKind::Copy {
                "is not a file, link or directory"
            } else {
                continue;
            };
            return Err(FileError::Holds {
                path: old.to_owned(),
                held: path,
                why,
            });
        }
        Ok(())
    }
}

/// Copies bytes and mode to a temporary file, syncs, and renames it.
fn copy_file(
    from: &OpenFile,
    target: WriteTarget<'_>,
    expected: ExpectedFile,
    stop: &dyn Fn() -> bool,
    step: &mut dyn FnMut(WriteStep) -> io::Result<()>,
) -> Result<(), FileError> {
    let path = target.path;
    let failed = |source| FileError::io("write", path, source);
    let mut staged = target.stage(expected)?;
    step(WriteStep::Made).map_err(failed)?;
    let mut source = &from.file;
    let mut chunk = vec![0; 256 * 1024];
    loop {
        if stop() {
            return Err(FileError::Stopped);
        }
        let count = source.read(&mut chunk).map_err(failed)?;
        let part = chunk.get(..count).unwrap_or_default();
        if part.is_empty() {
            break;
        }
        staged.file.write_all(part).map_err(failed)?;
        staged.hash.update(part);
        staged.size += part.len() as u64;
        step(WriteStep::Half).map_err(failed)?;
    }
    staged
        .dress(Some(from.meta.mode() & 0o777))
        .map_err(failed)?;
    step(WriteStep::Written).map_err(failed)?;
    staged.file.sync_all().map_err(failed)?;
    step(WriteStep::Synced).map_err(failed)?;
    staged.take_place(step).map(drop)
}

/// Creates a link with the same target text.
fn copy_link(
    source: &WriteTarget<'_>,
    target: &WriteTarget<'_>,
    expected: ExpectedFile,
) -> Result<(), FileError> {
    let failed = |source| FileError::io("make a link at", target.path, source);
    let words = tree::link_target(&source.dir, source.name.as_os_str()).map_err(failed)?;
    let temporary = temporary_name();
    let name = Path::new(&temporary);
    rustix::fs::symlinkat(words, &target.dir, name).map_err(|error| failed(error.into()))?;
    let taken = target.hold().and_then(|_held| {
        target.check(expected)?;
        let renamed = target.take(&target.dir, name, expected);
        renamed.map_err(|error| failed(error.into()))
    });
    if taken.is_err() {
        // Best effort: the first error is the one reported.
        let _ = rustix::fs::unlinkat(&target.dir, name, AtFlags::empty());
    }
    taken?;
    rustix::fs::fsync(&target.dir).map_err(|error| failed(error.into()))
}

/// A directory copy in progress.
struct DirectoryCopy<'a> {
    room: usize,
    stop: &'a dyn Fn() -> bool,
    path: &'a Path,
}

impl DirectoryCopy<'_> {
    fn directory(&mut self, from: &OwnedFd, to: &OwnedFd, depth: usize) -> Result<(), FileError> {
        let path = self.path;
        let failed = |source| FileError::io("copy", path, source);
        for NamedEntry { name, kind } in tree::names(from).map_err(failed)? {
            if (self.stop)() {
                return Err(FileError::Stopped);
            }
            if self.room == 0 || depth > DEPTH_MAX {
                return Err(FileError::TooMany {
                    path: path.to_owned(),
                    max: COPIED_MAX,
                });
            }
            self.room -= 1;
            match kind {
                FileKind::Directory => {
                    let inner = handle::subdirectory(from, &name).map_err(failed)?;
                    rustix::fs::mkdirat(to, &name, Mode::RWXU)
                        .map_err(|error| failed(error.into()))?;
                    let made = handle::subdirectory(to, &name).map_err(failed)?;
                    self.directory(&inner, &made, depth + 1)?;
                }
                FileKind::Link => {
                    let words = tree::link_target(from, &name).map_err(failed)?;
                    rustix::fs::symlinkat(words, to, &name)
                        .map_err(|error| failed(error.into()))?;
                }
                _ => copy_small(from, to, &name).map_err(failed)?,
            }
        }
        let mode = rustix::fs::fstat(from).map_err(|error| failed(error.into()))?;
        rustix::fs::fchmod(to, Mode::from_raw_mode(mode.st_mode & 0o777))
            .map_err(|error| failed(error.into()))
    }
}

/// Copies one file of a directory. It is synced with all the others.
fn copy_small(from: &OwnedFd, to: &OwnedFd, name: &OsStr) -> io::Result<()> {
    use rustix::fs::OFlags;
    let reading = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let writing = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    let source = rustix::fs::openat(from, name, reading, Mode::empty())?;
    let mut source = std::fs::File::from(source);
    let meta = source.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("something in it was just replaced"));
    }
    let target = rustix::fs::openat(to, name, writing, Mode::RUSR | Mode::WUSR)?;
    let mut target = std::fs::File::from(target);
    io::copy(&mut source, &mut target)?;
    rustix::fs::fchmod(&target, Mode::from_raw_mode(meta.mode() & 0o777))?;
    Ok(())
}

/// Deletes a directory that this module created, with its content. Follows no link.
fn remove_tree(dir: &OwnedFd, name: &OsStr, depth: usize) -> io::Result<()> {
    if depth > DEPTH_MAX + 1 {
        return Err(io::ErrorKind::Other.into());
    }
    let inner = handle::subdirectory(dir, name)?;
    for NamedEntry { name, kind } in tree::names(&inner)? {
        if kind == FileKind::Directory {
            remove_tree(&inner, &name, depth + 1)?;
        } else {
            rustix::fs::unlinkat(&inner, &name, AtFlags::empty())?;
        }
    }
    Ok(rustix::fs::unlinkat(dir, name, AtFlags::REMOVEDIR)?)
}

#[cfg(test)]
mod tests;
