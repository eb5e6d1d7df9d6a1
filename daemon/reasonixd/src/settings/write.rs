//! Puts a file of the home in place of another: private, whole or not at all. Called by `edit` and the credentials.

use std::fs::{self, File, OpenOptions};
use std::io::{Result, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use uuid::Uuid;

/// Writes the whole text, 0600. Where the path is a link, what it leads to is replaced, and the link stays.
///
/// # Errors
/// The disk refuses; what was there before is still there.
pub fn replace(path: &Path, text: &str) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let directory = target.parent().unwrap_or(Path::new("/"));
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = directory.join(format!(".{name}.{}.tmp", Uuid::now_v7().simple()));
    let written = fill(&temporary, text).and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        // It may not exist; the error that counts is the first one.
        let _ = fs::remove_file(&temporary);
    }
    written?;
    File::open(directory)?.sync_all()
}

fn fill(temporary: &PathBuf, text: &str) -> Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
