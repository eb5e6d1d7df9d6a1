//! Snapshots of paths, to detect changes and to restore them.
//!
//! Never follows a link and never fails: a path that cannot be read is unknown, with the reason.
//! `session` uses this to save files before they change.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use proto::record::FileState;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::handle;
use crate::read::{SIZE_MAX, each_part, nanoseconds};
use crate::tree::link_target;
use crate::workspace::Workspace;

/// The state of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathState {
    Absent,
    File {
        sha256: [u8; 32],
        bytes: u64,
        /// Permission bits.
        mode: u32,
    },
    Link {
        target: PathBuf,
    },
    Directory,
    /// It may not be read, or cannot be.
    Unknown {
        why: String,
    },
}

/// As records have it.
impl From<PathState> for FileState {
    fn from(state: PathState) -> Self {
        match state {
            PathState::Absent => Self::Absent,
            PathState::File {
                sha256,
                bytes,
                mode,
            } => Self::File {
                sha256: hex::encode(sha256),
                bytes,
                mode,
            },
            PathState::Link { target } => match target.into_os_string().into_string() {
                Ok(target) => Self::Link { target },
                Err(_) => Self::Unknown {
                    why: "it is a link to a name that is not text".to_owned(),
                },
            },
            PathState::Directory => Self::Directory,
            PathState::Unknown { why } => Self::Unknown { why },
        }
    }
}

/// A snapshot of a path.
#[derive(Clone, Debug)]
pub struct PathSnapshot {
    /// Absolute.
    pub path: PathBuf,
    pub there: PathState,
    /// The bytes of a file, if requested.
    pub content: Option<Vec<u8>>,
    /// Its metadata. `None`: it did not exist, or is unknown.
    pub(crate) stamp: Option<PathStamp>,
}

/// Detects whether a path was touched in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PathStamp {
    pub(crate) kind: FileType,
    pub(crate) mode: u32,
    pub(crate) inode: u64,
    /// Meaningless for a directory: its entries come and go.
    size: u64,
    mtime_ns: i128,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl PathStamp {
    #[allow(
        clippy::useless_conversion,
        clippy::cast_lossless,
        reason = "the widths differ from system to system"
    )]
    pub(crate) fn of(stat: &Stat) -> Self {
        let kind = FileType::from_raw_mode(stat.st_mode);
        let directory = kind == FileType::Directory;
        let mtime_ns = nanoseconds(stat.st_mtime, stat.st_mtime_nsec);
        Self {
            kind,
            mode: u32::from(stat.st_mode) & 0o7777,
            inode: stat.st_ino,
            size: if directory {
                0
            } else {
                u64::try_from(stat.st_size).unwrap_or(0)
            },
            mtime_ns: if directory { 0 } else { mtime_ns },
            uid: stat.st_uid,
            gid: stat.st_gid,
        }
    }
}

/// The parent directory of a path.
pub(crate) enum ParentDir {
    In(OwnedFd),
    /// The directory does not exist.
    Nowhere,
}

impl Workspace {
    /// The state of an absolute path without links. A link in the last component is reported as a
    /// link.
    #[must_use]
    pub fn state(&self, path: &Path) -> PathState {
        self.snapshot(path, false).there
    }

    /// Takes a snapshot of an absolute path without links, with the bytes of a file if `content` is
    /// set.
    #[must_use]
    pub fn snapshot(&self, path: &Path, content: bool) -> PathSnapshot {
        let mut snapshot = PathSnapshot {
            path: path.to_owned(),
            there: PathState::Absent,
            content: None,
            stamp: None,
        };
        if self.is_masked(path) || self.read_denied(path).is_some() {
            snapshot.there = PathState::Unknown {
                why: "it is denied to tools".into(),
            };
            return snapshot;
        }
        if let Err(error) = self.read_into(&mut snapshot, content) {
            snapshot.content = None;
            snapshot.there = PathState::Unknown {
                why: error.to_string(),
            };
        }
        snapshot
    }

    fn read_into(&self, snapshot: &mut PathSnapshot, content: bool) -> io::Result<()> {
        let (Some(parent), Some(name)) = (snapshot.path.parent(), snapshot.path.file_name()) else {
            snapshot.there = PathState::Directory;
            return Ok(());
        };
        let ParentDir::In(dir) = self.parent(parent)? else {
            return Ok(());
        };
        let Some(stamp) = stamp_at(&dir, name)? else {
            return Ok(());
        };
        snapshot.stamp = Some(stamp);
        match stamp.kind {
            FileType::Directory => snapshot.there = PathState::Directory,
            FileType::Symlink => {
                let target = link_target(&dir, name)?;
                snapshot.there = PathState::Link { target };
            }
            FileType::RegularFile => {
                let (there, bytes) = read(&dir, name, content)?;
                snapshot.there = there;
                snapshot.content = bytes;
            }
            _ => {
                snapshot.there = PathState::Unknown {
                    why: "it is not a file, directory or link".into(),
                };
            }
        }
        Ok(())
    }

    /// Opens the parent directory of a path. A parent that is not a directory has no entries.
    pub(crate) fn parent(&self, parent: &Path) -> io::Result<ParentDir> {
        match handle::directory(&self.slash, parent) {
            Ok(dir) => Ok(ParentDir::In(dir)),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(ParentDir::Nowhere),
                // A path through a link refers to another place.
                _ if handle::met_link(&error) => Ok(ParentDir::Nowhere),
                _ => Err(error),
            },
        }
    }

    /// Takes snapshots of everything below a directory, including ignored files. Does not follow
    /// links. Parents come before their content. `content` decides whether file bytes are included.
    ///
    /// # Errors
    /// There are more than `files` entries or `bytes` bytes, or something cannot be read.
    pub fn snapshots_below(
        &self,
        dir: &Path,
        content: bool,
        files: usize,
        bytes: u64,
    ) -> Result<Vec<PathSnapshot>, String> {
        let mut found = Vec::new();
        let mut held = 0_u64;
        let walk = WalkBuilder::new(dir)
            .standard_filters(false)
            .follow_links(false)
            .sort_by_file_name(OsStr::cmp)
            .build();
        for entry in walk {
            let entry = entry.map_err(|error| error.to_string())?;
            if entry.depth() == 0 {
                continue;
            }
            let size = entry
                .metadata()
                .ok()
                .filter(std::fs::Metadata::is_file)
                .map_or(0, |meta| meta.size());
            held = held.saturating_add(size);
            if found.len() >= files || held > bytes {
                let mib = bytes / 1024 / 1024;
                return Err(format!("it has more than {files} files or {mib} MiB"));
            }
            let snapshot = self.snapshot(entry.path(), content);
            if let PathState::Unknown { why } = &snapshot.there {
                return Err(format!("`{}` in it: {why}", entry.path().display()));
            }
            found.push(snapshot);
        }
        Ok(found)
    }
}

/// The metadata of a name. `None` if it does not exist.
pub(crate) fn stamp_at(dir: &OwnedFd, name: &OsStr) -> io::Result<Option<PathStamp>> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(PathStamp::of(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn read(dir: &OwnedFd, name: &OsStr, content: bool) -> io::Result<(PathState, Option<Vec<u8>>)> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(dir, name, flags, Mode::empty())?);
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it was just changed"));
    }
    if meta.size() > SIZE_MAX {
        let mib = SIZE_MAX / 1024 / 1024;
        return Err(io::Error::other(format!("it has more than {mib} MiB")));
    }
    let mut hash = Sha256::new();
    let mut kept = Vec::new();
    let bytes = each_part(file.take(SIZE_MAX + 1), meta.size(), |part| {
        hash.update(part);
        if content {
            kept.extend_from_slice(part);
        }
    })?;
    if bytes > SIZE_MAX {
        return Err(io::Error::other("it grows while it is read"));
    }
    let there = PathState::File {
        sha256: hash.finalize().into(),
        bytes,
        mode: meta.mode() & 0o7777,
    };
    Ok((there, content.then_some(kept)))
}

#[cfg(test)]
mod tests;
