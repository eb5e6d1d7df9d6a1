//! The goal of a session, as a fold: it starts, the model reports, turns end with or without progress, it ends.

use std::collections::{BTreeMap, VecDeque};

use proto::budget::{Budget, Spent};
use proto::item::{CallStatus, ToolKind, ToolMessage, UserMessage, Voice};
use proto::outcome::{OutcomeKind, Reason, TurnEnded, exit_code};
use proto::params::goal::{GoalChecked, GoalLine, GoalProgress, StatusOutput};
use proto::params::session::QueuedPrompt;
use proto::record::{
    ContinueReason, GoalChanged, GoalCheck, GoalContinued, GoalEnded, GoalOutcome, GoalReport,
    GoalReported, GoalResearch, GoalStarted, ReportStatus, Todo, TodoStatus,
};
use proto::state::Kind;
use proto::{GoalId, PromptId, Record, Stamp};

use super::content::{content_of_goal, content_of_goal_change, content_of_goal_stop};
use super::{CallStage, Facts, OpenCall};
use crate::goal::normalise;
use crate::goal::words::{CHANGED_SINCE, OPEN_ITEMS};
use crate::loop_detector;
use contract::first_line;

/// How many results of calls are remembered, to tell new ones.
const SEEN_MAX: usize = 512;

/// A goal in progress.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    pub id: GoalId,
    pub text: String,
    pub by: String,
    pub started_at: Stamp,
    /// 0: no limit.
    pub max_turns: u64,
    pub check: Option<GoalCheck>,
    /// Where the run keeps its state, if it is long research.
    pub research: Option<GoalResearch>,
    /// Number of turns that have ended under it.
    pub turns: u64,
    /// The newest turn that it started.
    pub continued: Option<GoalContinued>,
    /// The model's newest report.
    pub report: Option<GoalReport>,
    /// The newest turn under it, open or ended.
    pub turn: GoalTurn,
    /// A turn has ended, and the goal's end or next turn is not logged yet.
    pub undecided: bool,
    /// It had ended at a limit that a user has raised, and no turn has started since.
    pub resumed: bool,
    /// Turns in a row without progress.
    pub stalled: u64,
    /// The model was reminded of that since the last progress.
    pub stall_reminded: bool,
    /// How often each block was reported, by its normalised reason.
    blocks: BTreeMap<String, u32>,
    /// Hashes of calls and their results, oldest first.
    seen: VecDeque<u64>,
    /// The most items of the todo list that were completed at once.
    items_done: usize,
    /// The newest check of a claim that it is complete.
    checked: Option<GoalChecked>,
    /// What the session had used when it started.
    used_before: Spent,
}

/// What a turn did for its goal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GoalTurn {
    /// The model's last report in it.
    pub report: Option<GoalReport>,
    /// That report claims completion, and all checks hold.
    pub accepted: bool,
    /// What that report lacks as a claim of completion.
    pub missing: Vec<String>,
    /// It has failed, and the session's restart policy lets the goal go on.
    pub(crate) restarted: bool,
    /// It has started under the goal and has not ended.
    open: bool,
    /// Something new was read, run or finished.
    progressed: bool,
}

impl GoalTurn {
    /// Takes an accepted claim of completion back, for this reason.
    fn take_back(&mut self, missing: &str) {
        if std::mem::take(&mut self.accepted) {
            self.missing = vec![missing.to_owned()];
        }
    }
}

/// A goal that ended.
#[derive(Clone, Debug, PartialEq)]
pub struct LastGoal {
    pub ended: GoalEnded,
    /// As it was then; absent in a log without its start.
    pub goal: Option<Box<Goal>>,
    /// No turn has started since.
    pub newest: bool,
    /// How the turn ended that it ended with; `None`: that still runs, or there was none.
    turn: Option<(OutcomeKind, Option<Reason>)>,
    /// A turn that had begun before the goal was still running: the session exits as that turn ends.
    during_earlier_turn: bool,
    /// The session has exited since.
    exited: bool,
}

impl LastGoal {
    /// The first turn that ends after the goal is the one in which it ended, unless that had ended before.
    fn turn_ended(&mut self, ended: &TurnEnded) {
        if self.newest && self.turn.is_none() {
            self.turn = Some((ended.outcome, ended.reason));
        }
    }

    /// How a session exits whose goal has ended so; `None`: as the turn that the goal ended with.
    fn exit(&self) -> Option<(OutcomeKind, Option<Reason>)> {
        if self.during_earlier_turn {
            return None;
        }
        let outcome = match (self.ended.outcome, self.turn) {
            (GoalOutcome::Complete, _) => OutcomeKind::Completed,
            (GoalOutcome::Blocked, _) => OutcomeKind::Blocked,
            (GoalOutcome::OutOfBudget, _) => OutcomeKind::BudgetExceeded,
            (GoalOutcome::OutOfTurns, _) => OutcomeKind::MaxSteps,
            (
                GoalOutcome::Failed | GoalOutcome::Stopped,
                None | Some((OutcomeKind::Completed, _)),
            ) => OutcomeKind::Interrupted,
            // How the turn ended says how it failed, or who stopped it.
            (GoalOutcome::Failed | GoalOutcome::Stopped, turn) => {
                return turn.filter(|_| !self.newest);
            }
        };
        Some((outcome, None))
    }
}

impl Goal {
    /// How many turns ended with a report of this block.
    #[must_use]
    pub fn times_blocked(&self, reason: &str) -> u32 {
        self.blocks.get(&normalise(reason)).copied().unwrap_or(0)
    }

    /// The id of the prompt that starts its next turn.
    #[must_use]
    pub fn next_prompt(&self) -> PromptId {
        self.id.prompt(self.turns + 1)
    }

    /// Whether the running turn has started under it.
    pub(crate) fn is_under_way(&self) -> bool {
        self.turn.open
    }

    /// Number of its newest turn, whoever started that; 0: it has had none.
    fn newest_turn(&self) -> u64 {
        let continued = self.continued.as_ref().map_or(0, |last| last.number);
        continued.max(self.turns + u64::from(self.turn.open))
    }

    fn progress(&self, used: &Spent, budget: Budget) -> GoalProgress {
        GoalProgress {
            goal: self.id,
            text: self.text.clone(),
            by: self.by.clone(),
            started_at: self.started_at,
            turn: self.newest_turn(),
            max_turns: self.max_turns,
            budget,
            check: (self.check.as_ref()).map_or_else(Vec::new, |check| check.commands.clone()),
            research: self.research.as_ref().map(|run| run.dir.clone()),
            continued: self.continued.clone(),
            report: self.report.clone(),
            stalled: self.stalled,
            checked: self.checked.clone(),
            spent: used.since(&self.used_before),
        }
    }

    /// Notes what came of a claim that it is complete.
    fn note_check(&mut self, at: Stamp, missing: &[String]) {
        self.checked = Some(GoalChecked {
            at,
            passed: missing.is_empty(),
            missing: missing.to_vec(),
        });
    }

    /// Notes a call and its result. Anything that was not seen before is progress.
    fn note_result(&mut self, signature: u64) {
        if self.seen.contains(&signature) {
            return;
        }
        self.turn.progressed = true;
        self.seen.push_back(signature);
        if self.seen.len() > SEEN_MAX {
            self.seen.pop_front();
        }
    }
}

impl Facts {
    /// The goal in progress, or how the last one ended.
    #[must_use]
    pub fn goal_status(&self) -> StatusOutput {
        let last = self.last_goal.as_ref().filter(|_| self.goal.is_none());
        let ended = last.and_then(|last| last.goal.as_ref());
        let budget = self.options.budget.unwrap_or_default();
        let progress = |goal: &Goal| goal.progress(&self.used(), budget);
        StatusOutput {
            limit: last.and_then(|last| self.goal_limit(last.ended.outcome)),
            goal: self.goal.as_ref().map(progress),
            ended: last.map(|last| last.ended.clone()),
            ended_text: ended.map_or_else(String::new, |goal| goal.text.clone()),
        }
    }

    /// The goal in progress, in short.
    #[must_use]
    pub fn goal_line(&self) -> Option<GoalLine> {
        let goal = self.goal.as_ref()?;
        let continued = goal.continued.as_ref();
        let checks = goal.check.as_ref().map_or(0, |check| check.commands.len());
        Some(GoalLine {
            text: first_line(&goal.text),
            turn: goal.newest_turn(),
            max_turns: goal.max_turns,
            why: continued.map(|last| last.why),
            detail: continued.map_or_else(String::new, |last| first_line(&last.detail)),
            checks: checks as u64,
            checked: goal.checked.clone(),
            spent: self.used().since(&goal.used_before),
        })
    }

    /// What the session has used, with its sub-agents that have ended.
    pub(crate) fn used(&self) -> Spent {
        let own = Spent {
            cost_micros: self.usage.cost_micros,
            tokens: (self.usage.prompt_tokens).saturating_add(self.usage.output_tokens),
            steps: self.steps,
            ms: self.ran_ms,
            unpriced: self.usage.unknown_cost_calls,
        };
        self.agents.values().fold(own, |all, agent| all.plus(agent))
    }

    /// How the session exits by the goal that ended with the newest turn; `None`: no goal did, or the turn's own outcome
    /// says it. A headless session is there for its goal: it exits so also after prompts that followed the goal.
    pub(crate) fn goal_exit(&self) -> Option<(OutcomeKind, Option<Reason>)> {
        let headless = self.options.kind == Some(Kind::Headless);
        let last = self.last_goal.as_ref().filter(|_| self.goal.is_none())?;
        match last.newest || headless && !last.exited {
            true => last.exit(),
            false => None,
        }
    }

    /// The exit code of the goal that ended with the newest turn, if one did and the turn's own does not say it.
    #[must_use]
    pub fn goal_exit_code(&self) -> Option<i32> {
        self.goal_exit()
            .map(|(outcome, reason)| exit_code(outcome, reason))
    }

    /// The session exits: its exit has said how its goal ended.
    pub(super) fn goal_exited(&mut self) {
        if let Some(last) = &mut self.last_goal {
            last.exited = true;
        }
    }

    /// Whether this prompt is one that the goal made, after its first.
    pub(crate) fn is_continuation(&self, prompt: PromptId) -> bool {
        let continued = self.goal.as_ref().and_then(|goal| goal.continued.as_ref());
        continued
            .is_some_and(|last| last.prompt_id == prompt && last.why != ContinueReason::Started)
    }

    pub(super) fn apply_goal_started(&mut self, started: &GoalStarted, record: &Record) {
        let used_before = self.used();
        self.goal = Some(Goal {
            id: started.goal,
            text: started.text.clone(),
            by: started.by.clone(),
            started_at: record.at,
            max_turns: started.max_turns,
            check: started.check.clone(),
            research: started.research.clone(),
            turns: 0,
            continued: None,
            report: None,
            turn: GoalTurn::default(),
            undecided: false,
            resumed: false,
            stalled: 0,
            stall_reminded: false,
            blocks: BTreeMap::new(),
            seen: VecDeque::new(),
            items_done: items_done(&self.todos),
            checked: None,
            used_before,
        });
        self.woken = self.exited.is_some();
        self.asked_since = true;
        self.over_budget = false;
        self.at_limit = None;
        self.last_line = first_line(&started.text);
        if self.first_line.is_empty() {
            self.first_line.clone_from(&self.last_line);
        }
        self.remember(
            started.request_id,
            record,
            content_of_goal(&started.text),
            Some(started.goal.prompt(0)),
        );
    }

    /// New limits. A goal that had ended at one is in progress again, with all that is known of it.
    pub(super) fn apply_goal_changed(&mut self, changed: &GoalChanged, record: &Record) {
        if changed.resumed.is_some() && self.goal.is_none() {
            let last = self.last_goal.take().and_then(|last| last.goal);
            self.goal = last.map(|goal| Goal {
                undecided: true,
                resumed: true,
                ..*goal
            });
            self.woken = self.exited.is_some();
            self.asked_since = true;
            self.over_budget = false;
            self.at_limit = None;
        }
        if let (Some(goal), Some(max_turns)) = (&mut self.goal, changed.max_turns) {
            goal.max_turns = max_turns;
        }
        self.remember(
            changed.request_id,
            record,
            content_of_goal_change(changed.max_turns, changed.budget),
            None,
        );
    }

    pub(super) fn apply_goal_reported(&mut self, reported: &GoalReported, at: Stamp) {
        let Some(goal) = self.goal.as_mut().filter(|goal| goal.turn.open) else {
            return;
        };
        let complete = reported.report.status == ReportStatus::Complete;
        goal.turn.accepted = complete && reported.missing.is_empty() && !reported.checking;
        goal.turn.missing.clone_from(&reported.missing);
        goal.turn.report = Some(reported.report.clone());
        goal.report = Some(reported.report.clone());
        if !reported.checking {
            if complete {
                goal.note_check(at, &reported.missing);
            }
            return;
        }
        goal.turn.missing = vec![CHECKS.to_owned()];
        let (check, open) = (goal.check.clone(), self.open.as_mut());
        let calls = open.into_iter().flat_map(|open| &mut open.calls);
        for open in calls.filter(|open| open.call.id == reported.call) {
            open.check.clone_from(&check);
            open.input_sha256.clear();
        }
    }

    /// The goal's next prompt is queued until its message is logged, as any other.
    pub(super) fn apply_goal_continued(&mut self, continued: &GoalContinued) {
        let Some(goal) = &mut self.goal else { return };
        (goal.undecided, goal.resumed) = (false, false);
        goal.stall_reminded |= continued.why == ContinueReason::NoProgress;
        goal.continued = Some(continued.clone());
        self.queue.push_back(QueuedPrompt {
            untyped: Vec::new(),
            prompt_id: continued.prompt_id,
            text: continued.text.clone(),
            steer: false,
            on_ask: None,
            by: goal.by.clone(),
        });
    }

    pub(super) fn apply_goal_ended(&mut self, ended: &GoalEnded, record: &Record) {
        self.take_back_restart();
        let turn = self.ended.as_ref().filter(|_| self.open.is_none());
        let is_under_way = self.goal.as_ref().is_some_and(Goal::is_under_way);
        self.last_goal = Some(LastGoal {
            ended: ended.clone(),
            during_earlier_turn: self.open.is_some() && !is_under_way,
            turn: turn.map(|turn| (turn.outcome, turn.reason)),
            goal: self.goal.take().map(Box::new),
            newest: true,
            exited: false,
        });
        self.remember(ended.request_id, record, content_of_goal_stop(), None);
    }

    pub(super) fn goal_turn_started(&mut self) {
        if let Some(last) = &mut self.last_goal {
            last.newest = false;
        }
        if let Some(goal) = &mut self.goal {
            (goal.undecided, goal.resumed) = (false, false);
            goal.turn = GoalTurn {
                open: true,
                ..GoalTurn::default()
            };
        }
    }

    pub(super) fn goal_turn_ended(&mut self, ended: &TurnEnded) {
        if let Some(last) = &mut self.last_goal {
            last.turn_ended(ended);
        }
        let Some(goal) = &mut self.goal else { return };
        goal.undecided = true;
        // One that had begun before the goal is none of its turns.
        if !std::mem::take(&mut goal.turn.open) {
            return;
        }
        goal.turns += 1;
        match goal.turn.progressed {
            true => (goal.stalled, goal.stall_reminded) = (0, false),
            false => goal.stalled += 1,
        }
        let report = goal.turn.report.as_ref();
        if let Some(report) = report.filter(|report| report.status == ReportStatus::Blocked) {
            *goal.blocks.entry(normalise(&report.summary)).or_default() += 1;
        }
    }

    /// What a user says is progress, and may remove a block.
    pub(super) fn goal_heard(&mut self, message: &UserMessage) {
        let continuation = message.prompt_id.is_some_and(|prompt| {
            let goal = self.goal.as_ref().and_then(|goal| goal.continued.as_ref());
            goal.is_some_and(|last| last.prompt_id == prompt)
        });
        if message.voice == Voice::Daemon || continuation {
            return;
        }
        if let Some(goal) = &mut self.goal {
            // Of another session it is like a call with a new result.
            goal.turn.progressed = true;
            if message.voice.is_user() {
                goal.blocks.clear();
            }
        }
    }

    pub(super) fn goal_todos(&mut self, todos: &[Todo]) {
        let Some(goal) = &mut self.goal else { return };
        let done = items_done(todos);
        if done < todos.len() {
            goal.turn.take_back(OPEN_ITEMS);
        }
        if done > goal.items_done {
            goal.items_done = done;
            goal.turn.progressed = true;
        }
    }

    /// A call has its result: a new one is progress, and that of passed checks completes the goal.
    pub(super) fn goal_result(&mut self, message: &ToolMessage, at: Stamp) {
        let (Some(goal), Some(open)) = (&mut self.goal, &self.open) else {
            return;
        };
        let mut calls = open.calls.iter();
        let Some(call) = calls.find(|open| open.call.id == message.call) else {
            return;
        };
        if call.check.is_some() {
            goal.turn.accepted = message.status == CallStatus::Ok;
            if goal.turn.accepted {
                goal.turn.missing.clear();
            }
            let missing = goal.turn.missing.clone();
            goal.note_check(at, &missing);
            return;
        }
        if matches!(&call.stage, CallStage::Answered { .. }) {
            goal.turn.progressed |= call.stage.did_work();
            return;
        }
        let ran = matches!(message.status, CallStatus::Ok | CallStatus::Failed);
        let works = !matches!(
            call.kind,
            ToolKind::Todo | ToolKind::Goal | ToolKind::Ask | ToolKind::Plan
        );
        if ran && goal.check.is_some() && call.kind.may_change() {
            goal.turn.take_back(CHANGED_SINCE);
        }
        if ran && works && call.stage.did_work() {
            goal.note_result(signature(call, &message.text));
        }
    }
}

/// What a claim of completion lacks until the check commands have passed.
const CHECKS: &str = "the check commands did not succeed";

/// The hash of a call and its result.
fn signature(open: &OpenCall, text: &str) -> u64 {
    let call = loop_detector::hash_call(&open.call.name, &open.call.arguments);
    let result = open
        .outcome_hash
        .unwrap_or_else(|| loop_detector::hash(&text));
    loop_detector::hash(&(call, result))
}

fn items_done(todos: &[Todo]) -> usize {
    let done = |todo: &&Todo| todo.status == TodoStatus::Completed;
    todos.iter().filter(done).count()
}
