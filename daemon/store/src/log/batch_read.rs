//! Reads many short ranges of a log at once: neighbouring ranges are read together. The bytes between them go to a place
//! of their own, and nothing is copied afterwards.

use std::io::{self, IoSliceMut};
use std::ops::Range;

use super::file::LogFile;
use super::index::ByteLocation;

/// A gap of up to this many bytes is read instead of skipped. Copying it takes about as long as
/// another system call: a microsecond.
const GAP: u64 = 8 * 1024;
/// The most bytes between ranges that one call reads. Beyond this, page faults in the memory for them cost more than
/// another call.
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
#[derive(Debug)]
pub struct BatchRead<'a, B> {
    /// The ranges from disk, concatenated.
    bytes: B,
    ranges: Vec<BatchRange<'a>>,
}

#[derive(Debug)]
enum BatchRange<'a> {
    Memory(&'a [u8]),
    Disk(Range<usize>),
}

impl<B: AsRef<[u8]>> BatchRead<'_, B> {
    /// The ranges' bytes.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.ranges.iter().map(|range| match range {
            BatchRange::Memory(bytes) => bytes,
            BatchRange::Disk(range) => &self.bytes.as_ref()[range.clone()],
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
    /// Scratch memory for the bytes between ranges.
    gap_bytes: Vec<u8>,
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

    /// Reads the ranges into the front of `into`, advances it past them, and clears the run.
    fn read(&mut self, file: &LogFile, from: ReadFrom, into: &mut &mut [u8]) -> io::Result<()> {
        let between = usize::try_from(self.between).map_err(io::Error::other)?;
        self.gap_bytes.resize(between.max(self.gap_bytes.len()), 0);
        let mut gap_bytes = &mut self.gap_bytes[..];
        let mut parts = Vec::with_capacity(2 * self.ranges.len());
        for (gap, len) in self.ranges.drain(..) {
            parts.push(split_front(&mut gap_bytes, gap));
            parts.push(split_front(into, len));
        }
        file.read_vectored_at(from, self.start, &mut parts)
    }
}

/// Splits the first `bytes` off `rest`.
fn split_front<'a>(rest: &mut &'a mut [u8], bytes: usize) -> IoSliceMut<'a> {
    let (part, after) = std::mem::take(rest).split_at_mut(bytes);
    *rest = after;
    IoSliceMut::new(part)
}

impl LogFile {
    /// Reads the bytes at all these locations, each as `fetch` does, into a buffer that `zeroed` makes of their length.
    ///
    /// # Errors
    /// The file cannot be read, or is shorter; `from` memory: some of it is on disk alone.
    pub fn gather<'a, B: AsMut<[u8]>>(
        &self,
        from: ReadFrom,
        places: impl IntoIterator<Item = &'a ByteLocation, IntoIter: Clone>,
        zeroed: impl FnOnce(usize) -> B,
    ) -> io::Result<BatchRead<'a, B>> {
        let places = places.into_iter();
        let on_disk = places.clone().map(|at| match at {
            ByteLocation::Memory { .. } => 0,
            ByteLocation::Disk { len, .. } => *len,
        });
        let mut bytes = zeroed(on_disk.sum());
        let mut rest = bytes.as_mut();
        let mut ranges = Vec::with_capacity(places.size_hint().0);
        let mut run = Run::default();
        let mut disk_len = 0;
        for at in places {
            ranges.push(match at {
                ByteLocation::Memory { line, range } => BatchRange::Memory(&line[range.clone()]),
                ByteLocation::Disk { offset, len } => {
                    if !run.add(*offset, *len)? {
                        run.read(self, from, &mut rest)?;
                        run.add(*offset, *len)?;
                    }
                    let start = disk_len;
                    disk_len += len;
                    BatchRange::Disk(start..disk_len)
                }
            });
        }
        run.read(self, from, &mut rest)?;
        Ok(BatchRead { bytes, ranges })
    }
}
