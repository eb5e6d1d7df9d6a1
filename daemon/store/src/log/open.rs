//! Creates or opens a log: locks it for one writer, reads all of it, and repairs its end.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use proto::{Seq, Stamp};
use rustix::fs::{Advice, fadvise};

use super::LOG_NAME;
use super::file::{KernelSyncer, LogFile, Syncer};
use super::index::LogIndex;
use super::renew::DiskFailure;
use super::scan::{LogScan, scan};
use crate::disk::{DiskError, IoContext, private, private_dir, reason, sync_dir, try_lock};
use crate::format::RawRecord;

/// Larger than any batch without a huge record: 4 MiB. Everything before it was synced with earlier
/// batches.
const TAIL: u64 = 4 * 1024 * 1024;
/// The largest common memory page: 64 KiB.
const PAGE: u64 = 64 * 1024;

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
}

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
