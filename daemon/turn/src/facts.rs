//! The state of a session, as a fold over its log. To resume a session, its log is folded again.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use proto::budget::Spent;
use proto::item::Attachment;
use proto::outcome::{OutcomeKind, TurnEnded, TurnLimit, UsageTotals};
use proto::params::interaction::{Interaction, Scope};
use proto::params::session::{Exited, QueuedPrompt};
use proto::record::{
    AddedLimits, AgentFinished, AgentStarted, ChildSpawned, InteractionResolved, Notice,
    SessionCreated, SessionShortened, SkillUse, Todo, ToolFinished,
};
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
mod elicitation;
mod escape;
mod goal;
mod interactions;
mod limits;
mod open;
mod planner;
mod queue;
mod resets;
mod stand_in;
mod standing;
mod supervision;
mod text_format;
mod turns;
mod used;
mod user_commands;
mod view;

pub use cache::CacheHistory;
pub use content::{
    RELOAD, content_of_compaction, content_of_edit, content_of_goal, content_of_goal_change,
    content_of_goal_stop, content_of_move, content_of_pin, content_of_prompt, content_of_reset,
    content_of_resume, content_of_rewind, content_of_set, content_of_shell,
};
pub use goal::{Goal, GoalTurn, LastGoal};
pub use interactions::{
    answer_refusal, content_of_answer, edited_command, notification, persisted_rule,
};
pub(crate) use interactions::{elicitation_answer, recorded_answer};
pub use open::{Answerer, CallStage, OpenCall, OpenTurn, UserEdit};
pub use planner::{PlannerHistory, Planning};
pub use resets::UndoableCompaction;
pub use stand_in::FallbackInUse;
pub use supervision::RestartHistory;
pub use user_commands::UserResult;
pub use view::{ConversationCounts, ConversationView, Rewind, RewindPlan, TurnMark};

/// The state of a session according to its log, without the text of messages.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub seq: Seq,
    pub created: Option<SessionCreated>,
    pub created_at: Stamp,
    pub active_at: Stamp,
    /// Current options: those of the creation, updated by each `session.set`.
    pub options: SessionOptions,
    /// The session is paused: nothing new starts. Cleared when the session exits.
    pub paused: bool,
    /// The pause holds for the whole tree: sub-agents that it creates are created paused.
    pub tree_paused: bool,
    pub state: SessionStatus,
    pub queue: VecDeque<QueuedPrompt>,
    /// Contents of the references in queued prompts, which go before their text.
    pub references: HashMap<PromptId, Arc<str>>,
    /// Attachments of queued prompts, for display.
    pub attached: HashMap<PromptId, Vec<Attachment>>,
    /// The skills that queued prompts use.
    pub skills: HashMap<PromptId, SkillUse>,
    /// The number of the newest turn; numbers are never reused.
    pub turns: u64,
    /// Number of answers of the model in the log.
    pub steps: u64,
    pub open: Option<OpenTurn>,
    pub usage: UsageTotals,
    /// Tokens of the newest request and its answer.
    pub context_tokens: u64,
    /// Whether that is an estimate: the provider reported nothing.
    pub context_estimated: bool,
    /// Complete answers in the conversation; interrupted ones do not count. A scripted provider finds its position by this
    /// number.
    pub answered: u64,
    /// User messages in the conversation.
    pub spoken: u64,
    /// Interactions opened so far: numbers are never reused.
    pub interactions_opened: u64,
    /// Open interactions, which wait for the user.
    pub interactions: BTreeMap<InteractionId, Interaction>,
    /// Resolved interactions, newest last, so that the reply to a late answer can name who answered first.
    pub settled: VecDeque<(InteractionResolved, Stamp)>,
    /// The permissions that the model was last notified of.
    pub reported_permissions: ReportedPermissions,
    /// Whether the conversation has a notice of permissions.
    pub permissions_reported: bool,
    /// A compaction may have folded that notice, so it must be repeated.
    pub repeat_permissions: bool,
    /// The model's todo list.
    pub todos: Vec<Todo>,
    /// The records that make up the conversation.
    pub view: ConversationView,
    /// The turns of the conversation, and those that rewinds have hidden.
    pub marks: Vec<TurnMark>,
    hidden: Vec<TurnMark>,
    /// All rewinds, oldest first.
    pub rewinds: Vec<Rewind>,
    /// A rewind changed the conversation, and its cache reset is not logged yet.
    pub(crate) reset_due: bool,
    /// Files were saved for a rewind, and neither its success nor its failure is logged yet.
    pub(crate) has_unfinished_rewind: bool,
    /// Interrupted rewinds of files, oldest first. None of them was completed or undone yet.
    pub broken_off: Vec<UnfinishedRewind>,
    /// The context of the session's first message: used again if a rewind has hidden that message.
    pub(crate) first_context: Option<String>,
    /// Provider, model and prefix of the newest request. Changed options take effect with the next request.
    pub wire: Wire,
    /// How many changes of provider the session has had. Messages are rendered for one of these generations.
    pub generation: u64,
    /// Number of compactions.
    pub compactions: u64,
    compacted: Option<UndoableCompaction>,
    /// For each undone compaction: the record that undid it, and the view before that record.
    dropped: Vec<(Seq, ConversationView)>,
    /// The context window as config, catalog or the endpoint's list had it last; a refusal may have taught a smaller one.
    pub window_given: u64,
    /// Automatic compaction is off below this many tokens, because the user undid one.
    pub no_compaction_below: u64,
    /// The most recently edited files, newest first.
    pub edited: VecDeque<EditedFile>,
    /// What the planner of the next turn depends on.
    pub planner: PlannerHistory,
    /// The most recently approved plan.
    pub plan_in_force: Option<String>,
    /// Messages that compaction must keep verbatim.
    pub pins: BTreeSet<ItemId>,
    /// Bytes of the newest request, and its prompt tokens as reported by the provider.
    pub measure: Option<(u64, u64)>,
    /// Prompt tokens of that request that the provider's cache served.
    pub cached_tokens: Option<u64>,
    /// Scopes that users allowed for the rest of the session.
    pub grants: Vec<Scope>,
    pub ended: Option<TurnEnded>,
    /// The outcome of the newest shown turn, if it was not completed.
    pub cut_off: Option<OutcomeKind>,
    /// A turn has ended, and the session's next state (idle, exited) is not logged yet.
    pub unsettled: bool,
    pub exited: Option<Exited>,
    /// A prompt arrived after the exit, and the session is not reopened yet.
    pub woken: bool,
    /// A prompt arrived after the end of the newest turn, so not all queued prompts are older than that end.
    pub asked_since: bool,
    /// The daemon handed over, and nothing has happened since: the next daemon process continues the session.
    pub suspended: bool,
    /// The newest loss of records at the log's end that was noticed; it began the current epoch.
    pub shortened: Option<SessionShortened>,
    /// Background commands. Those of an exited session stay until their end is logged.
    pub children: BTreeMap<Pid, ChildSpawned>,
    /// What sub-agents that have ended used, with their own.
    pub agents: BTreeMap<SessionId, Spent>,
    /// Sub-agents that work in the background, or whose result has not come back yet, with the calls that started them.
    pub background_agents: BTreeMap<SessionId, (CallId, AgentStarted)>,
    /// Users' commands that ended since the last prompt, oldest first.
    user_results: Vec<UserResult>,
    /// The newest record says that the daemon's end cut off the next answer, and that the turn continues from it.
    going_on_from: bool,
    /// Every call id of the conversation: ids are unique in a session, even if the provider's are not.
    pub call_ids: HashSet<CallId>,
    pub last_line: String,
    /// Directories that the session may write in since a call has made them.
    pub added_dirs: Vec<String>,
    /// The first line of the first prompt: the session's title if it has no name.
    pub first_line: String,
    /// The result of each `request_id`.
    pub requests: HashMap<RequestId, RequestResult>,
    /// The expected contents of the provider's cache.
    pub cache: CacheHistory,
    /// Total running time of ended turns, in milliseconds, without turns inherited from a fork.
    pub ran_ms: u64,
    /// A budget ended the newest turn: queued prompts wait until a user sends another prompt or raises the budget.
    pub over_budget: bool,
    /// The limit that ended the newest turn, until another turn starts.
    pub at_limit: Option<TurnLimit>,
    /// The limits of queued prompts that continue such a turn.
    pub(crate) added: HashMap<PromptId, AddedLimits>,
    /// Queued prompts that no person has sent: messages of other sessions of the tree, results of sub-agents.
    pub(crate) sent_by_sessions: HashMap<PromptId, Pid>,
    /// The goal in progress.
    pub goal: Option<Goal>,
    /// The newest goal that ended.
    pub last_goal: Option<LastGoal>,
    /// Set if the fallback model answers for the rest of the open turn.
    pub stand_in: Option<FallbackInUse>,
    /// Restarts of the session by its restart policy.
    pub supervision: RestartHistory,
}

/// A rewind of files that started but did not finish: the files that it was about to change are saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnfinishedRewind {
    /// The record of its checkpoint.
    pub seq: Seq,
    /// The rewind that it should undo, if any.
    pub undoes: Option<Seq>,
}

/// The state of a session, what it waits for, and the cause.
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

/// The permissions that the model was last notified of. The default, without any notice, is an ordinary session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReportedPermissions {
    pub mode: Mode,
    pub read_only: bool,
}

/// The result of a request with a `request_id`.
#[derive(Clone, Debug, PartialEq)]
pub struct RequestResult {
    pub at: Stamp,
    pub seq: Seq,
    /// The request's content as a comparable string: the record's kind and its content.
    pub content: String,
    /// The id of the new prompt, for `session.prompt`.
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

    /// Applies one record. Never panics, even on a log that another version wrote.
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
            Body::Tool(message) => self.apply_result(message, record.at),
            Body::PolicyDecided(decided) => self.apply_decided(decided),
            Body::SessionSuspended(_) => self.suspended = true,
            Body::SessionShortened(shortened) => self.shortened = Some(shortened.clone()),
            Body::SessionRestarted(restarted) => self.apply_restarted(restarted, record.at),
            Body::SessionGaveUp(gave_up) => self.apply_gave_up(gave_up),
            Body::ChildSpawned(child) => self.apply_child_spawned(child, record),
            Body::ChildExited(child) => self.apply_child_exited(child),
            Body::Notice(notice) => self.apply_notice(notice),
            Body::ToolFinished(finished) => self.apply_finished(finished),
            Body::AgentFinished(agent) => self.apply_agent_finished(agent),
            Body::PlannerStarted(started) => self.apply_planner_started(started),
            Body::PlannerFinished(finished) => self.apply_planner_finished(finished),
            proto::reports!() => {}
            Body::CacheReset(reset) => {
                self.cache.reset();
                self.apply_reset(reset, record);
            }
            Body::MessagePinned(pinned) => self.apply_pinned(pinned, record),
            Body::TodoUpdated(updated) => {
                self.goal_todos(&updated.todos);
                self.todos.clone_from(&updated.todos);
            }
            Body::GoalStarted(started) => self.apply_goal_started(started, record),
            Body::GoalChanged(changed) => self.apply_goal_changed(changed, record),
            Body::GoalReported(reported) => self.apply_goal_reported(reported, record.at),
            Body::GoalContinued(continued) => self.apply_goal_continued(continued),
            Body::GoalEnded(ended) => self.apply_goal_ended(ended, record),
            Body::CheckpointCreated(checkpoint) => self.apply_checkpoint(checkpoint, record),
            Body::SessionRewound(rewound) => self.apply_rewind(rewound, record),
            Body::InteractionOpened(interaction) => self.apply_interaction_opened(interaction),
            Body::InteractionResolved(resolved) => {
                self.apply_interaction_resolved(resolved, record);
            }
            Body::ToolStarted(started) => self.apply_started(started),
            Body::ToolBlocked(blocked) => self.apply_blocked(blocked),
            Body::Usage(usage) => self.apply_usage(usage, record),
        }
    }

    /// Two notices say what the records beside them do not.
    fn apply_notice(&mut self, notice: &Notice) {
        self.going_on_from = notice.text == words::GOES_ON_FROM_KEPT;
        self.has_unfinished_rewind &= notice.text != words::HALF_REWOUND;
    }

    fn apply_finished(&mut self, finished: &ToolFinished) {
        self.apply_file_edited(finished);
        self.apply_agent_started(finished);
        if let Some(open) = &mut self.open {
            open.apply_finished(finished);
        }
    }

    fn apply_agent_finished(&mut self, agent: &AgentFinished) {
        let before = self.agents.insert(agent.session, agent.spent);
        if let Some(open) = &mut self.open {
            let more = agent.spent.since(&before.unwrap_or_default());
            open.agents_spent = open.agents_spent.plus(&more);
        }
        self.background_agents.remove(&agent.session);
        self.note_agents_denials(agent);
    }

    /// Notes a sub-agent that a call has left in the background. It may have ended before its call.
    fn apply_agent_started(&mut self, finished: &ToolFinished) {
        let started = finished.agent.iter();
        for agent in started.filter(|agent| !self.agents.contains_key(&agent.session)) {
            let value = (finished.call.clone(), agent.clone());
            self.background_agents.insert(agent.session, value);
        }
    }

    /// The epoch that cursors of the session must have; 0 before the first record.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        let first = self.created.as_ref().map_or(0, |created| created.epoch);
        self.shortened
            .as_ref()
            .map_or(first, |shortened| shortened.epoch)
    }

    /// Which calls run without asking.
    #[must_use]
    pub fn approval_mode(&self) -> ApprovalMode {
        self.options.approval_mode.unwrap_or_default()
    }

    /// How to handle approval requests now: as set by the open turn's prompt, or else by the session.
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
        /// This many of the newest are remembered whatever their dates, so that a change of the wall clock forgets none.
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
