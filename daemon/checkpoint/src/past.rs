//! The history of files according to the log: their states before turns changed them, and the last states that the
//! session left.
//!
//! Read-only. Blocks.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use proto::item::CallStatus;
use proto::record::{
    CheckpointCreated, ChildKind, FileState, RewoundResult, SessionRewound, ToolFinished,
};
use proto::{Body, CallId, ErrorName, Failure, Record, Seq};

use crate::content::{Own, TreeExtras};

/// The known history of a place.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaceHistory {
    pub was: EarlierState,
    /// The last state that the session left there; `None`: the log does not say.
    pub now: Option<FileState>,
}

/// The state of a place before the first of the turns that changed it.
#[derive(Clone, Debug, PartialEq)]
pub enum EarlierState {
    State(FileState),
    /// The state in the tree of this turn.
    Tree(u64),
}

/// The tree of a turn.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnTree {
    pub tree: String,
    pub(crate) beside: TreeExtras,
}

/// The history of all places.
#[derive(Debug, Default)]
pub struct FileHistory {
    pub places: BTreeMap<String, PlaceHistory>,
    pub trees: BTreeMap<u64, TurnTree>,
    turns: BTreeMap<u64, TurnChanges>,
    /// The last state that the session left, in any turn.
    left: HashMap<String, FileState>,
    /// Turns with a call that was cut off: its changes are unknown.
    pub cut_off: BTreeSet<u64>,
    /// Turns with commands.
    commands: BTreeSet<u64>,
    /// Calls that may change something.
    writers: BTreeSet<CallId>,
}

#[derive(Debug, Default)]
struct TurnChanges {
    files: BTreeSet<String>,
    notes: Vec<String>,
}

/// Reads the changes by these turns.
///
/// # Errors
/// The log cannot be read.
pub fn read(dir: &Path, turns: &BTreeSet<u64>) -> Result<FileHistory, Failure> {
    let mut past = FileHistory::default();
    if turns.is_empty() {
        return Ok(past);
    }
    let mut root = String::new();
    scan(dir, &mut |record, own| {
        if let Body::SessionCreated(created) = &record.body {
            root.clone_from(&created.root);
        }
        let turn = record.turn.filter(|turn| turns.contains(turn));
        past.take(record, own, turn, &root);
    })?;
    let FileHistory { places, left, .. } = &mut past;
    for (path, touched) in places {
        touched.now = left.get(path).cloned();
    }
    Ok(past)
}

/// Reads the changes by the rewind of this record, to undo them.
///
/// # Errors
/// The log cannot be read, or has no such record.
pub fn read_rewind(dir: &Path, rewind: Seq) -> Result<FileHistory, Failure> {
    let rewound = rewound_at(dir, rewind)?;
    let restored = rewound
        .files
        .into_iter()
        .filter(|file| file.result == RewoundResult::Restored || file.before != file.after);
    let places = restored.map(|file| {
        let touched = PlaceHistory {
            was: EarlierState::State(file.before),
            now: Some(file.after),
        };
        (file.path, touched)
    });
    Ok(FileHistory {
        places: places.collect(),
        ..FileHistory::default()
    })
}

/// The rewind of this record.
///
/// # Errors
/// The log cannot be read, or has no such record.
pub fn rewound_at(dir: &Path, seq: Seq) -> Result<SessionRewound, Failure> {
    let mut found = None;
    scan(dir, &mut |record, _| {
        if let Body::SessionRewound(rewound) = record.body
            && record.seq == seq
        {
            found = Some(rewound);
        }
    })?;
    found.ok_or_else(|| unreadable(&format!("record {seq} is not a rewind")))
}

fn scan(dir: &Path, take: &mut dyn FnMut(Record, Option<Own>)) -> Result<(), Failure> {
    let read = store::log::read(dir, &mut |raw| {
        let matters = matches!(
            raw.kind.as_ref(),
            "session.created"
                | "checkpoint.created"
                | "tool.started"
                | "tool.finished"
                | "session.rewound"
                | "child.spawned"
        );
        if !matters {
            return;
        }
        if let Ok(record) = raw.record() {
            let checkpoint = matches!(record.body, Body::CheckpointCreated(_));
            let own = raw.own.filter(|_| checkpoint);
            let own = own.and_then(|own| serde_json::from_str(own.get()).ok());
            take(record, own);
        }
    });
    read.map(drop)
        .map_err(|error| unreadable(&store::reason(&error)))
}

pub fn unreadable(why: &str) -> Failure {
    Failure::new(
        ErrorName::Storage,
        format!("The log of the session cannot be read: {why}"),
        "Run `reasonix doctor` to check the store.",
    )
}

impl FileHistory {
    /// Files that a turn has changed, as far as known.
    pub fn files_of(&self, turn: u64) -> impl Iterator<Item = &String> {
        self.turns.get(&turn).into_iter().flat_map(|of| &of.files)
    }

    /// Notes about changes of a turn that no checkpoint contains.
    pub fn notes_of(&self, turn: u64) -> Vec<String> {
        let of = self.turns.get(&turn);
        of.map(|of| of.notes.clone()).unwrap_or_default()
    }

    /// Notes about changes that no checkpoint contains, with their turns.
    pub fn notes(&self) -> Vec<String> {
        let all = self.turns.iter().flat_map(|(turn, of)| {
            let notes = of.notes.iter();
            notes.map(move |note| format!("Turn {turn}: {note}"))
        });
        all.collect()
    }

    fn note(&mut self, turn: u64, text: String) {
        let notes = &mut self.turns.entry(turn).or_default().notes;
        if !notes.contains(&text) {
            notes.push(text);
        }
    }

    fn take(&mut self, record: Record, own: Option<Own>, turn: Option<u64>, root: &str) {
        match record.body {
            Body::CheckpointCreated(checkpoint) => {
                if let Some(turn) = turn {
                    self.take_checkpoint(turn, checkpoint, own);
                }
            }
            Body::ToolStarted(started) if !started.read_only => {
                self.writers.insert(started.call);
            }
            Body::ToolFinished(finished) => self.take_finished(turn, finished, root),
            Body::ChildSpawned(child) if child.kind == ChildKind::Shell => {
                if let Some(turn) = turn {
                    self.note(turn, format!(
                        "Changes that the background command (`{}`) made after its call are unknown.",
                        contract::first_line(&child.command)
                    ));
                }
            }
            Body::SessionRewound(rewound) => {
                for file in rewound.files {
                    // An interrupted rewind may have changed a file that this one then left unchanged.
                    let same = file.result == RewoundResult::Same;
                    if same || file.result == RewoundResult::Restored || file.before != file.after {
                        self.left.insert(file.path, file.after);
                    }
                }
            }
            _ => {}
        }
    }

    fn take_checkpoint(&mut self, turn: u64, checkpoint: CheckpointCreated, own: Option<Own>) {
        for kept in checkpoint.files {
            self.places.entry(kept.path).or_insert(PlaceHistory {
                was: EarlierState::State(kept.was),
                now: None,
            });
        }
        if checkpoint.tree.is_some() || checkpoint.skipped.is_some() {
            self.commands.insert(turn);
        }
        if let Some(tree) = checkpoint.tree {
            let beside = own.and_then(|own| own.tree).unwrap_or_default();
            self.trees.entry(turn).or_insert(TurnTree { tree, beside });
        }
        if let Some(why) = checkpoint.skipped {
            self.note(turn, why);
        }
    }

    fn take_finished(&mut self, turn: Option<u64>, finished: ToolFinished, root: &str) {
        let writes = self.writers.contains(&finished.call);
        if let Some(turn) = turn
            && writes
            && finished.status == CallStatus::Unknown
        {
            self.cut_off.insert(turn);
            self.note(
                turn,
                format!(
                    "A call of `{}` was interrupted; its changes are unknown.",
                    finished.tool
                ),
            );
        }
        for changed in finished.changed {
            if changed.path == root
                && let FileState::Unknown { why } = &changed.now
            {
                // A note about no single place: more changes than can be reported.
                if let Some(turn) = turn {
                    let note = format!("Call of `{}`: {why}.", finished.tool);
                    self.note(turn, note);
                }
                continue;
            }
            if let Some(turn) = turn {
                if changed.now != FileState::Directory {
                    let of = self.turns.entry(turn).or_default();
                    of.files.insert(changed.path.clone());
                }
                if !self.places.contains_key(&changed.path) {
                    let was = self.was_of(turn, &changed.path);
                    let touched = PlaceHistory { was, now: None };
                    self.places.insert(changed.path.clone(), touched);
                }
            }
            self.left.insert(changed.path, changed.now);
        }
    }

    /// The earlier state of a place that was not recorded by its name before it changed.
    fn was_of(&self, turn: u64, path: &str) -> EarlierState {
        let above = Path::new(path).ancestors().skip(1);
        let above = above
            .filter_map(|above| above.to_str())
            .find_map(|above| self.places.get(above));
        match above.map(|touched| &touched.was) {
            // A missing place, or one that is not a directory, had nothing below it.
            Some(EarlierState::State(
                FileState::Absent | FileState::File { .. } | FileState::Link { .. },
            )) => EarlierState::State(FileState::Absent),
            // A tool saved all contents of the directory; the effect of commands there is only known from a tree.
            Some(EarlierState::State(FileState::Directory)) if !self.commands.contains(&turn) => {
                EarlierState::State(FileState::Absent)
            }
            // The tree of the directory also has the state of a place below it.
            Some(EarlierState::Tree(first)) => EarlierState::Tree(*first),
            Some(EarlierState::State(FileState::Directory | FileState::Unknown { .. })) | None => {
                EarlierState::Tree(turn)
            }
        }
    }
}
