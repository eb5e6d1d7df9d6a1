//! Reads a log from its start: reports where it becomes invalid, and what the lines after that
//! prove.
//!
//! Changes nothing and takes no lock. `file` calls it when a log is opened. Code that rebuilds
//! derived data from logs calls it too.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use proto::Seq;

use super::LOG_NAME;
use crate::disk::{DiskError, IoContext, private, reason};
use crate::format::{LINE_MAX, RawRecord, decode};

const BUFFER: usize = 256 * 1024;

/// Result of reading a whole log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogScan {
    /// The last record before the first invalid line.
    pub last: Seq,
    /// The offset after that record.
    pub end: u64,
    /// The length of the file.
    pub len: u64,
    /// The highest watermark of any line with a matching checksum, wherever it is.
    pub watermark: Seq,
    /// The last record is whole and lacks only its newline.
    pub unended: bool,
    /// Why the first invalid line is invalid. `None` if the whole log is valid.
    pub invalid: Option<String>,
    /// The lowest `seq` that is, or must have been, at or after the first invalid line.
    lowest: Seq,
}

impl LogScan {
    /// Whether only unacknowledged records are invalid, so that they may be cut off.
    #[must_use]
    pub fn torn(&self) -> bool {
        self.invalid.is_some() && self.lowest > self.watermark
    }

    /// Whether a durable record is invalid.
    #[must_use]
    pub fn damaged(&self) -> bool {
        self.invalid.is_some() && !self.torn()
    }
}

/// Result of reading a line.
pub(super) enum LineRead {
    /// A line with a newline. The buffer holds it without the newline.
    Line {
        len: u64,
    },
    /// The file ends before a newline.
    Cut {
        len: u64,
    },
    /// The line was skipped without being stored.
    TooLong {
        len: u64,
    },
    End,
}

/// Reads the next line into `line`. Never stores more than `LINE_MAX` bytes.
pub(super) fn next(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<LineRead> {
    line.clear();
    let mut len = reader
        .by_ref()
        .take(LINE_MAX as u64)
        .read_until(b'\n', line)? as u64;
    if len == 0 {
        return Ok(LineRead::End);
    }
    if line.pop_if(|last| *last == b'\n').is_some() {
        return Ok(LineRead::Line { len });
    }
    if len < LINE_MAX as u64 {
        return Ok(LineRead::Cut { len });
    }
    len += reader.skip_until(b'\n')? as u64;
    Ok(LineRead::TooLong { len })
}

/// Reads everything. Calls `visit` for the records before the first invalid line.
pub(crate) fn scan(
    source: impl Read,
    visit: &mut dyn FnMut(&RawRecord<'_>),
) -> io::Result<LogScan> {
    let mut reader = BufReader::with_capacity(BUFFER, source);
    let mut line = Vec::new();
    let mut seen = LogScan::default();
    loop {
        let line_read = next(&mut reader, &mut line)?;
        let unended = matches!(line_read, LineRead::Cut { .. });
        let (len, record) = match line_read {
            LineRead::End => return Ok(seen),
            LineRead::Line { len } => (len, decode(&line).map_err(|error| reason(&error))),
            // The checksum is the last member: if it matches, only the newline is missing.
            LineRead::Cut { len } => match decode(&line) {
                Ok(record) => (len, Ok(record)),
                Err(_) => (len, Err("the line is incomplete".to_owned())),
            },
            LineRead::TooLong { len } => (len, Err("the line is too long".to_owned())),
        };
        seen.len += len;
        match record {
            Ok(record) => {
                seen.watermark = seen.watermark.max(record.durable);
                if seen.invalid.is_some() {
                    seen.lowest = seen.lowest.min(record.seq);
                } else if record.seq == seen.last.next() {
                    visit(&record);
                    seen.last = record.seq;
                    seen.end = seen.len;
                    seen.unended = unended;
                } else {
                    seen.lowest = record.seq.min(seen.last.next());
                    seen.invalid = Some(format!(
                        "record {} follows record {}",
                        record.seq, seen.last
                    ));
                }
            }
            Err(_) if seen.invalid.is_some() => {}
            Err(why) => {
                seen.lowest = seen.last.next();
                seen.invalid = Some(why);
            }
        }
    }
}

/// Reads the log in `dir` without a lock and without repairing it. Calls `visit` for all records
/// before the first invalid line.
///
/// # Errors
/// The file cannot be read.
pub fn read(dir: &Path, visit: &mut dyn FnMut(&RawRecord<'_>)) -> Result<LogScan, DiskError> {
    let (file, path) = open(dir)?;
    scan(file, visit).at("read the log", &path)
}

/// Reads only the first record of the log in `dir`. Returns `None` if it is invalid.
///
/// # Errors
/// The file cannot be read.
pub fn first<T>(
    dir: &Path,
    take: impl FnOnce(&RawRecord<'_>) -> T,
) -> Result<Option<T>, DiskError> {
    let (file, path) = open(dir)?;
    let mut line = Vec::new();
    let line_read = next(&mut BufReader::new(file), &mut line).at("read the log", &path)?;
    let record = match line_read {
        LineRead::Line { .. } | LineRead::Cut { .. } => {
            decode(&line).ok().filter(|record| record.seq == Seq(1))
        }
        LineRead::TooLong { .. } | LineRead::End => None,
    };
    Ok(record.map(|record| take(&record)))
}

/// Whether the log in `dir` has anything but the beginning of a first record: a line, whatever stands in it.
///
/// # Errors
/// The file is missing or cannot be read.
pub fn has_line(dir: &Path) -> Result<bool, DiskError> {
    let (file, path) = open(dir)?;
    let mut line = Vec::new();
    Ok(
        match next(&mut BufReader::new(file), &mut line).at("read the log", &path)? {
            LineRead::End => false,
            // A record without its end of line is whole all the same.
            LineRead::Cut { .. } => decode(&line).is_ok(),
            LineRead::Line { .. } | LineRead::TooLong { .. } => true,
        },
    )
}

/// A position in a log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// The last record before it, or 0.
    pub seq: Seq,
    /// The offset after that record.
    pub end: u64,
}

/// Reads the log in `dir` from `from` up to and including `upto`, without a lock. Calls `visit` for
/// the records before the first invalid line.
///
/// Returns `None` if the next record does not follow `from`. The log must then be read from its
/// start.
///
/// # Errors
/// The file cannot be read.
pub fn tail(
    dir: &Path,
    from: LogPosition,
    upto: Seq,
    visit: &mut dyn FnMut(&RawRecord<'_>),
) -> Result<Option<LogPosition>, DiskError> {
    let (mut file, path) = open(dir)?;
    file.seek(SeekFrom::Start(from.end))
        .at("read the log", &path)?;
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let (mut line, mut reached) = (Vec::new(), from);
    while reached.seq < upto {
        let len = match next(&mut reader, &mut line).at("read the log", &path)? {
            LineRead::Line { len } | LineRead::Cut { len } => len,
            LineRead::TooLong { .. } | LineRead::End => break,
        };
        match decode(&line) {
            Ok(record) if record.seq == reached.seq.next() => visit(&record),
            _ => break,
        }
        reached = LogPosition {
            seq: reached.seq.next(),
            end: reached.end + len,
        };
    }
    let follows = reached.seq > from.seq || from.seq == Seq(0) || from.seq >= upto;
    Ok(follows.then_some(reached))
}

fn open(dir: &Path) -> Result<(File, std::path::PathBuf), DiskError> {
    let path = dir.join(LOG_NAME);
    let file = private().read(true).open(&path).at("open the log", &path)?;
    Ok((file, path))
}
