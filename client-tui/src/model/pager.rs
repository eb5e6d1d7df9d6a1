//! Something to read on the whole screen: the transcript, help, changes.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};

use client::DecodedEvent;
use client::form::ShownInteraction;
use proto::{Body, CallId, Seq};

use crate::model::line::Input;
use crate::model::transcript::{Entry, EntryKind, Transcript};
use crate::render::sheet::Sheet;

/// A part of what is read: generation and id of an entry of the transcript, or 0 and a place.
pub type PartId = (u64, u64);

/// What is read, and where.
#[derive(Debug)]
pub struct Pager {
    pub what: Reading,
    pub at: At,
    /// The part that a key would open.
    pub selected: Option<PartId>,
    /// Whether parts are open, but for those that were turned over one by one.
    pub open: bool,
    pub turned: HashSet<PartId>,
    /// As it was written, in place of drawn.
    pub raw: bool,
    /// The question whose whole text this is.
    pub judged: Option<ShownInteraction>,
    /// The end was on the screen.
    pub is_read: bool,
    pub search: Search,
    pub earlier: Earlier,
    pub outputs: Outputs,
    /// What was measured and made of it so far: nothing but a cache.
    pub sheet: Box<RefCell<Sheet>>,
}

/// What is read.
#[derive(Debug)]
pub enum Reading {
    /// The transcript, each part to be opened.
    Transcript,
    /// Keys and commands.
    Help,
    /// Lines that were made before.
    Lines { title: String, lines: Vec<String> },
    /// Unified diffs, one a file: path and diff.
    Diff {
        title: String,
        diffs: Vec<(String, String)>,
    },
}

/// Where the screen stands in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The first row of the screen: a row of a part.
    Row { part: usize, row: usize },
    /// At the end, also when more comes.
    End,
}

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// What is being written; `None`: nothing is.
    pub typing: Option<Input>,
    /// Empty: nothing was looked for.
    pub query: String,
    /// Where it was found last.
    pub found: Option<(PartId, usize)>,
    pub notice: SearchNotice,
}

/// What is said about the last search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchNotice {
    #[default]
    Nothing,
    /// It is nowhere.
    Missing,
    /// It was found only behind the end, or before the beginning.
    Wrapped,
}

/// What was read back of the time before the transcript.
#[derive(Debug, Default)]
pub struct Earlier {
    /// The generation of the transcript that it stands before: another one has another beginning.
    pub generation: u64,
    /// All of it, oldest first. Ids are made of the records: they stay whatever is read yet.
    pub entries: VecDeque<Entry>,
    /// The oldest records up to the beginning of a turn: what comes before them belongs to the same turn, so they are
    /// taken again together with it.
    pub head: Vec<DecodedEvent>,
    /// Entries that were made of them.
    pub of_head: usize,
    /// Calls of the transcript that began before it, as they are now that their beginning is known; by entry.
    pub lent: HashMap<u64, Entry>,
    /// The oldest record; `None`: nothing was read back.
    pub first: Option<Seq>,
    /// More was asked for.
    pub asked: bool,
    /// There is no more, or it cannot be read.
    pub ended: bool,
}

/// Long outputs of which the events hold the end alone: read while the transcript is, one after the other, the newest
/// first.
#[derive(Debug, Default)]
pub struct Outputs {
    /// One was asked for.
    pub asked: bool,
    /// Those that were asked for, whatever came of it.
    pub known: HashSet<CallId>,
    /// Bytes of those.
    pub bytes: u64,
}

impl Earlier {
    /// The generation of its entries. Counted from above: the transcript itself counts from below.
    pub const GENERATION: u64 = u64::MAX;

    /// Takes what was just before it. A turn that is cut by the two is one again.
    pub fn take(&mut self, mut records: Vec<DecodedEvent>, transcript: &Transcript) {
        let Some(first) = records.iter().find_map(|event| event.seq) else {
            return;
        };
        self.first = Some(first);
        let mut rest = std::mem::take(&mut self.head);
        self.entries.drain(..self.of_head.min(self.entries.len()));
        // The record of its beginning ends all that was before.
        let begins = |event: &DecodedEvent| matches!(event.body(), Some(Body::TurnStarted(_)));
        let turn = rest.iter().position(begins).map_or(rest.len(), |at| at + 1);
        let behind = rest.split_off(turn);
        records.append(&mut rest);
        let _ = self.put(&behind, transcript);
        self.of_head = self.put(&records, transcript);
        self.head = records;
    }

    /// Puts entries of records before all others; how many.
    fn put(&mut self, records: &[DecodedEvent], transcript: &Transcript) -> usize {
        let mut folded = Transcript::default();
        for event in records {
            folded.fold(event);
        }
        let mut entries = folded.entries;
        entries.retain(|entry| !self.lends(entry, transcript));
        let mut seq = None;
        let mut nth = 0;
        for entry in &mut entries {
            nth = if entry.seq == seq { nth + 1 } else { 0 };
            seq = entry.seq;
            entry.id = seq.unwrap_or_default().0 << 16 | nth;
        }
        let count = entries.len();
        for entry in entries.into_iter().rev() {
            self.entries.push_front(entry);
        }
        count
    }

    /// Whether it is a call that the transcript has too, as it ended there: then it is shown there alone.
    fn lends(&mut self, entry: &Entry, transcript: &Transcript) -> bool {
        let EntryKind::Tool(began) = &entry.kind else {
            return false;
        };
        if began.outcome.is_some() {
            return false;
        }
        let same = transcript
            .entries
            .iter()
            .find_map(|entry| match &entry.kind {
                EntryKind::Tool(tool) if tool.call == began.call => Some((entry, tool)),
                _ => None,
            });
        let Some((shown, tool)) = same else {
            return false;
        };
        let mut tool = tool.clone();
        tool.tool.clone_from(&began.tool);
        tool.subject.clone_from(&began.subject);
        let lent = Entry {
            id: shown.id,
            seq: shown.seq,
            turn: shown.turn,
            kind: EntryKind::Tool(tool),
        };
        if shown.settled() {
            self.lent.insert(shown.id, lent);
        }
        true
    }
}

impl Pager {
    /// Opened: the transcript at its end, everything else at its beginning.
    #[must_use]
    pub fn new(what: Reading) -> Self {
        let at = match what {
            Reading::Transcript => At::End,
            Reading::Help | Reading::Lines { .. } | Reading::Diff { .. } => {
                At::Row { part: 0, row: 0 }
            }
        };
        Self {
            at,
            open: matches!(what, Reading::Diff { .. }),
            what,
            selected: None,
            turned: HashSet::new(),
            raw: false,
            judged: None,
            is_read: false,
            search: Search::default(),
            earlier: Earlier::default(),
            outputs: Outputs::default(),
            sheet: Box::default(),
        }
    }

    /// Whether a part shows all that it holds.
    #[must_use]
    pub fn is_open(&self, part: PartId) -> bool {
        self.open != self.turned.contains(&part)
    }

    /// Opens or folds a part.
    pub fn turn(&mut self, part: PartId) {
        if !self.turned.remove(&part) {
            self.turned.insert(part);
        }
    }
}
