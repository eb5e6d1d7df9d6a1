//! The end of a turn before its time: interrupt, time limit, TERM, KILL, shutdown.

use contract::Outcome;
use proto::CallId;
use proto::item::CallStatus;
use proto::outcome::{OutcomeKind, Reason};

use crate::input::{Answer, Effect, StopReason};
use crate::machine::{CallsInProgress, Phase, Step};
use crate::words;

impl Step<'_> {
    pub(crate) fn stop(
        &mut self,
        phase: Phase,
        reason: StopReason,
        partial: Option<Answer>,
    ) -> Phase {
        match phase {
            Phase::Idle => self.go_on_at_rest(Some(reason)),
            Phase::Asking(asking) => {
                if asking.waits.is_in_flight() {
                    self.effects.push(Effect::CancelAsk);
                }
                if let Some(partial) = partial.as_ref().filter(|cut| cut.reported.is_some()) {
                    // It was not awaited, but the vendor counted it: the books must agree (I15).
                    self.usage(&asking, partial);
                }
                self.keep_partial(asking, partial);
                self.end_stopped(reason)
            }
            Phase::Compacting(compacting) => match self.stop_summary(compacting, reason, partial) {
                Some(reason) => self.go_on_at_rest(Some(reason)),
                None => self.end_stopped(reason),
            },
            Phase::Calls(calls) => self.stop_calls(calls, reason),
            Phase::Held => self.end_stopped(reason),
            // Files are being put back: that is short, and has to be reported in the log.
            Phase::Rewinding { stop } => Phase::Rewinding {
                stop: Some(stop.map_or(reason, |before| stronger(before, reason))),
            },
            Phase::Ending { stop } => {
                // Who is told hears of a TERM as of any other end: the session exits behind it.
                if reason != StopReason::Term {
                    self.effects.push(Effect::CancelTelling);
                }
                Phase::Ending {
                    stop: Some(stop.map_or(reason, |before| stronger(before, reason))),
                }
            }
            Phase::Stopping {
                reason: before,
                calls,
            } => {
                let reason = stronger(before, reason);
                if reason != before {
                    self.effects.push(Effect::CancelCalls {
                        grace_ms: self.grace(reason),
                    });
                }
                Phase::Stopping { reason, calls }
            }
        }
    }

    /// Who was to be notified of the turn's end has been: what waited for that goes on, or the stop that came meanwhile
    /// takes place.
    pub(crate) fn end_told(&mut self, phase: Phase) -> Phase {
        let Phase::Ending { stop } = phase else {
            return phase;
        };
        self.after_turn(stop)
    }

    fn stop_calls(&mut self, mut calls: CallsInProgress, reason: StopReason) -> Phase {
        self.close_interactions();
        let words = if reason == StopReason::User {
            words::INTERRUPTED
        } else {
            words::STOPPED
        };
        self.close_where(&mut calls, |_| {
            Some(Outcome::with_status(CallStatus::Interrupted, words))
        });
        if calls.running.is_empty() {
            return self.end_stopped(reason);
        }
        self.effects.push(Effect::CancelCalls {
            grace_ms: self.grace(reason),
        });
        calls.judging = None;
        Phase::Stopping { reason, calls }
    }

    pub(crate) fn ended_while_stopping(
        &mut self,
        reason: StopReason,
        mut calls: CallsInProgress,
        id: &CallId,
        outcome: Outcome,
        duration_ms: u64,
    ) -> Phase {
        if !calls.running.remove(id) {
            return Phase::Stopping { reason, calls };
        }
        let call = self
            .facts
            .open
            .iter()
            .flat_map(|open| &open.calls)
            .find(|open| open.call.id == *id);
        if let Some(call) = call.map(|open| open.call.clone()) {
            self.close(&mut calls, &call, outcome, duration_ms);
        }
        if calls.running.is_empty() {
            return self.end_stopped(reason);
        }
        Phase::Stopping { reason, calls }
    }

    fn grace(&self, reason: StopReason) -> u64 {
        if reason == StopReason::Kill {
            0
        } else {
            self.limits.grace_ms
        }
    }

    fn end_stopped(&mut self, reason: StopReason) -> Phase {
        let (outcome, reason) = match reason {
            StopReason::User => (OutcomeKind::Interrupted, Reason::User),
            StopReason::Timeout => (OutcomeKind::Interrupted, Reason::Timeout),
            StopReason::Shutdown => (OutcomeKind::Interrupted, Reason::Shutdown),
            StopReason::Term => (OutcomeKind::Interrupted, Reason::Term),
            StopReason::Kill => (OutcomeKind::Killed, Reason::User),
        };
        self.end_turn(outcome, Some(reason), None)
    }
}

/// Of two reasons, the one that ends more; of equals, the one that came first.
fn stronger(one: StopReason, two: StopReason) -> StopReason {
    let weight = |reason| match reason {
        StopReason::User | StopReason::Timeout => 0,
        StopReason::Shutdown => 1,
        StopReason::Term => 2,
        StopReason::Kill => 3,
    };
    if weight(two) > weight(one) { two } else { one }
}
