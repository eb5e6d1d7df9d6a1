//! Sessions that come whole or not at all, and go whole: their directory stands under another name while it is filled
//! or emptied, and a rename is the moment that counts.
//!
//! Such names begin with a dot: nothing that lists sessions sees them. What a crash left of them is swept at start.

use std::fs::{read_dir, remove_dir_all, rename, symlink_metadata};
use std::io;
use std::path::{Path, PathBuf};

use proto::SessionId;
use uuid::Uuid;

use crate::disk::{At, Fault, sync_dir};
use crate::home::Home;

const GONE: &str = ".gone-";
const NEW: &str = ".new-";

/// Where a session is filled that nobody knows yet.
#[must_use]
pub fn unborn_dir(home: &Home, session: SessionId) -> PathBuf {
    home.sessions().join(format!("{NEW}{session}"))
}

/// Gives a session that was filled its name, durably. What it holds has to be on disk already.
///
/// # Errors
/// There is such a session, or the disk does not want it.
pub fn publish(home: &Home, session: SessionId) -> Result<(), Fault> {
    let (from, to) = (unborn_dir(home, session), home.session_dir(session));
    rename(&from, &to).at("name", &from)?;
    sync_dir(&home.sessions())
}

/// Takes the name from a session, durably: from now on there is none. `None`: there was none before. The directory
/// that is answered still holds everything, for `clear`.
///
/// # Errors
/// It still has its name, or that is not known.
pub fn set_aside(home: &Home, session: SessionId) -> Result<Option<PathBuf>, Fault> {
    let from = home.session_dir(session);
    let to = home.sessions().join(format!("{GONE}{session}"));
    // One of the same id that was not swept yet would be in the way.
    clear(&to)?;
    match rename(&from, &to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        renamed => renamed.at("set aside", &from)?,
    }
    sync_dir(&home.sessions())?;
    Ok(Some(to))
}

/// Removes such a directory with all it holds, if it is there.
///
/// # Errors
/// Something of it is still there.
pub fn clear(dir: &Path) -> Result<(), Fault> {
    match remove_dir_all(dir) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", dir),
        _ => Ok(()),
    }
}

/// What crashes have left of sessions that came or went, each under a name that nobody will want: `clear` may take its
/// time. Only while no session comes or goes.
///
/// # Errors
/// The directory cannot be read, or something not renamed.
pub fn sweep(home: &Home) -> Result<Vec<PathBuf>, Fault> {
    let aside = |from: PathBuf| {
        let to = home.sessions().join(format!("{GONE}{}", Uuid::new_v4()));
        rename(&from, &to).at("set aside", &from).map(|()| to)
    };
    leftovers(home)?.into_iter().map(aside).collect()
}

fn leftovers(home: &Home) -> Result<Vec<PathBuf>, Fault> {
    let dir = home.sessions();
    let entries = read_dir(&dir).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.at("read the directory", &dir)?;
    let ours = |name: &str| name.starts_with(GONE) || name.starts_with(NEW);
    let left = entries
        .into_iter()
        .filter(|entry| entry.file_name().to_str().is_some_and(ours));
    Ok(left.map(|entry| entry.path()).collect())
}

/// Bytes of all files in a directory and below it. What cannot be looked at counts as nothing; a file with several names
/// counts for each.
#[must_use]
pub fn bytes(dir: &Path) -> u64 {
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
