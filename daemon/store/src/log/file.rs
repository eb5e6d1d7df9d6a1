//! A log file, created or opened by `open`: locked for one writer, appended to and synced in batches.
//!
//! A failed write or sync is final: the file accepts no more records. A session's writer thread
//! appends. Any thread may read.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use rustix::io::{Errno, preadv};

use super::LOG_NAME;
use super::batch_read::ReadFrom;
use super::index::ByteLocation;
use super::renew::DiskFailure;
use crate::blob::BlobStore;
use crate::disk::{is_full, reason, unlock};
use crate::format::LINE_MAX;

/// Disk operations of an append. Tests replace them to delay, count or fail them.
pub trait Syncer: Send + Sync {
    /// Writes some of the bytes at the end of the file and returns how many.
    ///
    /// # Errors
    /// The operating system's error.
    fn write(&self, mut file: &File, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        file.write_vectored(parts)
    }

    /// Returns when everything written to the file is on disk.
    ///
    /// # Errors
    /// The operating system's error.
    fn sync(&self, file: &File) -> io::Result<()>;

    /// Returns when the entries of a directory are on disk.
    ///
    /// # Errors
    /// The operating system's error.
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }
}

/// The real operations, with `fdatasync`.
#[derive(Clone, Copy, Debug, Default)]
pub struct KernelSyncer;

impl Syncer for KernelSyncer {
    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }
}

/// Why records did not reach the disk. After any of these the file accepts no more records.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    #[error("cannot write {records} records to `{}`", .path.display())]
    Write {
        path: PathBuf,
        records: usize,
        source: io::Error,
    },
    #[error("cannot sync `{}`", .path.display())]
    Sync { path: PathBuf, source: io::Error },
    #[error("another program changed `{}`: it has {found} bytes instead of {expected}", .path.display())]
    Changed {
        path: PathBuf,
        expected: u64,
        found: u64,
    },
    #[error("`{}` was deleted", .path.display())]
    Deleted { path: PathBuf },
    #[error("a record of {len} bytes is too long for `{}`", .path.display())]
    TooLong { path: PathBuf, len: usize },
    /// An earlier append failed, or the log was opened read-only.
    #[error("`{}` accepts no more records: {reason}", .path.display())]
    ReadOnly {
        path: PathBuf,
        /// The first failure, with its cause.
        reason: Arc<str>,
    },
}

impl AppendError {
    /// The kind of failure that `renew` has to repair. `None` if nothing can be repaired from here.
    #[must_use]
    pub fn disk_failure(&self) -> Option<DiskFailure> {
        match self {
            // An oversized record was not written, so the file is unchanged.
            Self::Write { .. } if is_full(self) => Some(DiskFailure::Full),
            Self::Write { .. } | Self::TooLong { .. } => Some(DiskFailure::Write),
            // Bytes of another program are kept beside the copy.
            Self::Sync { .. } | Self::Changed { .. } => Some(DiskFailure::Sync),
            Self::Deleted { .. } | Self::ReadOnly { .. } => None,
        }
    }
}

/// State that only appending needs.
#[derive(Debug)]
pub(super) struct Writer {
    /// The length of the file after the last whole batch.
    pub(super) end: u64,
    /// The names of the log and the session directory are on disk.
    pub(super) named: bool,
    /// The first failure. Never cleared.
    pub(super) failed: Option<Arc<str>>,
}

/// An open log. Reads need no lock and continue while a batch is written.
pub struct LogFile {
    pub(super) file: File,
    pub(super) dir: PathBuf,
    pub(super) path: PathBuf,
    pub(super) syncer: Arc<dyn Syncer>,
    pub(super) writer: Mutex<Writer>,
}

impl std::fmt::Debug for LogFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogFile")
            .field("path", &self.path)
            .field("writer", &self.writer)
            .finish_non_exhaustive()
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        unlock(&self.file);
    }
}

impl LogFile {
    pub(super) fn new(file: File, dir: &Path, syncer: Arc<dyn Syncer>) -> Self {
        Self {
            file,
            path: dir.join(LOG_NAME),
            dir: dir.to_owned(),
            syncer,
            writer: Mutex::new(Writer {
                end: 0,
                named: false,
                failed: None,
            }),
        }
    }

    /// The same log with other disk operations.
    #[must_use]
    pub fn with_syncer(mut self, syncer: Arc<dyn Syncer>) -> Self {
        self.syncer = syncer;
        self
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The blobs beside it.
    #[must_use]
    pub fn blobs(&self) -> BlobStore {
        BlobStore::new(&self.dir)
    }

    /// Why the log accepts no more records, if it does not.
    #[must_use]
    pub fn failed(&self) -> Option<Arc<str>> {
        match self.writer.lock() {
            Ok(writer) => writer.failed.clone(),
            Err(_) => Some(CUT_SHORT.into()),
        }
    }

    /// Releases the lock and accepts no more records. Readers may continue, and the next writer
    /// need not wait for them.
    pub fn release(&self) {
        if let Ok(mut writer) = self.writer.lock() {
            writer
                .failed
                .get_or_insert_with(|| "its writer has ended".into());
        }
        unlock(&self.file);
    }

    /// Makes the names of the log and of its directory durable.
    pub(super) fn sync_names(&self) -> io::Result<()> {
        self.syncer.sync_dir(&self.dir)?;
        match self.dir.parent() {
            Some(parent) => self.syncer.sync_dir(parent),
            None => Ok(()),
        }
    }

    /// Appends whole lines and returns when they are on disk. Does nothing for an empty batch.
    ///
    /// # Errors
    /// The lines may not be on disk. From then on every append fails with the first failure.
    pub fn append(&self, batch: &[Arc<[u8]>]) -> Result<(), AppendError> {
        let read_only = |reason: Arc<str>| AppendError::ReadOnly {
            path: self.path.clone(),
            reason,
        };
        let Ok(mut writer) = self.writer.lock() else {
            return Err(read_only(CUT_SHORT.into()));
        };
        if let Some(reason) = &writer.failed {
            return Err(read_only(Arc::clone(reason)));
        }
        if batch.is_empty() {
            return Ok(());
        }
        let appended = self.append_to(&mut writer, batch);
        if let Err(error) = &appended {
            writer.failed = Some(reason(error).into());
        }
        appended
    }

    fn append_to(&self, writer: &mut Writer, batch: &[Arc<[u8]>]) -> Result<(), AppendError> {
        let write = |source| AppendError::Write {
            path: self.path.clone(),
            records: batch.len(),
            source,
        };
        let sync = |source| AppendError::Sync {
            path: self.path.clone(),
            source,
        };
        if let Some(long) = batch.iter().find(|line| line.len() > LINE_MAX) {
            return Err(AppendError::TooLong {
                path: self.path.clone(),
                len: long.len(),
            });
        }
        // The index has the offsets of all records. Bytes that another program inserted would shift
        // them, and records in a deleted file are lost.
        let found = self.file.metadata().map_err(write)?;
        if found.nlink() == 0 {
            return Err(AppendError::Deleted {
                path: self.path.clone(),
            });
        }
        if found.len() != writer.end {
            return Err(AppendError::Changed {
                path: self.path.clone(),
                expected: writer.end,
                found: found.len(),
            });
        }
        let written = self.write_all(batch).map_err(write)?;
        self.syncer.sync(&self.file).map_err(sync)?;
        if !writer.named {
            self.sync_names().map_err(sync)?;
            writer.named = true;
        }
        writer.end += written;
        Ok(())
    }

    /// Uses one write, unless the kernel accepts less at once.
    fn write_all(&self, batch: &[Arc<[u8]>]) -> io::Result<u64> {
        let mut parts: Vec<IoSlice<'_>> = batch.iter().map(|line| IoSlice::new(line)).collect();
        let mut rest = &mut parts[..];
        let mut total = 0;
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            match self.syncer.write(&self.file, rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(written) => {
                    total += written as u64;
                    IoSlice::advance_slices(&mut rest, written);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(total)
    }

    /// Reads bytes that are on disk.
    ///
    /// # Errors
    /// The file cannot be read, or is shorter.
    pub fn read_at(&self, offset: u64, len: usize) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, offset)?;
        Ok(bytes)
    }

    /// Fills these parts with bytes that are on disk, one after the other; `from` memory: only from what the page cache
    /// holds, without waiting for the disk.
    ///
    /// # Errors
    /// The file cannot be read, or is shorter; `from` memory: not all of it is there, or the file system does not say so.
    pub(super) fn read_vectored_at(
        &self,
        from: ReadFrom,
        mut at: u64,
        mut parts: &mut [IoSliceMut<'_>],
    ) -> io::Result<()> {
        IoSliceMut::advance_slices(&mut parts, 0);
        while !parts.is_empty() {
            let read = match from {
                ReadFrom::Disk => preadv(&self.file, parts, at),
                ReadFrom::Memory => read_cached(&self.file, parts, at),
            };
            match read {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Ok(read) => {
                    at += read as u64;
                    IoSliceMut::advance_slices(&mut parts, read);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Reads the bytes that the index points to, from memory or from disk.
    ///
    /// # Errors
    /// The file cannot be read, or is shorter.
    pub fn fetch<'a>(&self, at: &'a ByteLocation) -> io::Result<Cow<'a, [u8]>> {
        match at {
            ByteLocation::Memory { line, range } => Ok(Cow::Borrowed(&line[range.clone()])),
            ByteLocation::Disk { offset, len } => self.read_at(*offset, *len).map(Cow::Owned),
        }
    }
}

/// The reason after a panic during an append.
const CUT_SHORT: &str = "an earlier append did not finish";

/// Reads from what the page cache holds.
#[cfg(target_os = "linux")]
fn read_cached(file: &File, parts: &mut [IoSliceMut<'_>], at: u64) -> Result<usize, Errno> {
    rustix::io::preadv2(file, parts, at, rustix::io::ReadWriteFlags::NOWAIT)
}

/// No other system says whether it would wait.
#[cfg(not(target_os = "linux"))]
fn read_cached(_: &File, _: &mut [IoSliceMut<'_>], _: u64) -> Result<usize, Errno> {
    Err(Errno::NOTSUP)
}
