//! Blobs: content that is too large for a record, in files named by their hash.
//!
//! A finished blob is never removed. A blob is on disk before a record names it. Sessions call
//! this.

use std::fmt;
use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::disk::{DiskError, IoContext, private, private_dir, replace, sync_dir};

/// Content longer than this goes into a blob instead of the record.
pub const INLINE_MAX: usize = 64 * 1024;

const TEMPORARY: &str = ".new-";

/// The SHA-256 of a blob's content; written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobId([u8; 32]);

/// The text is not a blob name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a blob name is 64 lower-case hexadecimal digits")]
pub struct InvalidBlobId;

impl BlobId {
    /// Hashes content into its blob name.
    #[must_use]
    pub fn from_content(bytes: &[u8]) -> Self {
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
    type Err = InvalidBlobId;

    fn from_str(text: &str) -> Result<Self, InvalidBlobId> {
        // Each blob has exactly one name, in lower case.
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(InvalidBlobId);
        }
        let mut id = [0; 32];
        hex::decode_to_slice(text, &mut id).map_err(|_| InvalidBlobId)?;
        Ok(Self(id))
    }
}

/// The blobs of one session.
#[derive(Clone, Debug)]
pub struct BlobStore {
    session_dir: PathBuf,
    dir: PathBuf,
}

impl BlobStore {
    /// The blobs beside the log in `session_dir`. Does not touch the disk.
    #[must_use]
    pub fn new(session_dir: &Path) -> Self {
        Self {
            session_dir: session_dir.to_owned(),
            dir: session_dir.join("blobs"),
        }
    }

    /// The path of a blob.
    #[must_use]
    pub fn path(&self, id: BlobId) -> PathBuf {
        self.dir.join(id.to_string())
    }

    /// Stores `bytes` durably. Equal content is stored once.
    ///
    /// # Errors
    /// The bytes may not be on disk.
    pub fn put(&self, bytes: &[u8]) -> Result<BlobId, DiskError> {
        private_dir(&self.dir)?;
        let id = BlobId::from_content(bytes);
        let path = self.path(id);
        let whole = |found: Metadata| found.is_file() && found.len() == bytes.len() as u64;
        if path.symlink_metadata().is_ok_and(whole) {
            // The content was synced before the rename, but the directory entry may not be.
            sync_dir(&self.dir)?;
        } else {
            let temporary = self.dir.join(format!("{TEMPORARY}{}", Uuid::new_v4()));
            replace(&path, &temporary, bytes)?;
        }
        sync_dir(&self.session_dir)?;
        Ok(id)
    }

    /// Stores a blob of another session here too, durably. Uses a hard link if the file system has
    /// them.
    ///
    /// # Errors
    /// The other session has no such blob, or it may not be on disk here.
    pub fn adopt(&self, from: &Self, id: BlobId) -> Result<(), DiskError> {
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

    /// The length of a blob in bytes.
    ///
    /// # Errors
    /// The blob is missing or cannot be read.
    pub fn len(&self, id: BlobId) -> Result<u64, DiskError> {
        let path = self.path(id);
        let found = path.symlink_metadata().at("look at the blob", &path)?;
        Ok(found.len())
    }

    /// Reads at most `len` bytes from `offset` on, fewer at the end of the blob.
    ///
    /// # Errors
    /// The blob is missing or cannot be read.
    pub fn read(&self, id: BlobId, offset: u64, len: usize) -> Result<Vec<u8>, DiskError> {
        let path = self.path(id);
        let file = private()
            .read(true)
            .open(&path)
            .at("open the blob", &path)?;
        read_range(&file, offset, len).at("read the blob", &path)
    }

    /// Removes the leftovers of interrupted `put` calls. Call it only while no `put` runs.
    ///
    /// # Errors
    /// The directory cannot be read, or a file cannot be removed.
    pub fn sweep(&self) -> Result<(), DiskError> {
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

/// Allocates no more than the file holds, however large `len` is.
fn read_range(file: &File, offset: u64, len: usize) -> io::Result<Vec<u8>> {
    let left = file.metadata()?.len().saturating_sub(offset);
    let mut bytes = vec![0; usize::try_from(left).unwrap_or(usize::MAX).min(len)];
    file.read_exact_at(&mut bytes, offset)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests;
