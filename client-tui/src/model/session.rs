//! The followed session, updated by events.

use std::time::Duration;

use client::DecodedEvent;
use client::form::{self, ShownInteraction};
use client::queue::Queue;
use client::user_waits::UserWaits;
use proto::budget::Spent;
use proto::live::{Live, Snapshot};
use proto::outcome::{Cost, TurnLimit, UsageTotals};
use proto::params::interaction::Interaction;
use proto::params::session::SessionSummary;
use proto::record::{ChildSpawned, Purpose, Todo, TodoStatus};
use proto::state::{Kind, Mode, State, WaitingFor};
use proto::{Body, CallId, Pid, Seq, SessionId, SessionOptions, Stamp};

use super::interaction::Asking;
use crate::model::goal::Goal;

/// Shows the remaining lifetime of the provider's cache in its last two minutes.
pub const CACHE_LAST_MS: u64 = 120_000;

/// The client's state of a session.
#[derive(Debug)]
pub struct Session {
    pub id: SessionId,
    pub pid: Pid,
    /// The session that started it, if it is a sub-agent.
    pub parent: Option<Pid>,
    pub cwd: String,
    pub options: SessionOptions,
    /// Its title in lists, as of the newest snapshot: its name, else its first prompt.
    pub title: String,
    /// `provider/model` to return to when the turn has ended: the one in the options replaces it until then.
    pub instead_of: Option<String>,
    pub state: State,
    pub waiting_for: Option<WaitingFor>,
    /// Why the state was entered.
    pub cause: String,
    /// Why the session is read-only, if it is.
    pub read_only: Option<String>,
    /// Its context is being compacted.
    pub compacting: bool,
    /// The planner works on the prompt of the running turn.
    pub planning: bool,
    pub usage: UsageTotals,
    /// The same with what its sub-agents used; `None`: there were none.
    pub tree_usage: Option<Spent>,
    /// Tokens of the newest request and its answer.
    pub context_tokens: u64,
    /// 0: unknown.
    pub context_window: u64,
    /// When the newest request was sent whose prefix the next one reuses.
    pub cache_used: Option<Stamp>,
    /// Milliseconds for which the vendor keeps the cache, if known.
    pub cache_ttl_ms: Option<u64>,
    /// Forecast cost of the next prompt after the cache has expired, for people. `None`: unknown, or there was a newer
    /// request.
    pub expired_cache_cost: Option<String>,
    pub turns: u64,
    pub queue: Queue,
    /// The goal in progress.
    pub goal: Option<Goal>,
    /// The limit that ended the newest turn, until another turn starts.
    at_limit: Option<TurnLimit>,
    pub todos: Vec<Todo>,
    /// The user has prompted since the list changed.
    todos_before_prompt: bool,
    /// Commands in the background.
    pub children: Vec<ChildSpawned>,
    /// Open interactions.
    pub open: Vec<Interaction>,
    /// Open interactions of its sub-agents, which are answered here, too.
    pub borrowed: Vec<Interaction>,
    /// The client's state of those interactions.
    pub asking: Asking,
    /// Other clients that are attached.
    pub others: u64,
    /// The newest record processed.
    pub seq: Seq,
    /// Start of the running turn, if known; `None`: no turn is running.
    pub began: Option<Stamp>,
    /// The waits of that turn for the user.
    waits: UserWaits,
    /// Since when a failed request waits for its next try, and for how many milliseconds.
    pub retry: Option<(Stamp, u64)>,
    /// Running calls.
    pub running: Vec<(CallId, String)>,
    /// The daemon may have restarted: the next prompt sends keys and variables again.
    pub unsure: bool,
    /// Keys were offered to it; once is enough.
    pub offered: bool,
    /// This client has asked to interrupt what runs; until it has ended, or something else is started.
    pub interrupted: bool,
}

impl Session {
    /// Creates the state on attaching; a `snapshot` completes it.
    #[must_use]
    pub fn new(id: SessionId, pid: Pid) -> Self {
        Self {
            id,
            pid,
            parent: None,
            cwd: String::new(),
            options: SessionOptions::default(),
            title: String::new(),
            instead_of: None,
            state: State::Idle,
            waiting_for: None,
            cause: String::new(),
            read_only: None,
            compacting: false,
            planning: false,
            usage: UsageTotals::default(),
            tree_usage: None,
            context_tokens: 0,
            context_window: 0,
            cache_used: None,
            cache_ttl_ms: None,
            expired_cache_cost: None,
            turns: 0,
            queue: Queue::default(),
            goal: None,
            at_limit: None,
            todos: Vec::new(),
            todos_before_prompt: false,
            children: Vec::new(),
            open: Vec::new(),
            borrowed: Vec::new(),
            asking: Asking::default(),
            others: 0,
            seq: Seq::default(),
            began: None,
            waits: UserWaits::default(),
            retry: None,
            running: Vec::new(),
            unsure: true,
            offered: false,
            interrupted: false,
        }
    }

    /// Whether a turn is running or waiting for the user, or the context is being compacted.
    #[must_use]
    pub fn busy(&self) -> bool {
        matches!(self.state, State::Running | State::Waiting) || self.compacting
    }

    /// Whether the goal waits for its user because a turn of it ran out of time. That of a headless session ends instead.
    #[must_use]
    pub fn has_paused_goal(&self) -> bool {
        let headless = self.options.kind == Some(Kind::Headless);
        self.goal.is_some() && self.at_limit == Some(TurnLimit::Time) && !headless
    }

    /// The user's running command.
    #[must_use]
    pub fn user_command(&self) -> Option<&ChildSpawned> {
        self.children.iter().find(|child| child.user.is_some())
    }

    /// Whether the session's display is animated. A session that waits for the user is not.
    #[must_use]
    pub fn works(&self) -> bool {
        let needs_person = self.waiting_for.is_some_and(WaitingFor::needs_person);
        self.busy() && !(self.state == State::Waiting && needs_person)
    }

    /// Its open interactions, and those of its sub-agents.
    pub fn all_open(&self) -> impl Iterator<Item = &Interaction> {
        self.open.iter().chain(&self.borrowed)
    }

    /// Every open question that was not answered from here, oldest first.
    #[must_use]
    pub fn asks(&self) -> Vec<ShownInteraction> {
        let mut open: Vec<_> = self.all_open().collect();
        open.sort_by_key(|open| open.opened_at);
        let all = open.into_iter().map(ShownInteraction::from);
        all.filter(|asked| !self.asking.sent.contains(asked))
            .collect()
    }

    /// Milliseconds that the running turn has worked so far, without waits for the user.
    #[must_use]
    pub fn worked_ms(&self, now: Stamp) -> Option<u64> {
        let began = self.began?;
        let all = u64::try_from(now.0.saturating_sub(began.0)).unwrap_or_default();
        Some(all.saturating_sub(self.waits.between(began, now)))
    }

    /// The todo list to show: a finished one goes with the next prompt of the user.
    #[must_use]
    pub fn shown_todos(&self) -> &[Todo] {
        let is_done = |todo: &Todo| todo.status == TodoStatus::Completed;
        match self.todos_before_prompt && self.todos.iter().all(is_done) {
            true => &[],
            false => &self.todos,
        }
    }

    /// Applies the snapshot received on attaching.
    pub fn snapshot(&mut self, snapshot: &Snapshot, at: Stamp) {
        self.summary(&snapshot.session, at);
        self.queue = Queue::new(snapshot.seq, snapshot.queue.clone());
        self.todos.clone_from(&snapshot.todos);
        self.todos_before_prompt = false;
        // The replay that follows lists background commands; the number of attached clients comes with it.
        self.children.clear();
        self.running.clear();
        self.others = snapshot.session.attached.saturating_sub(1);
        self.seq = snapshot.seq;
        self.unsure = true;
    }

    fn summary(&mut self, summary: &SessionSummary, at: Stamp) {
        self.parent = Some(summary.ppid).filter(|parent| *parent != Pid(0));
        self.cwd.clone_from(&summary.cwd);
        self.options = SessionOptions {
            name: summary.name.clone(),
            model: Some(summary.model.clone()),
            effort: summary.effort.clone(),
            approval_mode: Some(summary.approval_mode),
            mode: Some(summary.mode),
            read_only: Some(summary.only_reads),
            kind: Some(summary.kind),
            samples: Some(summary.samples),
            ..SessionOptions::default()
        };
        self.title.clone_from(&summary.title);
        self.instead_of.clone_from(&summary.instead_of);
        self.enter(summary.state, summary.waiting_for, &summary.cause, at);
        self.read_only.clone_from(&summary.read_only);
        self.compacting = summary.compacting;
        self.planning = summary.planning;
        self.goal = summary.goal.as_deref().map(Goal::from);
        self.at_limit = summary.at_limit;
        self.usage = summary.usage;
        self.tree_usage = summary.tree_usage;
        self.context_tokens = summary.context_tokens;
        self.context_window = summary.context_window;
        (self.cache_used, self.cache_ttl_ms) = (summary.cache_used, summary.cache_ttl_ms);
        self.expired_cache_cost = summary.cold.as_ref().and_then(|cold| cold.price());
        self.turns = summary.turns;
    }

    /// How long a failed request waits for its next try, if it does. Clocks that disagree make it no longer than it was at
    /// first.
    #[must_use]
    pub fn retries_in(&self, now: Stamp) -> Option<Duration> {
        let (since, wait_ms) = self.retry?;
        let waited = u64::try_from(now.0.saturating_sub(since.0)).unwrap_or(0);
        Some(Duration::from_millis(wait_ms.saturating_sub(waited)))
    }

    /// What it cost, with its sub-agents.
    #[must_use]
    pub fn cost(&self) -> Cost {
        let own = Cost::from(&self.usage);
        self.tree_usage.as_ref().map_or(own, Cost::from)
    }

    /// Milliseconds until the provider's cache forgets the conversation: 0 when it has. `None`: not known, or it is being
    /// used right now.
    #[must_use]
    pub fn cache_left(&self, now: Stamp) -> Option<u64> {
        let (used, ttl) = (self.cache_used?, self.cache_ttl_ms?);
        let age = u64::try_from(now.0.saturating_sub(used.0)).unwrap_or(0);
        (!self.busy()).then(|| ttl.saturating_sub(age))
    }

    /// Milliseconds until the display of the cache's lifetime changes: when its last two minutes begin, then each
    /// second.
    #[must_use]
    pub fn cache_changes_in(&self, now: Stamp) -> Option<u64> {
        match self.cache_left(now)? {
            0 => None,
            left if left > CACHE_LAST_MS => Some(left - CACHE_LAST_MS),
            left => Some(left.min(1_000)),
        }
    }

    fn enter(&mut self, state: State, waiting_for: Option<WaitingFor>, cause: &str, at: Stamp) {
        self.state = state;
        self.waiting_for = waiting_for;
        cause.clone_into(&mut self.cause);
        self.retry = None;
        self.waits.wait(waiting_for, at);
        match self.busy() {
            true => self.began = self.began.or(Some(at)),
            false => {
                self.began = None;
                self.interrupted = false;
            }
        }
    }

    /// Applies an event.
    pub fn fold(&mut self, event: &DecodedEvent) {
        if let Some(live) = event.live() {
            self.live(live.clone(), event.at);
        }
        let (Some(seq), Some(body)) = (event.seq, event.body()) else {
            return;
        };
        let body = body.clone();
        self.queue.fold(seq, &body);
        self.waits.fold(&body, event.at);
        match &body {
            Body::User(message) if message.voice.is_user() => {
                self.todos_before_prompt = true;
            }
            Body::TodoUpdated(_) => self.todos_before_prompt = false,
            _ => {}
        }
        // The snapshot already holds the records from before it, except for background commands.
        if seq > self.seq {
            self.seq = seq;
            Goal::fold(&mut self.goal, &body);
            self.record(body, event.at);
        } else {
            self.runs(body, event.at);
        }
    }

    fn live(&mut self, live: Live, at: Stamp) {
        match live {
            Live::Snapshot(snapshot) => self.snapshot(&snapshot, at),
            Live::Sync(sync) => {
                self.open = sync.interactions;
                // Clients that came and went while we were disconnected were not reported.
                self.others = sync.attached.saturating_sub(1);
            }
            Live::ClientJoined(_) => self.others = self.others.saturating_add(1),
            Live::ClientLeft(_) => self.others = self.others.saturating_sub(1),
            Live::Status(status) => {
                if let Some(why) = status["read_only"].as_str() {
                    self.read_only = Some(why.to_owned());
                }
                if let Some(compacting) = status["compacting"].as_bool() {
                    self.compacting = compacting;
                    self.interrupted &= self.busy();
                }
            }
            Live::Text(_)
            | Live::Reasoning(_)
            | Live::ToolArgs(_)
            | Live::ToolOutput(_)
            | Live::Partial(_) => {}
        }
    }

    fn record(&mut self, body: Body, at: Stamp) {
        if let Body::InteractionOpened(interaction) = &body {
            self.open.push(interaction.clone());
        }
        if let Body::InteractionResolved(resolved) = &body {
            let id = &resolved.interaction_id;
            self.open.retain(|open| open.interaction_id != *id);
            self.asking.answered = Some(resolved.clone());
        }
        match body {
            Body::SessionCreated(created) => {
                self.parent = Some(created.ppid).filter(|parent| *parent != Pid(0));
                self.options = created.options;
                self.cwd = created.cwd;
                self.context_window = created.context_window;
            }
            Body::SessionState(state) => {
                self.enter(state.state, state.waiting_for, &state.cause, at);
                self.runs(Body::SessionState(state), at);
            }
            Body::SessionExited(_) => self.enter(State::Exited, None, "", at),
            Body::SessionReopened(_) => self.enter(State::Idle, None, "", at),
            Body::SessionSet(set) => {
                match set.stand_in {
                    Some(_) if self.instead_of.is_none() => {
                        self.instead_of.clone_from(&self.options.model);
                    }
                    None if set.options.model.is_some() => self.instead_of = None,
                    Some(_) | None => {}
                }
                self.options.apply(&set.options);
                if set.options.model.is_some() || set.options.effort.is_some() {
                    self.expired_cache_cost = None;
                }
                if let Some(window) = set.context_window {
                    self.context_window = window.tokens;
                }
            }
            Body::CacheReset(reset) => {
                self.expired_cache_cost = None;
                if let Some(wire) = reset.wire {
                    self.context_window = wire.context_window;
                }
            }
            Body::TurnStarted(_) => {
                self.turns = self.turns.saturating_add(1);
                self.interrupted = false;
                self.began = Some(at);
                self.at_limit = None;
            }
            Body::GoalStarted(_) => self.at_limit = None,
            Body::InteractionResolved(resolved) if form::ends_plan_mode(&resolved) => {
                self.options.mode = Some(Mode::Normal);
            }
            Body::TurnEnded(ended) => {
                if let Some(model) = self.instead_of.take() {
                    self.options.model = Some(model);
                }
                self.at_limit = ended.limit();
                self.runs(Body::TurnEnded(ended), at);
            }
            Body::TodoUpdated(updated) => self.todos = updated.todos,
            Body::SessionRewound(rewound) => {
                self.expired_cache_cost = None;
                if let Some(todos) = rewound.todos {
                    self.todos = todos;
                }
            }
            Body::Usage(usage) => {
                let more = UsageTotals::of(&usage);
                self.usage.add(&more);
                if let Some(tree) = &mut self.tree_usage {
                    *tree = tree.plus(&Spent::from(&more));
                }
                // Summaries, samples and extractions are not part of the conversation.
                if usage.reported && usage.purpose == Purpose::Answer {
                    self.context_tokens = usage.prompt_tokens.saturating_add(usage.output_tokens);
                    let took = i64::try_from(usage.duration_ms).unwrap_or(i64::MAX);
                    self.cache_used = Some(Stamp(at.0.saturating_sub(took)));
                    self.expired_cache_cost = None;
                }
            }
            other => self.runs(other, at),
        }
    }

    /// Tracks running work and the time of the next try, which no snapshot holds.
    fn runs(&mut self, body: Body, at: Stamp) {
        match body {
            Body::SessionState(state) => self.retry = state.retry_in_ms.map(|ms| (at, ms)),
            // The last command started is the running one.
            Body::TurnStarted(_) if self.busy() => self.began = Some(at),
            Body::TurnEnded(_) => {
                self.running.clear();
                self.planning = false;
            }
            Body::PlannerStarted(_) => self.planning = true,
            Body::PlannerFinished(_) => self.planning = false,
            Body::ToolStarted(started) => self.running.push((started.call, started.tool)),
            Body::ToolBlocked(blocked) => {
                self.running.retain(|(call, _)| *call != blocked.call);
            }
            Body::ToolFinished(finished) => {
                self.running.retain(|(call, _)| *call != finished.call);
            }
            Body::ChildSpawned(child) => self.children.push(child),
            Body::ChildExited(child) => self.children.retain(|known| known.pid != child.pid),
            // Not shown here: it is in the transcript, or in a snapshot.
            _ => {}
        }
    }
}
