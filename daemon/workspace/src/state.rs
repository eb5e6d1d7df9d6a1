//! What stands at a place, so that it can be told whether it is still so, and be brought back.
//!
//! Never follows a link, and never fails: what cannot be looked at is unknown, with the reason. Called by `session`,
//! which keeps what files were before they are changed.

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
use crate::read::SIZE_MAX;
use crate::tree::link_target;
use crate::workspace::Workspace;

/// What stands at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
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
    /// Something that is not looked at, or cannot be.
    Unknown {
        why: String,
    },
}

/// As records have it.
impl From<State> for FileState {
    fn from(state: State) -> Self {
        match state {
            State::Absent => Self::Absent,
            State::File {
                sha256,
                bytes,
                mode,
            } => Self::File {
                sha256: hex::encode(sha256),
                bytes,
                mode,
            },
            State::Link { target } => match target.into_os_string().into_string() {
                Ok(target) => Self::Link { target },
                Err(_) => Self::Unknown {
                    why: "it is a link to a name that is no text".to_owned(),
                },
            },
            State::Directory => Self::Directory,
            State::Unknown { why } => Self::Unknown { why },
        }
    }
}

/// A look at a place.
#[derive(Clone, Debug)]
pub struct Look {
    /// Absolute.
    pub path: PathBuf,
    pub there: State,
    /// The bytes of a file, where they were asked for.
    pub content: Option<Vec<u8>>,
    /// What the system says of it; `None`: nothing stood there, or it is not known.
    pub(crate) stamp: Option<PlaceStamp>,
}

/// Tells whether a place was touched in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlaceStamp {
    pub(crate) kind: FileType,
    pub(crate) mode: u32,
    pub(crate) inode: u64,
    /// Of a directory it says nothing: its entries come and go.
    size: u64,
    mtime_ns: i128,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
}

impl PlaceStamp {
    #[allow(
        clippy::useless_conversion,
        clippy::cast_lossless,
        reason = "the widths differ from system to system"
    )]
    pub(crate) fn of(stat: &Stat) -> Self {
        let kind = FileType::from_raw_mode(stat.st_mode);
        let directory = kind == FileType::Directory;
        let mtime_ns = i128::from(stat.st_mtime) * 1_000_000_000 + i128::from(stat.st_mtime_nsec);
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

/// The directory of a place.
pub(crate) enum Place {
    In(OwnedFd),
    /// The directory does not exist.
    Nowhere,
}

impl Workspace {
    /// What stands at an absolute path without links; a link at its end is told as one.
    #[must_use]
    pub fn state(&self, path: &Path) -> State {
        self.look(path, false).there
    }

    /// Looks at an absolute path without links. `content`: with the bytes of a file.
    #[must_use]
    pub fn look(&self, path: &Path, content: bool) -> Look {
        let mut look = Look {
            path: path.to_owned(),
            there: State::Absent,
            content: None,
            stamp: None,
        };
        if self.is_masked(path) || self.read_denied(path).is_some() {
            look.there = State::Unknown {
                why: "it is closed to tools".into(),
            };
            return look;
        }
        if let Err(error) = self.look_into(&mut look, content) {
            look.content = None;
            look.there = State::Unknown {
                why: error.to_string(),
            };
        }
        look
    }

    fn look_into(&self, look: &mut Look, content: bool) -> io::Result<()> {
        let (Some(parent), Some(name)) = (look.path.parent(), look.path.file_name()) else {
            look.there = State::Directory;
            return Ok(());
        };
        let Place::In(dir) = self.parent(parent)? else {
            return Ok(());
        };
        let Some(stamp) = stamp_at(&dir, name)? else {
            return Ok(());
        };
        look.stamp = Some(stamp);
        match stamp.kind {
            FileType::Directory => look.there = State::Directory,
            FileType::Symlink => {
                let target = link_target(&dir, name)?;
                look.there = State::Link { target };
            }
            FileType::RegularFile => {
                let (there, bytes) = read(&dir, name, content)?;
                look.there = there;
                look.content = bytes;
            }
            _ => {
                look.there = State::Unknown {
                    why: "it is neither file nor directory nor link".into(),
                };
            }
        }
        Ok(())
    }

    /// The directory of a place. What is no directory holds nothing.
    pub(crate) fn parent(&self, parent: &Path) -> io::Result<Place> {
        match handle::directory(&self.slash, parent) {
            Ok(dir) => Ok(Place::In(dir)),
            Err(error) => match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(Place::Nowhere),
                // What can be reached through a link stands elsewhere.
                _ if handle::met_link(&error) => Ok(Place::Nowhere),
                _ => Err(error),
            },
        }
    }

    /// Looks at everything below a directory, ignored files too; links are not followed. Parents come before what is
    /// in them. With the bytes of files where `content` says so.
    ///
    /// # Errors
    /// In words: there is more than `files` places or `bytes` bytes, or a part of it cannot be looked at.
    pub fn look_below(
        &self,
        dir: &Path,
        content: bool,
        files: usize,
        bytes: u64,
    ) -> Result<Vec<Look>, String> {
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
                return Err(format!("it holds more than {files} files or {mib} MiB"));
            }
            let look = self.look(entry.path(), content);
            if let State::Unknown { why } = &look.there {
                return Err(format!("`{}` in it: {why}", entry.path().display()));
            }
            found.push(look);
        }
        Ok(found)
    }
}

/// What the system says of a name; `None`: nothing.
pub(crate) fn stamp_at(dir: &OwnedFd, name: &OsStr) -> io::Result<Option<PlaceStamp>> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(PlaceStamp::of(&stat))),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn read(dir: &OwnedFd, name: &OsStr, content: bool) -> io::Result<(State, Option<Vec<u8>>)> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(dir, name, flags, Mode::empty())?);
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(io::Error::other("it was changed just now"));
    }
    if meta.size() > SIZE_MAX {
        let mib = SIZE_MAX / 1024 / 1024;
        return Err(io::Error::other(format!("it has more than {mib} MiB")));
    }
    let mut hash = Sha256::new();
    let mut bytes = 0_u64;
    let mut kept = Vec::new();
    let mut part = vec![0_u8; 64 * 1024];
    let mut file = file.take(SIZE_MAX + 1);
    loop {
        let count = match file.read(&mut part) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let fresh = part.get(..count).unwrap_or_default();
        hash.update(fresh);
        bytes += count as u64;
        if content {
            kept.extend_from_slice(fresh);
        }
    }
    if bytes > SIZE_MAX {
        return Err(io::Error::other("it grows while it is read"));
    }
    let there = State::File {
        sha256: hash.finalize().into(),
        bytes,
        mode: meta.mode() & 0o7777,
    };
    Ok((there, content.then_some(kept)))
}

#[cfg(test)]
mod tests;
