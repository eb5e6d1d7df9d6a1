//! How long the open turn has run, on the monotonic clock: the wall clock may jump meanwhile, and a sleep of the machine
//! is no time of a turn.
//!
//! Looked at before and after every step. What ran in an earlier life of the daemon is known from the log alone.

use crate::facts::{Facts, OpenTurn};
use crate::input::Now;

/// The time of the open turn. Stands still in a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stopwatch {
    turn: Option<u64>,
    /// What it had run when it last began to run.
    ran_ms: u64,
    /// When it last began to run; `None` while it stands still.
    since_ms: Option<u64>,
}

impl Stopwatch {
    /// Takes in what the session does now.
    pub fn follow(&mut self, facts: &Facts, now: Now) {
        let now_ms = now.mono_ms;
        let Some(open) = &facts.open else {
            *self = Self::default();
            return;
        };
        let runs_since = (!facts.paused).then_some(now_ms);
        if self.turn != Some(open.number) {
            *self = Self {
                turn: Some(open.number),
                ran_ms: open.logged_until(now.wall, facts.paused),
                since_ms: runs_since,
            };
        } else if self.since_ms.is_some() == facts.paused {
            self.ran_ms = self.ran(open, now_ms);
            self.since_ms = runs_since;
        }
    }

    /// How long a turn has run at this moment, in milliseconds.
    pub fn ran(&self, open: &OpenTurn, now_ms: u64) -> u64 {
        if self.turn != Some(open.number) {
            return open.logged_ms;
        }
        let since = self.since_ms.map_or(0, |at| now_ms.saturating_sub(at));
        self.ran_ms.saturating_add(since)
    }
}
