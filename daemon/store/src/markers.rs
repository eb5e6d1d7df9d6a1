//! Markers of sessions: an empty file each. In `<home>/open/` those with an unfinished turn or a queue, in
//! `<home>/ephemeral/` those that are deleted when they have exited.
//!
//! Start-up loads only sessions that are marked as open. A superfluous marker costs one check, and a missing one
//! would lose a turn, or keep what was to be deleted. So creating a marker is durable, and removing it need not be.
//! Called by sessions and at start-up.

use std::path::Path;

use proto::SessionId;

use crate::disk::{DiskError, IoContext, private, remove_file, sync_dir};
use crate::home::{Home, ids_in};

/// Marks a session, durably. Does nothing if it is already marked.
///
/// # Errors
/// The marker may not be on disk.
pub fn mark(home: &Home, session: SessionId) -> Result<(), DiskError> {
    create(&home.open_markers(), session)
}

/// Removes a session's marker, if there is one.
///
/// # Errors
/// It still exists.
pub fn unmark(home: &Home, session: SessionId) -> Result<(), DiskError> {
    remove(&home.open_markers(), session)
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
    sorted(&home.open_markers())
}

/// Marks a session as ephemeral, durably. Before there is anything else of it.
///
/// # Errors
/// The marker may not be on disk.
pub fn mark_ephemeral(home: &Home, session: SessionId) -> Result<(), DiskError> {
    create(&home.ephemeral_markers(), session)
}

/// Removes that marker, if there is one. After everything else of the session.
///
/// # Errors
/// It still exists.
pub fn unmark_ephemeral(home: &Home, session: SessionId) -> Result<(), DiskError> {
    remove(&home.ephemeral_markers(), session)
}

/// Whether a session has that marker.
#[must_use]
pub fn is_ephemeral(home: &Home, session: SessionId) -> bool {
    home.ephemeral_markers().join(session.to_string()).exists()
}

/// All ephemeral sessions, oldest first.
///
/// # Errors
/// The directory cannot be read.
pub fn list_ephemeral(home: &Home) -> Result<Vec<SessionId>, DiskError> {
    sorted(&home.ephemeral_markers())
}

fn create(dir: &Path, session: SessionId) -> Result<(), DiskError> {
    let path = dir.join(session.to_string());
    private()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .at("create the marker", &path)?;
    sync_dir(dir)
}

fn remove(dir: &Path, session: SessionId) -> Result<(), DiskError> {
    let path = dir.join(session.to_string());
    remove_file(&path).at("remove the marker", &path)
}

fn sorted(dir: &Path) -> Result<Vec<SessionId>, DiskError> {
    let mut sessions = ids_in(dir)?;
    sessions.sort();
    Ok(sessions)
}

#[cfg(test)]
mod tests;
