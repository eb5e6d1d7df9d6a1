//! The file of a log: locked for one writer, mended when it is opened, appended to and synced in batches.
//!
//! A write or sync that failed is final: nothing is appended to that file after it. Called by a
//! session's writer thread (append) and by everybody who needs bytes of it (reads).

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, IoSlice, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use proto::{Seq, Stamp};
use rustix::fs::{Advice, fadvise};

use super::LOG_NAME;
use super::index::{Index, Where};
use super::renew::Trouble;
use super::scan::{Scan, scan};
use crate::disk::{At, Fault, private, private_dir, reason, sync_dir, try_lock, unlock};
use crate::format::{LINE_MAX, RawRecord};

/// What appending asks of the disk. A seam: tests slow it, count it and let it fail.
pub trait Syncer: Send + Sync {
    /// Writes some of the bytes at the file's end, and says how many.
    ///
    /// # Errors
    /// What the operating system says.
    fn write(&self, mut file: &File, parts: &[IoSlice<'_>]) -> io::Result<usize> {
        file.write_vectored(parts)
    }

    /// Returns when everything written to the file is on disk.
    ///
    /// # Errors
    /// What the operating system says.
    fn sync(&self, file: &File) -> io::Result<()>;

    /// Returns when the entries of a directory are on disk.
    ///
    /// # Errors
    /// What the operating system says.
    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }
}

/// The real one: `fdatasync`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Kernel;

impl Syncer for Kernel {
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
    Fault(#[from] Fault),
}

/// Why records did not reach the disk. Whichever it is, the file takes no more.
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
    #[error("`{}` was changed by something else: it has {found} bytes instead of {expected}", .path.display())]
    Changed {
        path: PathBuf,
        expected: u64,
        found: u64,
    },
    #[error("`{}` was deleted", .path.display())]
    Deleted { path: PathBuf },
    #[error("a record of {len} bytes is too long for `{}`", .path.display())]
    TooLong { path: PathBuf, len: usize },
    /// An earlier append failed, or the log was opened for reading only.
    #[error("`{}` takes no more records: {reason}", .path.display())]
    ReadOnly {
        path: PathBuf,
        /// The first failure, with its cause.
        reason: Arc<str>,
    },
}

impl AppendError {
    /// What has to be mended before the log can be written again. `None`: nothing can mend it from here.
    #[must_use]
    pub fn trouble(&self) -> Option<Trouble> {
        match self {
            // What is too long was not written; the file is as it was.
            Self::Write { .. } | Self::TooLong { .. } => Some(Trouble::Write),
            // What somebody else wrote is kept beside the copy.
            Self::Sync { .. } | Self::Changed { .. } => Some(Trouble::Sync),
            Self::Deleted { .. } | Self::ReadOnly { .. } => None,
        }
    }
}

/// A torn tail that was set aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// The file that has it now.
    pub torn: PathBuf,
    pub bytes: u64,
    /// The newest record that is left.
    pub last: Seq,
    /// Why the first line of it did not count.
    pub why: String,
}

/// A log that was opened.
#[derive(Debug)]
pub struct Opened {
    pub file: LogFile,
    /// All valid records, all durable. Empty where not even the first record was finished: nobody was
    /// told that such a session exists.
    pub index: Index,
    pub repair: Option<Repair>,
    /// Why nothing can be appended, where that is so.
    pub read_only: Option<String>,
    /// The log is sound, and only the disk refuses: it may take it later (see `renew`). What failed, where that is so.
    pub trouble: Option<Trouble>,
}

/// What only the one who appends needs.
#[derive(Debug)]
struct Writer {
    /// The length of the file, after whole batches only.
    end: u64,
    /// The names of log and session directory are on disk.
    named: bool,
    /// The first failure. Never cleared.
    failed: Option<Arc<str>>,
}

/// An open log. Reading needs no lock and goes on while a batch is written.
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
    /// Makes an empty log in `dir`, which is made too where it is missing; its parent must be there.
    /// Nothing of it is durable before the first append.
    ///
    /// # Errors
    /// There is a log already, or the disk does not want one.
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
        Ok(Self::new(file, dir, Arc::new(Kernel)))
    }

    /// Opens the log in `dir`, reads all of it, and sets a torn tail aside. `visit` gets every valid
    /// record before the first invalid line.
    ///
    /// # Errors
    /// There is no log, it has another writer, or it cannot be read. A log that can be read but not
    /// written is no error: `read_only` says why.
    pub fn open(dir: &Path, visit: &mut dyn FnMut(&RawRecord<'_>)) -> Result<Opened, OpenError> {
        Self::open_with(dir, Arc::new(Kernel), visit)
    }

    /// As `open`, with another way to the disk from the start.
    ///
    /// # Errors
    /// As `open`.
    pub fn open_with(
        dir: &Path,
        syncer: Arc<dyn Syncer>,
        visit: &mut dyn FnMut(&RawRecord<'_>),
    ) -> Result<Opened, OpenError> {
        let (file, unwritable) = open_file(&dir.join(LOG_NAME))?;
        let mut log = Self::new(file, dir, syncer);
        lock(&log.file, &log.path)?;
        forget_tail(&log.file).at("look at the log", &log.path)?;
        let mut index = Index::new();
        let seen = scan(&log.file, &mut |record| {
            index.push_durable(record);
            visit(record);
        })
        .at("read the log", &log.path)?;
        index.shrink();

        let (repair, read_only, trouble) = if seen.damaged() {
            (None, Some(damage(&seen)), None)
        } else if let Some(why) = unwritable {
            (None, Some(why), Some(Trouble::Opening))
        } else {
            match log.make_good(&seen) {
                Ok(repair) => (repair, None, None),
                Err(error) => (None, Some(reason(&error)), Some(Trouble::Sync)),
            }
        };
        if let Ok(writer) = log.writer.get_mut() {
            // A missing newline has been put there.
            writer.end = seen.end + u64::from(seen.unended && read_only.is_none());
            writer.named = read_only.is_none();
            writer.failed = read_only.as_deref().map(Arc::from);
        }
        Ok(Opened {
            file: log,
            index,
            repair,
            read_only,
            trouble,
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

    /// The same log with another way to the disk.
    #[must_use]
    pub fn with_syncer(mut self, syncer: Arc<dyn Syncer>) -> Self {
        self.syncer = syncer;
        self
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why nothing can be appended, where that is so.
    #[must_use]
    pub fn failed(&self) -> Option<Arc<str>> {
        match self.writer.lock() {
            Ok(writer) => writer.failed.clone(),
            Err(_) => Some(CUT_SHORT.into()),
        }
    }

    /// Gives the lock back and takes no more records, while others may still read: the next writer need not wait for
    /// them.
    pub fn release(&self) {
        if let Ok(mut writer) = self.writer.lock() {
            writer
                .failed
                .get_or_insert_with(|| "its writer has ended".into());
        }
        unlock(&self.file);
    }

    /// Cuts a torn tail off, and makes sure that everything that was read is on disk: a batch whose
    /// writer died before its sync may stand in the page cache alone.
    fn make_good(&self, seen: &Scan) -> Result<Option<Repair>, Fault> {
        let repair = match &seen.invalid {
            Some(why) => {
                let torn = self.set_aside(seen)?;
                self.file.set_len(seen.end).at("cut the log", &self.path)?;
                Some(Repair {
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

    /// Copies what follows the last valid line to a file of its own, durably.
    fn set_aside(&self, seen: &Scan) -> Result<PathBuf, Fault> {
        let time = Stamp::now().to_string().replace(['-', ':'], "");
        let mut torn = self.dir.join(format!("{LOG_NAME}.torn-{time}"));
        let mut tries = 1;
        let mut copy = loop {
            match private().write(true).create_new(true).open(&torn) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < 100 => {
                    tries += 1;
                    torn = self.dir.join(format!("{LOG_NAME}.torn-{time}-{tries}"));
                }
                opened => break opened.at("create", &torn)?,
            }
        };
        let mut source = &self.file;
        let copied = source
            .seek(io::SeekFrom::Start(seen.end))
            .and_then(|_| io::copy(&mut source, &mut copy))
            .and_then(|_| copy.sync_all())
            .at("write", &torn);
        if copied.is_err() {
            // The log still has it all; half a copy would only be one more riddle.
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

    /// Appends whole lines and returns when they are on disk. An empty batch does nothing.
    ///
    /// # Errors
    /// They may not be on disk. From then on every append fails, with the reason of the first.
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
        // The index has the places of all records: bytes that somebody else put in between would
        // shift them, and a deleted file would take records that nobody can ever read.
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

    /// One write, unless the kernel takes less at once.
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

    /// The bytes that the index points to, from memory or from disk.
    ///
    /// # Errors
    /// The file cannot be read, or is shorter.
    pub fn fetch<'a>(&self, at: &'a Where) -> io::Result<Cow<'a, [u8]>> {
        match at {
            Where::Memory { line, range } => Ok(Cow::Borrowed(&line[range.clone()])),
            Where::Disk { offset, len } => self.read_at(*offset, *len).map(Cow::Owned),
        }
    }
}

/// More than a batch has, unless a record is huge: 4 MiB. What stands before was synced with earlier batches.
const TAIL: u64 = 4 * 1024 * 1024;
/// The largest page of memory that is common: 64 KiB.
const PAGE: u64 = 64 * 1024;

/// The reason after a panic in the middle of an append.
const CUT_SHORT: &str = "an earlier append did not come to its end";

fn lock(file: &File, path: &Path) -> Result<(), OpenError> {
    if try_lock(file).at("lock the log", path)? {
        Ok(())
    } else {
        Err(OpenError::Held {
            path: path.to_owned(),
        })
    }
}

/// Opens for writing, or where that is refused for reading, with the reason.
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
        _ => Err(Fault {
            doing: "open the log",
            path: path.to_owned(),
            source: refused,
        }
        .into()),
    }
}

/// Has the kernel drop what it holds of the end of a log in memory, less what it still has to write. A writer whose sync
/// failed may have left pages there that pass for written and are not: the next sync would say nothing of them.
fn forget_tail(file: &File) -> io::Result<()> {
    let start = file.metadata()?.len().saturating_sub(TAIL);
    // Advice, and whole pages only: where it is not taken, everything is as it always was.
    fadvise(file, start - start % PAGE, None, Advice::DontNeed).ok();
    Ok(())
}

fn damage(seen: &Scan) -> String {
    let why = seen.invalid.as_deref().unwrap_or_default();
    format!(
        "the log is damaged behind record {} (byte {}): {why}; records up to {} had been saved",
        seen.last, seen.end, seen.watermark
    )
}
