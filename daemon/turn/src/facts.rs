//! The state of a session as a fold over its log. Resuming is this and nothing else.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use proto::budget::Budget;
use proto::item::{CallStatus, Finish, Voice};
use proto::outcome::{OutcomeKind, TurnEnded, UsageTotals};
use proto::params::approval::{Approval, Scope};
use proto::params::history::What;
use proto::params::plan::Plan as Proposed;
use proto::params::question::Question;
use proto::params::session::{Exited, QueuedPrompt};
use proto::record::{
    ApprovalResolved, CallsRepaired, ChildSpawned, PlanResolved, Purpose, QuestionAnswered,
    SessionCreated, Todo,
};
use proto::reset::Wire;
use proto::state::{Kind, Mode, OnAsk, Posture, State, WaitingFor};
use proto::{
    ApprovalId, Body, CallId, ItemId, Pid, PlanId, PromptId, QuestionId, Record, RequestId, Seq,
    Stamp,
};

use crate::compaction::EditedFile;
use crate::words;

mod asked;
mod cache;
mod content;
mod edited;
mod escape;
mod open;
mod plans;
mod queue;
mod resets;
mod stand_in;
mod view;

pub use cache::Cache;
pub use content::{
    content_of_answer, content_of_compaction, content_of_edit, content_of_move, content_of_pin,
    content_of_plan, content_of_prompt, content_of_replies, content_of_reset, content_of_rewind,
    content_of_set,
};
pub use open::{Answerer, OpenCall, OpenTurn, Stage};
pub use resets::Undoable;
pub use stand_in::StandIn;
pub use view::{Counts, Mark, Plan, Rewind, View};

/// Everything that the log says about a session, less the words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub seq: Seq,
    pub created: Option<SessionCreated>,
    pub created_at: Stamp,
    pub active_at: Stamp,
    pub settings: Settings,
    pub state: Standing,
    pub queue: VecDeque<QueuedPrompt>,
    /// The number of the newest turn; numbers are never used again.
    pub turns: u64,
    pub open: Option<OpenTurn>,
    pub usage: UsageTotals,
    /// Prompt tokens of the newest request.
    pub context_tokens: u64,
    /// Whole answers in the conversation: a scripted provider finds its place by their number. One that was
    /// interrupted does not count.
    pub answered: u64,
    /// User messages in the conversation.
    pub spoken: u64,
    /// Approvals and questions that were ever opened: the next one's number.
    pub questions: u64,
    pub pending: BTreeMap<ApprovalId, Approval>,
    pub resolved: VecDeque<(ApprovalResolved, Stamp)>,
    /// Questions of the model that wait for a person.
    pub asked: BTreeMap<QuestionId, Question>,
    /// Questions that were answered, newest last, so that a late answer can be told who was first.
    pub replied: VecDeque<(QuestionAnswered, Stamp)>,
    /// Plans of the model that wait for a person.
    pub plans: BTreeMap<PlanId, Proposed>,
    /// Plans that were answered, newest last, so that a late answer can be told who was first.
    pub planned: VecDeque<(PlanResolved, Stamp)>,
    /// What the model knows of what the session may do.
    pub told: Told,
    /// It was ever told so in the conversation.
    pub was_told: bool,
    /// A compaction may have folded that: it is to be told again.
    pub told_again: bool,
    /// What the model has set out to do.
    pub todos: Vec<Todo>,
    /// Which records make up the conversation.
    pub view: View,
    /// The turns of the conversation, and those that rewinds have hidden.
    pub marks: Vec<Mark>,
    hidden: Vec<Mark>,
    /// All rewinds, oldest first.
    pub rewinds: Vec<Rewind>,
    /// The conversation was gone back in, and the cache reset that belongs to it has not been logged yet.
    pub(crate) reset_due: bool,
    /// Files were kept for a rewind of which neither the end nor its breaking off has been logged yet.
    pub(crate) half_rewound: bool,
    /// Rewinds of files that have begun and not come to their end, oldest first: none was finished or taken back yet.
    pub broken_off: Vec<BrokenOff>,
    /// What stood before the words of the session's first message: said again where a rewind has hidden that.
    pub(crate) opening: Option<String>,
    /// Who is asked, and with which prefix, until the settings in force are taken in by the next request.
    pub wire: Wire,
    /// How many providers have been asked before this one: messages are rendered for one of them.
    pub generation: u64,
    /// Compactions so far.
    pub compactions: u64,
    compacted: Option<Undoable>,
    /// Views that the undoing of a compaction has changed, as they were before that record.
    dropped: Vec<(Seq, View)>,
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
    /// The newest record says that the answer which follows was cut off by the daemon's end, and is gone on from.
    going_on_from: bool,
    /// Every call id of the conversation: ids are unique in a session, whatever the vendor does.
    pub call_ids: HashSet<CallId>,
    pub last_line: String,
    /// What was done for which `request_id`, and when.
    pub requests: HashMap<RequestId, Done>,
    /// What the vendor's cache can be expected to hold.
    pub cache: Cache,
    /// How long the turns took that have ended, in milliseconds; not those that it was forked with.
    pub ran_ms: u64,
    /// The newest turn was ended by a budget: what waits behind it does so until a person says more, or raises it.
    pub over_budget: bool,
    /// The fallback model is asked for the rest of the open turn.
    pub stand_in: Option<StandIn>,
}

/// A rewind of files of which only the beginning is known: what it was about to change was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BrokenOff {
    /// Its checkpoint.
    pub seq: Seq,
    /// The rewind that it was to take back.
    pub undoes: Option<Seq>,
}

/// State, what for, and why.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub state: State,
    pub waiting_for: Option<WaitingFor>,
    pub cause: String,
}

impl Default for Standing {
    fn default() -> Self {
        Self {
            state: State::Idle,
            waiting_for: None,
            cause: String::new(),
        }
    }
}

/// Settings in force: those of the creation, changed by each `session.set`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    pub kind: Kind,
    /// The provider that is asked, by its name in the config.
    pub provider: String,
    /// The model that is asked.
    pub model: String,
    /// How hard it thinks; `None`: as it does by itself.
    pub effort: Option<String>,
    pub posture: Posture,
    pub mode: Mode,
    /// Calls that change anything are refused.
    pub read_only: bool,
    pub on_ask: Option<OnAsk>,
    pub name: Option<String>,
    pub labels: Vec<String>,
    pub max_steps: u64,
    pub timeout_ms: u64,
    /// Nothing new starts. Ends with the session.
    pub paused: bool,
    /// What the session may use in its whole life.
    pub budget: Budget,
    /// What the model has reasoned is turned into lists for people.
    pub harvest: bool,
    /// Samples of each request; 0 as 1.
    pub branch: u32,
}

/// What the model was told last of what the session may do. Nothing: that it is as every other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Told {
    pub mode: Mode,
    pub read_only: bool,
}

/// What a `request_id` led to.
#[derive(Clone, Debug, PartialEq)]
pub struct Done {
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
        let going_on_from = std::mem::take(&mut self.going_on_from);
        match &record.body {
            Body::SessionCreated(created) => self.apply_created(created, record),
            Body::SessionSet(_) => self.apply_set(record),
            Body::SessionState(state) => {
                self.state = Standing {
                    state: state.state,
                    waiting_for: state.waiting_for,
                    cause: state.cause.clone(),
                };
                self.unsettled = false;
                self.suspended = false;
            }
            Body::SessionExited(exited) => {
                self.exited = Some(Exited {
                    outcome: exited.outcome,
                    reason: exited.reason,
                    exit_code: exited.exit_code,
                });
                self.state = Standing {
                    state: State::Exited,
                    waiting_for: None,
                    cause: "exit".into(),
                };
                self.unsettled = false;
                self.woken = false;
                self.pause(false, record.at);
                self.remember(exited.request_id, record, "exit".into(), None);
            }
            Body::SessionReopened(reopened) => {
                self.exited = None;
                self.woken = false;
                self.state = Standing {
                    state: State::Idle,
                    waiting_for: None,
                    cause: format!("reopened by {}", reopened.by),
                };
            }
            Body::PromptQueued(prompt) => self.apply_queued(prompt, record),
            Body::PromptUnqueued(prompt) => self.apply_unqueued(prompt.prompt_id),
            Body::PromptEdited(edited) => self.apply_edited(edited, record),
            Body::PromptMoved(moved) => self.apply_moved(moved, record),
            Body::TurnStarted(started) => self.apply_turn_started(started.prompt_id, record),
            Body::TurnEnded(ended) => self.apply_turn_ended(ended),
            Body::User(_) | Body::Assistant(_) | Body::Tool(_) => {
                self.apply_message(record, going_on_from);
            }
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
            Body::HookFinished(_) | Body::ReasoningHarvested(_) | Body::Unknown { .. } => {}
            Body::CacheReset(reset) => {
                self.cache.reset();
                self.apply_reset(reset, record);
            }
            Body::MessagePinned(pinned) => {
                match pinned.pinned {
                    true => self.pins.insert(pinned.item.clone()),
                    false => self.pins.remove(&pinned.item),
                };
                let content = content_of_pin(pinned);
                self.remember(pinned.request_id, record, content, None);
            }
            Body::TodoUpdated(updated) => self.todos.clone_from(&updated.todos),
            Body::CheckpointCreated(checkpoint) => {
                if checkpoint.call.is_none() {
                    self.half_rewound = true;
                    let (seq, undoes) = (record.seq, None);
                    self.broken_off.push(BrokenOff { seq, undoes });
                }
                if let Some(open) = &mut self.open {
                    let paths = checkpoint.files.iter().map(|kept| kept.path.clone());
                    open.kept.extend(paths);
                    open.tree_kept |= checkpoint.tree.is_some() || checkpoint.skipped.is_some();
                }
            }
            Body::SessionRewound(rewound) => {
                self.reset_due |= rewound.shown.is_some();
                self.half_rewound = false;
                if rewound.what != What::Conversation {
                    // It took in what they had done, or took it back.
                    self.broken_off.clear();
                }
                self.apply_rewound(rewound, record);
                let to_turn = rewound.undoes.is_none().then_some(rewound.to_turn);
                let content = content_of_rewind(to_turn, rewound.what);
                self.remember(rewound.request_id, record, content, None);
            }
            Body::QuestionAsked(question) => self.apply_questions(question),
            Body::QuestionAnswered(answered) => self.apply_answered(answered, record),
            Body::PlanProposed(plan) => self.apply_proposed(plan),
            Body::PlanResolved(resolved) => {
                self.apply_plan_in_force(resolved);
                self.apply_plan_resolved(resolved, record);
            }
            Body::ToolStarted(started) => {
                if let Some(open) = &mut self.open {
                    open.stage(
                        &started.call,
                        Stage::Started {
                            read_only: started.read_only,
                        },
                    );
                }
            }
            Body::CallsRepaired(repaired) => self.apply_repaired(repaired),
            Body::ToolBlocked(blocked) => self.apply_blocked(blocked),
            Body::ApprovalRequested(approval) => self.apply_requested(approval),
            Body::ApprovalResolved(resolved) => self.apply_resolved(resolved, record),
            Body::Usage(usage) => {
                let totals = UsageTotals::of(usage);
                self.usage.add(&totals);
                self.cache.apply(usage, record.at, &self.wire);
                // A digest is one whole answer of the model too: a scripted one finds its place by their number.
                self.answered += u64::from(usage.purpose == Purpose::Digest);
                if usage.reported && usage.purpose == Purpose::Answer {
                    self.measure = Some((usage.request_bytes, usage.prompt_tokens));
                    self.cached_tokens = Some(usage.cached_tokens);
                    self.context_tokens = usage.prompt_tokens.saturating_add(usage.output_tokens);
                }
                if let Some(open) = &mut self.open {
                    open.usage.add(&totals);
                    open.missed
                        .extend(usage.cache_miss.as_ref().map(|miss| miss.cause));
                }
            }
        }
    }

    fn apply_created(&mut self, created: &SessionCreated, record: &Record) {
        self.settings = Settings {
            kind: created.kind,
            provider: created.provider.clone(),
            model: created.model.clone(),
            effort: created.effort.clone(),
            posture: created.posture,
            mode: created.mode,
            read_only: created.read_only,
            on_ask: Some(created.on_ask),
            name: created.name.clone(),
            labels: created.labels.clone(),
            max_steps: created.max_steps,
            timeout_ms: created.timeout_ms,
            paused: false,
            budget: created.budget.without_zeros(),
            harvest: created.harvest,
            branch: created.branch.unwrap_or(1),
        };
        self.wire = Self::first_wire(created);
        self.created_at = record.at;
        self.created = Some(created.clone());
        self.state.cause = "created".into();
    }

    fn apply_set(&mut self, record: &Record) {
        let Body::SessionSet(set) = &record.body else {
            return;
        };
        let settings = &mut self.settings;
        settings.posture = set.posture.unwrap_or(settings.posture);
        settings.read_only = set.read_only.unwrap_or(settings.read_only);
        settings.mode = set.mode.unwrap_or(settings.mode);
        if set.mode == Some(Mode::Plan)
            && let Some(open) = &mut self.open
        {
            // Who takes the session back to planning takes back what the plan before it was allowed.
            open.window = false;
        }
        let settings = &mut self.settings;
        settings.on_ask = set.on_ask.or(settings.on_ask);
        settings.kind = set.kind.unwrap_or(settings.kind);
        settings.max_steps = set.max_steps.unwrap_or(settings.max_steps);
        settings.timeout_ms = set.timeout_ms.unwrap_or(settings.timeout_ms);
        self.apply_asked(set);
        let settings = &mut self.settings;
        settings.harvest = set.harvest.unwrap_or(settings.harvest);
        settings.branch = set.branch.unwrap_or(settings.branch);
        self.suspended = false;
        if let Some(paused) = set.paused {
            self.pause(paused, record.at);
        }
        let settings = &mut self.settings;
        if let Some(name) = &set.name {
            settings.name = Some(name.clone()).filter(|name| !name.is_empty());
        }
        if let Some(labels) = &set.labels {
            settings.labels.clone_from(labels);
        }
        if let Some(change) = &set.budget {
            settings.budget = settings.budget.changed_by(change).without_zeros();
            // What waits goes on with it, or is refused again.
            self.over_budget = false;
        }
        if let Some(revoked) = &set.revoked {
            self.grants.retain(|scope| scope.rule != *revoked);
        }
        self.remember(
            set.request_id,
            record,
            format!("set {}", content_of_set(set)),
            None,
        );
    }

    /// Notes the beginning or the end of a pause. The open turn's time stands still in it.
    fn pause(&mut self, paused: bool, at: Stamp) {
        // An exited session is not paused, whatever an edited log says.
        self.settings.paused = paused && self.exited.is_none();
        let Some(open) = &mut self.open else { return };
        if paused {
            open.paused_at = open.paused_at.or(Some(at));
        } else if let Some(from) = open.paused_at.take() {
            open.paused_ms += since(from, at);
        }
    }

    /// The prompt stays in the queue until its message is there: a batch may be torn between the two.
    fn apply_turn_started(&mut self, prompt: PromptId, record: &Record) {
        self.turns = record.turn.unwrap_or(self.turns + 1);
        self.unsettled = false;
        self.suspended = false;
        self.half_rewound = false;
        self.end_stand_in();
        // What has a turn has not exited, though the record that reopened it may be gone from an edited log.
        self.exited = None;
        self.woken = false;
        if self.state.state == State::Exited {
            self.state.state = State::Idle;
        }
        // Only an edited log begins a turn in a turn: its calls must have their results before anything else is said.
        let before = self.open.take().map(|open| open.calls).unwrap_or_default();
        self.open = Some(OpenTurn {
            number: self.turns,
            started_at: record.at,
            prompt_id: Some(prompt),
            paused_at: self.settings.paused.then_some(record.at),
            calls: before
                .into_iter()
                .filter(|open| open.stage != Stage::Closed)
                .collect(),
            ..OpenTurn::default()
        });
        self.mark_turn(record);
    }

    fn apply_turn_ended(&mut self, ended: &TurnEnded) {
        self.suspended = false;
        self.end_stand_in();
        if let Some(open) = self.open.as_mut().filter(|open| open.unanswered()) {
            open.over = Some(ended.clone());
            return;
        }
        self.settle_compaction();
        self.open = None;
        let created = self.created.as_ref();
        let forked = created.and_then(|created| created.origin.as_ref());
        if self.turns > forked.map_or(0, |origin| origin.turn) {
            self.ran_ms = self.ran_ms.saturating_add(ended.duration_ms);
        }
        self.over_budget = ended.outcome == OutcomeKind::BudgetExceeded;
        self.ended = Some(ended.clone());
        self.unsettled = true;
        self.asked_since = false;
    }

    fn apply_message(&mut self, record: &Record, going_on_from: bool) {
        match &record.body {
            Body::User(message) => {
                self.spoken += 1;
                if message.voice == Voice::Daemon
                    && let Some(told) = words::told_by(&message.text)
                {
                    self.told = told;
                    (self.was_told, self.told_again) = (true, false);
                }
                if self.opening.is_none() {
                    self.opening.clone_from(&message.context);
                }
                if message.voice == Voice::Prompt {
                    self.mark_prompt(&message.text);
                }
                if let Some(id) = message.prompt_id {
                    self.queue.retain(|queued| queued.prompt_id != id);
                }
                if let Some(open) = &mut self.open {
                    open.items += 1;
                    open.calls.clear();
                    open.plain_answer = None;
                    open.cut_off = false;
                    // A person may say the same words; they mean nothing then.
                    let by_daemon = message.voice == Voice::Daemon;
                    open.prodded |= by_daemon && message.text == words::REASONING_ONLY;
                    open.stuck |= by_daemon && message.text == words::STUCK;
                    open.summing_up |= open.stuck || by_daemon && message.text == words::SUM_UP;
                    if !by_daemon {
                        open.clear_circles();
                    }
                }
            }
            Body::Assistant(message) => {
                let whole = message.finish != Finish::Interrupted;
                self.answered += u64::from(whole);
                self.call_ids
                    .extend(message.calls.iter().map(|call| call.id.clone()));
                if !message.text.trim().is_empty() {
                    self.last_line = first_line(&message.text);
                }
                if self.open.is_none() && !message.calls.is_empty() {
                    // Only in an edited log: what it calls must have results, and so a turn.
                    self.turns = record.turn.unwrap_or(self.turns).max(self.turns);
                    self.open = Some(OpenTurn {
                        number: self.turns,
                        started_at: record.at,
                        ..OpenTurn::default()
                    });
                }
                if let Some(open) = &mut self.open {
                    open.items += 1;
                    open.cut_off = !whole && going_on_from;
                    // What is gone on from is half a step.
                    open.steps += u64::from(!open.cut_off);
                    open.tool_calls += message.calls.len() as u64;
                    let begun = std::mem::take(&mut open.begun);
                    open.text = begun + &message.text;
                    if open.cut_off {
                        open.begun.clone_from(&open.text);
                    }
                    open.plain_answer = message.calls.is_empty().then_some(message.finish);
                    open.calls = message.calls.iter().map(OpenCall::new).collect();
                }
            }
            Body::Tool(message) => {
                if let Some(open) = &mut self.open {
                    open.items += 1;
                    // As the results stand in the conversation, not as they came in.
                    let done = open
                        .calls
                        .iter()
                        .any(|open| open.call.id == message.call && open.stage.came_to_something());
                    if message.status == CallStatus::Ok {
                        open.ok_since_denial |= done;
                    } else if open.denied.iter().any(|denied| denied.call == message.call) {
                        open.ok_since_denial = false;
                    }
                    open.close(message);
                }
            }
            _ => {}
        }
    }

    fn apply_repaired(&mut self, repaired: &CallsRepaired) {
        let Some(open) = &mut self.open else { return };
        if repaired.cleared {
            open.clear_circles();
        }
        let held = |call: &&mut OpenCall| Some(&call.call.id) == repaired.held_back.as_ref();
        for call in open.calls.iter_mut().filter(held) {
            call.held_back = true;
        }
    }

    /// Something was said or done from outside of the turn: what was called before may be called again.
    fn clear_circles(&mut self) {
        if let Some(open) = &mut self.open {
            open.clear_circles();
        }
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
        let Some(id) = id else { return };
        let at = record.at;
        self.requests.retain(|_, done| at.0 - done.at.0 <= KEPT_MS);
        self.requests.insert(
            id,
            Done {
                at,
                seq: record.seq,
                content,
                prompt_id,
            },
        );
    }
}

/// Milliseconds between two moments of the wall clock; 0 where the clock went back.
fn since(from: Stamp, to: Stamp) -> u64 {
    u64::try_from(to.0 - from.0).unwrap_or(0)
}

/// The first line of a text that says something, at most 120 characters.
#[must_use]
pub fn first_line(text: &str) -> String {
    text.lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or_default()
        .chars()
        .take(120)
        .collect()
}
