//! The daemon's own directory for temporary files: a directory with a name that nobody can guess, open to its owner alone.
//!
//! Each session has one of its own in it, which its commands have as `/tmp`. Short, so that sockets fit into it. What a
//! killed daemon left is cleared away by the next one of the same home.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use store::home::Home;
use uuid::Uuid;

/// What its name begins with; nothing else is ever cleared away.
const PREFIX: &str = "rx-";
/// Characters of the rest: 48 bits by chance.
const CHANCE: usize = 12;

/// A directory that goes with the daemon.
pub struct Temporary {
    path: PathBuf,
    note: PathBuf,
}

impl Temporary {
    /// Clears away what an earlier daemon of this home left, and makes a new one.
    ///
    /// # Errors
    /// The system's directory for temporary files, or the home, does not take it.
    pub fn make(home: &Home) -> io::Result<Self> {
        let note = home.root().join("run").join("temporary");
        if let Ok(earlier) = fs::read_to_string(&note) {
            clear(Path::new(earlier.trim_end()));
        }
        let base = fs::canonicalize(std::env::temp_dir())?;
        let chance = Uuid::new_v4().simple().to_string();
        let path = base.join(format!("{PREFIX}{}", &chance[..CHANCE]));
        let text = path
            .to_str()
            .ok_or_else(|| io::Error::other("its path is not text"))?;
        // The note first: a directory that nobody knows of would stay for ever.
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(&note)?;
        // One that is half written names nothing of ours, and so nothing is cleared away by it.
        file.write_all(text.as_bytes())?;
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path, note })
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        clear(&self.path);
        // The next daemon would only find nothing there.
        let _ = fs::remove_file(&self.note);
    }
}

/// Removes one, if it is one of ours: a directory of that name, and no link, that belongs to this user.
fn clear(path: &Path) {
    let named = path
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| {
            name.strip_prefix(PREFIX).is_some_and(|rest| {
                rest.len() == CHANCE && rest.bytes().all(|byte| byte.is_ascii_hexdigit())
            })
        });
    let ours = path
        .symlink_metadata()
        .is_ok_and(|meta| meta.is_dir() && meta.uid() == rustix::process::getuid().as_raw());
    if named
        && ours
        && let Err(error) = fs::remove_dir_all(path)
    {
        tracing::warn!(%error, path = %path.display(), "temporary files stay");
    }
}

#[cfg(test)]
mod tests;
