//! The open turn and its calls, as recorded in the log.

use std::collections::{BTreeSet, HashSet};

use proto::budget::Spent;
use proto::item::{CallStatus, Display, Finish, ToolCall, ToolKind, ToolMessage};
use proto::outcome::{Denied, TurnEnded, UsageTotals};
use proto::record::{AddedLimits, CallEdit, GoalCheck, SkillUse, ToolBlocked, ToolFinished};
use proto::state::OnAsk;
use proto::{CallId, InteractionId, ItemId, PromptId, Stamp};

use super::Planning;
use crate::loop_detector::{self, CallAndResult, Counting, RecentCalls};
use crate::words;

/// A turn that has started and not ended yet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenTurn {
    pub number: u64,
    /// The prompt that started it.
    pub prompt_id: Option<PromptId>,
    /// How to handle its approval requests, if its prompt sets that.
    pub on_ask: Option<OnAsk>,
    /// Its own limits, if it continues a turn that a limit ended.
    pub added: Option<AddedLimits>,
    /// Its running time up to the newest record, by the dates of its records. Measures time in earlier daemon processes.
    pub logged_ms: u64,
    /// The date of the newest record.
    pub logged_at: Stamp,
    /// Number of messages so far.
    pub items: u64,
    /// Number of answers so far.
    pub steps: u64,
    pub tool_calls: u64,
    pub usage: UsageTotals,
    /// What sub-agents and the planner used that ended in it.
    pub agents_spent: Spent,
    pub text: String,
    pub denied: Vec<Denied>,
    /// After the last unattended denial, a call succeeded or was answered by a user.
    pub ok_since_denial: bool,
    /// A user has approved a plan in this turn: its calls run without asking, except those denied or always asked about.
    pub plan_approved: bool,
    /// A plan that no client was attached to approve: the turn ends with it.
    pub unapproved: Option<String>,
    /// The text of the prompt that started it, once its message is logged.
    pub prompt: String,
    /// Whether the planner works on it, or has.
    pub planning: Planning,
    /// The calls of the newest answer.
    pub calls: Vec<OpenCall>,
    /// Files whose original contents the turn has saved, by absolute path.
    pub kept: BTreeSet<String>,
    /// The tree was recorded before the first command, so that its changes can be found, or the log says why it was not.
    pub tree_kept: bool,
    /// Hashes (tool and arguments, as the policy read them) of the calls denied in this turn. They stay denied.
    pub refused: HashSet<String>,
    /// Hashes of the calls whose unsandboxed run was refused in this turn. The user is not asked about them again.
    pub kept_inside: HashSet<String>,
    /// How the newest message finished, if it is an answer without calls. Such an answer usually ends the turn.
    pub plain_answer: Option<Finish>,
    /// The daemon's end cut off that answer, and the turn continues from it.
    pub cut_off: bool,
    /// The kept part of an answer that the next answer continues: together they are one text.
    pub begun: String,
    /// The log ended the turn although calls have no result; only an edited log does. The turn stays open until they have
    /// results, and is then ended again in the same way.
    pub over: Option<TurnEnded>,
    /// The model was asked to answer again after an empty answer.
    pub empty_answer_retried: bool,
    /// How many times in a row, since the newest answer, the model was notified that the provider refused its call.
    pub invalid_calls: u32,
    /// How many answers in a row, up to the newest, the provider paused.
    pub pauses: u32,
    /// The last request of the turn has, or had, no tools.
    pub summing_up: bool,
    /// The model may call no more tools because it repeated its calls.
    pub stuck: bool,
    /// The newest calls with results, to detect loops.
    pub recent_calls: RecentCalls,
    /// The skills in force: those that its prompts and calls have loaded.
    pub skills: Vec<SkillUse>,
}

/// A call of the newest answer.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    pub call: ToolCall,
    pub stage: CallStage,
    /// The tool that the call resolves to, as far as known.
    pub tool: String,
    /// What it is about (a command, a path), once the call has started; at most 120 characters.
    pub subject: String,
    /// The tool's kind, once the call has started.
    pub kind: ToolKind,
    /// Whether the policy's last decision found the call read-only.
    pub read_only: bool,
    /// The hash of tool and arguments that the policy judged last. Empty: not judged yet.
    pub input_sha256: String,
    /// The outcome of its sandboxed run, if the sandbox blocked it. It is the result unless a user approves an unsandboxed
    /// run.
    pub blocked: Option<Box<ToolBlocked>>,
    /// The hash of a command's outcome, without its duration.
    pub outcome_hash: Option<u64>,
    /// How long it ran, once it has ended.
    pub duration_ms: u64,
    /// The user's change of the call: it is judged and run in the changed form.
    pub edit: Option<Box<UserEdit>>,
    /// It claims that the goal is complete, and runs this check of it.
    pub check: Option<GoalCheck>,
    /// The user denied another call of its answer, and with that one every further question about a call.
    pub denied_with_rest: bool,
    /// The directory that the session may write in once the call has made it.
    pub adds_dir: Option<String>,
}

/// A user's change of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserEdit {
    pub by: String,
    pub edit: CallEdit,
}

impl OpenCall {
    /// The call to judge and run: as the user changed it, else the check that it leads to, else as the model wrote it.
    #[must_use]
    pub fn effective(&self) -> ToolCall {
        let call = self.call.clone();
        match (&self.edit, &self.check) {
            (Some(user), _) => ToolCall {
                name: user.edit.tool.clone(),
                arguments: user.edit.edited.clone(),
                ..call
            },
            (None, Some(check)) => ToolCall {
                name: check.tool.clone(),
                arguments: check.arguments.clone(),
                ..call
            },
            (None, None) => call,
        }
    }

    /// Creates the entry of a new call.
    pub(super) fn new(call: &ToolCall) -> Self {
        Self {
            tool: call.name.clone(),
            subject: String::new(),
            kind: ToolKind::Other,
            call: call.clone(),
            stage: CallStage::Open,
            read_only: false,
            input_sha256: String::new(),
            blocked: None,
            outcome_hash: None,
            duration_ms: 0,
            edit: None,
            check: None,
            denied_with_rest: false,
            adds_dir: None,
        }
    }
}

/// The stage of a call, as recorded in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallStage {
    /// Not processed yet.
    Open,
    /// It waits for the user.
    Waiting(InteractionId),
    /// The user approved it as shown; it has not started.
    Approved { shown_hash: String },
    /// The user changed its command, which approves exactly the changed one; it has not started.
    Edited,
    /// Its questions or plan were resolved; its result, this text, waits for the results of earlier calls.
    Answered { by: Answerer, words: String },
    /// It was denied, and never runs; its result, this text, waits for the results of earlier calls.
    Denied { words: String },
    /// It runs, or ran when the daemon died. A call that was blocked before runs unsandboxed, and counts as writing even
    /// if it was read-only in the sandbox.
    Started { read_only: bool },
    /// The sandbox blocked it. The policy has not decided yet whether to ask the user.
    Blocked,
    /// It was blocked, and does not run again. This text for the model, if any, follows its result.
    KeptInside { words: Option<String> },
    /// It has its result.
    Closed,
}

/// Who resolved the questions or the plan of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answerer {
    /// A user answered the questions, or approved the plan.
    Person,
    /// A user rejected the plan, or the daemon did because no client was attached.
    No,
    /// No client was attached that could answer.
    Nobody,
    /// The daemon, because the turn was about to end.
    Daemon,
}

impl Answerer {
    /// The status of the call's result.
    #[must_use]
    pub fn status(self) -> CallStatus {
        match self {
            Self::Person | Self::Nobody => CallStatus::Ok,
            Self::No => CallStatus::Denied,
            Self::Daemon => CallStatus::Interrupted,
        }
    }
}

impl CallStage {
    /// Whether a successful result means that work was done: the call ran, or a user answered.
    pub(super) fn did_work(&self) -> bool {
        match self {
            Self::Started { .. } => true,
            Self::Answered { by, .. } => *by == Answerer::Person,
            Self::Open
            | Self::Waiting(_)
            | Self::Approved { .. }
            | Self::Edited
            | Self::Denied { .. }
            | Self::Blocked
            | Self::KeptInside { .. }
            | Self::Closed => false,
        }
    }
}

impl OpenTurn {
    /// The id of the next message of this turn.
    #[must_use]
    pub fn next_item(&self) -> ItemId {
        ItemId(format!("m{}.{}", self.number, self.items + 1))
    }

    /// Whether calls of the newest answer have no result yet.
    #[must_use]
    pub fn unanswered(&self) -> bool {
        self.calls
            .iter()
            .any(|open| open.stage != CallStage::Closed)
    }

    /// The turn's running time at this date, by the dates of its records. `paused`: paused since the newest of them.
    #[must_use]
    pub fn logged_until(&self, at: Stamp, paused: bool) -> u64 {
        /// A longer gap between two records is ignored: the wall clock was probably set.
        const GAP_MAX_MS: i64 = 60 * 60 * 1000;
        let gap = at.0.saturating_sub(self.logged_at.0);
        let counts = !paused && (0..=GAP_MAX_MS).contains(&gap);
        let more = if counts { gap.unsigned_abs() } else { 0 };
        self.logged_ms.saturating_add(more)
    }

    /// Notes the date of a record of the turn. `paused`: whether the session was paused before it.
    pub(super) fn note_date(&mut self, at: Stamp, paused: bool) {
        self.logged_ms = self.logged_until(at, paused);
        self.logged_at = at;
    }

    /// Lets a call wait for the user. A call that already waits for the same interaction (only in an edited log) stops
    /// waiting.
    pub(super) fn wait_for_user(&mut self, call: &CallId, id: InteractionId) {
        let stage = CallStage::Waiting(id);
        for other in self.calls.iter_mut().filter(|open| open.stage == stage) {
            other.stage = CallStage::Open;
        }
        self.stage(call, stage);
    }

    /// The user is asked about no further call of the newest answer: those that would need it are denied.
    pub(super) fn deny_rest(&mut self) {
        for open in &mut self.calls {
            open.denied_with_rest = true;
        }
    }

    /// How many times in a row a call gives the same result, if this is its result. 0: it does not count.
    #[must_use]
    pub fn repetitions_with(&self, message: &ToolMessage) -> usize {
        match self.counted(message) {
            Some((new, Counting::Counts)) => self.recent_calls.count_with(new),
            Some((_, Counting::Ignored | Counting::StartsAnew)) | None => 0,
        }
    }

    /// The call that this is the result of, and how it counts for the loop detector; `None`: it is not open, or its
    /// outcome is unknown.
    fn counted(&self, message: &ToolMessage) -> Option<(CallAndResult, Counting)> {
        let open = self
            .calls
            .iter()
            .find(|open| open.call.id == message.call && open.stage != CallStage::Closed)?;
        let unknown = matches!(
            message.status,
            CallStatus::Interrupted | CallStatus::Unknown
        );
        let result = open.outcome_hash.unwrap_or_else(|| {
            let text = words::without_loop_warning(&message.text);
            loop_detector::hash(&(text, &message.images))
        });
        let new = CallAndResult {
            call: loop_detector::hash_call(&open.call.name, &open.call.arguments),
            result,
        };
        let arguments = &open.call.arguments;
        let counting = loop_detector::counting(open.kind, arguments, open.duration_ms);
        (!unknown).then_some((new, counting))
    }

    /// Closes a call that has its result, and remembers it for the loop detector.
    pub(super) fn close(&mut self, message: &ToolMessage) {
        match self.counted(message) {
            Some((new, Counting::Counts)) => self.recent_calls.note(new),
            Some((_, Counting::StartsAnew)) => self.recent_calls.start_row(),
            Some((_, Counting::Ignored)) | None => {}
        }
        self.stage(&message.call, CallStage::Closed);
    }

    /// A skill is in force from here to the end of the turn. What it limited before it was changed and loaded again stays
    /// limited.
    pub(super) fn put_skill(&mut self, skill: Option<&SkillUse>) {
        let new = skill.filter(|skill| !self.skills.contains(skill));
        self.skills.extend(new.cloned());
    }

    /// A call has ended: the skill that it loaded is in force, and its duration and what a command came to are
    /// remembered.
    pub(super) fn apply_finished(&mut self, finished: &ToolFinished) {
        self.put_skill(finished.skill.as_ref());
        let outcome = match &finished.display {
            Display::Command {
                exit_code,
                signal,
                output_bytes,
                output_lines: _,
                head: _,
                tail,
                sandbox_stopped: _,
                stopped: _,
            } => Some(loop_detector::hash(&(
                exit_code,
                signal,
                output_bytes,
                tail,
            ))),
            _ => None,
        };
        let calls = self.calls.iter_mut();
        for open in calls.filter(|open| open.call.id == finished.call) {
            open.duration_ms = finished.duration_ms;
            open.outcome_hash = outcome.or(open.outcome_hash);
        }
    }

    /// The commands that a call runs to check a goal, as the user wrote them; none if it is another call, or was changed.
    #[must_use]
    pub fn checks(&self, call: &CallId) -> &[String] {
        let mut calls = self.calls.iter();
        let open = calls.find(|open| open.call.id == *call && open.edit.is_none());
        let check = open.and_then(|open| open.check.as_ref());
        check.map_or(&[][..], |check| check.commands.as_slice())
    }

    /// Resets the loop detector after a user's message or answer: calls may be repeated.
    pub(super) fn reset_loop_detector(&mut self) {
        self.recent_calls = RecentCalls::default();
    }

    /// Applies a user's change of a call.
    pub(super) fn edit_call(&mut self, call: &CallId, user: UserEdit) {
        let open = self.calls.iter_mut().find(|open| open.call.id == *call);
        if let Some(open) = open.filter(|open| open.stage != CallStage::Closed) {
            open.edit = Some(Box::new(user));
            open.stage = CallStage::Edited;
        }
    }

    pub(super) fn stage(&mut self, call: &CallId, stage: CallStage) {
        let open = self.calls.iter_mut().find(|open| open.call.id == *call);
        // A result is final, even if later records of an edited log contradict it.
        if let Some(open) = open.filter(|open| open.stage != CallStage::Closed) {
            open.stage = stage;
        }
    }
}
