//! Measures how long the open turn has run, on the monotonic clock: the wall clock may jump, and time that the machine
//! sleeps does not count.
//!
//! Updated before and after every step. The time spent in an earlier daemon process comes from the log.

use crate::facts::{Facts, OpenTurn};
use crate::input::Now;

/// The running time of the open turn. Stops in a pause.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Stopwatch {
    turn: Option<u64>,
    /// The running time when the stopwatch last started.
    ran_ms: u64,
    /// When the stopwatch last started; `None` while it is stopped.
    since_ms: Option<u64>,
}

impl Stopwatch {
    /// Starts or stops the stopwatch to match the session's turn and pause.
    pub fn update(&mut self, facts: &Facts, now: Now) {
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
            self.ran_ms = self.elapsed_ms(open, now_ms);
            self.since_ms = runs_since;
        }
    }

    /// How long a turn has run so far, in milliseconds.
    pub fn elapsed_ms(&self, open: &OpenTurn, now_ms: u64) -> u64 {
        if self.turn != Some(open.number) {
            return open.logged_ms;
        }
        let since = self.since_ms.map_or(0, |at| now_ms.saturating_sub(at));
        self.ran_ms.saturating_add(since)
    }
}
