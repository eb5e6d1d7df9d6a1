//! What happened while no user was there: a fold over the records after the last one that somebody has seen.
//!
//! Pure. The actor feeds it durable records; a load feeds it the log. Both come to the same summary.

use std::collections::VecDeque;

use proto::item::Display;
use proto::live::Away;
use proto::outcome::{OutcomeKind, UsageTotals};
use proto::{Body, Record, Seq, Stamp};
use serde::{Deserialize, Serialize};

/// Files that a summary names.
const FILES_MAX: usize = 100;

/// When the last person left, and the last record seen: the content of the sidecar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    pub since: Stamp,
    pub seq: Seq,
}

impl Left {
    /// Reads what the side file holds. An unreadable file counts as absent.
    pub fn read(content: &[u8]) -> Option<Self> {
        serde_json::from_slice(content).ok()
    }

    pub fn to_json(self) -> Vec<u8> {
        // Two numbers are always JSON.
        serde_json::to_vec(&self).unwrap_or_default()
    }
}

/// What a record adds to a summary.
#[derive(Clone, Debug, PartialEq)]
pub struct AwayEvent {
    seq: Seq,
    what: BitKind,
}

#[derive(Clone, Debug, PartialEq)]
enum BitKind {
    Ended(OutcomeKind),
    Changed(String),
    Ran,
    Used(UsageTotals),
}

impl AwayEvent {
    /// `None` for a record that a summary does not mention.
    pub fn of(record: &Record) -> Option<Self> {
        let what = match &record.body {
            Body::TurnEnded(ended) => BitKind::Ended(ended.outcome),
            Body::Usage(usage) => BitKind::Used(UsageTotals::of(usage)),
            Body::ToolFinished(finished) => match &finished.display {
                Display::Diff { path, .. } => BitKind::Changed(path.clone()),
                Display::Command { .. } => BitKind::Ran,
                Display::Line { .. } => return None,
            },
            _ => return None,
        };
        Some(Self {
            seq: record.seq,
            what,
        })
    }
}

/// What happened since somebody left.
#[derive(Clone, Debug, PartialEq)]
pub struct AwaySummary(Away);

impl AwaySummary {
    pub fn new(left: Left) -> Self {
        Self(Away {
            since: left.since,
            seq: left.seq,
            ..Away::default()
        })
    }

    /// Takes a bit in, unless it was seen before the person left.
    pub fn apply(&mut self, bit: &AwayEvent) {
        let away = &mut self.0;
        if bit.seq <= away.seq {
            return;
        }
        match &bit.what {
            BitKind::Ended(outcome) => {
                away.turns += 1;
                away.outcome = Some(*outcome);
            }
            BitKind::Changed(path) => {
                if away.files.len() < FILES_MAX && !away.files.contains(path) {
                    away.files.push(path.clone());
                }
            }
            BitKind::Ran => away.commands += 1,
            BitKind::Used(totals) => away.usage.add(totals),
        }
    }
}

/// Follows whether a person is there, and keeps the summary while none is.
#[derive(Clone, Debug, Default)]
pub struct Absence {
    /// `None`: a person is there, or there never was one.
    summary: Option<AwaySummary>,
    /// Of records that are not on disk yet: nobody has seen them.
    undurable: VecDeque<AwayEvent>,
}

impl Absence {
    /// As a load finds it.
    pub fn new(summary: Option<AwaySummary>) -> Self {
        Self {
            summary,
            undurable: VecDeque::new(),
        }
    }

    /// A record was appended.
    pub fn appended(&mut self, record: &Record) {
        self.undurable.extend(AwayEvent::of(record));
    }

    /// Everything up to `durable` is on disk.
    pub fn settled(&mut self, durable: Seq) {
        while let Some(bit) = self.undurable.pop_front_if(|bit| bit.seq <= durable) {
            if let Some(summary) = &mut self.summary {
                summary.apply(&bit);
            }
        }
    }

    /// The last person has left.
    pub fn left(&mut self, left: Left) {
        self.summary = Some(AwaySummary::new(left));
    }

    /// A person has come.
    pub fn returned(&mut self) {
        self.summary = None;
    }

    /// The summary for a user who comes now; `waits`: something waits for the user.
    pub fn send(&self, waits: bool) -> Option<Away> {
        let AwaySummary(away) = self.summary.as_ref()?;
        (away.turns > 0 || waits).then(|| away.clone())
    }
}
