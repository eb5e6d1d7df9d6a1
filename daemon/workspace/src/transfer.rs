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
use crate::read::{DEPTH_MAX, FileError, FileKind, FileStamp, IoContext, OpenFile};
use crate::resolve::{Access, ResolvedPath};
use crate::tree::{self, NamedEntry};
use crate::workspace::Workspace;
use crate::write::{ExpectedFile, WriteStep, WriteTarget, rename_new, temporary_name};

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
        step(WriteStep::Made).at("move", from.path())?;
        let renamed = target.take(&source.dir, source.name, expected);
        drop(held);
        match renamed {
            Ok(()) => {}
            Err(Errno::XDEV) => {
                self.move_far(from, &source, target, expected, step)?;
                let _ = rustix::fs::fsync(&source.dir);
                return Ok(MoveMethod::Copied);
            }
            Err(Errno::EXIST) => {
                return Err(FileError::Exists(to.path().to_owned()));
            }
            Err(error) => return Err(FileError::io("move", from.path(), error)),
        };
        let doing = "sync directory of";
        step(WriteStep::Renamed).at(doing, to.path())?;
        for dir in [&target.dir, &source.dir] {
            rustix::fs::fsync(dir).at(doing, to.path())?;
        }
        Ok(MoveMethod::Renamed)
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
                return Err(FileError::AcrossDevices(from.path().to_owned()));
            }
            Some(FileKind::Link) => copy_link(source, &target, expected)?,
            _ => {
                let file = self.open_regular(from.path())?;
                let before = FileStamp::unhashed(&file.meta);
                copy_file(&file, target, expected, &|| false, step)?;
                // Data written meanwhile must not be lost.
                let now = self.open_regular(from.path())?;
                if !FileStamp::unhashed(&now.meta).same_file(&before) {
                    return Err(FileError::Changed(from.path().to_owned()));
                }
            }
        }
        rustix::fs::unlinkat(&source.dir, source.name, AtFlags::empty()).at("delete", from.path())
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
        let source = handle::directory(&self.slash, from.path())
            .at_no_link("open directory", from.path())?;
        let temporary = temporary_name();
        rustix::fs::mkdirat(&target.dir, temporary.as_str(), Mode::RWXU).at("copy", from.path())?;
        let copied = (|| {
            step(WriteStep::Made).at("copy", from.path())?;
            let made = handle::subdirectory(&target.dir, OsStr::new(&temporary))
                .at("copy", from.path())?;
            let mut copy = DirectoryCopy {
                room: COPIED_MAX,
                stop,
                path: from.path(),
            };
            copy.directory(&source, &made, 0)?;
            step(WriteStep::Written).at("copy", from.path())?;
            // One sync for all: thousands of single ones take minutes on a slow disk.
            #[cfg(target_os = "linux")]
            rustix::fs::syncfs(&made).at("copy", from.path())?;
            #[cfg(not(target_os = "linux"))]
            rustix::fs::sync();
            step(WriteStep::Synced).at("copy", from.path())?;
            let name = Path::new(&temporary);
            rename_new(&target.dir, name, &target.dir, target.name).map_err(|error| match error {
                Errno::EXIST => FileError::Exists(target.path.to_owned()),
                error => FileError::io("copy", from.path(), error),
            })
        })();
        if let Err(error) = copied {
            // Best effort: the first error is the one reported.
            let _ = remove_tree(&target.dir, OsStr::new(&temporary), 0);
            return Err(error);
        }
        step(WriteStep::Renamed).at("copy", from.path())?;
        rustix::fs::fsync(&target.dir).at("copy", from.path())
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
                return Err(FileError::Changed(at.path().to_owned()));
            }
            Err(error) => return Err(FileError::io("delete", at.path(), error)),
        }
        rustix::fs::fsync(&source.dir).at("sync directory of", at.path())
    }

    /// Creates a directory and its parents. Returns false if it already exists.
    ///
    /// # Errors
    /// The path is denied, another file is there, or the disk fails.
    pub fn make_directory(&self, at: &ResolvedPath) -> Result<bool, FileError> {
        self.check(at, Access::Write)?;
        match at.kind() {
            Some(FileKind::Directory) => Ok(false),
            Some(_) => Err(FileError::Exists(at.path().to_owned())),
            None => {
                handle::make_directory(&self.slash, at.path())
                    .at_no_link("open directory", at.path())?;
                Ok(true)
            }
        }
    }

    /// The directory entry of an existing path.
    fn source<'a>(&self, from: &'a ResolvedPath) -> Result<WriteTarget<'a>, FileError> {
        let path = from.path();
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(FileError::Root(path.to_owned()));
        };
        from.existing()?;
        let dir = handle::directory(&self.slash, parent).at_no_link("open directory", parent)?;
        Ok(WriteTarget {
            dir,
            name: Path::new(name),
            path,
        })
    }

    fn no_root(&self, path: &Path) -> Result<(), FileError> {
        let mut held = self.writable_roots().chain([&self.cwd]);
        if held.any(|root| root.starts_with(path)) {
            return Err(FileError::Root(path.to_owned()));
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
        match from.existing()? {
            FileKind::File | FileKind::Link | FileKind::Directory => {}
            kind => {
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
            return Err(FileError::Exists(new.to_owned()));
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
            return Err(FileError::Exists(new.to_owned()));
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
    let mut staged = target.stage(expected)?;
    step(WriteStep::Made).at("write", path)?;
    let mut source = &from.file;
    let mut chunk = vec![0; 256 * 1024];
    loop {
        if stop() {
            return Err(FileError::Stopped);
        }
        let count = source.read(&mut chunk).at("write", path)?;
        let part = chunk.get(..count).unwrap_or_default();
        if part.is_empty() {
            break;
        }
        staged.file.write_all(part).at("write", path)?;
        staged.hash.update(part);
        staged.size += part.len() as u64;
        step(WriteStep::Half).at("write", path)?;
    }
    staged
        .set_owner_and_mode(Some(from.meta.mode() & 0o777))
        .at("write", path)?;
    step(WriteStep::Written).at("write", path)?;
    staged.file.sync_all().at("write", path)?;
    step(WriteStep::Synced).at("write", path)?;
    staged.take_place(step).map(drop)
}

/// Creates a link with the same target text.
fn copy_link(
    source: &WriteTarget<'_>,
    target: &WriteTarget<'_>,
    expected: ExpectedFile,
) -> Result<(), FileError> {
    let words = tree::link_target(&source.dir, source.name.as_os_str())
        .at("make a link at", target.path)?;
    let temporary = temporary_name();
    let name = Path::new(&temporary);
    rustix::fs::symlinkat(words, &target.dir, name).at("make a link at", target.path)?;
    let taken = target.hold().and_then(|_held| {
        target.check(expected)?;
        let renamed = target.take(&target.dir, name, expected);
        renamed.at("make a link at", target.path)
    });
    if taken.is_err() {
        // Best effort: the first error is the one reported.
        let _ = rustix::fs::unlinkat(&target.dir, name, AtFlags::empty());
    }
    taken?;
    rustix::fs::fsync(&target.dir).at("make a link at", target.path)
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
        for NamedEntry { name, kind } in tree::names(from).at("copy", path)? {
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
                    let inner = handle::subdirectory(from, &name).at("copy", path)?;
                    rustix::fs::mkdirat(to, &name, Mode::RWXU).at("copy", path)?;
                    let made = handle::subdirectory(to, &name).at("copy", path)?;
                    self.directory(&inner, &made, depth + 1)?;
                }
                FileKind::Link => {
                    let words = tree::link_target(from, &name).at("copy", path)?;
                    rustix::fs::symlinkat(words, to, &name).at("copy", path)?;
                }
                _ => copy_small(from, to, &name).at("copy", path)?,
            }
        }
        let mode = rustix::fs::fstat(from).at("copy", path)?;
        rustix::fs::fchmod(to, Mode::from_raw_mode(mode.st_mode & 0o777)).at("copy", path)
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
