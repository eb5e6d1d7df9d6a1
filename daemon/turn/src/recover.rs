//! A log that ends in mid-turn: what becomes of the turn when the daemon comes back.
//!
//! | the log ends | `Continue` | `Idle` |
//! |---|---|---|
//! | with a queue, no turn | the queue's first starts | the same, unless all of it stood behind a turn that the daemon's end cut off: then it waits for the person |
//! | with an exit, and prompts from before it | stays exited | the same |
//! | with an exit, and a prompt behind it | is reopened, the queue's first starts | stays exited |
//! | right behind a turn that the session exits with | exits | the same |
//! | in a request of which nothing was kept | the same request again, with steering that came since | the turn ends `interrupted` |
//! | in a request of which text was kept | the text is kept as an interrupted answer; the daemon says to go on from it; steering; asks | the text is kept; the turn ends `interrupted` |
//! | with that text, the daemon's words not there yet | they follow; asks | the turn ends `interrupted` |
//! | before a request, in a compaction or a change of the model | nothing of it was logged: as in a request, which comes to the same | the turn ends `interrupted` |
//! | at rest, in a compaction | nothing has changed, and nothing is done; as without a turn | the same |
//! | with an answer in words, whole | the turn ends, or goes on, as it would have | the turn ends `interrupted` |
//! | with an answer that was given up | the turn was about to end, and ends `interrupted`; then as without a turn | the same |
//! | with calls of an answer that was to sum up | result: no more steps; the turn ends `max_steps` | the turn ends `interrupted` |
//! | with a call that changes things, started | result: effects unknown; goes on | the same; the turn ends `interrupted` |
//! | with a reader, started | judged and run again | result: lost; the turn ends `interrupted` |
//! | with a call that was not started, or approved and not started | judged, and run | result: not started; the turn ends `interrupted` |
//! | with a call that the user changed, not started | judged and run as they changed it | result: not started, and the change; the turn ends `interrupted` |
//! | with a call that the sandbox stopped, not let out yet | judged, and offered to a person; or, allowed, run outside | result: what it came to within |
//! | with one that runs outside | result: stopped within, effects outside unknown; goes on | the same; the turn ends `interrupted` |
//! | with a call that was cut or denied, or whose questions were answered | result: what it would have been | the same; the turn ends `interrupted` |
//! | with an open approval or question | it stays open, and keeps the turn open; calls that ran get their results | the same; what was approved and not started gets its result: not started |
//! | in a rewind, with files kept for it | it is told that some may be put back and some not; then as without a turn | the same |
//! | right behind a rewind | the cache reset that belongs to it is made up for; then as without a turn | the same |
//! | suspended | an empty `session.set` takes the mark away; then as above | as `Continue`, this once |
//! | paused | as above, but nothing starts: it waits for the end of the pause | as under `Continue`: the pause waits for the person |
//! | with commands in the background | each is said to have ended | the same |
//! | (edited) a turn's end, with calls that have no result | results: effects unknown, lost, not started; the end once more; then as without a turn | the same |
//! | (edited) a turn begun in a turn whose calls have no result | the same results, then the second turn's prompt; goes on | the same; the turn ends `interrupted` |
//! | (edited) calls that have no result, in a turn whose prompt is not said | the same results, then the prompt; goes on | the same; the turn ends `interrupted` |
//! | (edited) an open turn in an exited session, calls outside a turn, a question about no open call | is reopened; have a turn; is answered no | the same |
//!
//! What an edited log lacks between two messages nothing behind them can make up for: such a log is folded, and its
//! next request is as wrong as the log is.
//!
//! A call that changes things is never run a second time (I4).

use contract::Outcome;
use proto::item::{CallStatus, Finish, Voice};
use proto::outcome::{OutcomeKind, Reason};
use proto::record::{ChildExited, Level, SessionReopened, SessionSet};
use proto::state::State;
use proto::{Body, ItemId};

use crate::facts::CallStage;
use crate::input::{Answer, Effect, Now};
use crate::machine::{Asking, CallsInProgress, Machine, Phase, RequestWait, Step};
use crate::next::DecisionMoment;
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
    /// Brings a session that was folded from its log to a valid state. Called once, before any input. `kept` is what
    /// had been shown of an answer that was in progress, with its id; that of another answer is ignored.
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
            self.stand_still("recovered");
            // The pause waits for its person already; to end the turn as well would undo their work.
            policy = RecoverPolicy::Continue;
        }
        self.repair();
        if self.facts.open.is_none() {
            return self.recover_between_turns(policy);
        }
        let mut calls = CallsInProgress::default();
        self.close_where(&mut calls, |open| {
            let wrote = open.stage == (CallStage::Started { read_only: false });
            wrote.then(|| Outcome::with_status(CallStatus::Unknown, words::UNKNOWN_EFFECTS))
        });
        if self.facts.waits_for_person().is_some() {
            return self.wait_on(calls, policy);
        }
        let kept = self.keep_shown(kept, policy);
        match policy {
            // Why the turn was about to end is lost; that it was is not.
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
                self.say_unsaid_prompt();
                self.go_on_with(calls)
            }
            RecoverPolicy::Idle => self.end_recovered(calls),
        }
    }

    /// A session that was handed over goes on, whatever it would do after a crash. Once: what it appends first makes
    /// the next crash an ordinary one.
    fn wake(&mut self, policy: RecoverPolicy) -> RecoverPolicy {
        if !self.facts.suspended {
            return policy;
        }
        // Not a state: it is the one that it was, and may well be the one that it goes on in.
        self.append(Body::SessionSet(SessionSet {
            by: Some("reasonix".into()),
            ..SessionSet::default()
        }));
        RecoverPolicy::Continue
    }

    /// Nothing that a session started outlives the daemon (I12).
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

    /// Makes up for what only an edited log lacks, so that the next request is valid (I2): the results of calls whose
    /// turn is said to have ended, that another turn was begun over, or behind which the turn's own prompt is still to
    /// be said.
    fn repair(&mut self) {
        if self.facts.open.is_some() && self.facts.exited.is_some() {
            self.append(Body::SessionReopened(SessionReopened {
                by: "reasonix".into(),
            }));
        }
        let open = self.facts.open.clone().unwrap_or_default();
        let over = open.over.clone();
        let begun_over = (open.items == 0 || self.is_unsaid()) && open.unanswered();
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

    /// Keeps what had been shown of the answer that the log waits for. True if there was any.
    fn keep_shown(&mut self, kept: Option<(ItemId, Answer)>, policy: RecoverPolicy) -> bool {
        let (Some((item, answer)), Some(open)) = (kept, &self.facts.open) else {
            return false;
        };
        let awaited = !self.is_unsaid() && !open.unanswered() && open.plain_answer.is_none();
        if !awaited || open.next_item() != item || answer.text.trim().is_empty() {
            return false;
        }
        if answer.reported.is_some() {
            self.usage(
                &Asking {
                    item: item.clone(),
                    attempt: 1,
                    since_ms: self.now.mono_ms,
                    waits: RequestWait::Answer,
                },
                &answer,
            );
        }
        if policy == RecoverPolicy::Continue {
            self.notice(Level::Info, words::GOES_ON_FROM_KEPT);
        }
        self.keep(item, &answer, Finish::Interrupted);
        true
    }

    /// Whether the newest answer was interrupted because the turn was about to end.
    fn was_given_up(&self) -> bool {
        self.facts
            .open
            .as_ref()
            .is_some_and(|open| open.plain_answer == Some(Finish::Interrupted) && !open.cut_off)
    }

    /// Goes on with the open turn from what the log says: after a crash, and at the end of a pause.
    pub(crate) fn go_on(&mut self) -> Phase {
        self.go_on_with(CallsInProgress::default())
    }

    fn go_on_with(&mut self, calls: CallsInProgress) -> Phase {
        let Some(open) = &self.facts.open else {
            return Phase::Idle;
        };
        match open.plain_answer {
            Some(_) if open.cut_off => {
                self.say(words::GO_ON.to_owned(), None, None, Voice::Daemon);
                self.ask_again()
            }
            // The request was answered; only what follows did not reach the disk.
            Some(finish) => self.settle(finish),
            None if open.calls.is_empty() => self.ask_again(),
            None => self.begin_calls(calls),
        }
    }

    /// A question is open: it, and with it the turn, stays so.
    fn wait_on(&mut self, mut calls: CallsInProgress, policy: RecoverPolicy) -> Phase {
        let cause = "the daemon was restarted; the question is still open";
        if self.facts.state.state == State::Idle {
            // Only in an edited log.
            self.state(State::Running, None, "recovered", None);
        }
        self.state(State::Waiting, self.facts.waits_for_person(), cause, None);
        self.arm_timeout();
        if policy == RecoverPolicy::Idle {
            // Decision 9: what was approved and not started runs only where sessions go on by themselves.
            self.close_where(&mut calls, |open| {
                let allowed = matches!(open.stage, CallStage::Approved { .. } | CallStage::Edited);
                allowed.then(not_started)
            });
        }
        self.begin_calls(calls)
    }

    fn recover_between_turns(&mut self, policy: RecoverPolicy) -> Phase {
        let next = self.next(DecisionMoment::Recovered(policy), None);
        let cause = self.facts.exited.is_none().then_some("recovered");
        self.follow(next, cause)
    }

    /// Whether the message of the prompt that the open turn began with did not reach the disk.
    fn is_unsaid(&self) -> bool {
        let began_with = self.facts.open.as_ref().and_then(|open| open.prompt_id);
        began_with.is_some_and(|prompt| self.facts.waits(prompt))
    }

    /// Says that prompt, where it is so.
    fn say_unsaid_prompt(&mut self) {
        let began_with = self.facts.open.as_ref().and_then(|open| open.prompt_id);
        let mut waiting = self.facts.queue.iter();
        if let Some(prompt) = waiting.find(|queued| Some(queued.prompt_id) == began_with) {
            let prompt = prompt.clone();
            let context = self.opening();
            self.say_prompt(prompt, context, Voice::Prompt);
        }
    }

    /// Ends the turn, with a result for every call that has none.
    fn end_recovered(&mut self, mut calls: CallsInProgress) -> Phase {
        // The turn's own prompt stands in the queue until its message is there.
        let unsaid = usize::from(self.is_unsaid());
        let behind = self.facts.queue.len().saturating_sub(unsaid);
        self.notice(Level::Warning, words::was_ended(behind));
        self.say_unsaid_prompt();
        self.close_all(&mut calls);
        self.end_turn(OutcomeKind::Interrupted, Some(Reason::Shutdown), None)
    }

    /// Gives every call that has no result the one that it comes to.
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
                words::LOST_READ,
            )),
            CallStage::Open
            | CallStage::Waiting(_)
            | CallStage::Approved { .. }
            | CallStage::Edited => Some(not_started()),
            // Whatever is said here: what it came to is known.
            CallStage::Blocked => Some(not_started()),
        });
    }
}

fn not_started() -> Outcome {
    Outcome::with_status(CallStatus::Interrupted, words::NOT_STARTED)
}
