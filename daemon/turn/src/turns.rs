//! The start and the end of a turn. `next` decides what follows its end.

use proto::budget::Spent;
use proto::item::{UserMessage, Voice};
use proto::outcome::{OutcomeKind, Reason, TurnEnded, TurnLimit};
use proto::params::session::QueuedPrompt;
use proto::record::{Level, ReportedFile, SessionExited, SessionReopened, TurnStarted};
use proto::state::State;
use proto::{Body, Failure, Pid, PromptId, RequestId};

use crate::facts::OpenTurn;
use crate::goal;
use crate::input::{Effect, StopReason};
use crate::machine::{Phase, Step};
use crate::next::{DecisionMoment, Exit, NextStep};
use crate::words;

impl Step<'_> {
    /// Starts the turn of this prompt, which must be the first in the queue.
    pub(crate) fn start_prompt(&mut self, prompt: PromptId) -> Phase {
        self.continue_goal(prompt);
        let Some(prompt) = self
            .facts
            .queue
            .front()
            .filter(|first| first.prompt_id == prompt)
        else {
            return Phase::Idle;
        };
        let prompt = prompt.clone();
        if self.facts.exited.is_some() {
            self.append(Body::SessionReopened(SessionReopened {
                by: prompt.by.clone(),
            }));
        }
        self.append(Body::TurnStarted(TurnStarted {
            prompt_id: prompt.prompt_id,
        }));
        self.state(State::Running, None, "prompt", None);
        self.arm_timeout();
        let spoken = self.facts.spoken > 0;
        let (context, reported) = match spoken {
            true => {
                let note = self.note.take().unwrap_or_default();
                (Some(note.text).filter(|text| !text.is_empty()), note.files)
            }
            false => (self.first_message_context(), Vec::new()),
        };
        let voice = self.prompt_voice(prompt.prompt_id);
        self.decide_plan_mode(&prompt, voice);
        self.decide_planning(&prompt, voice);
        self.append_prompt(prompt, context, reported, voice);
        self.report_added_limits();
        match self.facts.is_planning() {
            true => self.continue_planning(),
            false => self.ask(),
        }
    }

    /// Appends a prompt as a message, after what the session works on (`context`, which tells of the files `reported`), the output of users' commands and with the contents of its references.
    pub(crate) fn append_prompt(
        &mut self,
        prompt: QueuedPrompt,
        context: Option<String>,
        reported: Vec<ReportedFile>,
        voice: Voice,
    ) {
        let references = self.facts.references.get(&prompt.prompt_id);
        let references = references.map(|text| text.to_string());
        let goal = self.facts.goal.as_ref().map(goal::words::context);
        let parts = [context, goal, self.facts.user_results(), references];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let context = (!parts.is_empty()).then(|| parts.join("\n\n"));
        let message = self.user_message(prompt.text, Some(prompt.prompt_id), context, voice);
        self.append(Body::User(UserMessage {
            reported,
            ..message
        }));
    }

    /// The context to put before the conversation's first message; `None` for later messages. After a rewind to the
    /// beginning it is the original one.
    pub(crate) fn first_message_context(&mut self) -> Option<String> {
        if self.facts.spoken > 0 {
            return None;
        }
        let context = self.context.take();
        context.or_else(|| self.facts.first_context.clone())
    }

    /// Ends the open turn, then continues with the next step of the session.
    pub fn end_turn(
        &mut self,
        outcome: OutcomeKind,
        reason: Option<Reason>,
        error: Option<Failure>,
    ) -> Phase {
        let Some(open) = self.facts.open.clone() else {
            return Phase::Idle;
        };
        let (outcome, error) = self.with_original_failure(outcome, error);
        let left = !open.denied.is_empty() && !open.ok_since_denial;
        // A run whose plan nobody approved did not do its work, whatever its read-only calls returned.
        let blocked = outcome == OutcomeKind::Completed && (left || open.unapproved.is_some());
        let (outcome, reason) = if blocked {
            // Contract, decision 22: the run was blocked by a call that was denied because no client was attached.
            (OutcomeKind::Blocked, Some(Reason::Denied))
        } else {
            (outcome, reason)
        };
        self.hold.clock = None;
        self.hold.too_long = 0;
        let duration_ms = self.hold.ran.elapsed_ms(&open, self.now.mono_ms);
        let without_hooks = reason == Some(Reason::Shutdown) || outcome == OutcomeKind::Killed;
        let notify = self.hold.notify_turn_end && !without_hooks;
        let tree_usage = with_agents(&open, duration_ms);
        let ended = TurnEnded {
            outcome,
            reason,
            text: with_plan(open.text, open.unapproved),
            error,
            usage: open.usage,
            tree_usage,
            steps: open.steps,
            tool_calls: open.tool_calls,
            duration_ms,
            denied: open.denied,
            hooks: notify,
            supervised: self.facts.is_supervised(),
        };
        self.report_limit(&ended);
        if notify && self.facts.state.state == State::Waiting {
            // The turn no longer waits, and the next state is logged only after the hooks.
            self.state(State::Running, None, "turn ends", None);
        }
        self.append(Body::TurnEnded(ended));
        if notify {
            self.effects.push(Effect::NotifyTurnEnd);
            return Phase::Ending { stop: None };
        }
        self.after_turn(None)
    }

    /// Notifies users of the limits with which the turn continues the work of one that a limit ended.
    fn report_added_limits(&mut self) {
        let Some(added) = self.facts.open.as_ref().and_then(|open| open.added) else {
            return;
        };
        let steps = added.steps.map(words::adds_steps);
        let time = added.ms.map(words::adds_time);
        for words in [steps, time].into_iter().flatten() {
            self.notice(Level::Info, words);
        }
    }

    /// Notifies users of the limit that ends the turn, and of how its work goes on. That of a sub-agent is its parent's to continue.
    fn report_limit(&mut self, ended: &TurnEnded) {
        let created = self.facts.created.as_ref();
        let own = created.filter(|created| created.ppid == Pid(0));
        let (Some(limit), Some(pid)) = (ended.limit(), own.map(|created| created.pid)) else {
            return;
        };
        if limit == TurnLimit::Steps && self.facts.goal.is_some() {
            // The next turn of the goal goes on.
            return;
        }
        let words = match limit {
            TurnLimit::Steps => words::at_step_limit(pid),
            TurnLimit::Time => words::at_time_limit(pid),
        };
        self.notice(Level::Warning, words);
    }

    /// Continues after the end of a turn. `stop`: a request to stop the session that arrived meanwhile.
    pub(crate) fn after_turn(&mut self, stop: Option<StopReason>) -> Phase {
        self.supervise(stop);
        self.settle_goal();
        let next = self.next(DecisionMoment::TurnEnded, stop);
        let cause = match next {
            NextStep::Wait { for_person: true } => "the daemon stopped",
            NextStep::Wait { .. }
            | NextStep::StartPrompt(_)
            | NextStep::AwaitRestart { .. }
            | NextStep::Exit(_) => "turn ended",
        };
        self.follow(next, Some(cause))
    }

    /// Ends the session. It can be resumed.
    pub(crate) fn exit(&mut self, exit: Exit, request_id: Option<RequestId>) -> Phase {
        self.hold.restart_due_ms = None;
        if self.facts.exited.is_none() {
            self.end_goal_at_exit();
            self.append(Body::SessionExited(SessionExited {
                outcome: exit.outcome,
                reason: exit.reason,
                exit_code: exit.code,
                request_id,
            }));
        }
        Phase::Idle
    }
}

/// What a turn used with its sub-agents and the planner. `None`: they used nothing.
fn with_agents(open: &OpenTurn, ms: u64) -> Option<Spent> {
    let agents = Spent {
        ms: 0,
        ..open.agents_spent
    };
    let sum = Spent::from(&open.usage).plus(&agents);
    (agents != Spent::default()).then_some(Spent { ms, ..sum })
}

/// The final text of a turn. It includes a plan that no client was attached to approve: scripts read it from there.
fn with_plan(text: String, unapproved: Option<String>) -> String {
    match unapproved {
        None => text,
        Some(plan) if text.trim().is_empty() => plan,
        Some(plan) if text.contains(plan.trim()) => text,
        Some(plan) => format!("{plan}\n\n{text}"),
    }
}
