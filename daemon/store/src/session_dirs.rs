//! Session directories appear and disappear atomically: they are filled and emptied under another
//! name, and a rename commits.
//!
//! These temporary names begin with a dot, so listings skip them. Leftovers of a crash are swept at
//! start-up.

use std::ffi::OsStr;
use std::fs::{read_dir, remove_dir_all, rename, symlink_metadata};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use proto::SessionId;
use uuid::Uuid;

use crate::disk::{DiskError, IoContext, each_name, entries, sync_dir};
use crate::home::{Home, id_of};
use crate::{log, markers};

const DELETED: &str = ".gone-";
const NEW: &str = ".new-";

/// The directory where a new session is filled before it is published.
#[must_use]
pub fn staging_dir(home: &Home, session: SessionId) -> PathBuf {
    home.sessions().join(format!("{NEW}{session}"))
}

/// Renames a filled directory to its final name, durably. Its content must already be on disk.
///
/// # Errors
/// The session already exists, or the disk refuses.
pub fn publish(home: &Home, session: SessionId) -> Result<(), DiskError> {
    let (from, to) = (staging_dir(home, session), home.session_dir(session));
    rename(&from, &to).at("name", &from)?;
    sync_dir(&home.sessions())
}

/// Removes a session's name, durably: the session no longer exists. Returns the renamed directory
/// with all its content, for `remove_dir`, or `None` if there was no such session.
///
/// # Errors
/// The session still has its name, or that is unknown.
pub fn unpublish(home: &Home, session: SessionId) -> Result<Option<PathBuf>, DiskError> {
    let from = home.session_dir(session);
    let to = home.sessions().join(format!("{DELETED}{session}"));
    // An unswept directory of a session with the same id would block the rename.
    remove_dir(&to)?;
    match rename(&from, &to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        renamed => renamed.at("set aside", &from)?,
    }
    sync_dir(&home.sessions())?;
    Ok(Some(to))
}

/// Removes such a directory with all its content, if it exists.
///
/// # Errors
/// Part of it still exists.
pub fn remove_dir(dir: &Path) -> Result<(), DiskError> {
    match remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", dir),
        _ => Ok(()),
    }
}

/// What the directory of sessions has at a start.
#[derive(Debug, Default)]
pub struct SweptSessions {
    /// The leftovers of crashes, renamed to unique names.
    pub leftovers: Vec<PathBuf>,
    /// The sessions that have a directory.
    pub sessions: Vec<SessionId>,
}

/// Renames the leftovers of crashes to unique names, so that `remove_dir` can delete them in the
/// background. Call it only while no session is being created or deleted.
///
/// # Errors
/// The directory cannot be read. A leftover that cannot be renamed is reported, and stays.
pub fn sweep(home: &Home) -> Result<SweptSessions, DiskError> {
    let move_away = |from: PathBuf| {
        let to = home.sessions().join(format!("{DELETED}{}", Uuid::new_v4()));
        let moved = rename(&from, &to).at("set aside", &from);
        moved
            .inspect_err(|error| tracing::warn!(%error, "the rest of a session that is gone stays"))
            .map(|()| to)
            .ok()
    };
    let (mut leftovers, mut sessions) = (Vec::new(), Vec::new());
    each_name(&home.sessions(), |name| match id_of(name) {
        Some(session) => sessions.push(session),
        None if is_leftover(name) => leftovers.push(home.sessions().join(OsStr::from_bytes(name))),
        None => {}
    })?;
    Ok(SweptSessions {
        leftovers: leftovers.into_iter().filter_map(move_away).collect(),
        sessions,
    })
}

/// Whether the session of a directory was ever created.
///
/// `false` if a crash came first: the directory is missing or empty, or its log has no line. What is damaged stays. No client knows
/// such a session, so its id can be used again once the directory is removed.
///
/// # Errors
/// The directory or its log cannot be read.
pub fn was_created(home: &Home, session: SessionId) -> Result<bool, DiskError> {
    let dir = home.session_dir(session);
    let is_missing = |error: &DiskError| error.source.kind() == io::ErrorKind::NotFound;
    match log::has_line(&dir) {
        // Files without a log were a session once.
        Err(error) if is_missing(&error) => match entries(&dir) {
            Err(error) if is_missing(&error) => Ok(false),
            found => found.map(|found| !found.is_empty()),
        },
        found => found,
    }
}

/// Removes the directories and markers of those of these sessions that a crash kept from being created. One that cannot be
/// read or removed is reported, and stays. Call it only while no session is being created.
pub fn sweep_uncreated(home: &Home, unknown: impl Iterator<Item = SessionId>) {
    for session in unknown {
        let removed = match was_created(home, session) {
            Ok(true) => continue,
            Ok(false) => {
                remove_dir(&home.session_dir(session)).and_then(|()| markers::unmark(home, session))
            }
            Err(error) => Err(error),
        };
        match removed {
            Ok(()) => {
                tracing::info!(%session, "removed what a crash left of a session without records")
            }
            Err(error) => {
                tracing::warn!(%session, %error, "the rest of a session without records stays")
            }
        }
    }
}

fn is_leftover(name: &[u8]) -> bool {
    name.starts_with(DELETED.as_bytes()) || name.starts_with(NEW.as_bytes())
}

/// Total length of all files in a directory tree. Unreadable entries count as 0. A file with
/// several hard links counts once per link.
#[must_use]
pub fn dir_bytes(dir: &Path) -> u64 {
    let mut sum = 0;
    let mut open = vec![dir.to_path_buf()];
    while let Some(path) = open.pop() {
        let Ok(found) = symlink_metadata(&path) else {
            continue;
        };
        if !found.is_dir() {
            sum += found.len();
        } else if let Ok(entries) = read_dir(&path) {
            open.extend(entries.flatten().map(|entry| entry.path()));
        }
    }
    sum
}

#[cfg(test)]
mod tests;
