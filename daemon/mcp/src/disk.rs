//! Small private files that are replaced as a whole.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// Numbers temporary names within this process.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Replaces a file in a directory, which is made where there is none.
pub fn write_private(dir: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let temporary = dir.join(format!(".{name}.{}.{number}", std::process::id()));
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&temporary)?;
    let written = file
        .write_all(bytes)
        .and_then(|()| fs::rename(&temporary, dir.join(name)));
    if written.is_err() {
        // What is left of it is in nobody's way.
        let _ = fs::remove_file(&temporary);
    }
    written
}
