//! Opens paths by directory handle, without following a link in any component.
//!
//! Uses `openat2` if the kernel has it, otherwise opens component by component. All code that opens
//! or changes a file calls this, with link-free paths from `resolve`. A link found here was created
//! since then.

use std::io;
use std::path::Path;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// A handle of `/`.
pub(crate) fn slash() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open("/", DIRECTORY, Mode::empty())?)
}

/// Opens an absolute, resolved path from the handle of `/`.
pub(crate) fn open(slash: &OwnedFd, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let below = path
        .strip_prefix("/")
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let below = if below.as_os_str().is_empty() {
        Path::new(".")
    } else {
        below
    };
    Ok(open_beneath(slash.as_fd(), below, flags | OFlags::CLOEXEC)?)
}

/// Whether an open failed because a component was a link.
pub(crate) fn met_link(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Opens a directory at a resolved path.
pub(crate) fn directory(slash: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    open(slash, path, DIRECTORY)
}

/// Opens a directory by its name in another one.
pub(crate) fn subdirectory(dir: &OwnedFd, name: &std::ffi::OsStr) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(
        dir,
        name,
        DIRECTORY | OFlags::NOFOLLOW,
        Mode::empty(),
    )?)
}

/// Opens a directory at a resolved path and creates missing parts. Syncs each new entry.
pub(crate) fn make_directory(slash: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    match directory(slash, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        done => return done,
    }
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let above = make_directory(slash, parent)?;
    match rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o777)) {
        Ok(()) => rustix::fs::fsync(&above)?,
        // Another process created it. It is opened without following links.
        Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(open_beneath(above.as_fd(), Path::new(name), DIRECTORY)?)
}

#[cfg(target_os = "linux")]
fn open_beneath(dir: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::ResolveFlags;
    let strict = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    // EAGAIN: a rename happened during the walk, so the kernel could not verify it.
    for _ in 0..64 {
        match rustix::fs::openat2(dir, path, flags, Mode::empty(), strict) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            // An old kernel, or a container that blocks the call.
            Err(Errno::NOSYS | Errno::PERM) => return open_by_name(dir, path, flags),
            done => return done,
        }
    }
    Err(Errno::AGAIN)
}

#[cfg(not(target_os = "linux"))]
fn open_beneath(dir: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_by_name(dir, path, flags)
}

/// Opens component by component without `openat2`, following no link.
fn open_by_name(dir: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use std::path::Component;
    let mut held: Option<OwnedFd> = None;
    let mut parts = path.components().peekable();
    while let Some(part) = parts.next() {
        let name = match part {
            Component::Normal(name) => name,
            Component::CurDir => std::ffi::OsStr::new("."),
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(Errno::XDEV);
            }
        };
        let flags = if parts.peek().is_some() {
            DIRECTORY
        } else {
            flags
        };
        let from = held.as_ref().map_or(dir, AsFd::as_fd);
        held = Some(rustix::fs::openat(
            from,
            name,
            flags | OFlags::NOFOLLOW,
            Mode::empty(),
        )?);
    }
    held.ok_or(Errno::NOENT)
}

#[cfg(test)]
mod tests;
