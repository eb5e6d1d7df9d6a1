//! The state of a session as a fold over its log. Resuming is this and nothing else.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use proto::budget::Spent;
use proto::outcome::{OutcomeKind, TurnEnded, UsageTotals};
use proto::params::interaction::{Interaction, Scope};
use proto::params::session::{Exited, QueuedPrompt};
use proto::record::{ChildSpawned, InteractionResolved, SessionCreated, Todo};
use proto::reset::Wire;
use proto::state::{ApprovalMode, Mode, OnAsk, State, WaitingFor};
use proto::{
    Body, CallId, InteractionId, ItemId, Pid, PromptId, Record, RequestId, Seq, SessionId,
    SessionOptions, Stamp,
};

use crate::compaction::EditedFile;
use crate::words;

mod cache;
mod content;
mod decided;
mod edited;
mod escape;
mod interactions;
mod open;
mod queue;
mod resets;
mod stand_in;
mod standing;
mod turns;
mod used;
mod view;

pub use cache::CacheHistory;
pub use content::{
    RELOAD, content_of_compaction, content_of_edit, content_of_move, content_of_pin,
    content_of_prompt, content_of_reset, content_of_rewind, content_of_set,
};
pub(crate) use interactions::recorded_answer;
pub use interactions::{
    answer_refusal, content_of_answer, edited_command, notification, persisted_rule,
};
pub use open::{Answerer, CallStage, OpenCall, OpenTurn, UserEdit};
pub use resets::UndoableCompaction;
pub use stand_in::FallbackInUse;
pub use view::{ConversationCounts, ConversationView, Rewind, RewindPlan, TurnMark};

/// Everything that the log says about a session, less the words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub seq: Seq,
    pub created: Option<SessionCreated>,
    pub created_at: Stamp,
    pub active_at: Stamp,
    /// Options in force: those of the creation, changed by each `session.set`.
    pub options: SessionOptions,
    /// Nothing new starts. Ends with the session.
    pub paused: bool,
    pub state: SessionStatus,
    pub queue: VecDeque<QueuedPrompt>,
    /// What prompts in the queue refer to: blocks before their text.
    pub references: HashMap<PromptId, Arc<str>>,
    /// The number of the newest turn; numbers are never used again.
    pub turns: u64,
    pub open: Option<OpenTurn>,
    pub usage: UsageTotals,
    /// Tokens of the newest request and its answer.
    pub context_tokens: u64,
    /// Whether that is an estimate: the provider reported nothing.
    pub context_estimated: bool,
    /// Whole answers in the conversation: a scripted provider finds its place by their number. One that was
    /// interrupted does not count.
    pub answered: u64,
    /// User messages in the conversation.
    pub spoken: u64,
    /// Interactions that were ever opened: numbers are never used again.
    pub interactions_opened: u64,
    /// What waits for the user.
    pub interactions: BTreeMap<InteractionId, Interaction>,
    /// What was answered or closed, newest last, so that a late answer can be told who was first.
    pub settled: VecDeque<(InteractionResolved, Stamp)>,
    /// What the model knows of what the session may do.
    pub reported_permissions: ReportedPermissions,
    /// It was ever told so in the conversation.
    pub was_told: bool,
    /// A compaction may have folded that: it is to be reported again.
    pub repeat_permissions: bool,
    /// What the model has set out to do.
    pub todos: Vec<Todo>,
    /// Which records make up the conversation.
    pub view: ConversationView,
    /// The turns of the conversation, and those that rewinds have hidden.
    pub marks: Vec<TurnMark>,
    hidden: Vec<TurnMark>,
    /// All rewinds, oldest first.
    pub rewinds: Vec<Rewind>,
    /// The conversation was gone back in, and the cache reset that belongs to it has not been logged yet.
    pub(crate) reset_due: bool,
    /// Files were kept for a rewind of which neither the end nor its breaking off has been logged yet.
    pub(crate) half_rewound: bool,
    /// Rewinds of files that have begun and not come to their end, oldest first: none was finished or taken back yet.
    pub broken_off: Vec<UnfinishedRewind>,
    /// What stood before the words of the session's first message: said again where a rewind has hidden that.
    pub(crate) opening: Option<String>,
    /// Who is asked, and with which prefix, until the settings in force are taken in by the next request.
    pub wire: Wire,
    /// How many providers have been asked before this one: messages are rendered for one of them.
    pub generation: u64,
    /// Compactions so far.
    pub compactions: u64,
    compacted: Option<UndoableCompaction>,
    /// Views that the undoing of a compaction has changed, as they were before that record.
    dropped: Vec<(Seq, ConversationView)>,
    /// The context is not compacted by itself below so many tokens: a compaction was taken back.
    pub spared: u64,
    /// The files that it edited last, newest first.
    pub edited: VecDeque<EditedFile>,
    /// The plan that was approved last.
    pub plan_in_force: Option<String>,
    /// Messages that stay word for word.
    pub pins: BTreeSet<ItemId>,
    /// Bytes of the newest request, and the prompt tokens that the provider reported of it.
    pub measure: Option<(u64, u64)>,
    /// Tokens of it that the vendor's cache has served.
    pub cached_tokens: Option<u64>,
    /// What people allowed for the rest of the session.
    pub grants: Vec<Scope>,
    pub ended: Option<TurnEnded>,
    /// How the newest turn that is shown ended, where it was not completed.
    pub cut_off: Option<OutcomeKind>,
    /// A turn has ended, and what the session became of it (at rest, exited) has not been logged yet.
    pub unsettled: bool,
    pub exited: Option<Exited>,
    /// A prompt came after the exit, and the session has not been reopened yet.
    pub woken: bool,
    /// A prompt came after the end of the newest turn: what waits does not only stand behind a turn that was cut off.
    pub asked_since: bool,
    /// The daemon handed over, and nothing has happened since: the next life goes on from here.
    pub suspended: bool,
    /// Commands that run in the background. Those of an exited session stay until their end is told.
    pub children: BTreeMap<Pid, ChildSpawned>,
    /// What sub-agents that have ended used, with their own.
    pub agents: BTreeMap<SessionId, Spent>,
    /// The newest record says that the answer which follows was cut off by the daemon's end, and is gone on from.
    going_on_from: bool,
    /// Every call id of the conversation: ids are unique in a session, whatever the vendor does.
    pub call_ids: HashSet<CallId>,
    pub last_line: String,
    /// The first line of the first prompt: the session's title where it has no name.
    pub first_line: String,
    /// What was done for which `request_id`, and when.
    pub requests: HashMap<RequestId, RequestResult>,
    /// What the vendor's cache can be expected to hold.
    pub cache: CacheHistory,
    /// How long the turns took that have ended, in milliseconds; not those that it was forked with.
    pub ran_ms: u64,
    /// The newest turn was ended by a budget: what waits behind it does so until a person says more, or raises it.
    pub over_budget: bool,
    /// The fallback model is asked for the rest of the open turn.
    pub stand_in: Option<FallbackInUse>,
}

/// A rewind of files of which only the beginning is known: what it was about to change was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfinishedRewind {
    /// Its checkpoint.
    pub seq: Seq,
    /// The rewind that it was to take back.
    pub undoes: Option<Seq>,
}

/// State, what for, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionStatus {
    pub state: State,
    pub waiting_for: Option<WaitingFor>,
    pub cause: String,
}

impl Default for SessionStatus {
    fn default() -> Self {
        Self {
            state: State::Idle,
            waiting_for: None,
            cause: String::new(),
        }
    }
}

/// What the model was notified of last, of what the session may do. Nothing: that it is as every other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedPermissions {
    pub mode: Mode,
    pub read_only: bool,
}

/// What a `request_id` led to.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestResult {
    pub at: Stamp,
    pub seq: Seq,
    /// What was asked, in a form that can be compared: the record's kind and its content.
    pub content: String,
    /// The prompt that was made, for `session.prompt`.
    pub prompt_id: Option<PromptId>,
}

impl Facts {
    /// Folds a whole log.
    pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut facts = Self::default();
        for record in records {
            facts.apply(record);
        }
        facts
    }

    /// Takes one record in. Total: a log that another version wrote never panics here.
    pub fn apply(&mut self, record: &Record) {
        self.seq = record.seq;
        self.active_at = record.at;
        if let Some(open) = &mut self.open {
            open.note_date(record.at, self.paused);
        }
        let going_on_from = std::mem::take(&mut self.going_on_from);
        match &record.body {
            Body::SessionCreated(created) => self.apply_created(created, record),
            Body::SessionSet(_) => self.apply_set(record),
            Body::SessionState(state) => self.apply_state(state),
            Body::SessionExited(exited) => self.apply_exited(exited, record),
            Body::SessionReopened(reopened) => self.apply_reopened(reopened),
            Body::PromptQueued(prompt) => self.apply_queued(prompt, record),
            Body::PromptUnqueued(prompt) => self.apply_unqueued(prompt.prompt_id),
            Body::PromptEdited(edited) => self.apply_edited(edited, record),
            Body::PromptMoved(moved) => self.apply_moved(moved, record),
            Body::TurnStarted(started) => self.apply_turn_started(started.prompt_id, record),
            Body::TurnEnded(ended) => self.apply_turn_ended(ended),
            Body::User(message) => self.apply_user(message),
            Body::Assistant(message) => self.apply_answer(message, record, going_on_from),
            Body::Tool(message) => self.apply_result(message),
            Body::PolicyDecided(decided) => self.apply_decided(decided),
            Body::SessionSuspended(_) => self.suspended = true,
            Body::ChildSpawned(child) => {
                self.clear_circles();
                self.children.insert(child.pid, child.clone());
            }
            Body::ChildExited(child) => {
                self.clear_circles();
                self.children.remove(&child.pid);
            }
            Body::Notice(notice) => {
                self.going_on_from = notice.text == words::GOES_ON_FROM_KEPT;
                self.half_rewound &= notice.text != words::HALF_REWOUND;
            }
            Body::ToolFinished(finished) => {
                self.apply_file_edited(finished);
                if let Some(open) = &mut self.open {
                    open.finished(finished);
                }
            }
            Body::AgentFinished(agent) => {
                self.agents.insert(agent.session, agent.spent);
            }
            proto::reports!() => {}
            Body::CacheReset(reset) => {
                self.cache.reset();
                self.apply_reset(reset, record);
            }
            Body::MessagePinned(pinned) => self.apply_pinned(pinned, record),
            Body::TodoUpdated(updated) => self.todos.clone_from(&updated.todos),
            Body::CheckpointCreated(checkpoint) => self.apply_checkpoint(checkpoint, record),
            Body::SessionRewound(rewound) => self.apply_rewind(rewound, record),
            Body::InteractionOpened(interaction) => self.apply_interaction_opened(interaction),
            Body::InteractionResolved(resolved) => {
                self.apply_interaction_resolved(resolved, record);
            }
            Body::ToolStarted(started) => self.apply_started(started),
            Body::CallsRepaired(repaired) => self.apply_repaired(repaired),
            Body::ToolBlocked(blocked) => self.apply_blocked(blocked),
            Body::Usage(usage) => self.apply_usage(usage, record),
        }
    }

    /// Which calls run without asking.
    #[must_use]
    pub fn approval_mode(&self) -> ApprovalMode {
        self.options.approval_mode.unwrap_or_default()
    }

    /// What becomes of a question now: as the open turn's prompt says, else as the session is set.
    #[must_use]
    pub fn on_ask(&self) -> OnAsk {
        let turns = self.open.as_ref().and_then(|open| open.on_ask);
        turns.or(self.options.on_ask).unwrap_or(OnAsk::Wait)
    }

    fn remember(
        &mut self,
        id: Option<RequestId>,
        record: &Record,
        content: String,
        prompt_id: Option<PromptId>,
    ) {
        /// How long a `request_id` is remembered (contract, chapter 10): 24 hours.
        const KEPT_MS: i64 = 24 * 60 * 60 * 1000;
        /// The newest are remembered whatever their dates: a wall clock that was set makes no request a new one.
        const KEPT: usize = 256;
        let Some(id) = id else { return };
        let at = record.at;
        if self.requests.len() >= KEPT {
            let mut newest: Vec<Seq> = self.requests.values().map(|done| done.seq).collect();
            newest.sort_unstable_by(|a, b| b.cmp(a));
            let since = newest.get(KEPT - 1).copied().unwrap_or(Seq(0));
            self.requests
                .retain(|_, done| done.seq >= since || at.0 - done.at.0 <= KEPT_MS);
        }
        self.requests.insert(
            id,
            RequestResult {
                at,
                seq: record.seq,
                content,
                prompt_id,
            },
        );
    }
}
