//! Stops a turn early: interrupt, time limit, TERM, KILL, shutdown.

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
            Phase::Idle => {
                // A daemon that shuts down leaves it to the next one.
                if reason != StopReason::Shutdown && self.facts.supervision.is_due() {
                    self.drop_restart();
                    self.end_goal_for_stop(reason);
                }
                self.continue_idle(Some(reason))
            }
            Phase::Asking(asking) => {
                if asking.waits.is_in_flight() {
                    self.effects.push(Effect::CancelAsk);
                }
                if let Some(partial) = partial.as_ref().filter(|cut| cut.reported.is_some()) {
                    // The answer was cancelled, but the provider billed it: the usage ledger must match (I15).
                    self.log_usage(&asking, partial);
                }
                self.log_partial_answer(asking, partial);
                self.end_stopped(reason)
            }
            Phase::Compacting(compacting) => match self.stop_summary(compacting, reason, partial) {
                Some(reason) => self.continue_idle(Some(reason)),
                None => self.end_stopped(reason),
            },
            Phase::Calls(calls) => self.stop_calls(calls, reason),
            Phase::Held => {
                // The planner of an earlier daemon process is waited for again after a pause.
                self.stop_planning();
                self.end_stopped(reason)
            }
            Phase::Planning => {
                self.stop_planning();
                self.end_stopped(reason)
            }
            // Files are being restored. That takes little time, and its outcome must be logged.
            Phase::Rewinding { stop } => Phase::Rewinding {
                stop: Some(stop.map_or(reason, |before| stronger(before, reason))),
            },
            Phase::Ending { stop } => {
                // On TERM the `Stop` hooks still finish, and the session exits after them.
                if reason != StopReason::Term {
                    self.effects.push(Effect::CancelTurnEndNotification);
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
                        by: reason.stopped_by(),
                    });
                }
                Phase::Stopping { reason, calls }
            }
        }
    }

    /// Continues after the `Stop` hooks: starts the next work, or applies a stop request that arrived meanwhile.
    pub(crate) fn turn_end_notified(&mut self, phase: Phase) -> Phase {
        let Phase::Ending { stop } = phase else {
            return phase;
        };
        self.after_turn(stop)
    }

    fn stop_calls(&mut self, mut calls: CallsInProgress, reason: StopReason) -> Phase {
        self.close_questions(&mut calls, words::TURN_STOPPED, |_, _| true);
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
            by: reason.stopped_by(),
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

/// The stronger of two stop reasons; of equals, the first.
fn stronger(one: StopReason, two: StopReason) -> StopReason {
    let weight = |reason| match reason {
        StopReason::User | StopReason::Timeout => 0,
        StopReason::Shutdown => 1,
        StopReason::Term => 2,
        StopReason::Kill => 3,
    };
    if weight(two) > weight(one) { two } else { one }
}
