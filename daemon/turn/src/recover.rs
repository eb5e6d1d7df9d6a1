//! A log that ends in mid-turn: what becomes of the turn when the daemon comes back.
//!
//! | the log ends | `Continue` | `Idle` |
//! |---|---|---|
//! | with a queue, no turn | the queue's first starts | the queue waits for the person |
//! | in a request | the same request again | the turn ends `interrupted` |
//! | with a call that changes things, started | result: effects unknown; goes on | the same; the turn ends `interrupted` |
//! | with a reader, started | judged and run again | result: lost; the turn ends `interrupted` |
//! | with a call that was not started, or approved and not started | judged, and run | result: not started; the turn ends `interrupted` |
//! | with an open question | the question stays open, and keeps the turn open; calls that ran get their results | the same |
//!
//! A call that changes things is never run a second time (I4).

use contract::Outcome;
use proto::item::{CallStatus, Finish, Voice};
use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::record::Level;
use proto::state::{Kind, State, WaitingFor};

use crate::facts::Stage;
use crate::input::{Effect, Now};
use crate::machine::{Calls, Machine, Phase, Step};
use crate::words;

/// What a session does that was in mid-turn when the daemon died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoverPolicy {
    /// Goes on by itself.
    Continue,
    /// Waits for the person, and says what happened.
    Idle,
}

impl Machine {
    /// Brings a session that was folded from its log to a valid state. Called once, before any input.
    pub fn recover(&mut self, policy: RecoverPolicy, now: Now) -> Vec<Effect> {
        self.with(now, |step, _| step.recover(policy))
    }
}

impl Step<'_> {
    fn recover(&mut self, policy: RecoverPolicy) -> Phase {
        let Some(open) = self.facts.open.clone() else { return self.recover_between_turns(policy) };
        let mut calls = Calls::default();
        for open in &open.calls {
            if open.stage == (Stage::Started { read_only: false }) {
                let outcome = Outcome::with_status(CallStatus::Unknown, words::UNKNOWN_EFFECTS);
                self.close(&mut calls, &open.call, outcome, 0);
            }
        }
        if !self.facts.pending.is_empty() {
            self.state(State::Waiting, Some(WaitingFor::Approval), "the daemon was restarted; the question is still open", None);
            return self.reopen(calls);
        }
        match policy {
            RecoverPolicy::Continue => {
                self.notice(Level::Info, "The daemon was restarted; the turn goes on where it was.");
                self.state(State::Running, None, "recovered", None);
                if self.facts.settings.timeout_ms > 0 {
                    let in_ms = self.facts.settings.timeout_ms;
                    self.effects.push(Effect::ArmTimeout { turn: open.number, in_ms });
                }
                self.say_unsaid_prompt();
                match open.plain_answer {
                    // The request was answered; only the turn's end did not reach the disk.
                    Some(finish) if finish != Finish::Interrupted => self.settle(finish),
                    _ if open.calls.is_empty() => self.ask_again(),
                    _ => self.reopen(calls),
                }
            }
            RecoverPolicy::Idle => {
                self.notice(Level::Warning, "The daemon stopped in the middle of this turn; the turn was ended. Prompt again to go on.");
                self.say_unsaid_prompt();
                self.close_rest(calls);
                self.end_turn(OutcomeKind::Interrupted, Some(Reason::Shutdown), None)
            }
        }
    }

    fn recover_between_turns(&mut self, policy: RecoverPolicy) -> Phase {
        if policy == RecoverPolicy::Continue && !self.facts.queue.is_empty() {
            return self.start_next();
        }
        let headless = self.facts.settings.kind == Kind::Headless;
        let stopped = |ended: &TurnEnded| ended.reason == Some(Reason::Shutdown);
        match self.facts.ended.clone() {
            // The run had ended; only its exit did not reach the disk.
            Some(ended) if headless && self.facts.queue.is_empty() && !stopped(&ended) => {
                self.exit(ended.outcome, ended.reason, ended.exit_code(), None)
            }
            _ => {
                if self.facts.exited.is_none() {
                    self.state(State::Idle, None, "recovered", None);
                }
                Phase::Idle
            }
        }
    }

    /// The turn had started, but the message of its prompt did not reach the disk.
    fn say_unsaid_prompt(&mut self) {
        if self.facts.open.as_ref().is_some_and(|open| open.items == 0)
            && let Some(prompt) = self.facts.queue.front().cloned()
        {
            let context = if self.facts.spoken == 0 { self.context.take() } else { None };
            self.say(prompt.text, Some(prompt.prompt_id), context, Voice::Prompt);
        }
    }

    /// Goes on with the calls that have no result.
    fn reopen(&mut self, calls: Calls) -> Phase {
        // A reader that ran changes nothing: it is judged and run again, like one that never ran.
        if let Some(open) = &mut self.facts.open {
            for open in &mut open.calls {
                if open.stage == (Stage::Started { read_only: true }) {
                    open.stage = Stage::Open;
                }
            }
        }
        self.proceed(calls)
    }

    fn close_rest(&mut self, mut calls: Calls) {
        let open = self.facts.open.as_ref().map(|open| open.calls.clone()).unwrap_or_default();
        for open in open {
            let ready = calls.ready.iter().any(|ready| ready.call == open.call.id);
            let words = match open.stage {
                _ if ready => continue,
                Stage::Closed => continue,
                Stage::Started { .. } => words::LOST_READ,
                Stage::Open | Stage::Asked(_) | Stage::Approved { .. } => words::NOT_STARTED,
            };
            self.close(&mut calls, &open.call, Outcome::with_status(CallStatus::Interrupted, words), 0);
        }
    }
}
