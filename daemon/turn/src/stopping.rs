//! The end of a turn before its time: interrupt, time limit, TERM, KILL, shutdown.

use contract::Outcome;
use proto::item::CallStatus;
use proto::outcome::{OutcomeKind, Reason};
use proto::params::approval::{Approval, Decision as Answered};
use proto::record::ApprovalResolved;
use proto::state::State;
use proto::{Body, CallId};

use crate::input::{Answer, Effect, StopReason};
use crate::machine::{Calls, Phase, Step, Waits};
use crate::words;

impl Step<'_> {
    pub(crate) fn stop(
        &mut self,
        phase: Phase,
        reason: StopReason,
        partial: Option<Answer>,
    ) -> Phase {
        match phase {
            Phase::Idle => match reason {
                StopReason::Term => {
                    self.exit(OutcomeKind::Interrupted, Some(Reason::Term), 143, None)
                }
                StopReason::Kill => self.exit(OutcomeKind::Killed, None, 137, None),
                StopReason::User | StopReason::Timeout | StopReason::Shutdown => Phase::Idle,
            },
            Phase::Asking(asking) => {
                if asking.waits == Waits::Answer {
                    self.effects.push(Effect::CancelAsk);
                }
                self.keep_partial(asking, partial);
                self.end_stopped(reason)
            }
            Phase::Calls(calls) => self.stop_calls(calls, reason),
            Phase::Held => self.end_stopped(reason),
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

    fn stop_calls(&mut self, mut calls: Calls, reason: StopReason) -> Phase {
        self.close_questions();
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
        mut calls: Calls,
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

    /// Open questions end with the turn: nobody can answer them any more.
    pub(crate) fn close_questions(&mut self) {
        self.close_questions_where("the turn was stopped", |_| true);
        if self.facts.pending.is_empty() && self.facts.state.waiting_for.is_some() {
            self.state(State::Running, None, "stopping", None);
        }
    }

    /// Answers open questions with a no in the daemon's name.
    pub(crate) fn close_questions_where(&mut self, why: &str, which: impl Fn(&Approval) -> bool) {
        let open: Vec<_> = self.facts.pending.values().cloned().collect();
        for question in open.into_iter().filter(which) {
            self.append(Body::ApprovalResolved(ApprovalResolved {
                approval_id: question.approval_id,
                call: question.call,
                decision: Answered::Deny,
                scope: None,
                note: Some(why.to_owned()),
                by: "reasonix".into(),
                unattended: false,
                request_id: None,
            }));
        }
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
