//! Reads many short ranges of a log at once: neighbouring ranges are read together. The bytes between them go to a place
//! of their own, and nothing is copied afterwards.

use std::io::{self, IoSliceMut};
use std::ops::Range;

use super::file::LogFile;
use super::index::ByteLocation;

/// A gap of up to this many bytes is read instead of skipped. Copying it takes about as long as
/// another system call: a microsecond.
const GAP: u64 = 8 * 1024;
/// The most bytes between ranges that one call reads. Memory that is new to the process costs more than such a call.
const BETWEEN_MAX: u64 = 32 * 1024;
/// The most ranges that one call reads: with the gaps between them they are fewer than the parts of a call that systems
/// take (`IOV_MAX`, 1,024).
const RANGES_MAX: usize = 500;

/// Where bytes may come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// Also the disk, which takes its time.
    Disk,
    /// Only memory: the index, and the page cache.
    Memory,
}

/// Ranges of a log, in the order of the request.
#[derive(Debug, Default)]
pub struct BatchRead<'a> {
    /// The ranges from disk, concatenated.
    bytes: Vec<u8>,
    ranges: Vec<BatchRange<'a>>,
}

#[derive(Debug)]
enum BatchRange<'a> {
    Memory(&'a [u8]),
    Disk(Range<usize>),
}

impl BatchRead<'_> {
    /// The ranges' bytes.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.ranges.iter().map(|range| match range {
            BatchRange::Memory(bytes) => bytes,
            BatchRange::Disk(range) => &self.bytes[range.clone()],
        })
    }
}

/// Ranges on disk that one call reads, in file order.
#[derive(Default)]
struct Run {
    start: u64,
    end: u64,
    /// The bytes of the gap before each range, and those of the range.
    ranges: Vec<(usize, usize)>,
    /// The bytes of all gaps.
    between: u64,
    /// Where the gaps go.
    dropped: Vec<u8>,
}

impl Run {
    /// Adds a range, unless it does not follow the others or is too far from them.
    fn add(&mut self, offset: u64, len: usize) -> io::Result<bool> {
        if self.ranges.is_empty() {
            (self.start, self.end, self.between) = (offset, offset, 0);
        }
        let Some(gap) = offset.checked_sub(self.end) else {
            return Ok(false);
        };
        let between = self.between + gap;
        if gap > GAP || between > BETWEEN_MAX || self.ranges.len() == RANGES_MAX {
            return Ok(false);
        }
        let gap = usize::try_from(gap).map_err(io::Error::other)?;
        self.ranges.push((gap, len));
        self.between = between;
        self.end = offset.saturating_add(len as u64);
        Ok(true)
    }

    /// Appends the ranges to `into` and clears the run.
    fn read(&mut self, file: &LogFile, from: ReadFrom, into: &mut Vec<u8>) -> io::Result<()> {
        let place = into.len();
        let wanted: usize = self.ranges.iter().map(|(_, len)| len).sum();
        into.resize(place + wanted, 0);
        let between = usize::try_from(self.between).map_err(io::Error::other)?;
        self.dropped.resize(between.max(self.dropped.len()), 0);
        let (mut kept, mut dropped) = (&mut into[place..], &mut self.dropped[..]);
        let mut parts = Vec::with_capacity(2 * self.ranges.len());
        for (gap, len) in self.ranges.drain(..) {
            for (rest, bytes) in [(&mut dropped, gap), (&mut kept, len)] {
                let (part, after) = std::mem::take(rest).split_at_mut(bytes);
                parts.push(IoSliceMut::new(part));
                *rest = after;
            }
        }
        file.read_parts(from, self.start, &mut parts)
    }
}

impl LogFile {
    /// Reads the bytes at all these locations, each as `fetch` does.
    ///
    /// # Errors
    /// The file cannot be read, or is shorter; `from` memory: some of it is on disk alone.
    pub fn gather<'a>(
        &self,
        from: ReadFrom,
        places: impl IntoIterator<Item = &'a ByteLocation, IntoIter: Clone>,
    ) -> io::Result<BatchRead<'a>> {
        let places = places.into_iter();
        let on_disk = places.clone().map(|at| match at {
            ByteLocation::Memory { .. } => 0,
            ByteLocation::Disk { len, .. } => *len,
        });
        let mut gathered = BatchRead {
            bytes: Vec::with_capacity(on_disk.sum()),
            ranges: Vec::with_capacity(places.size_hint().0),
        };
        let mut run = Run::default();
        let mut disk_len = 0;
        for at in places {
            gathered.ranges.push(match at {
                ByteLocation::Memory { line, range } => BatchRange::Memory(&line[range.clone()]),
                ByteLocation::Disk { offset, len } => {
                    if !run.add(*offset, *len)? {
                        run.read(self, from, &mut gathered.bytes)?;
                        run.add(*offset, *len)?;
                    }
                    let start = disk_len;
                    disk_len += len;
                    BatchRange::Disk(start..disk_len)
                }
            });
        }
        run.read(self, from, &mut gathered.bytes)?;
        Ok(gathered)
    }
}
