//! Markers of sessions with an unfinished turn or a queue: an empty file each in `<home>/open/`.
//!
//! Start-up loads only marked sessions. A superfluous marker costs one check, and a missing one
//! would lose a turn. So creating a marker is durable, and removing it need not be. Called by
//! sessions and at start-up.

use proto::SessionId;

use crate::disk::{DiskError, IoContext, private, remove_file, sync_dir};
use crate::home::{Home, ids_in};

/// Marks a session, durably. Does nothing if it is already marked.
///
/// # Errors
/// The marker may not be on disk.
pub fn mark(home: &Home, session: SessionId) -> Result<(), DiskError> {
    let dir = home.open_markers();
    let path = dir.join(session.to_string());
    private()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .at("create the marker", &path)?;
    sync_dir(&dir)
}

/// Removes a session's marker, if there is one.
///
/// # Errors
/// It still exists.
pub fn unmark(home: &Home, session: SessionId) -> Result<(), DiskError> {
    let path = home.open_markers().join(session.to_string());
    remove_file(&path).at("remove the marker", &path)
}

/// Whether a session is marked. Returns true if that cannot be determined.
#[must_use]
pub fn is_marked(home: &Home, session: SessionId) -> bool {
    let path = home.open_markers().join(session.to_string());
    path.try_exists().unwrap_or(true)
}

/// All marked sessions, oldest first.
///
/// # Errors
/// The directory cannot be read.
pub fn list(home: &Home) -> Result<Vec<SessionId>, DiskError> {
    let mut sessions = ids_in(&home.open_markers())?;
    sessions.sort();
    Ok(sessions)
}

#[cfg(test)]
mod tests;
