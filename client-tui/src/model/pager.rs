//! The full-screen pager: the transcript, help, changes.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet, VecDeque};

use client::DecodedEvent;
use client::form::ShownInteraction;
use proto::{Body, CallId, Seq};

use crate::model::line::Input;
use crate::model::transcript::{Entry, EntryKind, Transcript};
use crate::render::sheet::Sheet;

/// Identifies a part of the document: generation and id of a transcript entry, or 0 and an index.
pub type PartId = (u64, u64);

/// The open document and the position in it.
#[derive(Debug)]
pub struct Pager {
    pub what: PagerContent,
    pub at: At,
    /// The part that a key would open.
    pub selected: Option<PartId>,
    /// Whether parts are open, except those toggled one by one.
    pub open: bool,
    pub turned: HashSet<PartId>,
    /// Show the source text instead of rendered Markdown.
    pub raw: bool,
    /// The question whose full text is shown.
    pub judged: Option<ShownInteraction>,
    /// The end was on the screen.
    pub is_read: bool,
    pub search: Search,
    pub earlier: Earlier,
    pub outputs: Outputs,
    /// Cached heights and rows.
    pub sheet: Box<RefCell<Sheet>>,
}

/// The document in the pager.
#[derive(Debug)]
pub enum PagerContent {
    /// The transcript, whose parts can be opened.
    Transcript,
    /// Keys and commands.
    Help,
    /// Ready-made lines.
    Lines { title: String, lines: Vec<String> },
    /// Unified diffs, one a file: path and diff.
    Diff {
        title: String,
        diffs: Vec<(String, String)>,
    },
}

/// The position of the screen in the document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The first row of the screen: a row of a part.
    Row { part: usize, row: usize },
    /// At the end, even when more arrives.
    End,
}

/// The search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Search {
    /// The query being typed, if any.
    pub typing: Option<Input>,
    /// Empty: no search yet.
    pub query: String,
    /// The newest match.
    pub found: Option<(PartId, usize)>,
    pub notice: SearchNotice,
}

/// The outcome of the last search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchNotice {
    #[default]
    Nothing,
    /// There are no matches.
    Missing,
    /// Found only by wrapping around the end or the beginning.
    Wrapped,
}

/// Entries from before the transcript, loaded on demand.
#[derive(Debug, Default)]
pub struct Earlier {
    /// The generation of the transcript that it precedes: another one has another beginning.
    pub generation: u64,
    /// All earlier entries, oldest first. Ids come from the records, so they do not change as more is read.
    pub entries: VecDeque<Entry>,
    /// The oldest records up to the beginning of a turn: earlier records belong to the same turn, so these are
    /// processed again together with them.
    pub head: Vec<DecodedEvent>,
    /// Number of entries made from them.
    pub of_head: usize,
    /// Calls of the transcript that began before it, as they are now that their beginning is known; by entry.
    pub lent: HashMap<u64, Entry>,
    /// The oldest record; `None`: nothing was loaded.
    pub first: Option<Seq>,
    /// More was requested.
    pub asked: bool,
    /// There are no earlier records, or they cannot be read.
    pub ended: bool,
}

/// Long outputs of which the events hold the end alone: read while the transcript is, one after the other, the newest
/// first.
#[derive(Debug, Default)]
pub struct Outputs {
    /// One was requested.
    pub asked: bool,
    /// All calls requested so far, whatever the outcome.
    pub known: HashSet<CallId>,
    /// Total bytes of their outputs.
    pub bytes: u64,
}

impl Earlier {
    /// The generation of its entries. Counted from above: the transcript itself counts from below.
    pub const GENERATION: u64 = u64::MAX;

    /// Takes the records just before it. A turn that was split between the two is joined.
    pub fn take(&mut self, mut records: Vec<DecodedEvent>, transcript: &Transcript) {
        let Some(first) = records.iter().find_map(|event| event.seq) else {
            return;
        };
        self.first = Some(first);
        let mut rest = std::mem::take(&mut self.head);
        self.entries.drain(..self.of_head.min(self.entries.len()));
        // The record of its start ends everything before it.
        let begins = |event: &DecodedEvent| matches!(event.body(), Some(Body::TurnStarted(_)));
        let turn = rest.iter().position(begins).map_or(rest.len(), |at| at + 1);
        let newer = rest.split_off(turn);
        records.append(&mut rest);
        let _ = self.put(&newer, transcript);
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
    /// Opens the pager: a transcript at its end, anything else at its beginning.
    #[must_use]
    pub fn new(what: PagerContent) -> Self {
        let at = match what {
            PagerContent::Transcript => At::End,
            PagerContent::Help | PagerContent::Lines { .. } | PagerContent::Diff { .. } => {
                At::Row { part: 0, row: 0 }
            }
        };
        Self {
            at,
            open: matches!(what, PagerContent::Diff { .. }),
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

    /// Whether a part is unfolded.
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
