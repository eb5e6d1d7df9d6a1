//! Something to read on the whole screen: the transcript, help, changes.

use std::cell::RefCell;
use std::collections::HashSet;

use proto::Seq;

use crate::model::line::Input;
use crate::model::transcript::Transcript;
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
    pub search: Search,
    pub earlier: Earlier,
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
    pub told: Told,
}

/// What the last search has to tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Told {
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
    /// Pieces, oldest first.
    pub pieces: Vec<Transcript>,
    /// The first record of the oldest piece; `None`: nothing was read back.
    pub first: Option<Seq>,
    /// More was asked for.
    pub asked: bool,
    /// There is no more, or it cannot be read.
    pub ended: bool,
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
            search: Search::default(),
            earlier: Earlier::default(),
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
