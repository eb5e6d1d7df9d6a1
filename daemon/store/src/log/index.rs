//! Where each record of a log stands: 16 bytes a record, and the lines that are not on disk yet.
//!
//! No I/O. Owned by a session; filled by `LogFile::open`, then by every record that is appended.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use proto::Seq;

use crate::format::{Line, RawRecord};

/// Whose message a fragment belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Tag {
    User,
    Assistant,
    Tool,
}

impl Tag {
    /// The tag of the kinds that are messages.
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

/// Where bytes of the log are to be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// Not yet on disk: this part of a line in memory.
    Memory {
        line: Arc<[u8]>,
        range: Range<usize>,
    },
    /// On disk, for `LogFile::read_at`.
    Disk { offset: u64, len: usize },
}

impl Where {
    /// How many bytes there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Memory { range, .. } => range.len(),
            Self::Disk { len, .. } => *len,
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// One record. `fragment_len` is 0 where there is no message fragment. A record begins where the one before ends.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// With the newline.
    len: u32,
    fragment_start: u32,
    fragment_len: u32,
    tag: Option<Tag>,
}

/// A long session has many records in memory.
const _: () = assert!(size_of::<Slot>() == 16);

/// Of so many records one has its offset kept; those of the others are counted from there.
const STRIDE: usize = 64;

/// All records of a log, in order, from `seq` 1.
#[derive(Debug, Default)]
pub struct Index {
    slots: Vec<Slot>,
    /// Where every `STRIDE`th of them begins.
    offsets: Vec<u64>,
    /// Where the last one ends.
    end: u64,
    /// The lines of the last records, of those that are not durable.
    pending: VecDeque<Arc<[u8]>>,
}

impl Index {
    /// The index of an empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in the next record, which is not on disk yet. `tag` is given for messages, and counts
    /// only where the line has a fragment.
    ///
    /// # Panics
    /// The line's `seq` is not `last() + 1`, or it is longer than 4 GiB: bugs of the caller.
    pub fn push(&mut self, line: &Line, tag: Option<Tag>) -> Seq {
        assert_eq!(
            line.seq,
            self.last().next(),
            "a record must follow on the one before"
        );
        self.add(line.bytes.len(), line.fragment.clone(), tag);
        self.pending.push_back(Arc::clone(&line.bytes));
        line.seq
    }

    /// Takes in the next record, as it was read from disk.
    pub(super) fn push_durable(&mut self, record: &RawRecord<'_>) {
        let len = record.line().len() + 1;
        self.add(len, record.fragment_range(), Tag::of_kind(&record.kind));
    }

    fn add(&mut self, len: usize, fragment: Option<Range<usize>>, tag: Option<Tag>) {
        // Lines that were read are below `LINE_MAX`; those that are pushed are promised to be.
        let short = |number: usize| u32::try_from(number).expect("a line is shorter than 4 GiB");
        let fragment = fragment.unwrap_or(0..0);
        if self.slots.len().is_multiple_of(STRIDE) {
            self.offsets.push(self.end);
        }
        self.end += len as u64;
        if self.slots.len() == self.slots.capacity() {
            // By an eighth, not by as much again: sessions are many, and most do nothing.
            self.slots.reserve_exact((self.slots.len() / 8).max(STRIDE));
        }
        self.slots.push(Slot {
            len: short(len),
            fragment_start: short(fragment.start),
            fragment_len: short(fragment.len()),
            tag: tag.filter(|_| !fragment.is_empty()),
        });
    }

    /// Everything up to `durable` is on disk: its lines need not be kept in memory.
    pub fn settle(&mut self, durable: Seq) {
        let settled = durable.0.min(self.last().0);
        let done = settled.saturating_sub(self.durable().0);
        // `done` cannot be more than what is pending.
        self.pending
            .drain(..usize::try_from(done).unwrap_or(usize::MAX));
    }

    /// The newest record; 0 where there is none.
    #[must_use]
    pub fn last(&self) -> Seq {
        Seq(self.slots.len() as u64)
    }

    /// The newest record that is known to be on disk.
    #[must_use]
    pub fn durable(&self) -> Seq {
        Seq((self.slots.len() - self.pending.len()) as u64)
    }

    /// Bytes of all lines together: the length of the file once everything is on disk.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The lines that are not durable, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &Arc<[u8]>> {
        self.pending.iter()
    }

    /// The line of a record, without its newline, as `format::decode` takes it.
    #[must_use]
    pub fn line(&self, seq: Seq) -> Option<Where> {
        let (slot, offset) = self.slot(seq)?;
        Some(self.part(seq, offset, 0..slot.len as usize - 1))
    }

    /// A part of a record's line. `None`: there is no such record, or its line is shorter.
    #[must_use]
    pub fn within(&self, seq: Seq, range: Range<usize>) -> Option<Where> {
        let (slot, offset) = self.slot(seq)?;
        (range.start <= range.end && range.end < slot.len as usize)
            .then(|| self.part(seq, offset, range))
    }

    /// The fragments of all messages from `first` to `last`, both included, in order.
    pub fn fragments(&self, first: Seq, last: Seq) -> impl Iterator<Item = (Seq, Tag, Where)> + '_ {
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
                Some((seq, slot.tag?, self.part(seq, offset, start..start + len)))
            })
    }

    /// A record, and where its line begins.
    fn slot(&self, seq: Seq) -> Option<(&Slot, u64)> {
        let place = usize::try_from(seq.0.checked_sub(1)?).ok()?;
        Some((self.slots.get(place)?, self.offset(place)))
    }

    /// Where the line at this place begins; right behind the last one: the end.
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

    /// No more room is held than it takes.
    pub(super) fn shrink(&mut self) {
        self.slots.shrink_to_fit();
        self.offsets.shrink_to_fit();
    }

    fn part(&self, seq: Seq, line_offset: u64, range: Range<usize>) -> Where {
        let pending = seq.0.checked_sub(self.durable().0 + 1);
        let line = pending.and_then(|place| self.pending.get(usize::try_from(place).ok()?));
        match line {
            Some(line) => Where::Memory {
                line: Arc::clone(line),
                range,
            },
            None => Where::Disk {
                offset: line_offset + range.start as u64,
                len: range.len(),
            },
        }
    }
}
