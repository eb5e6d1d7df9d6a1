//! Reads a log from its start, says where it stops being valid and what the lines after that prove.
//!
//! Changes nothing and takes no lock. Called by `file` when a log is opened, and by whoever makes
//! derived things again from logs.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use proto::Seq;

use super::LOG_NAME;
use crate::disk::{At, Fault, private, reason};
use crate::format::{LINE_MAX, RawRecord, decode};

const BUFFER: usize = 256 * 1024;

/// What reading a whole log has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    /// The last record before the first invalid line.
    pub last: Seq,
    /// The byte behind that record.
    pub end: u64,
    /// Bytes of the whole file.
    pub len: u64,
    /// The highest watermark of any line whose checksum fits, wherever it stands.
    pub watermark: Seq,
    /// The last record stands there whole, and only its newline is missing.
    pub unended: bool,
    /// Why the first invalid line is none. Absent: the whole log is valid.
    pub invalid: Option<String>,
    /// The lowest `seq` that stands, or must have stood, from the first invalid line on.
    lowest: Seq,
}

impl Scan {
    /// Whether all that is invalid was never acknowledged, so that it may be cut off.
    #[must_use]
    pub fn torn(&self) -> bool {
        self.invalid.is_some() && self.lowest > self.watermark
    }

    /// Whether something is invalid that was durable.
    #[must_use]
    pub fn damaged(&self) -> bool {
        self.invalid.is_some() && !self.torn()
    }
}

/// A line of the file, or what stands in place of one.
pub(super) enum Piece {
    /// With a newline at its end; the buffer holds it without.
    Line {
        len: u64,
    },
    /// No newline before the end of the file.
    Cut {
        len: u64,
    },
    /// Passed over without being kept.
    TooLong {
        len: u64,
    },
    End,
}

/// Reads the next line into `line`. Never keeps more than `LINE_MAX` bytes.
pub(super) fn next(reader: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Piece> {
    line.clear();
    let mut len = reader
        .by_ref()
        .take(LINE_MAX as u64)
        .read_until(b'\n', line)? as u64;
    if len == 0 {
        return Ok(Piece::End);
    }
    if line.pop_if(|last| *last == b'\n').is_some() {
        return Ok(Piece::Line { len });
    }
    if len < LINE_MAX as u64 {
        return Ok(Piece::Cut { len });
    }
    len += reader.skip_until(b'\n')? as u64;
    Ok(Piece::TooLong { len })
}

/// Reads everything; `visit` gets the records before the first invalid line.
pub(crate) fn scan(source: impl Read, visit: &mut dyn FnMut(&RawRecord<'_>)) -> io::Result<Scan> {
    let mut reader = BufReader::with_capacity(BUFFER, source);
    let mut line = Vec::new();
    let mut seen = Scan::default();
    loop {
        let piece = next(&mut reader, &mut line)?;
        let unended = matches!(piece, Piece::Cut { .. });
        let (len, record) = match piece {
            Piece::End => return Ok(seen),
            Piece::Line { len } => (len, decode(&line).map_err(|error| reason(&error))),
            // The checksum is the last of a record: where it fits, nothing but the newline is missing.
            Piece::Cut { len } => match decode(&line) {
                Ok(record) => (len, Ok(record)),
                Err(_) => (len, Err("the line has no end".to_owned())),
            },
            Piece::TooLong { len } => (len, Err("the line is too long".to_owned())),
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
                        "record {} follows on record {}",
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

/// Reads the log in `dir` without a lock and without mending anything; `visit` gets all records
/// before the first invalid line.
///
/// # Errors
/// The file cannot be read.
pub fn read(dir: &Path, visit: &mut dyn FnMut(&RawRecord<'_>)) -> Result<Scan, Fault> {
    let (file, path) = open(dir)?;
    scan(file, visit).at("read the log", &path)
}

/// Reads only the first record of the log in `dir`. `None` where it is not valid.
///
/// # Errors
/// The file cannot be read.
pub fn first<T>(dir: &Path, take: impl FnOnce(&RawRecord<'_>) -> T) -> Result<Option<T>, Fault> {
    let (file, path) = open(dir)?;
    let mut line = Vec::new();
    let piece = next(&mut BufReader::new(file), &mut line).at("read the log", &path)?;
    let record = match piece {
        Piece::Line { .. } | Piece::Cut { .. } => {
            decode(&line).ok().filter(|record| record.seq == Seq(1))
        }
        Piece::TooLong { .. } | Piece::End => None,
    };
    Ok(record.map(|record| take(&record)))
}

/// How far a log has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// The last record; 0: none.
    pub seq: Seq,
    /// The byte behind it.
    pub end: u64,
}

/// Reads what follows in the log in `dir` behind `from`, up to and with `upto`, without a lock; `visit` gets the records
/// before the first invalid line. `None`: what stands there does not follow on `from`, so that it has to be read from
/// its start.
///
/// # Errors
/// The file cannot be read.
pub fn tail(
    dir: &Path,
    from: Tail,
    upto: Seq,
    visit: &mut dyn FnMut(&RawRecord<'_>),
) -> Result<Option<Tail>, Fault> {
    let (mut file, path) = open(dir)?;
    file.seek(SeekFrom::Start(from.end))
        .at("read the log", &path)?;
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let (mut line, mut reached) = (Vec::new(), from);
    while reached.seq < upto {
        let len = match next(&mut reader, &mut line).at("read the log", &path)? {
            Piece::Line { len } | Piece::Cut { len } => len,
            Piece::TooLong { .. } | Piece::End => break,
        };
        match decode(&line) {
            Ok(record) if record.seq == reached.seq.next() => visit(&record),
            _ => break,
        }
        reached = Tail {
            seq: reached.seq.next(),
            end: reached.end + len,
        };
    }
    let follows = reached.seq > from.seq || from.seq == Seq(0) || from.seq >= upto;
    Ok(follows.then_some(reached))
}

fn open(dir: &Path) -> Result<(File, std::path::PathBuf), Fault> {
    let path = dir.join(LOG_NAME);
    let file = private().read(true).open(&path).at("open the log", &path)?;
    Ok((file, path))
}
