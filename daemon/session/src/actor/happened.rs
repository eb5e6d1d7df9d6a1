//! What happened outside the actor, taken in: the log's writer, calls, hooks, timers and jobs that have ended.

use contract::Outcome;
use proto::{Body, CallId};
use turn::Input;
use turn::input::CallQuestion;

use crate::actor::Actor;
use crate::actor::inbox::Happened;
use crate::calls::call::overdue;
use crate::calls::events::CallEvent;
use crate::context::prefix::digest;
use crate::journal::JournalEvent;

impl Actor {
    pub(super) fn take(&mut self, what: Happened) {
        match what {
            Happened::Journal(event) => self.take_journal_event(event),
            Happened::Call(event) => self.take_call_event(event),
            Happened::Cataloged(seq) => {
                if seq == self.journal.last() && self.is_settled() {
                    self.journal.unfinished(false);
                    self.flush();
                }
            }
            Happened::Judged {
                call,
                judgement,
                ready,
                hooks,
            } => {
                self.hooks_before(&call, hooks);
                self.calls.put_judged(call.clone(), *ready);
                self.judged(call.clone(), judgement);
                self.calls.drop_early(&call);
            }
            Happened::EarlyJudgement(calls) => self.calls.put_ahead(calls),
            Happened::Reviewed {
                number,
                call,
                judgement,
                review,
            } => self.reviewed(number, call, judgement, review),
            // A log that takes nothing more takes no stricter rules either: judged again, it would be outdated again.
            Happened::Outdated { .. } if self.journal.closed().is_some() => {}
            Happened::Outdated {
                call,
                outdated,
                hooks,
            } => {
                self.hooks_before(&call.id, hooks);
                if let Some(now) = &outdated.guards {
                    self.tighten(now);
                }
                self.judge(call);
                // Records may have been gathered for another call.
                self.flush();
            }
            Happened::ReasoningExtracted { number, found } => self.extracted(number, found),
            Happened::SamplingEnded { number } => self.sampling_ended(number),
            Happened::PromptAsked(chain) => self.prompt_asked(chain),
            Happened::TurnEndNotified(finished) => self.turn_end_notified(finished),
            Happened::HooksRead { read, reply } => self.hooks_read(*read, reply),
            Happened::ContextWindow { model, tokens } => self.window_found(&model, tokens),
            Happened::Planned(finished) => self.step(Input::Planned(finished)),
            Happened::RestartDue => self.step(Input::RestartDue),
            Happened::RetryDue { item, attempt } => self.step(Input::RetryDue { item, attempt }),
            Happened::TimeUp { turn } => {
                let partial = self.partial();
                self.step(Input::TimeUp { turn, partial });
            }
            Happened::RuleKept { id, kept } => self.rule_kept(&id, kept),
            Happened::ResetReady { number, done } => self.reset_ready(number, *done),
            Happened::Rewound(rewound) => self.rewound(*rewound),
            Happened::NotRewound => self.step(Input::NotRewound),
            Happened::Overdue { calls } => self.end_overdue(calls),
        }
    }

    fn take_journal_event(&mut self, event: JournalEvent) {
        match event {
            JournalEvent::Durable(seq) => {
                self.journal.settled(seq);
                self.viewers.settle_absence(seq);
                self.start_held();
                self.settle();
            }
            JournalEvent::Failed(reason, trouble) => {
                tracing::error!(session = %self.id, reason, "the log cannot be written; the session is read-only");
                self.journal.fail(reason.clone(), trouble);
                self.viewers.fail(&reason);
                self.stop_unwritable();
                self.settle();
            }
        }
    }

    fn take_call_event(&mut self, event: CallEvent) {
        match event {
            CallEvent::Ended {
                call,
                outcome,
                duration_ms,
            } => self.call_ended(call, outcome, duration_ms),
            CallEvent::Asks {
                call,
                number,
                question,
                reply,
            } => {
                let attended = self.viewers.attended();
                let shown = serde_json::to_string(&question).unwrap_or_default();
                self.calls.put_question(call.clone(), number, reply);
                self.step(Input::CallAsks(Box::new(CallQuestion {
                    call,
                    number,
                    question: *question,
                    shown_hash: digest(&[shown.as_bytes()]),
                    attended: !policy::unasked(self.machine.facts().on_ask(), attended),
                })));
            }
            CallEvent::Withdraws { call, number } => {
                self.step(Input::CallWithdraws { call, number });
            }
            CallEvent::Samples { request, reply } => self.begin_sampling(*request, reply),
            CallEvent::Printed => self.viewers.schedule_frame(),
            CallEvent::HooksRan(finished) => self.tell_hooks(finished),
            CallEvent::BackgroundStarted(child) => self.step(Input::ChildSpawned(child)),
            CallEvent::BackgroundExited(child) => self.child_exited(child),
            CallEvent::AgentFinished(finished) => self.note(Body::AgentFinished(finished)),
            CallEvent::Quarantined(items) => self.take_quarantined(items),
        }
    }

    fn call_ended(&mut self, call: CallId, mut outcome: Box<Outcome>, duration_ms: u64) {
        if let Some(pid) = self.user_command_of(&call) {
            self.show_last_output(&call);
            self.user_command_ended(pid, *outcome, duration_ms);
            return;
        }
        if outcome.blocked.is_some() && !self.may_ask_to_run_unsandboxed() {
            // The model has been informed what stopped it, and what the user could do.
            outcome.blocked = None;
        }
        self.hand_over_quarantined(&call, &mut outcome);
        self.show_last_output(&call);
        self.step(Input::CallEnded {
            call,
            outcome,
            duration_ms,
        });
    }

    /// A call that has ended runs no more.
    fn show_last_output(&mut self, call: &CallId) {
        if let Some(running) = self.calls.take_running(call) {
            self.show_output(call, &running.printed);
        }
    }

    /// Gives up calls that do not stop.
    fn end_overdue(&mut self, calls: Vec<CallId>) {
        for call in calls {
            if let Some(running) = self.calls.take_running(&call) {
                running.task.abort();
                self.step(Input::CallEnded {
                    call,
                    outcome: Box::new(overdue()),
                    duration_ms: 0,
                });
            }
        }
    }
}
