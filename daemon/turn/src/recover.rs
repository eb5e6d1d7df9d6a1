//! A log that ends in mid-turn: what becomes of the turn when the daemon comes back.
//!
//! | the log ends | `Continue` | `Idle` |
//! |---|---|---|
//! | with a queue, no turn | the queue's first starts | the same, unless it stood behind a turn that the daemon's end cut off: then it waits for the person |
//! | with an exit, and prompts from before it | stays exited | the same |
//! | with an exit, and a prompt behind it | is reopened, the queue's first starts | stays exited |
//! | right behind a turn that the session exits with | exits | the same |
//! | in a request | the same request again | the turn ends `interrupted` |
//! | with an answer in words, whole | the turn ends, or goes on, as it would have | the turn ends `interrupted` |
//! | with an answer that was given up | the turn was about to end, and ends `interrupted`; then as without a turn | the same |
//! | with calls of an answer that was to sum up | result: no more steps; the turn ends `max_steps` | the turn ends `interrupted` |
//! | with a call that changes things, started | result: effects unknown; goes on | the same; the turn ends `interrupted` |
//! | with a reader, started | judged and run again | result: lost; the turn ends `interrupted` |
//! | with a call that was not started, or approved and not started | judged, and run | result: not started; the turn ends `interrupted` |
//! | with a call that was cut or denied | result: what it would have been | the same; the turn ends `interrupted` |
//! | with an open question | the question stays open, and keeps the turn open; calls that ran get their results | the same; what was approved and not started gets its result: not started |
//!
//! A call that changes things is never run a second time (I4).

use contract::Outcome;
use proto::item::{CallStatus, Finish, Voice};
use proto::outcome::{OutcomeKind, Reason};
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
        let Some(open) = self.facts.open.clone() else {
            return self.recover_between_turns(policy);
        };
        let mut calls = Calls::default();
        self.close_where(&mut calls, |open| {
            let wrote = open.stage == (Stage::Started { read_only: false });
            wrote.then(|| Outcome::with_status(CallStatus::Unknown, words::UNKNOWN_EFFECTS))
        });
        if !self.facts.pending.is_empty() {
            return self.wait_on(calls, policy);
        }
        match (policy, open.plain_answer) {
            // Kept only when a turn is about to end; why it was is lost.
            (RecoverPolicy::Continue, Some(Finish::Interrupted)) => {
                self.end_recovered(calls);
                self.recover_between_turns(policy)
            }
            (RecoverPolicy::Continue, plain) => {
                self.notice(
                    Level::Info,
                    "The daemon was restarted; the turn goes on where it was.",
                );
                self.state(State::Running, None, "recovered", None);
                self.arm_timeout();
                self.say_unsaid_prompt();
                match plain {
                    // The request was answered; only what follows did not reach the disk.
                    Some(finish) => self.settle(finish),
                    None if open.calls.is_empty() => self.ask_again(),
                    None => self.begin_calls(calls),
                }
            }
            (RecoverPolicy::Idle, _) => self.end_recovered(calls),
        }
    }

    /// A question is open: it, and with it the turn, stays so.
    fn wait_on(&mut self, mut calls: Calls, policy: RecoverPolicy) -> Phase {
        let cause = "the daemon was restarted; the question is still open";
        self.state(State::Waiting, Some(WaitingFor::Approval), cause, None);
        self.arm_timeout();
        if policy == RecoverPolicy::Idle {
            // Decision 9: what was approved and not started runs only where sessions go on by themselves.
            self.close_where(&mut calls, |open| {
                matches!(open.stage, Stage::Approved { .. }).then(not_started)
            });
        }
        self.begin_calls(calls)
    }

    fn recover_between_turns(&mut self, policy: RecoverPolicy) -> Phase {
        if self.facts.unsettled
            && let Some(ended) = &self.facts.ended
        {
            let done = self.facts.settings.kind == Kind::Headless && self.facts.queue.is_empty();
            if done || ended.reason == Some(Reason::Term) || ended.outcome == OutcomeKind::Killed {
                return self.exit_with_turn();
            }
            self.state(State::Idle, None, "recovered", None);
        }
        let asleep = self.facts.exited.is_some() && !self.facts.woken;
        let ended = self.facts.ended.as_ref();
        let stopped = ended.is_some_and(|ended| ended.reason == Some(Reason::Shutdown));
        // A prompt whose turn never began is begun in any case; what stood behind a turn that the daemon's end cut
        // off waits for the person, where the policy says so.
        let goes_on =
            policy == RecoverPolicy::Continue || !(stopped || self.facts.exited.is_some());
        if goes_on && !asleep && !self.facts.queue.is_empty() {
            return self.start_next();
        }
        Phase::Idle
    }

    /// Exits with the outcome of the turn that ended last.
    fn exit_with_turn(&mut self) -> Phase {
        let Some(ended) = self.facts.ended.clone() else {
            return Phase::Idle;
        };
        self.exit(ended.outcome, ended.reason, ended.exit_code(), None)
    }

    /// The turn had started, but the message of its prompt did not reach the disk.
    fn say_unsaid_prompt(&mut self) {
        if self.facts.open.as_ref().is_some_and(|open| open.items == 0)
            && let Some(prompt) = self.facts.queue.front().cloned()
        {
            let context = if self.facts.spoken == 0 {
                self.context.take()
            } else {
                None
            };
            self.say(prompt.text, Some(prompt.prompt_id), context, Voice::Prompt);
        }
    }

    /// Ends the turn, with a result for every call that has none.
    fn end_recovered(&mut self, mut calls: Calls) -> Phase {
        let text = "The daemon stopped in the middle of this turn; the turn was ended. Prompt again to go on.";
        self.notice(Level::Warning, text);
        self.say_unsaid_prompt();
        self.close_what_cannot_run(&mut calls);
        self.close_where(&mut calls, |open| match open.stage {
            Stage::Closed | Stage::Denied { .. } => None,
            Stage::Started { .. } => Some(Outcome::with_status(
                CallStatus::Interrupted,
                words::LOST_READ,
            )),
            Stage::Open | Stage::Asked(_) | Stage::Approved { .. } => Some(not_started()),
        });
        self.end_turn(OutcomeKind::Interrupted, Some(Reason::Shutdown), None)
    }
}

fn not_started() -> Outcome {
    Outcome::with_status(CallStatus::Interrupted, words::NOT_STARTED)
}
