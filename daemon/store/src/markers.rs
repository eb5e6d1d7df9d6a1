//! Which sessions have an unfinished turn or a queue: an empty file each, in `<home>/open/`.
//!
//! Start-up looks at these sessions alone. A marker too many costs a look; one too few would lose a
//! turn, so making one is durable and removing one need not be. Called by sessions and start-up.

use std::fs::remove_file;
use std::io;

use proto::SessionId;

use crate::disk::{At, Fault, private, sync_dir};
use crate::home::{Home, ids_in};

/// Marks a session, durably. Marking it again does nothing.
///
/// # Errors
/// The marker may not be on disk.
pub fn mark(home: &Home, session: SessionId) -> Result<(), Fault> {
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
/// It is still there.
pub fn unmark(home: &Home, session: SessionId) -> Result<(), Fault> {
    let path = home.open_markers().join(session.to_string());
    match remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).at("remove the marker", &path)
        }
        _ => Ok(()),
    }
}

/// Whether a session is marked. What cannot be looked at is taken for marked.
#[must_use]
pub fn is_marked(home: &Home, session: SessionId) -> bool {
    let path = home.open_markers().join(session.to_string());
    path.try_exists().unwrap_or(true)
}

/// Every session that is marked, oldest first.
///
/// # Errors
/// The directory cannot be read.
pub fn list(home: &Home) -> Result<Vec<SessionId>, Fault> {
    let mut sessions = ids_in(&home.open_markers())?;
    sessions.sort();
    Ok(sessions)
}

#[cfg(test)]
mod tests;
