//! Protected files that exist when a command starts. A mount holds each of them, until another program of the user
//! replaces the file by a rename, as git and many editors save: then the kernel drops the mount, and the command may
//! change the new file. So each look compares the present content with the original.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RenameFlags, fchmod, openat, renameat_with, unlinkat,
};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::absent::Arrival;
use crate::file_system::{open_directory, small_bytes};
use crate::new_repository::runs_more;
use crate::quarantine::free_name;

/// Maximum bytes of a file whose text is compared.
const TEXT_MAX: u64 = 256 * 1024;
/// What the user's git replaces all the time, and what neither configures nor runs anything.
const OFTEN_REPLACED: [&str; 3] = ["HEAD", "exclude", "index"];

/// A protected file as it was when a command started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldFile {
    #[serde(with = "contract::lossless_paths::one")]
    path: PathBuf,
    identity: Identity,
    /// What the user's git may obey at any moment: its content and its permissions.
    obeyed: Option<(Content, u32)>,
    /// It was replaced, so no mount protects the present file.
    #[serde(default)]
    is_replaced: bool,
}

/// Identifies a file, also against one that came into its place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    device: (u32, u32),
    inode: u64,
    /// Seconds and nanoseconds, where the file system knows it: inodes are used again.
    created: Option<(i64, u32)>,
}

/// The content of a file, as text if it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Bytes(Vec<u8>),
}

impl Content {
    fn new(bytes: Vec<u8>) -> Self {
        String::from_utf8(bytes).map_or_else(|error| Self::Bytes(error.into_bytes()), Self::Text)
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        }
    }

    fn text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(self.bytes())
    }
}

/// What a look at a held file found.
#[derive(Debug)]
pub enum HeldFileStatus {
    /// The mount holds it, or what replaced it runs nothing that was not there before.
    Held,
    /// Another program has replaced it, so the command may change it.
    Replaced,
    /// Another program has replaced it, and it may run something that it did not before.
    RunsMore(Arrival),
}

impl HeldFile {
    /// The regular file in this place. `obeyed`: the user's git may obey it at any moment. `None`: there is none, or it
    /// is replaced so often that a replacement means nothing.
    #[must_use]
    pub fn of(path: &Path, obeyed: bool) -> Option<Self> {
        let name = path.file_name()?;
        if OFTEN_REPLACED.iter().any(|often| name == *often) {
            return None;
        }
        let parent = open_directory(path.parent()?).ok()?;
        let (identity, mode) = identity(&parent, name).ok().flatten()?;
        let content = obeyed.then(|| small_bytes(&parent, name, TEXT_MAX).ok());
        let content = content.flatten().map(Content::new);
        Some(Self {
            path: path.to_path_buf(),
            identity,
            obeyed: content.map(|content| (content, mode)),
            is_replaced: false,
        })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it is looked at while the command runs.
    #[must_use]
    pub fn at_once(&self) -> bool {
        self.obeyed.is_some()
    }

    /// Whether nothing holds a file that git obeys.
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        self.is_replaced && self.obeyed.is_some()
    }

    /// Compares it with the present file. A replacement is reported once.
    pub fn look(&mut self) -> HeldFileStatus {
        let (Some(around), Some(name)) = (self.path.parent(), self.path.file_name()) else {
            return HeldFileStatus::Held;
        };
        // Without its directory nothing is read there.
        let Ok(parent) = open_directory(around) else {
            return HeldFileStatus::Held;
        };
        let now = match identity(&parent, name) {
            Err(Errno::NOENT) => return HeldFileStatus::Held,
            Ok(now) => now,
            Err(_) => None,
        };
        let was_replaced = self.is_replaced;
        let is_same = now.as_ref().is_some_and(|(now, _)| *now == self.identity);
        self.is_replaced |= !is_same;
        if !self.is_replaced {
            return HeldFileStatus::Held;
        }
        let Some(before) = &self.obeyed else {
            return match was_replaced {
                true => HeldFileStatus::Held,
                false => HeldFileStatus::Replaced,
            };
        };
        let mode = now.map_or(0, |(_, mode)| mode);
        let after = small_bytes(&parent, name, TEXT_MAX);
        let after = after.map(|bytes| (Content::new(bytes), mode));
        match after {
            Ok(after) if !runs_anything_new(before, &after) => HeldFileStatus::Held,
            Err(Errno::NOENT) => HeldFileStatus::Held,
            _ => HeldFileStatus::RunsMore(Arrival::new(self.path.clone(), parent, name)),
        }
    }

    /// Puts the original content into the place of what was found there, by one exchange, so that the name is never free.
    /// The arrival is what was there, under its new name beside the place.
    ///
    /// # Errors
    /// What was found is still in its place.
    pub fn restore(&self, found: Arrival) -> io::Result<Arrival> {
        let Some((content, mode)) = &self.obeyed else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let Arrival { parent, name, .. } = &found;
        let new = free_name(parent, name, "original")?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mut file = File::from(openat(parent, &new, flags, Mode::RUSR | Mode::WUSR)?);
        let placed = file.write_all(content.bytes()).and_then(|()| {
            fchmod(&file, Mode::from_bits_truncate(*mode))?;
            file.sync_all()?;
            let flags = RenameFlags::EXCHANGE;
            Ok(renameat_with(parent, &new, parent, name, flags)?)
        });
        if placed.is_err() {
            let _ = unlinkat(parent, &new, AtFlags::empty());
        }
        placed?;
        Ok(Arrival { name: new, ..found })
    }
}

/// Whether a file that stood in the place of another may run something that the other did not. What is no config says all of
/// it: a program, or the name of a directory.
fn runs_anything_new(before: &(Content, u32), after: &(Content, u32)) -> bool {
    let config = before.0.text();
    match is_config(&config) {
        true => runs_more(&config, &after.0.text()),
        false => before != after,
    }
}

/// Whether a text is a config of git: it has nothing before its first section.
fn is_config(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with(['#', ';']));
    !text.starts_with("#!") && first.is_none_or(|first| first.starts_with('['))
}

/// Which file a name has, and its permissions. `None`: not a regular file.
fn identity(parent: &OwnedFd, name: &OsStr) -> Result<Option<(Identity, u32)>, Errno> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{StatxFlags, statx};
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let found = statx(parent, name, AtFlags::SYMLINK_NOFOLLOW, wanted)?;
        let mode = u32::from(found.stx_mode);
        if FileType::from_raw_mode(mode) != FileType::RegularFile {
            return Ok(None);
        }
        let has_created = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        let created = (found.stx_btime.tv_sec, found.stx_btime.tv_nsec);
        let identity = Identity {
            device: (found.stx_dev_major, found.stx_dev_minor),
            inode: found.stx_ino,
            created: has_created.then_some(created),
        };
        Ok(Some((identity, mode & 0o777)))
    }
    #[cfg(not(target_os = "linux"))]
    {
        // No layer of these systems has mounts that could be dropped.
        let _ = (parent, name);
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
