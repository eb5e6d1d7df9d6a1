//! The quarantine: a private directory that keeps what came under a protected name, until the user
//! wants it back. Nothing in it is ever deleted or read by the agent.
//!
//! A move is one rename if both are on the same disk. Otherwise the name is freed first, by a rename
//! beside it, and then everything is copied.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, PermissionsExt as _, symlink,
};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, openat, renameat_with};
use rustix::io::Errno;

use crate::absent::{Arrival, opened_up, searched};
use crate::file_system::{SEARCH, open_directory};

/// How often a free name is looked for.
const TRIES: u32 = 1000;

/// The directory of a home that keeps what was moved away.
#[derive(Clone, Debug)]
pub struct Quarantine {
    dir: PathBuf,
}

/// Where something is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum QuarantineOutcome {
    /// In the quarantine, or beside its old name if it cannot be moved there.
    To(PathBuf),
    /// It was gone.
    Gone,
}

impl Quarantine {
    /// The quarantine in this directory, which is made when it is needed.
    #[must_use]
    pub fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    /// Moves something there, for this session.
    ///
    /// # Errors
    /// It is still in its place.
    pub fn take(&self, session: &str, arrival: &Arrival) -> io::Result<QuarantineOutcome> {
        let Arrival {
            path,
            parent,
            name,
            at_once: _,
        } = arrival;
        let moved = self.slot(session, path).and_then(|slot| {
            let to = open_directory(&slot)?;
            // It may have been moved out of its place already.
            let kept = path.file_name().unwrap_or(name);
            let at = slot.join(kept);
            match rename(parent, name, &to, kept) {
                Ok(()) => Ok(QuarantineOutcome::To(at)),
                Err(Errno::NOENT) => Ok(QuarantineOutcome::Gone),
                Err(Errno::XDEV) => copy_away(arrival, &at),
                Err(error) => Err(error.into()),
            }
        });
        match moved {
            Ok(moved) => Ok(moved),
            Err(_) => beside(parent, name).map(|beside| match beside {
                Some(beside) => QuarantineOutcome::To(path.with_file_name(beside)),
                None => QuarantineOutcome::Gone,
            }),
        }
    }

    /// Brings something back to where it was, as a copy: what else has a hard link to it, or has it
    /// open, does not change what the user agreed to. `exchange`: the present file is kept in its place.
    ///
    /// # Errors
    /// It stays in the quarantine: the reason, as a text for the user.
    pub fn put_back(&self, kept: &Path, path: &Path, exchange: bool) -> Result<(), String> {
        let failed = |error: io::Error| format!("`{}`: {error}", path.display());
        let (Some(around), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(format!("`{}` is not a path of a file", path.display()));
        };
        let parent = open_directory(around).map_err(failed)?;
        let new = free_name(&parent, name, "restored").map_err(failed)?;
        let copy = within(&parent, &new);
        let placed = copy_tree(kept, &copy).and_then(|()| {
            sync(&parent)?;
            let exchanged = match exchange {
                true => renameat_with(&parent, &new, &parent, name, RenameFlags::EXCHANGE),
                false => Err(Errno::NOENT),
            };
            match exchanged {
                // Nothing is there now.
                Err(Errno::NOENT) => Ok(rename(&parent, &new, &parent, name)?),
                done => Ok(done?),
            }
        });
        if let Err(error) = placed {
            remove(&copy);
            return Err(match error.kind() {
                io::ErrorKind::AlreadyExists => {
                    format!("there is another `{}` now", path.display())
                }
                _ => failed(error),
            });
        }
        // The former file has the copy's name, and is kept in turn.
        if copy.symlink_metadata().is_ok() {
            let slot = kept.parent().unwrap_or(kept);
            let former = slot.join("former");
            let kept_too = copy_tree(&copy, &former).and_then(|()| {
                remove(kept);
                fs::rename(&former, kept)
            });
            // Else it stays beside its place, where the user finds it.
            if kept_too.is_ok() {
                remove(&copy);
            }
            return Ok(());
        }
        remove(kept);
        if let Some(slot) = kept.parent().filter(|slot| slot.starts_with(&self.dir)) {
            // Fails if something else is in it.
            let _ = fs::remove_dir(slot);
            let _ = fs::remove_file(origin_file(slot));
        }
        Ok(())
    }

    /// A new private directory, with a note beside it of where its content was.
    fn slot(&self, session: &str, path: &Path) -> io::Result<PathBuf> {
        let mut private = DirBuilder::new();
        private.mode(0o700).recursive(true).create(&self.dir)?;
        private.recursive(false);
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        let ms = since.map_or(0, |since| since.as_millis());
        for number in 0..u128::from(TRIES) {
            let slot = self.dir.join(format!("{session}-{}", ms + number));
            match private.create(&slot) {
                Ok(()) => {
                    let mut note = File::create(origin_file(&slot))?;
                    note.write_all(path.as_os_str().as_encoded_bytes())?;
                    note.write_all(b"\n")?;
                    return Ok(slot);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }
}

fn origin_file(slot: &Path) -> PathBuf {
    slot.with_extension("origin")
}

/// Renames something, and replaces nothing. Permissions that a command took away are restored.
fn rename(from: &OwnedFd, name: &OsStr, to: &OwnedFd, new: &OsStr) -> Result<(), Errno> {
    let rename = || renameat_with(from, name, to, new, RenameFlags::NOREPLACE);
    match searched(from, rename) {
        // A directory that gets another parent must itself be writable.
        Err(Errno::ACCESS | Errno::PERM) => {
            let flags = SEARCH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match openat(from, name, flags, Mode::empty()) {
                Ok(moved) if opened_up(&moved) => rename(),
                _ => Err(Errno::ACCESS),
            }
        }
        done => done,
    }
}

/// Frees a name without leaving the directory. Returns the new name, or `None` if it was gone.
fn beside(parent: &OwnedFd, name: &OsStr) -> io::Result<Option<OsString>> {
    let new = free_name(parent, name, "quarantined")?;
    match rename(parent, name, parent, &new) {
        Ok(()) => Ok(Some(new)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A name beside another one that nothing has: no protected name ends like that.
pub(crate) fn free_name(parent: &OwnedFd, name: &OsStr, why: &str) -> io::Result<OsString> {
    for number in 1..=TRIES {
        let mut new = name.to_os_string();
        new.push(format!(".{why}-{number}"));
        if within(parent, &new).symlink_metadata().is_err() {
            return Ok(new);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// A path in an open directory that stays valid if the directory is moved or replaced by a link.
fn within(parent: &OwnedFd, name: &OsStr) -> PathBuf {
    Path::new("/proc/self/fd")
        .join(parent.as_raw_fd().to_string())
        .join(name)
}

/// Frees the name at once, and copies to another disk.
fn copy_away(arrival: &Arrival, to: &Path) -> io::Result<QuarantineOutcome> {
    let Arrival {
        path,
        parent,
        name,
        at_once: _,
    } = arrival;
    let Some(freed) = beside(parent, name)? else {
        return Ok(QuarantineOutcome::Gone);
    };
    let from = within(parent, &freed);
    let copied = copy_tree(&from, to).and_then(|()| {
        let around = to.parent().unwrap_or(to);
        sync(&open_directory(around)?)
    });
    match copied {
        Ok(()) => {
            remove(&from);
            Ok(QuarantineOutcome::To(to.to_path_buf()))
        }
        Err(_) => {
            remove(to);
            Ok(QuarantineOutcome::To(path.with_file_name(freed)))
        }
    }
}

fn sync(directory: &OwnedFd) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat(directory, ".", flags, Mode::empty())?;
    Ok(rustix::fs::syncfs(&opened)?)
}

/// Removes it with everything in it, and follows no link. Best effort: what stays is harmless.
fn remove(path: &Path) {
    let is_dir = path.symlink_metadata().is_ok_and(|found| found.is_dir());
    let _ = match is_dir {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
}

/// Copies a file, link, pipe or directory with everything in it.
fn copy_tree(from: &Path, to: &Path) -> io::Result<()> {
    let found = from.symlink_metadata()?;
    let kind = found.file_type();
    let mode = found.mode() & 0o777;
    if kind.is_symlink() {
        return symlink(fs::read_link(from)?, to);
    }
    if kind.is_fifo() {
        let mode = Mode::from_bits_truncate(mode);
        return Ok(rustix::fs::mknodat(
            CWD,
            to,
            rustix::fs::FileType::Fifo,
            mode,
            0,
        )?);
    }
    if kind.is_file() {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut source = File::from(openat(CWD, from, flags, Mode::empty())?);
        let mut copy = File::create_new(to)?;
        io::copy(&mut source, &mut copy)?;
        copy.set_permissions(fs::Permissions::from_mode(mode))?;
        return copy.set_modified(found.modified()?);
    }
    if !kind.is_dir() {
        return Err(io::Error::other("a socket or device cannot be copied"));
    }
    DirBuilder::new().mode(0o700).create(to)?;
    for entry in fs::read_dir(from)? {
        let name = entry?.file_name();
        copy_tree(&from.join(&name), &to.join(&name))?;
    }
    fs::set_permissions(to, fs::Permissions::from_mode(mode | 0o700))
}

#[cfg(test)]
mod tests;
