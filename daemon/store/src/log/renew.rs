//! Makes a log writable again whose disk failed, without trusting what the failed write or sync left behind.
//!
//! After a failed write the file is cut back to what is durable. After a failed sync it is never synced again as if
//! that could mend it: the kernel may have dropped the pages and marked them clean. What is durable is copied, line by
//! line and by its checksums, into a new file, which takes the old one's place. Called while the log's last writer
//! still has it: nothing else may write meanwhile.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, IoSlice, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use proto::{Seq, Stamp};
use rustix::fs::{Advice, fadvise};

use super::LOG_NAME;
use super::file::Syncer;
use super::scan::{Piece, next};
use crate::disk::{At, Fault, private, reason};
use crate::format::decode;

/// Bytes that must fit on the disk before a log counts as writable again: 64 KiB, more than most batches.
const ROOM: usize = 64 * 1024;
const BUFFER: usize = 256 * 1024;

/// What had failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trouble {
    /// The log was opened and could not be written to: nothing of it was touched.
    Opening,
    /// A write. What had been synced before is sound.
    Write,
    /// A sync. What the file holds in memory and what the disk has may differ.
    Sync,
}

/// How a log became writable again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renewed {
    /// Nothing had to be changed.
    Sound,
    /// What was not durable has been cut off.
    Cut { bytes: u64 },
    /// A copy stands in the old file's place. `kept`: the old one; absent where the file system has no links.
    Copied { kept: Option<PathBuf> },
}

/// Why a log is still not writable. It is as it was.
#[derive(Debug, thiserror::Error)]
pub enum RenewError {
    #[error("`{}` ends behind record {found}, and record {wanted} was durable: {why}", .path.display())]
    Lost {
        path: PathBuf,
        found: Seq,
        wanted: Seq,
        why: String,
    },
    #[error(transparent)]
    Fault(#[from] Fault),
}

/// Makes the log in `dir` writable again; `upto` is the last record that is durable. Records behind it were never
/// acknowledged, and are gone after this. Opening the log afterwards finds it whole.
///
/// # Errors
/// The disk is not well yet, or what was durable is not there. Then the log is as it was.
pub fn renew(
    dir: &Path,
    upto: Seq,
    trouble: Trouble,
    disk: &dyn Syncer,
) -> Result<Renewed, RenewError> {
    let path = dir.join(LOG_NAME);
    let file = private()
        .read(true)
        .write(true)
        .open(&path)
        .at("open the log", &path)?;
    probe(dir, disk)?;
    match trouble {
        Trouble::Opening => Ok(Renewed::Sound),
        Trouble::Write => {
            // Everything up to there was synced: the disk has it, whatever stands in memory.
            forget(&file);
            match measure(&file, &path, upto, &mut io::sink()) {
                // A sync that failed here is not tried again either.
                Ok(end) => {
                    cut(&file, &path, end, disk).or_else(|_| copy(&file, dir, &path, upto, disk))
                }
                Err(RenewError::Lost { .. }) => copy(&file, dir, &path, upto, disk),
                Err(error) => Err(error),
            }
        }
        Trouble::Sync => copy(&file, dir, &path, upto, disk),
    }
}

/// Whether the disk takes something new. In a file of its own: the log is left alone until this is known.
fn probe(dir: &Path, disk: &dyn Syncer) -> Result<(), Fault> {
    let path = dir.join(format!("{LOG_NAME}.probe"));
    let tried = private()
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path)
        .and_then(|file| {
            Through { disk, file: &file }.write_all(&[0; ROOM])?;
            disk.sync(&file)
        });
    let removed = match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    tried.and(removed).at("write to the disk of", &path)
}

/// Cuts the file back to `end`. What stands before was synced long ago; only the new length has to be.
fn cut(file: &File, path: &Path, end: u64, disk: &dyn Syncer) -> Result<Renewed, RenewError> {
    let len = file.metadata().at("look at the log", path)?.len();
    if len > end {
        file.set_len(end).at("cut the log", path)?;
    }
    disk.sync(file).at("sync", path)?;
    let bytes = len.saturating_sub(end);
    Ok(Renewed::Cut { bytes })
}

/// Puts a copy of the durable part in the log's place. At every moment one of the two files is whole and has the
/// log's name.
fn copy(
    file: &File,
    dir: &Path,
    path: &Path,
    upto: Seq,
    disk: &dyn Syncer,
) -> Result<Renewed, RenewError> {
    let new = dir.join(format!("{LOG_NAME}.new"));
    let placed = make_copy(file, path, &new, upto, disk)
        .and_then(|()| Ok(put_in_place(dir, path, &new, disk)?));
    if placed.is_err() {
        // The failure that counts is the first one; a leftover is taken away the next time.
        fs::remove_file(&new).ok();
    }
    Ok(Renewed::Copied { kept: placed? })
}

/// Gives the copy the log's name. The old file keeps one of its own.
fn put_in_place(
    dir: &Path,
    path: &Path,
    new: &Path,
    disk: &dyn Syncer,
) -> Result<Option<PathBuf>, Fault> {
    disk.sync_dir(dir).at("sync the directory", dir)?;
    let kept = keep(dir, path)?;
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
    // A link in its place would be followed by nobody: whatever stands there is taken away first.
    match fs::remove_file(new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(error).at("remove", new).map_err(RenewError::from);
        }
        _ => {}
    }
    let to = private()
        .read(true)
        .write(true)
        .create_new(true)
        .open(new)
        .at("create", new)?;
    let through = || BufWriter::with_capacity(BUFFER, Through { disk, file: &to });
    // A line whose checksum fits is what was written, wherever it is read from. Memory is asked first: where the
    // failed sync tore the last block, only memory has it whole.
    let end = match measure(file, path, upto, &mut through()) {
        Err(RenewError::Lost { .. }) => {
            forget(file);
            to.set_len(0).at("cut", new)?;
            io::Seek::seek(&mut &to, io::SeekFrom::Start(0)).at("write", new)?;
            measure(file, path, upto, &mut through())?
        }
        measured => measured?,
    };
    disk.sync(&to).at("sync", new)?;
    // What the disk has of it, not what memory has: only that counts after a power cut.
    forget(&to);
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

/// Gives the old file a second name, for whoever wants to look.
fn keep(dir: &Path, path: &Path) -> Result<Option<PathBuf>, Fault> {
    let time = Stamp::now().to_string().replace(['-', ':'], "");
    for number in 1..100 {
        let suffix = if number == 1 {
            String::new()
        } else {
            format!("-{number}")
        };
        let kept = dir.join(format!("{LOG_NAME}.failed-{time}{suffix}"));
        match fs::hard_link(path, &kept) {
            Ok(()) => return Ok(Some(kept)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(error).at("link", &kept),
        }
    }
    Ok(None)
}

/// Passes the lines of the records up to and with `upto` on to `into`, and says where they end.
fn measure(file: &File, path: &Path, upto: Seq, into: &mut impl Write) -> Result<u64, RenewError> {
    let mut reader = BufReader::with_capacity(BUFFER, At0 { file, at: 0 });
    let (mut line, mut last, mut end) = (Vec::new(), Seq(0), 0);
    let lost = |found, why: String| RenewError::Lost {
        path: path.to_owned(),
        found,
        wanted: upto,
        why,
    };
    while last < upto {
        let len = match next(&mut reader, &mut line).at("read the log", path)? {
            Piece::Line { len } => len,
            // Its checksum tells whether only the newline is missing; the copy gets one.
            Piece::Cut { len } => len + 1,
            Piece::End => return Err(lost(last, "the file ends".into())),
            Piece::TooLong { .. } => return Err(lost(last, "the line is too long".into())),
        };
        let seq = decode(&line)
            .map_err(|error| lost(last, reason(&error)))?
            .seq;
        if seq != last.next() {
            return Err(lost(last, format!("record {seq} follows on record {last}")));
        }
        line.push(b'\n');
        into.write_all(&line).at("write", path)?;
        (last, end) = (seq, end + len);
    }
    into.flush().at("write", path)?;
    Ok(end)
}

/// Has the kernel drop what it holds of a file in memory, as far as that is on disk: the next read asks the disk.
fn forget(file: &File) {
    // Advice: where it is not taken, the checksums still tell what is wrong in memory.
    fadvise(file, 0, None, Advice::DontNeed).ok();
}

/// Reads a file from its start, wherever its cursor is.
struct At0<'a> {
    file: &'a File,
    at: u64,
}

impl io::Read for At0<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(into, self.at)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Writes by way of the seam.
struct Through<'a> {
    disk: &'a dyn Syncer,
    file: &'a File,
}

impl Write for Through<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.disk.write(self.file, &[IoSlice::new(bytes)])
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
