//! Positions of all records of a log, at 16 bytes per record, and the lines that are not on disk
//! yet.
//!
//! No I/O. Owned by a session. Filled by `LogFile::open`, then by every appended record.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use proto::Seq;

use crate::format::{LogLine, RawRecord};

/// The role of the message that a fragment belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum MessageRole {
    User,
    Assistant,
    Tool,
}

impl MessageRole {
    /// The role of a record kind, if it is a message.
    #[must_use]
    pub fn of_kind(kind: &str) -> Option<Self> {
        match kind {
            "message.user" => Some(Self::User),
            "message.assistant" => Some(Self::Assistant),
            "message.tool" => Some(Self::Tool),
            _ => None,
        }
    }
}

/// Where bytes of the log are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ByteLocation {
    /// Not on disk yet: a part of a line in memory.
    Memory {
        line: Arc<[u8]>,
        range: Range<usize>,
    },
    /// On disk, for `LogFile::read_at`.
    Disk { offset: u64, len: usize },
}

impl ByteLocation {
    /// The number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Memory { range, .. } => range.len(),
            Self::Disk { len, .. } => *len,
        }
    }

    /// Whether there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One record. `fragment_len` is 0 if it has no message fragment. A record begins where the
/// previous one ends.
#[derive(Clone, Copy, Debug)]
struct RecordSlot {
    /// Includes the newline.
    len: u32,
    fragment_start: u32,
    fragment_len: u32,
    role: Option<MessageRole>,
}

/// Long sessions keep many of these in memory.
const _: () = assert!(size_of::<RecordSlot>() == 16);

/// Every `STRIDE`th record has its offset stored. The others are computed from there.
const STRIDE: usize = 64;

/// All records of a log, in order, from `seq` 1.
#[derive(Debug, Default)]
pub struct LogIndex {
    slots: Vec<RecordSlot>,
    /// Offset of every `STRIDE`th record.
    offsets: Vec<u64>,
    /// End of the last record.
    end: u64,
    /// Lines of the last records: those that are not durable.
    pending: VecDeque<Arc<[u8]>>,
}

impl LogIndex {
    /// The index of an empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next record, which is not on disk yet. `role` is given for messages, and ignored if
    /// the line has no fragment.
    ///
    /// # Panics
    /// The line's `seq` is not `last() + 1`, or it is longer than 4 GiB: bugs of the caller.
    pub fn push(&mut self, line: &LogLine, role: Option<MessageRole>) -> Seq {
        assert_eq!(line.seq, self.last().next(), "records must be consecutive");
        self.add(line.bytes.len(), line.fragment.clone(), role);
        self.pending.push_back(Arc::clone(&line.bytes));
        line.seq
    }

    /// Adds the next record, as read from disk.
    pub(super) fn push_durable(&mut self, record: &RawRecord<'_>) {
        let len = record.line().len() + 1;
        self.add(
            len,
            record.fragment_range(),
            MessageRole::of_kind(&record.kind),
        );
    }

    fn add(&mut self, len: usize, fragment: Option<Range<usize>>, role: Option<MessageRole>) {
        // Lines from disk are shorter than `LINE_MAX`. Callers of `push` guarantee the same.
        let short = |number: usize| u32::try_from(number).expect("a line is shorter than 4 GiB");
        let fragment = fragment.unwrap_or(0..0);
        if self.slots.len().is_multiple_of(STRIDE) {
            self.offsets.push(self.end);
        }
        self.end += len as u64;
        if self.slots.len() == self.slots.capacity() {
            // Grows by an eighth instead of doubling: there are many sessions, and most are idle.
            self.slots.reserve_exact((self.slots.len() / 8).max(STRIDE));
        }
        self.slots.push(RecordSlot {
            len: short(len),
            fragment_start: short(fragment.start),
            fragment_len: short(fragment.len()),
            role: role.filter(|_| !fragment.is_empty()),
        });
    }

    /// Marks everything up to `durable` as on disk and drops its lines from memory.
    pub fn mark_durable(&mut self, durable: Seq) {
        let settled = durable.0.min(self.last().0);
        let done = settled.saturating_sub(self.durable().0);
        // `done` cannot exceed the pending lines.
        self.pending
            .drain(..usize::try_from(done).unwrap_or(usize::MAX));
    }

    /// The newest record, or 0 if there is none.
    #[must_use]
    pub fn last(&self) -> Seq {
        Seq(self.slots.len() as u64)
    }

    /// The newest record that is known to be on disk.
    #[must_use]
    pub fn durable(&self) -> Seq {
        Seq((self.slots.len() - self.pending.len()) as u64)
    }

    /// Total bytes of all lines: the length of the file once everything is on disk.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The lines that are not durable, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &Arc<[u8]>> {
        self.pending.iter()
    }

    /// The line of a record without its newline, as `format::decode` expects it.
    #[must_use]
    pub fn line(&self, seq: Seq) -> Option<ByteLocation> {
        let (slot, offset) = self.slot(seq)?;
        Some(self.range_location(seq, offset, 0..slot.len as usize - 1))
    }

    /// A range of a record's line. `None` if there is no such record, or its line is shorter.
    #[must_use]
    pub fn line_range(&self, seq: Seq, range: Range<usize>) -> Option<ByteLocation> {
        let (slot, offset) = self.slot(seq)?;
        (range.start <= range.end && range.end < slot.len as usize)
            .then(|| self.range_location(seq, offset, range))
    }

    /// The fragments of all messages from `first` to `last`, both included, in order.
    pub fn fragments(
        &self,
        first: Seq,
        last: Seq,
    ) -> impl Iterator<Item = (Seq, MessageRole, ByteLocation)> + '_ {
        let place = |seq: u64| usize::try_from(seq).unwrap_or(usize::MAX);
        let before = place(first.0.saturating_sub(1));
        let slots = self.slots.iter().take(place(last.0)).skip(before);
        let mut end = self.offset(before);
        slots
            .zip(first.0.max(1)..)
            .filter_map(move |(slot, number)| {
                let offset = end;
                end += u64::from(slot.len);
                let (start, len) = (slot.fragment_start as usize, slot.fragment_len as usize);
                let seq = Seq(number);
                Some((
                    seq,
                    slot.role?,
                    self.range_location(seq, offset, start..start + len),
                ))
            })
    }

    /// A record and the offset of its line.
    fn slot(&self, seq: Seq) -> Option<(&RecordSlot, u64)> {
        let place = usize::try_from(seq.0.checked_sub(1)?).ok()?;
        Some((self.slots.get(place)?, self.offset(place)))
    }

    /// The offset of the record at this position, or the end after the last one.
    fn offset(&self, place: usize) -> u64 {
        let Some(offset) = self.offsets.get(place / STRIDE) else {
            return self.end;
        };
        let from = place - place % STRIDE;
        let between = self.slots.get(from..place).unwrap_or_default();
        between
            .iter()
            .fold(*offset, |end, slot| end + u64::from(slot.len))
    }

    /// Frees unused capacity.
    pub(super) fn shrink(&mut self) {
        self.slots.shrink_to_fit();
        self.offsets.shrink_to_fit();
    }

    fn range_location(&self, seq: Seq, line_offset: u64, range: Range<usize>) -> ByteLocation {
        let pending = seq.0.checked_sub(self.durable().0 + 1);
        let line = pending.and_then(|place| self.pending.get(usize::try_from(place).ok()?));
        match line {
            Some(line) => ByteLocation::Memory {
                line: Arc::clone(line),
                range,
            },
            None => ByteLocation::Disk {
                offset: line_offset + range.start as u64,
                len: range.len(),
            },
        }
    }
}
