//! A turn that is under way, and its calls, as the log has them.

use std::collections::{BTreeSet, HashSet};

use proto::item::{CallStatus, Display, Finish, ToolCall, ToolKind, ToolMessage};
use proto::outcome::{Denied, TurnEnded, UsageTotals};
use proto::record::{CallEdit, SkillUse, ToolBlocked, ToolFinished};
use proto::state::OnAsk;
use proto::{CallId, InteractionId, ItemId, PromptId, Stamp};

use crate::repair::storm::{self, RecentCalls};

/// A turn that has started and not ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpenTurn {
    pub number: u64,
    /// The prompt that it began with.
    pub prompt_id: Option<PromptId>,
    /// What becomes of its questions, where its prompt says so.
    pub on_ask: Option<OnAsk>,
    /// How long it ran up to the newest record, by the dates of its records: what is known of an earlier life.
    pub logged_ms: u64,
    /// The date of the newest record.
    pub logged_at: Stamp,
    /// Messages so far: the next one's number.
    pub items: u64,
    /// Answers so far.
    pub steps: u64,
    pub tool_calls: u64,
    pub usage: UsageTotals,
    pub text: String,
    pub denied: Vec<Denied>,
    /// A call did what it was asked, or a person answered it, and its result stands after the last unattended denial.
    pub ok_since_denial: bool,
    /// A person has approved a plan in this turn: its calls run unasked, but for those that are denied or always asked.
    pub plan_approved: bool,
    /// A plan that nobody was there to approve: the turn ends with it, and does nothing else.
    pub unapproved: Option<String>,
    /// The calls of the newest answer.
    pub calls: Vec<OpenCall>,
    /// Files of which the turn has kept what they were, by their absolute paths.
    pub kept: BTreeSet<String>,
    /// What commands change can be found: the tree was looked at before the first of them, or it was said why not.
    pub tree_kept: bool,
    /// What was denied in this turn stays denied: digests of tool and arguments, as policy has read them.
    pub refused: HashSet<String>,
    /// What was not let out of the sandbox in this turn is not asked about again: the same digests.
    pub kept_inside: HashSet<String>,
    /// The newest message is an answer without calls: how it ended. The turn is to be settled by it.
    pub plain_answer: Option<Finish>,
    /// That answer was cut off by the daemon's end, and the turn is to go on from it.
    pub cut_off: bool,
    /// What was kept of an answer that the next one goes on from: both are one text.
    pub begun: String,
    /// The log ends the turn though calls of it have no result, which nothing but an edited log does: it stays open
    /// until they have, and is ended in the same way again.
    pub over: Option<TurnEnded>,
    /// The model has been told to answer in words after an empty answer.
    pub prodded: bool,
    /// How often in a row, since the newest answer, the model was told that the provider refused its call.
    pub invalid_calls: u32,
    /// How many answers in a row, up to the newest, the provider paused.
    pub pauses: u32,
    /// The last request of the turn is, or was, without tools.
    pub summing_up: bool,
    /// It is so because the model went in circles.
    pub stuck: bool,
    /// The newest calls that have their results, for calls that repeat them.
    pub storm: RecentCalls,
    /// The skills in force: those that its prompts and calls have loaded.
    pub skills: Vec<SkillUse>,
    /// Answers, since a person spoke last, of which every call repeated others.
    pub circles: u32,
}

/// A call of the newest answer.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    pub call: ToolCall,
    pub stage: CallStage,
    /// The tool that it leads to, as far as is known.
    pub tool: String,
    /// Its kind, as soon as it has started.
    pub kind: ToolKind,
    /// What policy said when it looked last, and at what: the digest of tool and arguments. Empty: not yet.
    pub read_only: bool,
    pub input_sha256: String,
    /// The sandbox stopped it, and this is what it came to: its result, unless a person lets it run once outside.
    pub blocked: Option<Box<ToolBlocked>>,
    /// It repeats others, and does not run.
    pub held_back: bool,
    /// Of a command: a digest of what it came to, without the time that it took.
    pub came_to: Option<u64>,
    /// The user changed it: from then on it is judged and run so.
    pub edit: Option<Box<UserEdit>>,
}

/// A user's change of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserEdit {
    pub by: String,
    pub edit: CallEdit,
}

impl OpenCall {
    /// The call as it is judged and run: as the user changed it, if they did, else as the model wrote it.
    #[must_use]
    pub fn effective(&self) -> ToolCall {
        let call = self.call.clone();
        match &self.edit {
            Some(user) => ToolCall {
                name: user.edit.tool.clone(),
                arguments: user.edit.edited.clone(),
                ..call
            },
            None => call,
        }
    }

    /// A call to which nothing has happened yet.
    pub(super) fn new(call: &ToolCall) -> Self {
        Self {
            tool: call.name.clone(),
            kind: ToolKind::Other,
            call: call.clone(),
            stage: CallStage::Open,
            read_only: false,
            input_sha256: String::new(),
            blocked: None,
            held_back: false,
            came_to: None,
            edit: None,
        }
    }
}

/// How far a call has come, as the log has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallStage {
    /// Nothing happened yet.
    Open,
    /// It waits for the user.
    Waiting(InteractionId),
    /// The user said yes to what was shown; it has not started.
    Approved { shown_hash: String },
    /// The user changed its command, which is a yes to exactly that; it has not started.
    Edited,
    /// Questions or plan are open no more; its result, in these words, waits for its place.
    Answered { by: Answerer, words: String },
    /// It was denied, and never runs; its result, in these words, waits for its place.
    Denied { words: String },
    /// It runs, or ran when the daemon died. Where it was blocked before: outside the sandbox, and it changes things,
    /// whatever it was taken for within.
    Started { read_only: bool },
    /// The sandbox stopped it. Whether a person is asked is to be found out.
    Blocked,
    /// It was blocked, and does not run again. These words for the model follow its result, where there are any.
    KeptInside { words: Option<String> },
    /// It has its result.
    Closed,
}

/// Who settled the questions or the plan of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answerer {
    /// A person said something; yes, to a plan.
    Person,
    /// A person, or the daemon where none was there, said no to a plan.
    No,
    /// Nobody was there who could have.
    Nobody,
    /// The daemon, because the turn was about to end.
    Daemon,
}

impl Answerer {
    /// How the call has gone.
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
    /// Whether a good result of the call is something that was done: it ran, or a person answered.
    pub(super) fn came_to_something(&self) -> bool {
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

    /// Calls of the newest answer that have no result.
    #[must_use]
    pub fn unanswered(&self) -> bool {
        self.calls
            .iter()
            .any(|open| open.stage != CallStage::Closed)
    }

    /// How long it had run at this date, by the dates of its records. `paused`: since the newest of them.
    #[must_use]
    pub fn logged_until(&self, at: Stamp, paused: bool) -> u64 {
        /// A gap between two records that is longer counts as none: more likely the wall clock was set.
        const GAP_MAX_MS: i64 = 60 * 60 * 1000;
        let gap = at.0.saturating_sub(self.logged_at.0);
        let counts = !paused && (0..=GAP_MAX_MS).contains(&gap);
        let more = if counts { gap.unsigned_abs() } else { 0 };
        self.logged_ms.saturating_add(more)
    }

    /// A record of the turn. `paused`: the session was, before it.
    pub(super) fn note_date(&mut self, at: Stamp, paused: bool) {
        self.logged_ms = self.logged_until(at, paused);
        self.logged_at = at;
    }

    /// A call waits for the user. What waited for the same interaction before (in an edited log) waits no more.
    pub(super) fn wait_for_user(&mut self, call: &CallId, id: InteractionId) {
        let stage = CallStage::Waiting(id);
        for other in self.calls.iter_mut().filter(|open| open.stage == stage) {
            other.stage = CallStage::Open;
        }
        self.stage(call, stage);
    }

    /// A call has its result: it is closed, and remembered where it may be repeated.
    pub(super) fn close(&mut self, message: &ToolMessage) {
        let open = self.calls.iter().find(|open| open.call.id == message.call);
        let reported = !matches!(
            message.status,
            CallStatus::Interrupted | CallStatus::Unknown
        );
        let remembered = |open: &&OpenCall| {
            reported
                && !open.held_back
                && !storm::is_exempt(open.kind)
                && open.stage != CallStage::Closed
        };
        if let Some(open) = open.filter(remembered) {
            let call = storm::digest(&open.call.name, &open.call.arguments);
            let writes = match &open.stage {
                CallStage::Started { read_only } => !read_only,
                CallStage::Blocked | CallStage::KeptInside { .. } => true,
                CallStage::Open
                | CallStage::Waiting(_)
                | CallStage::Approved { .. }
                | CallStage::Edited
                | CallStage::Answered { .. }
                | CallStage::Denied { .. }
                | CallStage::Closed => false,
            };
            let result = open.came_to.unwrap_or_else(|| storm::hash(&message.text));
            self.storm.note(call, result, writes);
        }
        let was_open = self.unanswered();
        self.stage(&message.call, CallStage::Closed);
        if was_open && !self.unanswered() && self.calls.iter().all(|open| open.held_back) {
            self.circles += 1;
        }
    }

    /// A skill is in force from here to the end of the turn. What it limited before it was changed and loaded again stays
    /// limited.
    pub(super) fn put_skill(&mut self, skill: Option<&SkillUse>) {
        let new = skill.filter(|skill| !self.skills.contains(skill));
        self.skills.extend(new.cloned());
    }

    /// A call has ended: the skill that it loaded is in force, and what a command came to is remembered.
    pub(super) fn finished(&mut self, finished: &ToolFinished) {
        self.put_skill(finished.skill.as_ref());
        if let Display::Command {
            exit_code,
            signal,
            output_bytes,
            output_lines: _,
            head: _,
            tail,
            sandbox_stopped: _,
        } = &finished.display
        {
            let came_to = storm::hash(&(exit_code, signal, output_bytes, tail));
            let calls = self.calls.iter_mut();
            for open in calls.filter(|open| open.call.id == finished.call) {
                open.came_to = Some(came_to);
            }
        }
    }

    /// A person said something, or something else changed: what was called before may be called again.
    pub(super) fn clear_circles(&mut self) {
        self.storm.clear();
        self.circles = 0;
    }

    /// The user changed a call.
    pub(super) fn edit_call(&mut self, call: &CallId, user: UserEdit) {
        let open = self.calls.iter_mut().find(|open| open.call.id == *call);
        if let Some(open) = open.filter(|open| open.stage != CallStage::Closed) {
            open.edit = Some(Box::new(user));
            open.stage = CallStage::Edited;
        }
    }

    pub(super) fn stage(&mut self, call: &CallId, stage: CallStage) {
        let open = self.calls.iter_mut().find(|open| open.call.id == *call);
        // A result is final, whatever an edited log says behind it.
        if let Some(open) = open.filter(|open| open.stage != CallStage::Closed) {
            open.stage = stage;
        }
    }
}
