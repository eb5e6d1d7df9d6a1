//! The way back from a command: a private file that its shell writes to at its end.
//!
//! Read through the handle it was made with, whatever the command did to its name, and deleted. Blocks.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Bytes that are read of it; more is not the environment of a command that could be started.
const BYTES_MAX: u64 = 4 * 1024 * 1024;

#[derive(Debug)]
pub(super) struct ShellStateFile {
    path: PathBuf,
    file: File,
}

impl ShellStateFile {
    /// Makes the file, empty, for its owner alone.
    pub(super) fn make(dir: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let path = dir.join(format!("shell-{}", uuid::Uuid::new_v4().simple()));
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path)?;
        Ok(Self { path, file })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The contents of the file; empty if nothing was written.
    pub(super) fn read(mut self) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.file.rewind()?;
        (&self.file).take(BYTES_MAX).read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}

impl Drop for ShellStateFile {
    fn drop(&mut self) {
        // A leftover file does no harm; it is deleted with the session.
        let _ = std::fs::remove_file(&self.path);
    }
}
