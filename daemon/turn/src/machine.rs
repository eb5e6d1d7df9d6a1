//! The machine: what happened → what to do.
//!
//! Facts change only through the records that the machine itself emits, so that a machine that was folded from
//! the log knows the same as one that lived through it. What runs outside (a request, calls) is known by `Phase`
//! alone and is gone after a crash.
//!
//! What each phase takes stands in `phase`.
//!
//! While the session is *held* (paused, or handed over) nothing starts; what would, waits (see `hold`):
//!
//! | phase | what ends in peace | what waits | pause ends |
//! |---|---|---|---|
//! | `Idle` | – | the queue, and prompts that come | the queue's first starts, unless it waits for a person after a crash; a headless run whose turn ended and that has none exits |
//! | `Asking`, answer awaited | the answer: in words, with no steering behind it, it ends the turn | its calls → `Calls`; the next request, and steering with it → `Held` | – |
//! | `Asking`, not sent yet | – | it is dropped, and sent again | it is made |
//! | `Asking`, waiting | a new wait for another try | a try that is due, a key that came | the try is made; else it waits on |
//! | `Compacting` | a job, and the summary that is awaited; at rest, where a person asked for it, all of it | the request for a summary, its next try; then the next request → `Held` | the request for the summary is sent |
//! | `Calls` | calls that run; denials, answers to questions of the model | judging (what is judged meanwhile is judged again), calls that were approved, the next request | goes on with the calls |
//! | `Held` | – | the next request | it is made, or the turn ends where the steering was taken back |
//! | `Rewinding` | all: the session has gone back | the queue | as at rest, once it is over |
//! | `Stopping` | all: ends the turn | the queue | – |
//! | `Ending` | the telling | the queue | – |
//!
//! A pause is logged, shows as the state `paused` until it ends, stops the turn's clock, and outlives the daemon. A
//! hand-over does none of it: once nothing runs the session is marked suspended, and stays so until the daemon ends. A
//! compaction that has no summary yet is left to the next life, which begins anew.
//! Stops work in both as ever. What recovery does in each phase stands in `recover`. Later widenings join as phases of
//! their own: preparing (references).

use std::sync::Arc;

use proto::item::{UserMessage, Voice};
use proto::record::{CheckpointCreated, Level, Notice, PromptUnqueued, SessionSet, SessionState};
use proto::state::{State, WaitingFor};
use proto::{Body, CallId, ItemId, PromptId, Record, Seq};

use crate::compacting::CompactionEnd;
use crate::facts::Facts;
use crate::fallback::Fallback;
use crate::hold::Hold;
use crate::input::{Effect, Input, Now};
use crate::next::Exit;
use crate::repair::RepairTools;

mod phase;

pub(crate) use phase::{Asking, CallsInProgress, PendingResult, Phase, RequestWait};

/// Numbers that bound a turn. All are settings.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Readers that run side by side.
    pub parallel: usize,
    /// The first wait before another try; doubles each time.
    pub retry_base_ms: u64,
    pub retry_cap_ms: u64,
    /// Tries of one request, the first included.
    pub retry_tries: u32,
    /// No further try is begun after this time.
    pub retry_total_ms: u64,
    /// From TERM to KILL when calls are stopped.
    pub grace_ms: u64,
    /// At this part of the window, in per cent, the context is compacted before the next request; 0: never.
    pub compact_percent: u8,
    /// The vendor's cache keeps prompts in blocks of so many tokens.
    pub cache_block: u64,
    /// So long the vendor's cache keeps what was used last; 0: not known.
    pub cache_ttl_ms: u64,
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
            // OpenAI's and most others' (their documentation, 2026; measured with DeepSeek's).
            cache_block: 128,
            cache_ttl_ms: 0,
        }
    }
}

/// Decides everything that happens in one session.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(crate) facts: Facts,
    pub(crate) phase: Phase,
    pub(crate) limits: Limits,
    /// What stands before the words of the session's first message; taken by it.
    pub(crate) context: Option<String>,
    /// What stands before the words of the next prompt; taken by it.
    pub(crate) note: Option<String>,
    pub(crate) hold: Hold,
    /// Calls are repaired; by what is known of the tools.
    pub(crate) means: Option<Arc<RepairTools>>,
    /// Who is asked where the session's own model is down.
    pub(crate) fallback: Option<Fallback>,
}

/// The effects of one step, gathered while facts change under them.
pub(crate) struct Step<'a> {
    pub facts: &'a mut Facts,
    pub limits: Limits,
    pub context: &'a mut Option<String>,
    pub note: &'a mut Option<String>,
    pub hold: &'a mut Hold,
    pub means: Option<Arc<RepairTools>>,
    pub effects: Vec<Effect>,
    pub now: Now,
    pub fallback: Option<Fallback>,
}

impl Machine {
    /// A machine over what the log says. Nothing runs yet: see `recover` for a log that ends in mid-turn.
    #[must_use]
    pub fn new(facts: Facts, limits: Limits) -> Self {
        Self {
            facts,
            phase: Phase::Idle,
            limits,
            context: None,
            note: None,
            hold: Hold::default(),
            means: None,
            fallback: None,
        }
    }

    /// Sets what stands before the words of the session's first message (directory, date, branch).
    pub fn set_context(&mut self, context: String) {
        self.context = Some(context);
    }

    /// Adds to what stands before the words of the prompt that starts next, where that is not the session's first.
    pub fn add_note(&mut self, note: &str) {
        let before = self.note.take();
        self.note =
            Some(before.map_or_else(|| note.to_owned(), |before| format!("{before}\n{note}")));
    }

    /// Has calls repaired that the model gets wrong, or no longer.
    pub fn set_call_repair(&mut self, means: Option<RepairTools>) {
        self.means = means.map(Arc::new);
    }

    /// Another model is asked, with other limits, from the next request on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// The numbers that bound its turns.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Has another model go on with a turn whose own is down, or no longer.
    pub fn fall_back_to(&mut self, fallback: Option<Fallback>) {
        self.fallback = fallback;
    }

    /// Says whether somebody is to be notified of each turn's end before anything follows it.
    pub fn tell_ends(&mut self, wanted: bool) {
        self.hold.tell_ends = wanted;
    }

    /// What the log says.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether nothing runs outside and no turn is open.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle) && self.facts.open.is_none()
    }

    /// Whether prompts wait that only stand behind an exit: they stay where they are until somebody says more.
    #[must_use]
    pub fn is_left_behind(&self) -> bool {
        self.facts.exited.is_some() && !self.facts.woken
    }

    /// Whether the session goes back to an earlier turn.
    #[must_use]
    pub fn is_rewinding(&self) -> bool {
        matches!(self.phase, Phase::Rewinding { .. })
    }

    /// Whether earlier bytes of requests are being changed.
    #[must_use]
    pub fn is_compacting(&self) -> bool {
        matches!(self.phase, Phase::Compacting(_))
    }

    /// How a compaction has ended since this was asked last.
    pub fn take_compaction_end(&mut self) -> Option<CompactionEnd> {
        self.hold.compacted.take()
    }

    /// The call that is judged now.
    #[must_use]
    pub fn judging(&self) -> Option<&CallId> {
        match &self.phase {
            Phase::Calls(calls) => calls.judging.as_ref(),
            _ => None,
        }
    }

    /// Whether a request waits for a key.
    #[must_use]
    pub fn wants_credentials(&self) -> bool {
        matches!(&self.phase, Phase::Asking(asking) if asking.waits == RequestWait::Credentials)
    }

    /// Appends a record that is not a turn's own (the first one, a notice).
    pub fn record(&mut self, body: Body, now: Now) -> Vec<Effect> {
        let mut step = self.begin(now);
        step.append(body);
        step.effects
    }

    /// Appends the checkpoint of a rewind. `undoes`: what that is to take back.
    pub fn keep_for_rewind(
        &mut self,
        kept: CheckpointCreated,
        undoes: Option<Seq>,
        now: Now,
    ) -> Vec<Effect> {
        let effects = self.record(Body::CheckpointCreated(kept), now);
        self.facts.begun_to_undo(undoes);
        effects
    }

    /// How long turns of the session have run, in milliseconds.
    #[must_use]
    pub fn ran_ms(&self, now: Now) -> u64 {
        let open = self.facts.open.as_ref();
        let open_ms = open.map_or(0, |open| self.hold.ran.ran(open, now.mono_ms));
        self.facts.ran_ms.saturating_add(open_ms)
    }

    fn begin(&mut self, now: Now) -> Step<'_> {
        self.hold.ran.follow(&self.facts, now);
        Step {
            facts: &mut self.facts,
            limits: self.limits,
            context: &mut self.context,
            note: &mut self.note,
            hold: &mut self.hold,
            means: self.means.clone(),
            effects: Vec::new(),
            now,
            fallback: self.fallback.clone(),
        }
    }

    /// Takes what happened, returns what to do, in order.
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
        self.hold.ran.follow(&self.facts, now);
        effects
    }
}

impl Step<'_> {
    fn take(&mut self, phase: Phase, input: Input) -> Phase {
        match input {
            Input::Prompt { prompt, .. } => {
                self.append(Body::PromptQueued(prompt));
                // A person is there: what waited for one goes on with it.
                self.hold.rests = false;
                match phase {
                    Phase::Idle => self.go_on_at_rest(None),
                    Phase::Asking(_)
                    | Phase::Compacting(_)
                    | Phase::Calls(_)
                    | Phase::Held
                    | Phase::Rewinding { .. }
                    | Phase::Stopping { .. }
                    | Phase::Ending { .. } => phase,
                }
            }
            Input::Unqueue(prompt_id) => {
                self.while_waiting(
                    prompt_id,
                    Body::PromptUnqueued(PromptUnqueued { prompt_id }),
                );
                phase
            }
            Input::Edit(edited) => {
                self.while_waiting(edited.prompt_id, Body::PromptEdited(edited));
                phase
            }
            Input::Move(moved) => {
                self.while_waiting(moved.prompt_id, Body::PromptMoved(moved));
                phase
            }
            Input::Pause {
                paused,
                by,
                request_id,
            } => self.pause(phase, paused, &by, request_id),
            Input::Suspend => self.suspend(phase),
            Input::SuspendNow { partial } => {
                self.suspend_now(phase, partial.map(|partial| *partial))
            }
            Input::ChildSpawned(child) => {
                if !self.facts.children.contains_key(&child.pid) {
                    self.append(Body::ChildSpawned(child));
                }
                phase
            }
            Input::ChildExited(child) => {
                let known = self.facts.children.get(&child.pid);
                let Some(held) = known.map(|known| known.user.is_some()) else {
                    return phase;
                };
                self.append(Body::ChildExited(child));
                match phase {
                    // A prompt may wait for its end.
                    Phase::Idle if held => self.go_on_at_rest(None),
                    phase => phase,
                }
            }
            Input::Set(set) => {
                let waited = self.facts.over_budget;
                // Only `Pause` pauses: it takes the state and the clocks along. And nobody says that a model is down.
                self.append(Body::SessionSet(SessionSet {
                    paused: None,
                    stand_in: None,
                    ..*set
                }));
                match phase {
                    // What waited for a budget goes on with it.
                    Phase::Idle if waited => self.go_on_at_rest(None),
                    phase => phase,
                }
            }
            Input::Close { request_id } => match phase {
                Phase::Idle => self.exit(Exit::closed(), request_id),
                Phase::Asking(_)
                | Phase::Compacting(_)
                | Phase::Calls(_)
                | Phase::Held
                | Phase::Rewinding { .. }
                | Phase::Stopping { .. }
                | Phase::Ending { .. } => phase,
            },
            Input::Compact {
                instructions,
                request_id,
            } => self.compact(phase, instructions, request_id),
            Input::UndoCompaction { request_id } => self.undo_compaction(phase, request_id),
            Input::JobEnded { number, end } => self.job_ended(phase, number, *end),
            Input::EndTold => self.end_told(phase),
            Input::Rewind => self.rewind(phase),
            Input::Rewound(rewound) => self.rewound(phase, rewound),
            Input::NotRewound => self.not_rewound(phase),
            Input::Answered(answer) => self.answered(phase, *answer),
            Input::Broke {
                error,
                partial,
                jitter,
                key_lost,
            } => self.broke(phase, error, *partial, jitter, key_lost),
            Input::RequestWaits { cause, in_ms, down } => {
                self.request_waits(phase, cause, in_ms, down)
            }
            Input::FilesChanged => self.files_changed(phase),
            Input::RequestSent => self.request_sent(phase),
            Input::RetryDue { item, attempt } => self.retry_due(phase, &item, attempt),
            Input::CredentialsArrived => self.credentials_arrived(phase),
            Input::Judged { call, judgement } => self.judged(phase, &call, *judgement),
            Input::Resolved(resolution) => self.resolved(phase, *resolution),
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

    /// Changes the queue, where this prompt still waits.
    fn while_waiting(&mut self, prompt: PromptId, body: Body) {
        if self.facts.waits(prompt) {
            self.append(body);
        }
    }

    /// Appends a record. Facts change with it.
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

    /// Notes a move of the state table, where it is one. A session that is paused stays so, whatever goes on in it.
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
        let standing = &self.facts.state;
        if standing.state == state && standing.waiting_for == waiting_for && state != State::Waiting
        {
            return;
        }
        debug_assert!(
            standing.state.may_become(state),
            "{:?} → {state:?}",
            standing.state
        );
        self.append(Body::SessionState(SessionState {
            state,
            waiting_for,
            cause: cause.to_owned(),
            retry_in_ms,
        }));
    }

    /// A notice to people.
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
        let item = self.next_item();
        self.append(Body::User(UserMessage {
            item,
            prompt_id,
            text,
            context,
            voice,
        }));
    }

    /// The id of the open turn's next message.
    pub fn next_item(&self) -> ItemId {
        self.facts
            .open
            .as_ref()
            .map_or_else(|| ItemId("m0.0".into()), |open| open.next_item())
    }
}
