//! The git worktrees that were made for sessions: `<home>/worktrees/<session id>`, a JSON object each.
//!
//! An entry is on disk before its worktree exists and until it is gone, so a crash leaves no worktree that nobody knows
//! of. A worktree has the trust, the rules and the facts of the checkout that it was made from: its origin.

use std::path::{Path, PathBuf};

use proto::{RequestId, SessionId};
use serde::{Deserialize, Serialize};

use crate::disk::{DiskError, IoContext, remove_file, replace};
use crate::home::{Home, ids_in};

/// A git worktree that was made for a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    pub path: PathBuf,
    /// Its own branch.
    pub branch: String,
    /// The commit that it was made from.
    pub base: String,
    /// The root of the user's checkout that it was made from.
    pub origin: PathBuf,
    /// The root of the worktree that it was made from, if that was one of these itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<PathBuf>,
    /// The git directory that both share.
    pub common: PathBuf,
    /// Paths of the checkout with changes that were not committed: they are not in it.
    pub left_out: u64,
    /// `PATH` of git: directories that the session cannot write.
    pub search_path: String,
    /// The daemon that made it, by an id of its life.
    pub made_by: RequestId,
    /// Its session has ended, and it was kept because something in it had changed.
    pub kept: bool,
}

/// Writes the entry of a session, durably.
///
/// # Errors
/// It may not be on disk.
pub fn put(home: &Home, session: SessionId, worktree: &Worktree) -> Result<(), DiskError> {
    let path = home.worktrees().join(session.to_string());
    let bytes = serde_json::to_vec(worktree).map_err(std::io::Error::other);
    let bytes = bytes.at("write the worktree's entry", &path)?;
    replace(&path, &path.with_extension("new"), &bytes)
}

/// The worktree of a session. An entry that cannot be read counts as none.
#[must_use]
pub fn get(home: &Home, session: SessionId) -> Option<Worktree> {
    read(&home.worktrees().join(session.to_string()))
}

/// Removes the entry of a session, if there is one.
///
/// # Errors
/// It still exists.
pub fn remove(home: &Home, session: SessionId) -> Result<(), DiskError> {
    let path = home.worktrees().join(session.to_string());
    remove_file(&path).at("remove the worktree's entry", &path)
}

/// All entries, the oldest session first.
///
/// # Errors
/// The directory cannot be read.
pub fn list(home: &Home) -> Result<Vec<(SessionId, Worktree)>, DiskError> {
    let mut sessions = ids_in(&home.worktrees())?;
    sessions.sort();
    let found = sessions.into_iter();
    Ok(found
        .filter_map(|session| Some((session, get(home, session)?)))
        .collect())
}

/// The same path in the origin, for a path in one of the worktrees of this home. `None`: it is in none.
#[must_use]
pub fn in_origin(home: &Path, path: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(home.join("worktrees")).ok()?;
    entries.flatten().find_map(|entry| {
        let worktree = read(&entry.path())?;
        let below = path.strip_prefix(&worktree.path).ok()?;
        match below.as_os_str().is_empty() {
            true => Some(worktree.origin),
            false => Some(worktree.origin.join(below)),
        }
    })
}

/// The project that a workspace root counts for: of a session's git worktree that of the checkout it was made from. Goes by
/// the names alone, as usage counts longer than the worktree is there.
#[must_use]
pub fn project_of(root: &str) -> String {
    let root = Path::new(root);
    let origin = root.ancestors().find_map(|at| {
        let id = at.file_name()?.to_str()?;
        let is_id = id.len() == ID_LENGTH && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        let place = at.parent().filter(|_| is_id)?;
        let name = place
            .file_name()?
            .to_str()?
            .strip_suffix(WORKTREES_SUFFIX)?;
        let origin = place.parent()?.join(name);
        Some(origin.join(root.strip_prefix(at).ok()?))
    });
    let mut project = PathBuf::new();
    // Component by component: joining an empty path would add a slash.
    project.extend(origin.as_deref().unwrap_or(root));
    project.to_string_lossy().into_owned()
}

/// What follows the name of a checkout in that of the directory of its worktrees.
pub const WORKTREES_SUFFIX: &str = ".worktrees";

/// Letters of a worktree's name: the end of its session's id.
const ID_LENGTH: usize = 12;

fn read(path: &Path) -> Option<Worktree> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}

#[cfg(test)]
mod tests;
