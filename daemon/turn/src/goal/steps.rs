//! The machine's part of goals: starts them, takes the model's reports, starts their turns, and logs their ends.

use contract::Outcome;
use proto::item::{ToolCall, Voice};
use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::record::{
    GoalContinued, GoalEnded, GoalOutcome, GoalReport, GoalReported, GoalStarted, PromptUnqueued,
    ReportStatus, SessionReopened, TodoStatus,
};
use proto::{Body, PromptId, RequestId};

use super::{GoalStep, next_after_turn, words};
use crate::input::{Answer, Decided, StopReason};
use crate::machine::{CallsInProgress, Phase, Step};
use crate::words::CONTINUE_AFTER_LIMIT;

impl Step<'_> {
    /// Starts a goal, in place of one in progress.
    pub(crate) fn start_goal(&mut self, phase: Phase, started: GoalStarted) -> Phase {
        self.end_goal(
            GoalOutcome::Stopped,
            words::REPLACED,
            Some(&started.by),
            None,
        );
        self.append(Body::GoalStarted(started));
        // A user is present, so work that waited for one continues.
        self.hold.rests = false;
        match phase {
            Phase::Idle => self.continue_idle(None),
            Phase::Asking(_)
            | Phase::Planning
            | Phase::Compacting(_)
            | Phase::Calls(_)
            | Phase::Held
            | Phase::Rewinding { .. }
            | Phase::Stopping { .. }
            | Phase::Ending { .. } => phase,
        }
    }

    /// A user stops the goal, and with it its running turn. One that had begun before the goal goes on.
    pub(crate) fn stop_goal(
        &mut self,
        phase: Phase,
        by: &str,
        request_id: Option<RequestId>,
        partial: Option<Answer>,
    ) -> Phase {
        let Some(goal) = &self.facts.goal else {
            return phase;
        };
        let is_under_way = goal.is_under_way();
        self.end_goal(GoalOutcome::Stopped, words::STOPPED, Some(by), request_id);
        match phase {
            Phase::Idle => self.continue_idle(None),
            phase if is_under_way => self.stop(phase, StopReason::User, partial),
            phase => phase,
        }
    }

    /// The mode was changed: the goal ends, and the open turn goes on without it.
    pub(crate) fn end_goal_for_mode(&mut self, by: Option<&str>) {
        self.end_goal(GoalOutcome::Stopped, words::MODE_CHANGED, by, None);
    }

    /// A user stops the session while its goal waits for a restart. What ends the session ends the goal by itself.
    pub(crate) fn end_goal_for_stop(&mut self, reason: StopReason) {
        if reason == StopReason::User {
            self.end_goal(GoalOutcome::Stopped, words::INTERRUPTED, None, None);
        }
    }

    /// The session ends.
    pub(crate) fn end_goal_at_exit(&mut self) {
        self.end_goal(GoalOutcome::Stopped, words::SESSION_ENDED, None, None);
    }

    pub(super) fn end_goal(
        &mut self,
        outcome: GoalOutcome,
        reason: &str,
        by: Option<&str>,
        request_id: Option<RequestId>,
    ) {
        let Some(goal) = &self.facts.goal else { return };
        let (id, turns) = (goal.id, goal.turns + u64::from(goal.is_under_way()));
        let next = goal.continued.as_ref().map(|next| next.prompt_id);
        // A crash, or a pause, may have kept its next turn from starting.
        if let Some(prompt_id) = next.filter(|next| self.facts.is_queued(*next)) {
            self.append(Body::PromptUnqueued(PromptUnqueued { prompt_id }));
        }
        self.append(Body::GoalEnded(GoalEnded {
            goal: id,
            outcome,
            reason: reason.to_owned(),
            turns,
            by: by.map(str::to_owned),
            request_id,
        }));
    }

    /// Ends the goal if the turn that has just ended was its last.
    pub(crate) fn settle_goal(&mut self) {
        let goal = self.facts.goal.as_ref().filter(|goal| goal.undecided);
        let Some(goal) = goal.filter(|_| !self.facts.goal_is_paused()) else {
            return;
        };
        // A turn that had begun before the goal says nothing of it, unless it was stopped.
        let ended = self.facts.ended.as_ref();
        let ended = ended.filter(|ended| goal.turns > 0 || is_stopped(ended));
        if let GoalStep::End { outcome, reason } = next_after_turn(goal, ended) {
            // Before the end: clients that wait for that print it.
            self.report_goal_limit(outcome);
            self.end_goal(outcome, &reason, None, None);
        }
    }

    /// Logs that the goal continues with the turn of this prompt, if it is that of its next turn.
    pub(crate) fn continue_goal(&mut self, prompt: PromptId) {
        let goal = self.facts.goal.as_ref();
        let Some(goal) = goal.filter(|goal| goal.next_prompt() == prompt) else {
            return;
        };
        if self.facts.is_queued(prompt) {
            return;
        }
        let ended = self.facts.ended.as_ref().filter(|_| goal.turns > 0);
        if let GoalStep::Continue { why, detail } = next_after_turn(goal, ended) {
            let number = goal.turns + 1;
            let text = words::prompt(goal, why, &detail);
            if self.facts.exited.is_some() {
                let by = goal.by.clone();
                self.append(Body::SessionReopened(SessionReopened { by }));
            }
            self.append(Body::GoalContinued(GoalContinued {
                prompt_id: prompt,
                number,
                why,
                detail,
                text,
            }));
        }
    }

    /// Who speaks in the message of a prompt that starts a turn.
    pub(crate) fn prompt_voice(&self, prompt: PromptId) -> Voice {
        let mut queue = self.facts.queue.iter();
        let queued = queue.find(|queued| queued.prompt_id == prompt);
        // A user may have changed its text, and then it is the user's.
        let added = self.facts.added.contains_key(&prompt)
            && queued.is_some_and(|queued| queued.text == CONTINUE_AFTER_LIMIT);
        let restart = queued.is_some_and(|queued| self.facts.is_restart(queued));
        match added || restart || self.facts.is_continuation(prompt) {
            true => Voice::Daemon,
            false if self.facts.sent_by_sessions.contains_key(&prompt) => Voice::Session,
            false => Voice::Prompt,
        }
    }

    /// Takes the model's report. A claim of completion is checked: the todo list, the evidence, and then the check
    /// commands, which the same call runs.
    pub(crate) fn report_goal(
        &mut self,
        calls: &mut CallsInProgress,
        call: &ToolCall,
        decided: Decided,
        report: GoalReport,
    ) {
        let Some(goal) = &self.facts.goal else {
            self.close(calls, call, Outcome::refused(words::NO_GOAL), 0);
            return;
        };
        if !goal.is_under_way() {
            self.close(calls, call, Outcome::refused(words::NOT_YET), 0);
            return;
        }
        let complete = report.status == ReportStatus::Complete;
        let missing = match complete {
            true => self.missing(&report),
            false => Vec::new(),
        };
        let checking = complete && missing.is_empty() && goal.check.is_some();
        let (status, text) = words::report_result(&report, &missing);
        if !checking {
            self.log_started(call, decided);
        }
        self.append(Body::GoalReported(GoalReported {
            call: call.id.clone(),
            report,
            missing,
            checking,
        }));
        if !checking {
            self.close(calls, call, Outcome::with_status(status, text), 0);
        }
    }

    /// What a claim of completion lacks, but for the check commands.
    fn missing(&self, report: &GoalReport) -> Vec<String> {
        let mut todos = self.facts.todos.iter();
        let open = todos.any(|todo| todo.status != TodoStatus::Completed);
        let evidence = report.evidence.as_deref().unwrap_or_default();
        let lacks = [
            (open, words::OPEN_ITEMS),
            (evidence.trim().is_empty(), words::NO_EVIDENCE),
        ];
        let lacks = lacks.into_iter().filter(|(lacks, _)| *lacks);
        lacks.map(|(_, what)| what.to_owned()).collect()
    }
}

/// Whether a person, or the end of the session, has ended it.
fn is_stopped(ended: &TurnEnded) -> bool {
    let by_itself = matches!(ended.reason, Some(Reason::Shutdown | Reason::Timeout));
    let stopped = matches!(
        ended.outcome,
        OutcomeKind::Interrupted | OutcomeKind::Killed
    );
    stopped && !by_itself
}
