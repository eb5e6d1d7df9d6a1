//! The state machine: takes an `Input`, returns `Effect`s.
//!
//! Facts change only through the records that the machine itself emits. So a machine that was rebuilt from the log
//! has the same facts as one that processed the events live. Only `Phase` tracks work that runs outside the machine
//! (a request, calls); it is lost in a crash.
//!
//! `phase` documents how each phase handles each input.
//!
//! While the session is *on hold* (paused, or handed over) nothing starts, and new work waits (see `hold`):
//!
//! | phase | runs to its end | waits | when the pause ends |
//! |---|---|---|---|
//! | `Idle` | – | the queue, and prompts that come | the first queued prompt starts, unless the session waits for a user after a crash; a headless run whose turn ended and whose queue is empty exits |
//! | `Asking`, answer awaited | the answer: if it is text without calls and no steering is queued, it ends the turn | its calls → `Calls`; the next request, and steering with it → `Held` | – |
//! | `Asking`, not sent yet | – | the request is dropped | it is made again |
//! | `Asking`, waiting | a new wait for another try | a try that is due, a key that arrived | the try is made; otherwise it keeps waiting |
//! | `Compacting` | a job, and the awaited summary; the whole compaction if a user requested it while the session was idle | the request for a summary, its next try; then the next request → `Held` | the request for the summary is sent |
//! | `Calls` | running calls; denials, answers to the model's questions | judging (a call judged meanwhile is judged again), approved calls, the next request | the calls continue |
//! | `Planning` | the planner (it is paused by itself, or with the tree) | the first request → `Held` | – |
//! | `Held` | – | the next request | it is made, or the turn ends if the steering was withdrawn |
//! | `Rewinding` | the whole rewind | the queue | as in `Idle`, after the rewind |
//! | `Stopping` | everything; then the turn ends | the queue | – |
//! | `Ending` | the `Stop` hooks | the queue | – |
//!
//! A pause is logged, shows as the state `paused` until it ends, stops the turn's clock, and survives a restart of the
//! daemon. A hand-over does none of this: once nothing runs, the session is marked suspended, and stays so until the
//! daemon exits. A compaction without a summary is abandoned; the next daemon process starts it again.
//! Stop requests work as usual in both. `recover` documents what recovery does in each phase.

use std::sync::Arc;

use contract::ExternalChanges;
use proto::item::{UserMessage, Voice};
use proto::record::{
    CheckpointCreated, ChildExited, Level, Notice, PromptQueued, PromptUnqueued, SessionSet,
    SessionState,
};
use proto::state::{State, WaitingFor};
use proto::{Body, CallId, ItemId, PromptId, Record, RequestId, Seq};

use crate::compacting::CompactionEnd;
use crate::facts::Facts;
use crate::fallback::Fallback;
use crate::hold::Hold;
use crate::input::{Effect, Input, Now};
use crate::next::Exit;
use crate::repair::RepairTools;
use crate::supervision::RestartLimits;

mod phase;

pub(crate) use phase::{Asking, CallsInProgress, PendingResult, Phase, RequestWait};

/// Numbers that bound a turn. All are settings.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// How many read-only calls run in parallel.
    pub parallel: usize,
    /// The wait before the first retry; doubles each time.
    pub retry_base_ms: u64,
    pub retry_cap_ms: u64,
    /// Tries of one request, including the first.
    pub retry_tries: u32,
    /// No retry starts after this time.
    pub retry_total_ms: u64,
    /// From TERM to KILL when calls are stopped.
    pub grace_ms: u64,
    /// Compact the context before the next request once it fills this percentage of the window; 0: never.
    pub compact_percent: u8,
    /// Block size of the provider's prompt cache, in tokens.
    pub cache_block: u64,
    /// How long the provider's cache keeps an entry after its last use; 0: unknown.
    pub cache_ttl_ms: u64,
    /// How often the session may go on by its restart policy.
    pub restarts: RestartLimits,
}

impl Default for Limits {
    /// The contract's numbers (chapters 20 and 30).
    fn default() -> Self {
        Self {
            parallel: 8,
            retry_base_ms: 500,
            retry_cap_ms: 30_000,
            retry_tries: 8,
            retry_total_ms: 600_000,
            grace_ms: 2_000,
            compact_percent: 80,
            // The block size of OpenAI and most others (their documentation, 2026; measured with DeepSeek).
            cache_block: 128,
            cache_ttl_ms: 0,
            restarts: RestartLimits::default(),
        }
    }
}

/// Decides everything that happens in one session.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) facts: Facts,
    pub(crate) phase: Phase,
    pub(crate) limits: Limits,
    /// Text to put before the session's first message, which consumes it.
    pub(crate) context: Option<String>,
    /// Text to put before the next prompt, which consumes it.
    pub(crate) note: Option<ExternalChanges>,
    pub(crate) hold: Hold,
    /// The tools' schemas for repairing calls; `None`: calls are not repaired.
    pub(crate) repair_tools: Option<Arc<RepairTools>>,
    /// The model to ask if the session's own model is down.
    pub(crate) fallback: Option<Fallback>,
}

/// One step of the machine: collects effects and updates the facts along the way.
pub(crate) struct Step<'a> {
    pub facts: &'a mut Facts,
    pub limits: Limits,
    pub context: &'a mut Option<String>,
    pub note: &'a mut Option<ExternalChanges>,
    pub hold: &'a mut Hold,
    pub repair_tools: Option<Arc<RepairTools>>,
    pub effects: Vec<Effect>,
    pub now: Now,
    pub fallback: Option<Fallback>,
}

impl Machine {
    /// Creates a machine over the facts from a log. Nothing runs yet: see `recover` for a log that ends in mid-turn.
    #[must_use]
    pub fn new(facts: Facts, limits: Limits) -> Self {
        Self {
            facts,
            phase: Phase::Idle,
            limits,
            context: None,
            note: None,
            hold: Hold::default(),
            repair_tools: None,
            fallback: None,
        }
    }

    /// Sets the text to put before the session's first message (directory, date, branch).
    pub fn set_context(&mut self, context: String) {
        self.context = Some(context);
    }

    /// Adds what others changed to the text before the next prompt, unless that is the session's first message.
    pub fn add_note(&mut self, note: ExternalChanges) {
        match &mut self.note {
            Some(before) => {
                before.text = format!("{}\n{}", before.text, note.text);
                before.files.extend(note.files);
            }
            None => self.note = Some(note),
        }
    }

    /// Turns the repair of malformed calls on (`Some`) or off (`None`).
    pub fn set_call_repair(&mut self, tools: Option<RepairTools>) {
        self.repair_tools = tools.map(Arc::new);
    }

    /// Sets the limits of another model, which receives the next request.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// The limits of a turn.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Sets the model that takes over a turn when the session's own model is down; `None`: no model does.
    pub fn set_fallback(&mut self, fallback: Option<Fallback>) {
        self.fallback = fallback;
    }

    /// Sets whether to notify `Stop` hooks of each turn's end before anything else starts.
    pub fn set_notify_turn_end(&mut self, wanted: bool) {
        self.hold.notify_turn_end = wanted;
    }

    /// The facts from the log.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether nothing runs outside, no turn is open, and none waits for the time of a restart.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        let waits = self.hold.restart_due_ms.is_some();
        matches!(self.phase, Phase::Idle) && self.facts.open.is_none() && !waits
    }

    /// Whether the session has exited with prompts in its queue. They stay queued until a new prompt arrives.
    #[must_use]
    pub fn is_left_behind(&self) -> bool {
        self.facts.exited.is_some() && !self.facts.woken
    }

    /// Whether a rewind to an earlier turn is in progress.
    #[must_use]
    pub fn is_rewinding(&self) -> bool {
        matches!(self.phase, Phase::Rewinding { .. })
    }

    /// Whether a compaction is in progress, which changes earlier bytes of requests.
    #[must_use]
    pub fn is_compacting(&self) -> bool {
        matches!(self.phase, Phase::Compacting(_))
    }

    /// Takes the outcome of a compaction that has ended since the last call.
    pub fn take_compaction_end(&mut self) -> Option<CompactionEnd> {
        self.hold.compacted.take()
    }

    /// The call that the policy is judging.
    #[must_use]
    pub fn judging(&self) -> Option<&CallId> {
        match &self.phase {
            Phase::Calls(calls) => calls.judging.as_ref(),
            _ => None,
        }
    }

    /// Whether a request waits for an API key.
    #[must_use]
    pub fn wants_credentials(&self) -> bool {
        matches!(&self.phase, Phase::Asking(asking) if asking.waits == RequestWait::Credentials)
    }

    /// Appends a record that belongs to no turn (the first one, a notice).
    pub fn record(&mut self, body: Body, now: Now) -> Vec<Effect> {
        let mut step = self.begin(now);
        step.append(body);
        step.effects
    }

    /// Appends the checkpoint of a rewind. `undoes`: the earlier rewind that this one undoes.
    pub fn record_rewind_checkpoint(
        &mut self,
        checkpoint: CheckpointCreated,
        undoes: Option<Seq>,
        now: Now,
    ) -> Vec<Effect> {
        let effects = self.record(Body::CheckpointCreated(checkpoint), now);
        self.facts.note_undo_started(undoes);
        effects
    }

    /// Total running time of the session's turns, in milliseconds.
    #[must_use]
    pub fn ran_ms(&self, now: Now) -> u64 {
        let open = self.facts.open.as_ref();
        let open_ms = open.map_or(0, |open| self.hold.ran.elapsed_ms(open, now.mono_ms));
        self.facts.ran_ms.saturating_add(open_ms)
    }

    fn begin(&mut self, now: Now) -> Step<'_> {
        self.hold.ran.update(&self.facts, now);
        Step {
            facts: &mut self.facts,
            limits: self.limits,
            context: &mut self.context,
            note: &mut self.note,
            hold: &mut self.hold,
            repair_tools: self.repair_tools.clone(),
            effects: Vec::new(),
            now,
            fallback: self.fallback.clone(),
        }
    }

    /// Processes an event and returns the effects to perform, in order.
    pub fn step(&mut self, input: Input, now: Now) -> Vec<Effect> {
        self.with(now, |step, phase| step.take(phase, input))
    }

    pub(crate) fn with<F>(&mut self, now: Now, act: F) -> Vec<Effect>
    where
        F: FnOnce(&mut Step<'_>, Phase) -> Phase,
    {
        let phase = std::mem::replace(&mut self.phase, Phase::Idle);
        let mut step = self.begin(now);
        let next = act(&mut step, phase);
        step.mark_suspended(&next);
        let effects = step.effects;
        self.phase = next;
        self.hold.ran.update(&self.facts, now);
        effects
    }
}

impl Step<'_> {
    fn take(&mut self, phase: Phase, input: Input) -> Phase {
        match input {
            Input::Prompt { prompt, .. } => self.take_prompt(phase, prompt),
            Input::Unqueue(prompt_id) => self.unqueue(phase, prompt_id),
            Input::Edit(edited) => {
                self.append_if_queued(edited.prompt_id, Body::PromptEdited(edited));
                phase
            }
            Input::Move(moved) => {
                self.append_if_queued(moved.prompt_id, Body::PromptMoved(moved));
                phase
            }
            Input::Pause {
                paused,
                tree,
                by,
                request_id,
            } => self.pause(phase, (paused, tree), &by, request_id),
            Input::Suspend => self.suspend(phase),
            Input::SuspendNow { partial } => {
                self.suspend_now(phase, partial.map(|partial| *partial))
            }
            Input::StartGoal(started) => self.start_goal(phase, *started),
            Input::ChangeGoal(changed) => self.change_goal(phase, *changed),
            Input::StopGoal {
                by,
                request_id,
                partial,
            } => self.stop_goal(phase, &by, request_id, partial.map(|partial| *partial)),
            Input::ChildSpawned(child) => {
                if !self.facts.children.contains_key(&child.pid) {
                    self.append(Body::ChildSpawned(child));
                }
                phase
            }
            Input::ChildExited(child) => self.child_exited(phase, child),
            Input::Set(set) => self.set_options(phase, *set),
            Input::ContextWindow(tokens) => {
                self.take_window(tokens);
                phase
            }
            Input::Close { request_id } => self.close_session(phase, request_id),
            Input::Compact {
                instructions,
                request_id,
            } => self.compact(phase, instructions, request_id),
            Input::UndoCompaction { request_id } => self.undo_compaction(phase, request_id),
            Input::JobEnded { number, end } => self.job_ended(phase, number, *end),
            Input::TurnEndNotified => self.turn_end_notified(phase),
            Input::Rewind => self.rewind(phase),
            Input::Rewound(rewound) => self.rewound(phase, rewound),
            Input::NotRewound => self.not_rewound(phase),
            Input::Planned(finished) => self.planned(phase, *finished),
            Input::Answered(answer) => self.answered(phase, *answer),
            Input::Broke {
                error,
                partial,
                jitter,
                key_lost,
            } => self.broke(phase, error, *partial, jitter, key_lost),
            Input::AnswerRestarted { dropped } => self.answer_restarted(phase, &dropped),
            Input::RequestWaits { cause, in_ms, down } => {
                self.request_waits(phase, cause, in_ms, down)
            }
            Input::RequestSent => self.request_sent(phase),
            Input::RetryDue { item, attempt } => self.retry_due(phase, &item, attempt),
            Input::RestartDue => self.restart_due(phase),
            Input::CredentialsArrived => self.credentials_arrived(phase),
            Input::Judged { call, judgement } => self.judged(phase, &call, *judgement),
            Input::Resolved(resolution) => self.resolved(phase, *resolution),
            Input::CallAsks(asked) => self.call_asks(phase, *asked),
            Input::CallWithdraws { call, number } => self.call_withdraws(phase, &call, number),
            Input::CallEnded {
                call,
                outcome,
                duration_ms,
            } => self.call_ended(phase, &call, *outcome, duration_ms),
            Input::Stop { reason, partial } => {
                self.stop(phase, reason, partial.map(|partial| *partial))
            }
            Input::TimeUp { turn, partial } => {
                self.time_up(phase, turn, partial.map(|partial| *partial))
            }
        }
    }

    /// Queues a prompt, and starts it if nothing is in its way.
    fn take_prompt(&mut self, phase: Phase, prompt: PromptQueued) -> Phase {
        if prompt.from.is_none() {
            self.drop_restart();
        }
        self.append(Body::PromptQueued(prompt));
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

    /// Withdraws a queued prompt.
    fn unqueue(&mut self, phase: Phase, prompt_id: PromptId) -> Phase {
        self.append_if_queued(
            prompt_id,
            Body::PromptUnqueued(PromptUnqueued { prompt_id }),
        );
        match phase {
            // It may have been that of a restart, for whose time the session waits.
            Phase::Idle if self.hold.restart_due_ms.is_some() => self.continue_idle(None),
            phase => phase,
        }
    }

    /// Logs the end of a background command.
    fn child_exited(&mut self, phase: Phase, child: ChildExited) -> Phase {
        let known = self.facts.children.get(&child.pid);
        let Some(held) = known.map(|known| known.user.is_some()) else {
            return phase;
        };
        self.append(Body::ChildExited(child));
        match phase {
            // A prompt may wait for its end.
            Phase::Idle if held => self.continue_idle(None),
            phase => phase,
        }
    }

    /// Changes the session's options.
    fn set_options(&mut self, phase: Phase, set: SessionSet) -> Phase {
        let waited = self.facts.over_budget;
        let (mode, by) = (set.options.mode, set.by.clone());
        // Only `Pause` may set `paused`, because it also updates the state and the clocks. Clients may not set
        // `stand_in`, since only the machine knows that a model is down, nor the window.
        self.append(Body::SessionSet(SessionSet {
            paused: None,
            tree: None,
            stand_in: None,
            context_window: None,
            ..set
        }));
        if mode.is_some() {
            self.end_goal_for_mode(by.as_deref());
        }
        match phase {
            // The budget may have been raised: prompts that waited for it start.
            Phase::Idle if waited => self.continue_idle(None),
            phase => phase,
        }
    }

    /// Exits the session if nothing is in progress.
    fn close_session(&mut self, phase: Phase, request_id: Option<RequestId>) -> Phase {
        match phase {
            Phase::Idle => {
                self.drop_restart();
                self.exit(Exit::closed(), request_id)
            }
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

    /// Appends a change of the queue if this prompt is still queued.
    fn append_if_queued(&mut self, prompt: PromptId, body: Body) {
        if self.facts.is_queued(prompt) {
            self.append(body);
        }
    }

    /// Appends a record and applies it to the facts.
    pub fn append(&mut self, body: Body) {
        let in_turn = self.facts.open.as_ref().map(|open| open.number);
        let turn = match &body {
            Body::TurnStarted(_) => Some(self.facts.turns + 1),
            _ => in_turn,
        };
        let record = Record {
            seq: self.facts.seq.next(),
            at: self.now.wall,
            turn,
            body,
        };
        self.facts.apply(&record);
        self.effects.push(Effect::Append(record));
    }

    /// Logs a change of the session's state, if it is one. A paused session keeps its state whatever runs in it.
    pub fn state(
        &mut self,
        state: State,
        waiting_for: Option<WaitingFor>,
        cause: &str,
        retry_in_ms: Option<u64>,
    ) {
        if self.facts.paused {
            return;
        }
        let current = &self.facts.state;
        if current.state == state && current.waiting_for == waiting_for && state != State::Waiting {
            return;
        }
        debug_assert!(
            current.state.may_become(state),
            "{:?} → {state:?}",
            current.state
        );
        self.append(Body::SessionState(SessionState {
            state,
            waiting_for,
            cause: cause.to_owned(),
            retry_in_ms,
        }));
    }

    /// Appends a notice for users.
    pub fn notice(&mut self, level: Level, text: impl Into<String>) {
        self.append(Body::Notice(Notice {
            level,
            text: text.into(),
        }));
    }

    /// Appends a user message.
    pub fn say(
        &mut self,
        text: String,
        prompt_id: Option<PromptId>,
        context: Option<String>,
        voice: Voice,
    ) {
        let message = self.user_message(text, prompt_id, context, voice);
        self.append(Body::User(message));
    }

    /// The next user message.
    pub fn user_message(
        &self,
        text: String,
        prompt_id: Option<PromptId>,
        context: Option<String>,
        voice: Voice,
    ) -> UserMessage {
        let item = self.next_item();
        let attached = prompt_id.and_then(|id| self.facts.attached.get(&id).cloned());
        let attached = attached.unwrap_or_default();
        let sender = prompt_id.and_then(|id| self.facts.sent_by_sessions.get(&id).copied());
        UserMessage {
            item,
            prompt_id,
            text,
            context,
            voice,
            from: sender.filter(|_| voice == Voice::Session),
            attached,
            reported: Vec::new(),
        }
    }

    /// The id of the open turn's next message.
    pub fn next_item(&self) -> ItemId {
        self.facts
            .open
            .as_ref()
            .map_or_else(|| ItemId("m0.0".into()), |open| open.next_item())
    }
}
