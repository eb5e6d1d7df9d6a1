//! What is too large for a record: files beside the log, named by their content.
//!
//! Never removes one that is finished. A blob is on disk before a record names it. Called by sessions.

use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::disk::{At, Fault, private, private_dir, replace, sync_dir};

/// Content of more bytes than this stands in a blob instead of a record.
pub const INLINE_MAX: usize = 64 * 1024;

const TEMPORARY: &str = ".new-";

/// The SHA-256 of a blob's content; written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobId([u8; 32]);

/// Text that names no blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a blob is named by 64 lower-case hexadecimal digits")]
pub struct NotABlobId;

impl BlobId {
    /// The name of this content.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for BlobId {
    type Err = NotABlobId;

    fn from_str(text: &str) -> Result<Self, NotABlobId> {
        // A blob has one name: in small letters.
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(NotABlobId);
        }
        let mut id = [0; 32];
        hex::decode_to_slice(text, &mut id).map_err(|_| NotABlobId)?;
        Ok(Self(id))
    }
}

/// The blobs of one session.
#[derive(Clone, Debug)]
pub struct Blobs {
    session_dir: PathBuf,
    dir: PathBuf,
}

impl Blobs {
    /// Those beside the log in `session_dir`. Touches nothing yet.
    #[must_use]
    pub fn new(session_dir: &Path) -> Self {
        Self {
            session_dir: session_dir.to_owned(),
            dir: session_dir.join("blobs"),
        }
    }

    /// Where a blob stands.
    #[must_use]
    pub fn path(&self, id: BlobId) -> PathBuf {
        self.dir.join(id.to_string())
    }

    /// Keeps `bytes`, durably. The same content is kept once.
    ///
    /// # Errors
    /// They may not be on disk.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId, Fault> {
        private_dir(&self.dir)?;
        let id = BlobId::of(bytes);
        let path = self.path(id);
        let whole = |found: Metadata| found.is_file() && found.len() == bytes.len() as u64;
        if path.symlink_metadata().is_ok_and(whole) {
            // Its content was synced before it got its name; the name itself perhaps was not.
            sync_dir(&self.dir)?;
        } else {
            let temporary = self.dir.join(format!("{TEMPORARY}{}", Uuid::new_v4()));
            replace(&path, &temporary, bytes)?;
        }
        sync_dir(&self.session_dir)?;
        Ok(id)
    }

    /// Keeps a blob of another session too, durably: the same file where the disk can do that.
    ///
    /// # Errors
    /// The other has no such blob, or it may not be on disk here.
    pub fn adopt(&self, from: &Self, id: BlobId) -> Result<(), Fault> {
        private_dir(&self.dir)?;
        let (source, path) = (from.path(id), self.path(id));
        match std::fs::hard_link(&source, &path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(_) => {
                let bytes = std::fs::read(&source).at("read the blob", &source)?;
                self.put(&bytes)?;
            }
            Ok(()) => {}
        }
        sync_dir(&self.dir)?;
        sync_dir(&self.session_dir)
    }

    /// How many bytes a blob has.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn len(&self, id: BlobId) -> Result<u64, Fault> {
        let path = self.path(id);
        let found = path.symlink_metadata().at("look at the blob", &path)?;
        Ok(found.len())
    }

    /// At most `len` bytes from `offset` on; fewer at the blob's end.
    ///
    /// # Errors
    /// There is none, or it cannot be read.
    pub fn read(&self, id: BlobId, offset: u64, len: usize) -> Result<Vec<u8>, Fault> {
        let path = self.path(id);
        let file = private()
            .read(true)
            .open(&path)
            .at("open the blob", &path)?;
        read_range(&file, offset, len).at("read the blob", &path)
    }

    /// Removes what an interrupted `put` left. Only while nothing is put.
    ///
    /// # Errors
    /// The directory cannot be read, or a file not removed.
    pub fn sweep(&self) -> Result<(), Fault> {
        let entries = match std::fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries.at("read the directory", &self.dir)?,
        };
        for entry in entries {
            let entry = entry.at("read the directory", &self.dir)?;
            if entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(TEMPORARY.as_bytes())
            {
                let path = entry.path();
                std::fs::remove_file(&path).at("remove", &path)?;
            }
        }
        Ok(())
    }
}

/// Bounded by what is there, so that a caller's wish for much does not take memory.
fn read_range(file: &File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let left = file.metadata()?.len().saturating_sub(offset);
    let mut bytes = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(len)];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
