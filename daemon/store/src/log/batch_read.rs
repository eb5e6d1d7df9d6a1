//! Reads many short ranges of a log at once: neighbouring ranges are read together, including the
//! bytes between them.

use std::io;
use std::ops::Range;

use super::file::LogFile;
use super::index::ByteLocation;

/// A gap of up to this many bytes is read instead of skipped. Copying it takes about as long as
/// another system call: a microsecond.
const GAP: u64 = 8 * 1024;
/// The most bytes read in one call, unless one range is longer: 256 KiB.
const RUN: u64 = 256 * 1024;

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
    ranges: Vec<(u64, usize)>,
}

impl Run {
    fn takes(&self, offset: u64, len: usize) -> bool {
        let end = offset.saturating_add(len as u64);
        self.ranges.is_empty()
            || (offset >= self.end && offset - self.end <= GAP && end - self.start <= RUN)
    }

    fn add(&mut self, offset: u64, len: usize) {
        if self.ranges.is_empty() {
            self.start = offset;
        }
        self.end = offset.saturating_add(len as u64);
        self.ranges.push((offset, len));
    }

    /// Appends the ranges to `into` and clears the run.
    fn read(&mut self, file: &LogFile, from: ReadFrom, into: &mut Vec<u8>) -> io::Result<()> {
        if self.ranges.is_empty() {
            return Ok(());
        }
        let place = into.len();
        let whole = usize::try_from(self.end - self.start).map_err(io::Error::other)?;
        into.resize(place + whole, 0);
        match from {
            ReadFrom::Disk => file.read_into(self.start, &mut into[place..])?,
            ReadFrom::Memory => file.read_cached(self.start, &mut into[place..])?,
        }
        // Drops the bytes between the ranges.
        let mut kept = place;
        for (offset, len) in self.ranges.drain(..) {
            let start = place + usize::try_from(offset - self.start).map_err(io::Error::other)?;
            into.copy_within(start..start + len, kept);
            kept += len;
        }
        into.truncate(kept);
        Ok(())
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
        // While a run is read, the buffer also holds the bytes between its ranges.
        let between = RUN.min(GAP * places.clone().count() as u64);
        let room = on_disk.sum::<usize>() + usize::try_from(between).map_err(io::Error::other)?;
        let mut gathered = BatchRead {
            bytes: Vec::with_capacity(room),
            ranges: Vec::with_capacity(places.size_hint().0),
        };
        let mut run = Run::default();
        let mut disk_len = 0;
        for at in places {
            gathered.ranges.push(match at {
                ByteLocation::Memory { line, range } => BatchRange::Memory(&line[range.clone()]),
                ByteLocation::Disk { offset, len } => {
                    if !run.takes(*offset, *len) {
                        run.read(self, from, &mut gathered.bytes)?;
                    }
                    run.add(*offset, *len);
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
