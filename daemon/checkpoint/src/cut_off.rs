//! Rewinds that broke off: the daemon died, or the log failed, while files were put back. Their checkpoints say what stood
//! at each place before, and beside that what each was to become: with both it is known of every place how far they came.
//!
//! The next rewind of files takes them in: what they did counts as done by it, so that its undoing brings back what stood
//! before them. An undoing takes back all of them at once. Only reads. Blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use proto::record::{CheckpointCreated, FileState};
use proto::{Body, Failure, Seq};
use serde::{Deserialize, Serialize};

use crate::content::Own;
use crate::past::unreadable;

/// What a rewind is about to do: in `own` of its checkpoint, beside the content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PlannedRewind {
    /// The rewind that it takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Seq>,
    /// What the places are to become.
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
struct OfRewind {
    #[serde(default)]
    rewind: PlannedRewind,
}

impl PlannedRewind {
    /// The whole `own` member.
    pub(crate) fn beside(&self, own: &Own) -> String {
        let line = Line { own, rewind: self };
        serde_json::to_string(&line).unwrap_or_default()
    }

    /// What an `own` member says. Older daemons wrote nothing of it.
    pub fn of(own: &str) -> Self {
        let read = serde_json::from_str::<OfRewind>(own);
        read.map(|of| of.rewind).unwrap_or_default()
    }
}

/// What one of them meant to do at a place.
#[derive(Debug)]
struct Step {
    was: FileState,
    /// `None`: it is not known.
    after: Option<FileState>,
    /// A call has changed the place since: what stands there says nothing of the rewind.
    since: bool,
}

impl Step {
    /// Whether it may have left this there. Between a directory and something else there is a moment with nothing.
    fn left(&self, state: &FileState) -> bool {
        let Some(after) = self.after.as_ref().filter(|_| !self.since) else {
            return false;
        };
        let directory = |state: &FileState| *state == FileState::Directory;
        let between = *state == FileState::Absent && directory(after) != directory(&self.was);
        between || after == state
    }
}

/// All that broke off and was neither finished nor taken back, as one.
#[derive(Debug, Default)]
pub struct Broken {
    /// Newest first.
    places: BTreeMap<String, Vec<Step>>,
    /// When they were at work.
    spans: Vec<(SystemTime, SystemTime)>,
}

impl Broken {
    /// What the checkpoints of these records say.
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
                    let planned = raw.own.map(|own| PlannedRewind::of(own.get()));
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

    /// What stood at the place before all of them, by what stands there now: the same where none came that far.
    pub fn before(&self, place: &str, stands: &FileState) -> FileState {
        let mut state = stands;
        for step in self.places.get(place).into_iter().flatten() {
            if step.left(state) {
                state = &step.was;
            }
        }
        state.clone()
    }

    /// What the first of them found there.
    pub fn first(&self, place: &str) -> Option<&FileState> {
        let steps = self.places.get(place)?;
        steps.last().map(|step| &step.was)
    }

    /// Whether what stands there is what they found.
    pub fn is_untouched(&self, place: &str, stands: &FileState) -> bool {
        let newest = self.places.get(place).and_then(|steps| steps.first());
        let found = newest.filter(|step| !step.since).map(|step| &step.was);
        found == Some(stands) || self.first(place) == Some(stands)
    }

    /// Files that the daemon was writing when it died, beside their places: by name, and by when they were written.
    pub fn litter(&self) -> Vec<PathBuf> {
        let mut litter = Vec::new();
        let dirs = self.places().filter_map(|place| Path::new(place).parent());
        let dirs: BTreeSet<_> = dirs.collect();
        for dir in dirs {
            // What is not there, or cannot be read, has nothing to be cleared.
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

/// Stamps of records are whole milliseconds, and those of files are as coarse as the system's tick.
fn within(at: SystemTime, (from, to): (SystemTime, SystemTime)) -> bool {
    let slack = Duration::from_millis(20);
    from <= at + slack && at <= to + slack
}

/// As `workspace` names what it writes before it takes its place.
fn is_temporary(name: &str) -> bool {
    let number = name.strip_prefix(".reasonix-");
    let number = number.and_then(|name| name.strip_suffix(".tmp"));
    number.is_some_and(|number| number.len() == 16 && number.bytes().all(|b| b.is_ascii_hexdigit()))
}
