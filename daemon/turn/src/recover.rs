//! Recovery of a session whose log ends in mid-turn: how the turn continues or ends after a restart of the daemon.
//!
//! | the log ends | `Continue` | `Idle` |
//! |---|---|---|
//! | with a queue, no turn | the first queued prompt starts | the same, unless all prompts were queued before the daemon's end cut off a turn: then they wait for a user |
//! | with an exit, and prompts from before it | stays exited | the same |
//! | with an exit, and a prompt after it | the session is reopened, the first queued prompt starts | stays exited |
//! | right after a turn that makes the session exit | exits | the same |
//! | in a request without kept text | the same request again, with steering that arrived since | the turn ends `interrupted` |
//! | in a request with kept text | the text becomes an interrupted answer; a message tells the model to continue from it; steering; asks | the text is kept; the turn ends `interrupted` |
//! | after that text, without that message | the message follows; asks | the turn ends `interrupted` |
//! | while the planner works, by the log | a kept text is left; the planner, which is found again, works on; then as usual | the planner is stopped; the turn ends `interrupted` |
//! | with a plan that the model does not have | the model gets it; asks | the turn ends `interrupted` |
//! | before a request, in a compaction or a change of the model | nothing of it was logged: handled as in a request, and done again before it | the turn ends `interrupted` |
//! | in a compaction, with no open turn | nothing has changed and nothing is done; as without a turn | the same |
//! | with a complete answer without calls | the turn ends or continues as usual | the turn ends `interrupted` |
//! | with an answer that was given up | the turn was about to end, and ends `interrupted`; then as without a turn | the same |
//! | with calls of an answer that should only sum up | result: no more steps; the turn ends `max_steps` | the turn ends `interrupted` |
//! | with a started writing call | result: effects unknown; continues | the same; the turn ends `interrupted` |
//! | with a started read-only call | judged and run again | result: lost; the turn ends `interrupted` |
//! | with a call that was not started, approved or not | judged, and run | result: not started; the turn ends `interrupted` |
//! | with a call that the user edited, not started | judged and run as edited | result: not started, and the edit; the turn ends `interrupted` |
//! | with a call that the sandbox blocked, not yet run unsandboxed | judged, and shown to a user for approval; or, if approved, run unsandboxed | result: the outcome of the sandboxed run |
//! | with a call that runs unsandboxed | result: blocked in the sandbox, effects outside unknown; continues | the same; the turn ends `interrupted` |
//! | with a call that was truncated or denied, or whose questions were answered | its usual result | the same; the turn ends `interrupted` |
//! | with an open question of a running call, for an MCP server | the question is closed; then as with the call | the same |
//! | with an open approval or question | it stays open, and keeps the turn open; calls that ran get their results | the same; calls that were approved and not started get the result: not started |
//! | in a rewind, with files saved for it | a notice that some files may be restored and others not; then as without a turn | the same |
//! | right after a rewind | the missing cache reset is logged; then as without a turn | the same |
//! | suspended | an empty `session.set` removes the mark; then as above | as `Continue`, this once |
//! | paused | as above, but nothing starts until the end of the pause | as under `Continue`: the pause waits for a user |
//! | with background commands | the end of each is logged | the same |
//! | (edited) a turn's end, with calls that have no result | results: effects unknown, lost, not started; the turn's end again; then as without a turn | the same |
//! | (edited) a turn started within a turn whose calls have no result | the same results, then the second turn's prompt; continues | the same; the turn ends `interrupted` |
//! | (edited) calls without a result, in a turn whose prompt message is missing | the same results, then the prompt; continues | the same; the turn ends `interrupted` |
//! | (edited) an open turn in an exited session, calls outside a turn, a question about no open call | the session is reopened; the calls get a turn; the question is answered no | the same |
//!
//! If an edited log lacks records between two messages, later records cannot repair it: the log is folded as it is, and
//! the next request is as wrong as the log.
//!
//! A call that changes things is never run a second time (I4).

use contract::Outcome;
use proto::item::{CallStatus, Finish, ToolKind, Voice};
use proto::outcome::{OutcomeKind, Reason};
use proto::params::session::QueuedPrompt;
use proto::record::{ChildExited, Level, SessionReopened, SessionSet};
use proto::state::State;
use proto::{Body, ItemId};

use crate::facts::{CallStage, Planning};
use crate::input::{Answer, Effect, Now};
use crate::machine::{Asking, CallsInProgress, Machine, Phase, RequestWait, Step};
use crate::next::DecisionMoment;
use crate::words;

/// How a session that was in mid-turn continues after the daemon died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoverPolicy {
    /// Continues by itself.
    Continue,
    /// Waits for a user, and reports what happened.
    Idle,
}

impl Machine {
    /// Brings a session that was folded from its log to a valid state. Called once, before any input. `kept` is the shown
    /// part of the answer in progress, with its id; a part of another answer is ignored.
    pub fn recover(
        &mut self,
        policy: RecoverPolicy,
        kept: Option<(ItemId, Answer)>,
        now: Now,
    ) -> Vec<Effect> {
        self.with(now, |step, _| step.recover(policy, kept))
    }
}

impl Step<'_> {
    fn recover(&mut self, policy: RecoverPolicy, kept: Option<(ItemId, Answer)>) -> Phase {
        let mut policy = self.wake(policy);
        self.lose_children();
        self.recover_rewind();
        if self.facts.paused && self.facts.exited.is_none() {
            self.enter_pause("recovered");
            // The pause already waits for a user; ending the turn as well would lose their work.
            policy = RecoverPolicy::Continue;
        }
        self.repair();
        self.close_lost_questions();
        if self.facts.open.is_none() {
            return self.recover_between_turns(policy);
        }
        let mut calls = CallsInProgress::default();
        self.close_where(&mut calls, |open| {
            let wrote = open.stage == (CallStage::Started { read_only: false });
            wrote.then(|| Outcome::with_status(CallStatus::Unknown, words::UNKNOWN_EFFECTS))
        });
        if self.facts.waits_for_person().is_some() {
            return self.keep_waiting(calls, policy);
        }
        let kept = self.log_shown_part(kept, policy);
        match policy {
            // The log shows that the turn was about to end, but not why.
            RecoverPolicy::Continue if self.was_given_up() => {
                self.end_recovered(calls);
                self.recover_between_turns(policy)
            }
            RecoverPolicy::Continue => {
                if self.facts.paused {
                    self.notice(Level::Info, words::STILL_PAUSED);
                } else if !kept {
                    self.notice(Level::Info, words::GOES_ON);
                }
                self.state(State::Running, None, "recovered", None);
                self.arm_timeout();
                self.decide_missing_planning();
                self.say_missing_prompt();
                self.continue_turn_with(calls)
            }
            RecoverPolicy::Idle => self.end_recovered(calls),
        }
    }

    /// Lets a session that was handed over continue, whatever the policy for crashes. Applies once: the record appended
    /// here makes the next crash an ordinary one.
    fn wake(&mut self, policy: RecoverPolicy) -> RecoverPolicy {
        if !self.facts.suspended {
            return policy;
        }
        // Not a state record: the session keeps its state, and may continue in it.
        self.append(Body::SessionSet(SessionSet {
            by: Some("reasonix".into()),
            ..SessionSet::default()
        }));
        RecoverPolicy::Continue
    }

    /// Logs the end of all background commands: no process of a session outlives the daemon (I12).
    fn lose_children(&mut self) {
        let lost: Vec<_> = self.facts.children.keys().copied().collect();
        for pid in lost {
            self.append(Body::ChildExited(ChildExited {
                pid,
                code: None,
                signal: Some(9),
                cause: Some(words::CHILD_LOST.into()),
                result: None,
            }));
        }
    }

    /// Adds records that only an edited log lacks, so that the next request is valid (I2). These are the results of calls
    /// whose turn has ended in the log, whose turn another turn follows, or whose turn has no prompt message yet.
    fn repair(&mut self) {
        if self.facts.open.is_some() && self.facts.exited.is_some() {
            self.append(Body::SessionReopened(SessionReopened {
                by: "reasonix".into(),
            }));
        }
        let open = self.facts.open.clone().unwrap_or_default();
        let over = open.over.clone();
        let begun_over = (open.items == 0 || self.lacks_prompt_message()) && open.unanswered();
        if over.is_some() || begun_over {
            self.notice(Level::Warning, words::LOG_WAS_BROKEN);
            self.close_all(&mut CallsInProgress::default());
            self.close_interactions_where("the turn has ended", |_| true);
        } else {
            let asked: Vec<_> = open
                .calls
                .iter()
                .filter(|open| open.stage != CallStage::Closed)
                .map(|open| open.call.id.clone())
                .collect();
            self.close_interactions_where("the call has ended", |call| !asked.contains(call));
        }
        if let Some(over) = over {
            self.append(Body::TurnEnded(over));
        }
    }

    /// Logs the shown part of the answer that the log waits for. True if there was any.
    fn log_shown_part(&mut self, kept: Option<(ItemId, Answer)>, policy: RecoverPolicy) -> bool {
        let (Some((item, answer)), Some(open)) = (kept, &self.facts.open) else {
            return false;
        };
        let awaited =
            !self.lacks_prompt_message() && !open.unanswered() && open.plain_answer.is_none();
        // The planner's end is lost with what followed from it: the model is asked again, as then.
        let awaited = awaited && open.planning == Planning::None;
        if !awaited || open.next_item() != item || answer.text.trim().is_empty() {
            return false;
        }
        if answer.reported.is_some() {
            self.log_usage(
                &Asking {
                    item: item.clone(),
                    attempt: 1,
                    since_ms: self.now.mono_ms,
                    not_running_since_ms: None,
                    waits: RequestWait::Answer,
                },
                &answer,
            );
        }
        if policy == RecoverPolicy::Continue {
            self.notice(Level::Info, words::GOES_ON_FROM_KEPT);
        }
        self.log_answer(item, &answer, Finish::Interrupted);
        true
    }

    /// Whether the newest answer was interrupted because the turn was about to end.
    fn was_given_up(&self) -> bool {
        self.facts
            .open
            .as_ref()
            .is_some_and(|open| open.plain_answer == Some(Finish::Interrupted) && !open.cut_off)
    }

    /// Continues the open turn from the log, after a crash or at the end of a pause.
    pub(crate) fn continue_turn(&mut self) -> Phase {
        self.continue_turn_with(CallsInProgress::default())
    }

    fn continue_turn_with(&mut self, calls: CallsInProgress) -> Phase {
        let Some(open) = &self.facts.open else {
            return Phase::Idle;
        };
        match open.plain_answer {
            Some(_) if open.cut_off => {
                self.say(words::GO_ON.to_owned(), None, None, Voice::Daemon);
                self.ask_again()
            }
            // The request was answered; only the next records did not reach the disk.
            Some(finish) => self.settle(finish),
            None if open.calls.is_empty() => self.continue_planning(),
            None => self.begin_calls(calls),
        }
    }

    /// Keeps an open question, and with it the turn, open.
    fn keep_waiting(&mut self, mut calls: CallsInProgress, policy: RecoverPolicy) -> Phase {
        let cause = "the daemon was restarted; the question is still open";
        if self.facts.state.state == State::Idle {
            // Only in an edited log.
            self.state(State::Running, None, "recovered", None);
        }
        self.state(State::Waiting, self.facts.waits_for_person(), cause, None);
        self.arm_timeout();
        if policy == RecoverPolicy::Idle {
            // Decision 9: an approved call that was not started runs only if sessions continue by themselves.
            self.close_where(&mut calls, |open| {
                let allowed = matches!(open.stage, CallStage::Approved { .. } | CallStage::Edited);
                allowed.then(not_started)
            });
        }
        self.begin_calls(calls)
    }

    fn recover_between_turns(&mut self, policy: RecoverPolicy) -> Phase {
        if policy == RecoverPolicy::Continue {
            self.supervise(None);
        }
        self.settle_goal();
        let next = self.next(DecisionMoment::Recovered(policy), None);
        let cause = self.facts.exited.is_none().then_some("recovered");
        self.follow(next, cause)
    }

    /// Whether the message of the open turn's own prompt did not reach the disk.
    fn lacks_prompt_message(&self) -> bool {
        let turn_prompt = self.facts.open.as_ref().and_then(|open| open.prompt_id);
        turn_prompt.is_some_and(|prompt| self.facts.is_queued(prompt))
    }

    /// The turn's own prompt, if its message is missing.
    fn missing_prompt(&self) -> Option<QueuedPrompt> {
        let turn_prompt = self.facts.open.as_ref().and_then(|open| open.prompt_id);
        let mut waiting = self.facts.queue.iter();
        waiting
            .find(|queued| Some(queued.prompt_id) == turn_prompt)
            .cloned()
    }

    /// Decides whether the turn is planned, if that did not reach the disk.
    fn decide_missing_planning(&mut self) {
        if let Some(prompt) = self.missing_prompt() {
            let voice = self.prompt_voice(prompt.prompt_id);
            self.decide_plan_mode(&prompt, voice);
            self.decide_planning(&prompt, voice);
        }
    }

    /// Appends the message of the turn's own prompt if it is missing.
    fn say_missing_prompt(&mut self) {
        if let Some(prompt) = self.missing_prompt() {
            let context = self.first_message_context();
            let voice = self.prompt_voice(prompt.prompt_id);
            self.append_prompt(prompt, context, Vec::new(), voice);
        }
    }

    /// Ends the turn, with a result for every call that has none.
    fn end_recovered(&mut self, mut calls: CallsInProgress) -> Phase {
        // The turn's own prompt stays in the queue until its message is logged.
        let own = usize::from(self.lacks_prompt_message());
        let queued = self.facts.queue.len().saturating_sub(own);
        self.notice(Level::Warning, words::was_ended(queued));
        self.stop_planning();
        self.say_missing_prompt();
        self.close_all(&mut calls);
        self.end_turn(OutcomeKind::Interrupted, Some(Reason::Shutdown), None)
    }

    /// Gives every call without a result the result that fits its stage.
    fn close_all(&mut self, calls: &mut CallsInProgress) {
        self.close_what_cannot_run(calls);
        self.close_where(calls, |open| match open.stage {
            CallStage::Closed
            | CallStage::Denied { .. }
            | CallStage::Answered { .. }
            | CallStage::KeptInside { .. } => None,
            CallStage::Started { read_only: false } => Some(Outcome::with_status(
                CallStatus::Unknown,
                words::UNKNOWN_EFFECTS,
            )),
            CallStage::Started { read_only: true } => Some(Outcome::with_status(
                CallStatus::Interrupted,
                match open.kind {
                    ToolKind::Agent => words::LOST_AGENT,
                    _ => words::LOST_READ,
                },
            )),
            CallStage::Open
            | CallStage::Waiting(_)
            | CallStage::Approved { .. }
            | CallStage::Edited => Some(not_started()),
            // The outcome here does not matter: closing the call replaces it by that of the sandboxed run.
            CallStage::Blocked => Some(not_started()),
        });
    }
}

fn not_started() -> Outcome {
    Outcome::with_status(CallStatus::Interrupted, words::NOT_STARTED)
}
