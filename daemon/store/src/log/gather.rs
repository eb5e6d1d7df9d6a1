//! Many short pieces of a log at once: neighbours are read together, with what stands between them.

use std::io;
use std::ops::Range;

use super::file::LogFile;
use super::index::Where;

/// So many bytes between two pieces are read rather than passed over: copying them takes no longer than another call of
/// the system, which is about a microsecond.
const GAP: u64 = 8 * 1024;
/// No more than this is read in one go, unless a piece is longer: 256 KiB.
const RUN: u64 = 256 * 1024;

/// Pieces of a log, in the order in which they were asked for.
#[derive(Debug, Default)]
pub struct Gathered<'a> {
    /// Those from disk, one behind the other.
    bytes: Vec<u8>,
    pieces: Vec<Piece<'a>>,
}

#[derive(Debug)]
enum Piece<'a> {
    Memory(&'a [u8]),
    Disk(Range<usize>),
}

impl Gathered<'_> {
    /// The pieces.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.pieces.iter().map(|piece| match piece {
            Piece::Memory(bytes) => bytes,
            Piece::Disk(range) => &self.bytes[range.clone()],
        })
    }
}

/// Pieces on disk that are read in one go, in the order of the file.
#[derive(Default)]
struct Run {
    start: u64,
    end: u64,
    pieces: Vec<(u64, usize)>,
}

impl Run {
    fn takes(&self, offset: u64, len: usize) -> bool {
        let end = offset.saturating_add(len as u64);
        self.pieces.is_empty()
            || (offset >= self.end && offset - self.end <= GAP && end - self.start <= RUN)
    }

    fn add(&mut self, offset: u64, len: usize) {
        if self.pieces.is_empty() {
            self.start = offset;
        }
        self.end = offset.saturating_add(len as u64);
        self.pieces.push((offset, len));
    }

    /// Puts the pieces behind `into`, and is empty.
    fn read(&mut self, file: &LogFile, into: &mut Vec<u8>) -> io::Result<()> {
        if self.pieces.is_empty() {
            return Ok(());
        }
        let place = into.len();
        let whole = usize::try_from(self.end - self.start).map_err(io::Error::other)?;
        into.resize(place + whole, 0);
        file.read_into(self.start, &mut into[place..])?;
        // What stands between them goes.
        let mut kept = place;
        for (offset, len) in self.pieces.drain(..) {
            let from = place + usize::try_from(offset - self.start).map_err(io::Error::other)?;
            into.copy_within(from..from + len, kept);
            kept += len;
        }
        into.truncate(kept);
        Ok(())
    }
}

impl LogFile {
    /// The bytes at all of these places, as `fetch` has those at one.
    ///
    /// # Errors
    /// The file cannot be read, or is shorter.
    pub fn gather<'a>(
        &self,
        places: impl IntoIterator<Item = &'a Where, IntoIter: Clone>,
    ) -> io::Result<Gathered<'a>> {
        let places = places.into_iter();
        let on_disk = places.clone().map(|at| match at {
            Where::Memory { .. } => 0,
            Where::Disk { len, .. } => *len,
        });
        // A run stands behind them for a moment, with what is between its pieces.
        let between = RUN.min(GAP * places.clone().count() as u64);
        let room = on_disk.sum::<usize>() + usize::try_from(between).map_err(io::Error::other)?;
        let mut gathered = Gathered {
            bytes: Vec::with_capacity(room),
            pieces: Vec::with_capacity(places.size_hint().0),
        };
        let mut run = Run::default();
        let mut behind = 0;
        for at in places {
            gathered.pieces.push(match at {
                Where::Memory { line, range } => Piece::Memory(&line[range.clone()]),
                Where::Disk { offset, len } => {
                    if !run.takes(*offset, *len) {
                        run.read(self, &mut gathered.bytes)?;
                    }
                    run.add(*offset, *len);
                    let start = behind;
                    behind += len;
                    Piece::Disk(start..behind)
                }
            });
        }
        run.read(self, &mut gathered.bytes)?;
        Ok(gathered)
    }
}
