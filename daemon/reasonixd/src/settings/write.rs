//! Puts a file of the home in place of another: private, whole or not at all. Called by `edit` and for the
//! home's own files.

use std::fs::{self, File, OpenOptions};
use std::io::{Error, Result, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use rustix::fs::OFlags;
use uuid::Uuid;

/// Writes the whole text, 0600. If the path is a link, its target is replaced, and the link stays.
///
/// # Errors
/// The disk refuses; the old content is still there.
pub fn replace(path: &Path, text: &str) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let temporary = format!(".{name}.{}.tmp", Uuid::now_v7().simple());
    put(&target, text, &temporary)
}

/// Like [`replace`], for a file that only the daemon of this home writes, one at a time. The temporary file always has
/// the same name, so that what a killed daemon left of it is overwritten by the next.
///
/// # Errors
/// The disk refuses; the old content is still there.
pub fn replace_own(path: &Path, text: &str) -> Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    put(&target, text, &format!("{name}.tmp"))
}

fn put(target: &Path, text: &str, temporary: &str) -> Result<()> {
    let directory = target.parent().unwrap_or(Path::new("/"));
    let temporary = directory.join(temporary);
    let written = fill(&temporary, text).and_then(|()| fs::rename(&temporary, target));
    if written.is_err() {
        // It may not exist; the error that counts is the first one.
        let _ = fs::remove_file(&temporary);
    }
    written?;
    File::open(directory)?.sync_all()
}

fn fill(temporary: &Path, text: &str) -> Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .custom_flags(i32::try_from(OFlags::NOFOLLOW.bits()).map_err(Error::other)?)
        .open(temporary)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
