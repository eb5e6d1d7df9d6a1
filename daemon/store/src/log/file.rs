//! A log file: locked for one writer, repaired when opened, appended to and synced in batches.
//!
//! A failed write or sync is final: the file accepts no more records. A session's writer thread
//! appends. Any thread may read.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IoSlice, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use proto::{Seq, Stamp};
use rustix::fs::{Advice, fadvise};

use super::LOG_NAME;
use super::index::{ByteLocation, LogIndex};
use super::renew::DiskFailure;
use super::scan::{LogScan, scan};
use crate::disk::{DiskError, IoContext, private, private_dir, reason, sync_dir, try_lock, unlock};
use crate::format::{LINE_MAX, RawRecord};

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

/// Why a log could not be opened or created.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("there is no log `{}`", .path.display())]
    Missing { path: PathBuf },
    #[error("there is a log `{}` already", .path.display())]
    Exists { path: PathBuf },
    #[error("the log `{}` has another writer", .path.display())]
    Held { path: PathBuf },
    #[error(transparent)]
    Disk(#[from] DiskError),
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
            Self::Write { .. } | Self::TooLong { .. } => Some(DiskFailure::Write),
            // Bytes of another program are kept beside the copy.
            Self::Sync { .. } | Self::Changed { .. } => Some(DiskFailure::Sync),
            Self::Deleted { .. } | Self::ReadOnly { .. } => None,
        }
    }
}

/// A torn tail that was moved to its own file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TornTailRepair {
    /// The file that holds it now.
    pub torn: PathBuf,
    pub bytes: u64,
    /// The newest remaining record.
    pub last: Seq,
    /// Why its first line is invalid.
    pub why: String,
}

/// An opened log.
#[derive(Debug)]
pub struct OpenedLog {
    pub file: LogFile,
    /// All valid records, all durable. Empty if not even the first record was finished. No client
    /// knows such a session.
    pub index: LogIndex,
    pub repair: Option<TornTailRepair>,
    /// Why the log is read-only, if it is.
    pub read_only: Option<String>,
    /// The failure, if the log is intact and only the disk refuses writes. `renew` may fix it
    /// later.
    pub disk_failure: Option<DiskFailure>,
}

/// State that only appending needs.
#[derive(Debug)]
struct Writer {
    /// The length of the file after the last whole batch.
    end: u64,
    /// The names of the log and the session directory are on disk.
    named: bool,
    /// The first failure. Never cleared.
    failed: Option<Arc<str>>,
}

/// An open log. Reads need no lock and continue while a batch is written.
pub struct LogFile {
    file: File,
    dir: PathBuf,
    path: PathBuf,
    syncer: Arc<dyn Syncer>,
    writer: Mutex<Writer>,
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
    /// Creates an empty log in `dir`, and `dir` itself if it is missing. The parent of `dir` must
    /// exist. Nothing is durable before the first append.
    ///
    /// # Errors
    /// The log already exists, or the disk refuses.
    pub fn create(dir: &Path) -> Result<Self, OpenError> {
        private_dir(dir)?;
        let path = dir.join(LOG_NAME);
        let file = match private()
            .read(true)
            .append(true)
            .create_new(true)
            .open(&path)
        {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(OpenError::Exists { path });
            }
            opened => opened.at("create the log", &path)?,
        };
        lock(&file, &path)?;
        Ok(Self::new(file, dir, Arc::new(KernelSyncer)))
    }

    /// Opens the log in `dir`, reads all of it, and moves a torn tail to its own file. Calls
    /// `visit` for every valid record before the first invalid line.
    ///
    /// # Errors
    /// The log is missing, has another writer, or cannot be read. If it can be read but not
    /// written, this succeeds and `read_only` says why.
    pub fn open(dir: &Path, visit: &mut dyn FnMut(&RawRecord<'_>)) -> Result<OpenedLog, OpenError> {
        Self::open_with(dir, Arc::new(KernelSyncer), visit)
    }

    /// Like `open`, with other disk operations from the start.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_with(
        dir: &Path,
        syncer: Arc<dyn Syncer>,
        visit: &mut dyn FnMut(&RawRecord<'_>),
    ) -> Result<OpenedLog, OpenError> {
        let (file, unwritable) = open_file(&dir.join(LOG_NAME))?;
        let mut log = Self::new(file, dir, syncer);
        lock(&log.file, &log.path)?;
        drop_tail_cache(&log.file).at("look at the log", &log.path)?;
        let mut index = LogIndex::new();
        let seen = scan(&log.file, &mut |record| {
            index.push_durable(record);
            visit(record);
        })
        .at("read the log", &log.path)?;
        index.shrink();

        let (repair, read_only, disk_failure) = if seen.damaged() {
            (None, Some(damage(&seen)), None)
        } else if let Some(why) = unwritable {
            (None, Some(why), Some(DiskFailure::Opening))
        } else {
            match log.repair_tail(&seen) {
                Ok(repair) => (repair, None, None),
                Err(error) => (None, Some(reason(&error)), Some(DiskFailure::Sync)),
            }
        };
        if let Ok(writer) = log.writer.get_mut() {
            // A missing newline has been added.
            writer.end = seen.end + u64::from(seen.unended && read_only.is_none());
            writer.named = read_only.is_none();
            writer.failed = read_only.as_deref().map(Arc::from);
        }
        Ok(OpenedLog {
            file: log,
            index,
            repair,
            read_only,
            disk_failure,
        })
    }

    fn new(file: File, dir: &Path, syncer: Arc<dyn Syncer>) -> Self {
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

    /// Cuts off a torn tail and syncs everything that was read. A batch whose writer died before
    /// its sync may be only in the page cache.
    fn repair_tail(&self, seen: &LogScan) -> Result<Option<TornTailRepair>, DiskError> {
        let repair = match &seen.invalid {
            Some(why) => {
                let torn = self.save_torn_tail(seen)?;
                self.file.set_len(seen.end).at("cut the log", &self.path)?;
                Some(TornTailRepair {
                    torn,
                    bytes: seen.len - seen.end,
                    last: seen.last,
                    why: why.clone(),
                })
            }
            None => None,
        };
        if seen.unended {
            let mut file = &self.file;
            file.write_all(b"\n").at("write", &self.path)?;
        }
        self.syncer.sync(&self.file).at("sync", &self.path)?;
        self.sync_names().at("sync the directory", &self.dir)?;
        Ok(repair)
    }

    /// Copies everything after the last valid line to its own file, durably.
    fn save_torn_tail(&self, seen: &LogScan) -> Result<PathBuf, DiskError> {
        let (torn, opened) = with_new_name(&self.dir, "torn", |name| {
            private().write(true).create_new(true).open(name)
        });
        let mut copy = opened.at("create", &torn)?;
        let mut source = &self.file;
        let copied = source
            .seek(io::SeekFrom::Start(seen.end))
            .and_then(|_| io::copy(&mut source, &mut copy))
            .and_then(|_| copy.sync_all())
            .at("write", &torn);
        if copied.is_err() {
            // The log still has all of it. Half a copy would only confuse.
            std::fs::remove_file(&torn).ok();
        }
        copied?;
        sync_dir(&self.dir)?;
        Ok(torn)
    }

    /// Makes the names of the log and of its directory durable.
    fn sync_names(&self) -> io::Result<()> {
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
        self.read_into(offset, &mut bytes)?;
        Ok(bytes)
    }

    /// Fills `into` with bytes that are on disk.
    ///
    /// # Errors
    /// The file cannot be read, or is shorter.
    pub fn read_into(&self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_exact_at(into, offset)
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

/// Larger than any batch without a huge record: 4 MiB. Everything before it was synced with earlier
/// batches.
const TAIL: u64 = 4 * 1024 * 1024;
/// The largest common memory page: 64 KiB.
const PAGE: u64 = 64 * 1024;

/// The reason after a panic during an append.
const CUT_SHORT: &str = "an earlier append did not finish";

fn lock(file: &File, path: &Path) -> Result<(), OpenError> {
    if try_lock(file).at("lock the log", path)? {
        Ok(())
    } else {
        Err(OpenError::Held {
            path: path.to_owned(),
        })
    }
}

/// Makes a file beside the log with the current time in its name. Tries other names while one is
/// taken. Returns the last one, and what came of it.
pub(super) fn with_new_name<T>(
    dir: &Path,
    what: &str,
    make: impl Fn(&Path) -> io::Result<T>,
) -> (PathBuf, io::Result<T>) {
    let time = Stamp::now().to_string().replace(['-', ':'], "");
    let first = format!("{LOG_NAME}.{what}-{time}");
    let mut name = dir.join(&first);
    for number in 2..=100 {
        match make(&name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return (name, made),
        }
        name = dir.join(format!("{first}-{number}"));
    }
    let made = make(&name);
    (name, made)
}

/// Opens for writing. If that is refused, opens for reading and returns the reason.
fn open_file(path: &Path) -> Result<(File, Option<String>), OpenError> {
    let refused = match private().read(true).append(true).open(path) {
        Ok(file) => return Ok((file, None)),
        Err(error) => error,
    };
    match refused.kind() {
        io::ErrorKind::NotFound => Err(OpenError::Missing {
            path: path.to_owned(),
        }),
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            let file = private().read(true).open(path).at("open the log", path)?;
            Ok((file, Some(format!("the log cannot be written: {refused}"))))
        }
        _ => Err(DiskError {
            doing: "open the log",
            path: path.to_owned(),
            source: refused,
        }
        .into()),
    }
}

/// Drops the kernel's page cache of the end of a log, except pages still to be written.
///
/// A writer whose sync failed may have left pages there that are marked clean but are not on disk.
/// The next sync would not report them.
fn drop_tail_cache(file: &File) -> io::Result<()> {
    let start = file.metadata()?.len().saturating_sub(TAIL);
    // This is only advice, for whole pages. If the kernel ignores it, nothing changes.
    fadvise(file, start - start % PAGE, None, Advice::DontNeed).ok();
    Ok(())
}

fn damage(seen: &LogScan) -> String {
    let why = seen.invalid.as_deref().unwrap_or_default();
    format!(
        "the log is damaged after record {} (byte {}): {why}; records up to {} had been saved",
        seen.last, seen.end, seen.watermark
    )
}
