//! Makes a log writable again after its disk failed, without trusting what the failed write or sync
//! left.
//!
//! After a failed write, the file is cut back to its durable part. After a failed sync, another
//! sync proves nothing: the kernel may have dropped the pages and marked them clean. So the durable
//! lines are copied, with their checksums verified, into a new file that replaces the old one.
//!
//! Called while the log's last writer still holds its lock, so nothing else writes meanwhile.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, IoSlice, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use proto::Seq;
use rustix::fs::{Advice, fadvise};

use super::LOG_NAME;
use super::file::Syncer;
use super::open::with_new_name;
use super::scan::{LineRead, next};
use crate::disk::{DiskError, IoContext, private, reason, remove_file};
use crate::format::decode;

/// Free space needed before a log counts as writable again: 64 KiB, more than most batches.
const ROOM: usize = 64 * 1024;
const BUFFER: usize = 256 * 1024;

/// The operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DiskFailure {
    /// Opening for writing: the file is unchanged.
    Opening,
    /// A write. Everything synced before it is intact.
    Write,
    /// The same, because the disk is full.
    Full,
    /// A sync. The page cache and the disk may differ.
    Sync,
}

/// How a log became writable again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RenewOutcome {
    /// Nothing had to be changed.
    Sound,
    /// The part that was not durable was cut off.
    Cut { bytes: u64 },
    /// A copy replaced the old file. `kept` is the old file, or `None` if the file system has no
    /// hard links.
    Copied { kept: Option<PathBuf> },
}

/// Why a log is still not writable. The log is unchanged.
#[derive(Debug, thiserror::Error)]
pub enum RenewError {
    #[error("`{}` ends after record {found}, and record {wanted} was durable: {why}", .path.display())]
    Lost {
        path: PathBuf,
        found: Seq,
        wanted: Seq,
        why: String,
    },
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// Makes the log in `dir` writable again. `upto` is the last durable record. Later records were
/// never acknowledged and are removed. The next open finds a valid log.
///
/// # Errors
/// The disk still fails, or the durable part is incomplete. The log is unchanged.
pub fn renew(
    dir: &Path,
    upto: Seq,
    disk_failure: DiskFailure,
    disk: &dyn Syncer,
) -> Result<RenewOutcome, RenewError> {
    let path = dir.join(LOG_NAME);
    let file = private()
        .read(true)
        .write(true)
        .open(&path)
        .at("open the log", &path)?;
    probe(dir, disk)?;
    match disk_failure {
        DiskFailure::Opening => Ok(RenewOutcome::Sound),
        DiskFailure::Write | DiskFailure::Full => {
            // Everything up to here was synced, so the disk has it, whatever the page cache holds.
            drop_page_cache(&file);
            match measure(&file, &path, upto, &mut io::sink()) {
                // A sync that failed here is not retried either.
                Ok(end) => {
                    cut(&file, &path, end, disk).or_else(|_| copy(&file, dir, &path, upto, disk))
                }
                Err(RenewError::Lost { .. }) => copy(&file, dir, &path, upto, disk),
                Err(error) => Err(error),
            }
        }
        DiskFailure::Sync => copy(&file, dir, &path, upto, disk),
    }
}

/// Checks that the disk accepts new data. Uses a separate file, so the log stays untouched until
/// this is known.
fn probe(dir: &Path, disk: &dyn Syncer) -> Result<(), DiskError> {
    let path = dir.join(format!("{LOG_NAME}.probe"));
    let tried = private()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .and_then(|file| {
            ThroughSyncer { disk, file: &file }.write_all(&[0; ROOM])?;
            disk.sync(&file)
        });
    tried
        .and(remove_file(&path))
        .at("write to the disk of", &path)
}

/// Cuts the file back to `end`. Everything before it was synced long ago. Only the new length has
/// to be synced.
fn cut(file: &File, path: &Path, end: u64, disk: &dyn Syncer) -> Result<RenewOutcome, RenewError> {
    let len = file.metadata().at("look at the log", path)?.len();
    if len > end {
        file.set_len(end).at("cut the log", path)?;
    }
    disk.sync(file).at("sync", path)?;
    let bytes = len.saturating_sub(end);
    Ok(RenewOutcome::Cut { bytes })
}

/// Replaces the log with a copy of its durable part. At every moment the log's name refers to a
/// whole file.
fn copy(
    file: &File,
    dir: &Path,
    path: &Path,
    upto: Seq,
    disk: &dyn Syncer,
) -> Result<RenewOutcome, RenewError> {
    let new = dir.join(format!("{LOG_NAME}.new"));
    let placed = make_copy(file, path, &new, upto, disk)
        .and_then(|()| Ok(put_in_place(dir, path, &new, disk)?));
    if placed.is_err() {
        // The first error counts. A leftover is removed by the next attempt.
        fs::remove_file(&new).ok();
    }
    Ok(RenewOutcome::Copied { kept: placed? })
}

/// Gives the copy the log's name. The old file keeps another name.
fn put_in_place(
    dir: &Path,
    path: &Path,
    new: &Path,
    disk: &dyn Syncer,
) -> Result<Option<PathBuf>, DiskError> {
    disk.sync_dir(dir).at("sync the directory", dir)?;
    let kept = keep_old_file(dir, path)?;
    if kept.is_some() {
        disk.sync_dir(dir).at("sync the directory", dir)?;
    }
    fs::rename(new, path).at("replace the log", path)?;
    disk.sync_dir(dir).at("sync the directory", dir)?;
    Ok(kept)
}

fn make_copy(
    file: &File,
    path: &Path,
    new: &Path,
    upto: Seq,
    disk: &dyn Syncer,
) -> Result<(), RenewError> {
    // Removes whatever is at the path first, so that a symbolic link is not followed.
    remove_file(new).at("remove", new)?;
    let to = private()
        .read(true)
        .write(true)
        .create_new(true)
        .open(new)
        .at("create", new)?;
    let through = || BufWriter::with_capacity(BUFFER, ThroughSyncer { disk, file: &to });
    // A line with a matching checksum is correct, wherever it is read from. The page cache is read
    // first: if the failed sync tore the last block, only the cache has all of it.
    let end = match measure(file, path, upto, &mut through()) {
        Err(RenewError::Lost { .. }) => {
            drop_page_cache(file);
            to.set_len(0).at("cut", new)?;
            io::Seek::seek(&mut &to, io::SeekFrom::Start(0)).at("write", new)?;
            measure(file, path, upto, &mut through())?
        }
        measured => measured?,
    };
    disk.sync(&to).at("sync", new)?;
    // Drops the page cache and reads the copy from the disk: only the disk's content survives a
    // power cut.
    drop_page_cache(&to);
    let again = measure(&to, new, upto, &mut io::sink())?;
    let len = to.metadata().at("look at", new)?.len();
    if again != end || len != end {
        return Err(RenewError::Lost {
            path: new.to_owned(),
            found: upto,
            wanted: upto,
            why: format!("{len} bytes were copied instead of {end}"),
        });
    }
    Ok(())
}

/// Gives the old file a second name, for inspection.
fn keep_old_file(dir: &Path, path: &Path) -> Result<Option<PathBuf>, DiskError> {
    use io::ErrorKind::{AlreadyExists, PermissionDenied, Unsupported};
    let (kept, linked) = with_new_name(dir, "failed", |name| fs::hard_link(path, name));
    match linked {
        Err(error) if matches!(error.kind(), AlreadyExists | Unsupported | PermissionDenied) => {
            Ok(None)
        }
        linked => linked.at("link", &kept).map(|()| Some(kept)),
    }
}

/// Copies the lines of all records up to `upto` into `into`. Returns where they end.
fn measure(file: &File, path: &Path, upto: Seq, into: &mut impl Write) -> Result<u64, RenewError> {
    let mut reader = BufReader::with_capacity(BUFFER, FromStart { file, at: 0 });
    let (mut line, mut last, mut end) = (Vec::new(), Seq(0), 0);
    let lost = |found, why: String| RenewError::Lost {
        path: path.to_owned(),
        found,
        wanted: upto,
        why,
    };
    while last < upto {
        let len = match next(&mut reader, &mut line).at("read the log", path)? {
            LineRead::Line { len } => len,
            // The checksum decides whether only the newline is missing. The copy gets one.
            LineRead::Cut { len } => len + 1,
            LineRead::End => return Err(lost(last, "the file ends".into())),
            LineRead::TooLong { .. } => return Err(lost(last, "the line is too long".into())),
        };
        let seq = decode(&line)
            .map_err(|error| lost(last, reason(&error)))?
            .seq;
        if seq != last.next() {
            return Err(lost(last, format!("record {seq} follows record {last}")));
        }
        line.push(b'\n');
        into.write_all(&line).at("write", path)?;
        (last, end) = (seq, end + len);
    }
    into.flush().at("write", path)?;
    Ok(end)
}

/// Drops the kernel's page cache of a file, as far as it is on disk. The next read asks the disk.
fn drop_page_cache(file: &File) {
    // This is only advice. If it is ignored, the checksums still detect errors in memory.
    fadvise(file, 0, None, Advice::DontNeed).ok();
}

/// Reads a file from its start, ignoring its cursor.
struct FromStart<'a> {
    file: &'a File,
    at: u64,
}

impl io::Read for FromStart<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(into, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Writes through a `Syncer`.
struct ThroughSyncer<'a> {
    disk: &'a dyn Syncer,
    file: &'a File,
}

impl Write for ThroughSyncer<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(self.file, &[IoSlice::new(bytes)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
