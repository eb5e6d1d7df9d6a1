//! Interrupted rewinds: the daemon died, or the log failed, while files were being restored. Their checkpoints contain
//! the state of each place before, and the intended state after. The two show for every place how far the rewinds came.
//!
//! The next rewind of files includes them: their changes count as its own, so undoing it restores the state before
//! them. An undo reverts all of them at once. Read-only. Blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proto::record::{CheckpointCreated, FileState};
use proto::{Body, Failure, Seq};
use serde::{Deserialize, Serialize};

use crate::content::Own;
use crate::past::unreadable;

/// What a rewind is about to do: stored in the `own` member of its checkpoint, next to the content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlannedRewind {
    /// The rewind that it undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Seq>,
    /// The intended state of each place.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub after: BTreeMap<String, FileState>,
}

#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    own: &'a Own,
    rewind: &'a PlannedRewind,
}

#[derive(Deserialize)]
struct OwnMember {
    #[serde(default)]
    rewind: PlannedRewind,
}

impl PlannedRewind {
    /// The complete `own` member.
    pub(crate) fn own_member(&self, own: &Own) -> String {
        let line = Line { own, rewind: self };
        serde_json::to_string(&line).unwrap_or_default()
    }

    /// Parses an `own` member. Older daemons did not write this part.
    pub fn parse(own: &str) -> Self {
        let read = serde_json::from_str::<OwnMember>(own);
        read.map(|of| of.rewind).unwrap_or_default()
    }
}

/// An interrupted rewind's intention at one place.
#[derive(Debug)]
struct Step {
    was: FileState,
    /// `None`: unknown.
    after: Option<FileState>,
    /// A call has changed the place since, so its current state says nothing about the rewind.
    since: bool,
}

impl Step {
    /// Whether the rewind may have left this state. While it replaces a directory by a file or back, the place is
    /// briefly empty.
    fn may_have_left(&self, state: &FileState) -> bool {
        let Some(after) = self.after.as_ref().filter(|_| !self.since) else {
            return false;
        };
        let directory = |state: &FileState| *state == FileState::Directory;
        let between = *state == FileState::Absent && directory(after) != directory(&self.was);
        between || after == state
    }
}

/// All interrupted rewinds that were neither finished nor undone, combined.
#[derive(Debug, Default)]
pub struct InterruptedRewinds {
    /// Newest first.
    places: BTreeMap<String, Vec<Step>>,
    /// The time spans in which they ran.
    spans: Vec<(SystemTime, SystemTime)>,
}

impl InterruptedRewinds {
    /// Reads the checkpoints of these records.
    ///
    /// # Errors
    /// The log cannot be read.
    pub fn read(dir: &Path, checkpoints: &[Seq]) -> Result<Self, Failure> {
        let mut broken = Self::default();
        if checkpoints.is_empty() {
            return Ok(broken);
        }
        let mut begun = None;
        let read = store::log::read(dir, &mut |raw| {
            let Ok(record) = raw.record() else { return };
            let at = UNIX_EPOCH + Duration::from_millis(u64::try_from(record.at.0).unwrap_or(0));
            if let Some(from) = begun.take() {
                broken.spans.push((from, at));
            }
            match record.body {
                Body::CheckpointCreated(checkpoint) if checkpoints.contains(&record.seq) => {
                    begun = Some(at);
                    let planned = raw.own.map(|own| PlannedRewind::parse(own.get()));
                    broken.take(checkpoint, planned.unwrap_or_default());
                }
                Body::ToolFinished(finished) => {
                    for changed in finished.changed {
                        let steps = broken.places.get_mut(&changed.path);
                        for step in steps.into_iter().flatten() {
                            step.since = true;
                        }
                    }
                }
                _ => {}
            }
        });
        read.map_err(|error| unreadable(&store::reason(&error)))?;
        Ok(broken)
    }

    fn take(&mut self, checkpoint: CheckpointCreated, mut planned: PlannedRewind) {
        for kept in checkpoint.files {
            let step = Step {
                was: kept.was,
                after: planned.after.remove(&kept.path),
                since: false,
            };
            self.places.entry(kept.path).or_default().insert(0, step);
        }
    }

    pub fn places(&self) -> impl Iterator<Item = &String> {
        self.places.keys()
    }

    /// The state of the place before all of them, derived from its current state. If none of them came that far, the
    /// current state itself.
    pub fn before(&self, place: &str, current: &FileState) -> FileState {
        let mut state = current;
        for step in self.places.get(place).into_iter().flatten() {
            if step.may_have_left(state) {
                state = &step.was;
            }
        }
        state.clone()
    }

    /// The state that the first of them found at the place.
    pub fn first(&self, place: &str) -> Option<&FileState> {
        let steps = self.places.get(place)?;
        steps.last().map(|step| &step.was)
    }

    /// Whether the current state is the one that they found.
    pub fn is_untouched(&self, place: &str, current: &FileState) -> bool {
        let newest = self.places.get(place).and_then(|steps| steps.first());
        let found = newest.filter(|step| !step.since).map(|step| &step.was);
        found == Some(current) || self.first(place) == Some(current)
    }

    /// Temporary files that the daemon was writing when it died, recognised by their names and modification times.
    pub fn temporary_files(&self) -> Vec<PathBuf> {
        let mut litter = Vec::new();
        let dirs = self.places().filter_map(|place| Path::new(place).parent());
        let dirs: BTreeSet<_> = dirs.collect();
        for dir in dirs {
            // A directory that is missing or unreadable has nothing to clean up.
            let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
            let ours = entries.filter(|entry| {
                let named = entry.file_name().to_str().is_some_and(is_temporary);
                let meta = named.then(|| entry.metadata().ok()).flatten();
                let written = meta.and_then(|meta| meta.modified().ok());
                written.is_some_and(|at| self.spans.iter().any(|span| within(at, *span)))
            });
            litter.extend(ours.map(|entry| entry.path()));
        }
        litter
    }
}

/// Timestamps of records are whole milliseconds, and those of files have the resolution of the system's clock tick.
fn within(at: SystemTime, (from, to): (SystemTime, SystemTime)) -> bool {
    let slack = Duration::from_millis(20);
    from <= at + slack && at <= to + slack
}

/// The names that `workspace` gives to files before it renames them into place.
fn is_temporary(name: &str) -> bool {
    let number = name.strip_prefix(".reasonix-");
    let number = number.and_then(|name| name.strip_suffix(".tmp"));
    number.is_some_and(|number| number.len() == 16 && number.bytes().all(|b| b.is_ascii_hexdigit()))
}
