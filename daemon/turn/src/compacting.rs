//! Cache resets, which change earlier bytes of requests: compaction, a change of the model, and rendering messages again
//! for another provider. `compaction` plans the contents of a compaction; this module decides when one runs, and how the
//! session continues after it.
//!
//! A reset is logged only when it is complete: a crash, a stop or a failure leaves the conversation unchanged.

use contract::provider::ProviderError;
use proto::outcome::OutcomeKind;
use proto::record::{ContextWindow, Level, SessionSet};
use proto::reset::{CacheReset, Compaction, Trigger};
use proto::state::State;
use proto::{Body, ErrorName, Failure, RequestId, Seq};

use crate::compaction::{FullContext, NothingToCompact};
use crate::input::{Effect, StopReason};
use crate::machine::{Asking, Phase, RequestWait, Step};
use crate::words;

mod summary_request;

/// After this many failed summaries in a row, the next one is a mechanical list (contract, chapter 60).
const FAILURES: u32 = 2;
/// After this many compactions for one request that the provider finds too long, the turn ends (decision 11).
const TOO_LONG: u32 = 2;

/// A cache reset in progress.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compacting {
    pub why: ResetReason,
    pub waits: CompactionWait,
    pub then: AfterCompaction,
    pub request_id: Option<RequestId>,
    /// The summary request shows only an excerpt, because the whole conversation is too long.
    pub short: bool,
    /// The request has the provider itself compact the conversation.
    pub server: bool,
}

/// Why earlier bytes of requests change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResetReason {
    Compaction {
        trigger: Trigger,
        /// What the summary should keep, in the user's words.
        instructions: String,
    },
    /// The next request goes to another provider, model or effort, or messages were rendered for another provider.
    Rebase,
}

/// What a compaction is waiting for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CompactionWait {
    /// The end of the job with this number.
    Job(u64),
    /// The model's summary.
    Summary(Asking),
}

/// How the session continues after a cache reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AfterCompaction {
    /// Sends the open turn's next request.
    Ask,
    /// Stays idle: a user requested the compaction while no turn was open.
    Rest,
    /// Runs the compaction that a user requested while no turn was open, with their instructions. The messages first had
    /// to be rendered for the current provider.
    Compact(String),
}

/// A job that plans a cache reset or renders it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResetJob {
    /// Its number: a late result of an earlier job is ignored.
    pub number: u64,
    pub why: ResetReason,
    /// The conversation up to here.
    pub upto: Seq,
    pub summary: Summary,
}

/// The source of a compaction's summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Summary {
    /// Not written yet: the job decides whether one is needed, and whether the provider itself compacts.
    Wanted,
    /// Like `Wanted`, but by a model: the provider itself did not compact.
    WantedByModel,
    /// Like `WantedByModel`, but the model of the config that writes summaries has failed.
    WantedByOwnModel,
    /// Like `WantedByOwnModel`, but a request with the whole conversation would be too long.
    WantedShort,
    /// Written by the model.
    Written(String),
    /// The provider's own compaction: its data.
    ByServer(String),
    /// Built without the model.
    Mechanical,
}

/// The outcome of a job.
#[allow(
    clippy::large_enum_variant,
    reason = "one is made at a time, and travels in a box"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum ResetJobOutcome {
    /// The record of the reset. The caller that ran the job keeps the contents of the line's `own` member.
    Reset(CacheReset),
    /// The summary request is ready.
    Ask,
    /// The request that has the provider itself compact is ready.
    AskServer,
    Nothing(NothingToCompact),
    /// What may not be folded is too large by itself.
    Full(FullContext),
    /// The log could not be read, or the new provider is not usable.
    Failed(Failure),
}

/// The outcome of a compaction, for its waiters.
#[derive(Clone, Debug, PartialEq)]
pub enum CompactionEnd {
    Done(Seq, Compaction),
    Nothing(NothingToCompact),
    Failed(Failure),
}

impl Compacting {
    /// Whether neither a job nor a request is in progress.
    pub(crate) fn is_quiet(&self) -> bool {
        matches!(&self.waits, CompactionWait::Summary(asking) if !asking.waits.is_in_flight())
    }

    /// The summary request.
    pub(crate) fn request(&mut self) -> Option<&mut Asking> {
        match &mut self.waits {
            CompactionWait::Summary(asking) => Some(asking),
            CompactionWait::Job(_) => None,
        }
    }

    /// When the next try of the summary request is due, on the monotonic clock.
    pub(crate) fn retry_due_ms(&self) -> Option<u64> {
        match &self.waits {
            CompactionWait::Summary(asking) => match asking.waits {
                RequestWait::Retry { due_ms } => Some(due_ms),
                _ => None,
            },
            CompactionWait::Job(_) => None,
        }
    }
}

impl Step<'_> {
    /// Whether to compact the context before the next request.
    pub(crate) fn is_near_full(&self) -> bool {
        let (tokens, window) = (self.facts.context_tokens, self.facts.wire.context_window);
        let ratio = u64::from(self.limits.compact_percent);
        let near = u128::from(tokens) * 100 >= u128::from(window) * u128::from(ratio);
        let summing_up = self.facts.open.as_ref().is_some_and(|open| open.summing_up);
        window > 0
            && ratio > 0
            && near
            && !summing_up
            && tokens >= self.facts.no_compaction_below.max(self.hold.futile)
    }

    /// Starts a compaction that a user requested. Only while the session is idle; during a turn compaction is automatic.
    pub(crate) fn compact(
        &mut self,
        phase: Phase,
        instructions: String,
        request_id: Option<RequestId>,
    ) -> Phase {
        if !matches!(phase, Phase::Idle) || !self.is_at_rest() {
            return phase;
        }
        if self.facts.wants_rebase() || !self.facts.is_rendered() {
            return self.reset(
                ResetReason::Rebase,
                AfterCompaction::Compact(instructions),
                request_id,
            );
        }
        self.compact_manually(instructions, request_id)
    }

    fn compact_manually(&mut self, instructions: String, request_id: Option<RequestId>) -> Phase {
        let why = ResetReason::Compaction {
            trigger: Trigger::Manual,
            instructions,
        };
        self.reset(why, AfterCompaction::Rest, request_id)
    }

    /// Restores the messages that the newest compaction folded. Only while the session is idle.
    pub(crate) fn undo_compaction(&mut self, phase: Phase, request_id: Option<RequestId>) -> Phase {
        let waits = self.hold.restart_due_ms.is_some();
        let at_rest = matches!(phase, Phase::Idle) && self.facts.open.is_none() && !waits;
        if let Some(newest) = self.facts.undoable_compaction().filter(|_| at_rest) {
            let undoes = Some(newest.seq);
            self.append(Body::CacheReset(CacheReset {
                reason: "compaction undone".to_owned(),
                undoes,
                request_id,
                ..CacheReset::default()
            }));
        }
        phase
    }

    /// Compacts before the open turn's next request.
    pub(crate) fn compact_first(&mut self, trigger: Trigger) -> Phase {
        let why = ResetReason::Compaction {
            trigger,
            instructions: String::new(),
        };
        self.reset(why, AfterCompaction::Ask, None)
    }

    /// Renders the conversation, or only its prefix, for the provider and model of the next request.
    pub(crate) fn rebase(&mut self) -> Phase {
        self.reset(ResetReason::Rebase, AfterCompaction::Ask, None)
    }

    fn reset(
        &mut self,
        why: ResetReason,
        then: AfterCompaction,
        request_id: Option<RequestId>,
    ) -> Phase {
        let mut compacting = Compacting {
            waits: CompactionWait::Job(0),
            then,
            request_id,
            short: is_too_long(&why),
            server: false,
            why,
        };
        // If a user requested it, try the model again even after failures.
        let summary = match self.hold.failures >= FAILURES && !is_manual(&compacting.why) {
            true => Summary::Mechanical,
            false => self.wanted(&compacting),
        };
        compacting.waits = self.job(&compacting.why, summary);
        Phase::Compacting(compacting)
    }

    /// The summary for a job when one still has to be written.
    fn wanted(&self, compacting: &Compacting) -> Summary {
        match (compacting.short, self.hold.no_server_compaction) {
            (true, _) => Summary::WantedShort,
            (false, true) => Summary::WantedByModel,
            (false, false) => Summary::Wanted,
        }
    }

    fn job(&mut self, why: &ResetReason, summary: Summary) -> CompactionWait {
        self.hold.jobs += 1;
        let number = self.hold.jobs;
        self.effects.push(Effect::Reset(ResetJob {
            number,
            why: why.clone(),
            upto: self.facts.seq,
            summary,
        }));
        CompactionWait::Job(number)
    }

    /// Handles the outcome of a job.
    pub(crate) fn job_ended(&mut self, phase: Phase, number: u64, end: ResetJobOutcome) -> Phase {
        let Phase::Compacting(compacting) = phase else {
            return phase;
        };
        if compacting.waits != CompactionWait::Job(number) {
            return Phase::Compacting(compacting);
        }
        match end {
            ResetJobOutcome::Reset(reset) => self.write_reset(compacting, reset),
            ResetJobOutcome::Ask => self.ask_summary(Compacting {
                server: false,
                ..compacting
            }),
            ResetJobOutcome::AskServer => self.ask_summary(Compacting {
                server: true,
                ..compacting
            }),
            ResetJobOutcome::Nothing(why) => {
                // Do not try again before there is more to fold.
                let step = (self.facts.wire.context_window / 20).max(1);
                self.hold.futile = self.facts.context_tokens.saturating_add(step);
                if is_too_long(&compacting.why) {
                    // By our count it is small enough.
                    let kept = self.facts.context_tokens;
                    let full = FullContext {
                        kept,
                        has_pins: !self.facts.pins.is_empty(),
                        ..FullContext::default()
                    };
                    return self.too_full(compacting, &full);
                }
                self.hold.compacted = Some(CompactionEnd::Nothing(why));
                self.after_reset(compacting)
            }
            ResetJobOutcome::Full(full) => self.too_full(compacting, &full),
            ResetJobOutcome::Failed(failure) => self.reset_failed(compacting, failure),
        }
    }

    fn write_reset(&mut self, compacting: Compacting, reset: CacheReset) -> Phase {
        let done = reset.compaction.clone();
        let another = reset.wire.is_some();
        let request_id = compacting.request_id.filter(|_| done.is_some());
        self.append(Body::CacheReset(CacheReset {
            request_id,
            ..reset
        }));
        let seq = self.facts.seq;
        if another && compacting.why == ResetReason::Rebase {
            self.notify_fallback_in_use();
        }
        if another {
            // These counts were for another model.
            self.hold.futile = 0;
            self.hold.failures = 0;
            self.hold.no_server_compaction = false;
        }
        if let Some(done) = done {
            self.hold.failures = 0;
            self.hold.futile = 0;
            if done.mechanical {
                self.notice(Level::Warning, words::MECHANICAL_SUMMARY);
            }
            self.hold.compacted = Some(CompactionEnd::Done(seq, done));
        }
        self.after_reset(compacting)
    }

    /// Abandons a compaction in a hand-over: nothing of it was logged, and the next daemon process starts it again.
    pub(crate) fn leave_to_next_daemon(&mut self, compacting: Compacting) -> Phase {
        match self.stop_compacting(compacting, StopReason::User) {
            Some(_) => Phase::Idle,
            None => Phase::Held,
        }
    }

    /// Handles a failed reset; nothing has changed. A required compaction is tried again, finally without the model.
    fn reset_failed(&mut self, compacting: Compacting, failure: Failure) -> Phase {
        if compacting.why == ResetReason::Rebase {
            return self.rebase_failed(compacting, failure);
        }
        self.hold.failures += 1;
        self.notice(
            Level::Warning,
            format!(
                "The context was not compacted, and nothing changed: {}",
                failure.message
            ),
        );
        let forced = is_too_long(&compacting.why);
        if forced && self.hold.failures <= FAILURES && !self.held() {
            let summary = match self.hold.failures >= FAILURES {
                true => Summary::Mechanical,
                false => self.wanted(&compacting),
            };
            let waits = self.job(&compacting.why, summary);
            return Phase::Compacting(Compacting {
                waits,
                ..compacting
            });
        }
        let asked = matches!(compacting.waits, CompactionWait::Summary(_));
        if asked && is_manual(&compacting.why) && self.hold.failures > FAILURES && !self.held() {
            let waits = self.job(&compacting.why, Summary::Mechanical);
            return Phase::Compacting(Compacting {
                waits,
                ..compacting
            });
        }
        // The turn continues without it; it is tried again when there is more to fold.
        let step = (self.facts.wire.context_window / 50).max(1);
        self.hold.futile = self.facts.context_tokens.saturating_add(step);
        self.hold.compacted = Some(CompactionEnd::Failed(failure));
        self.after_reset(compacting)
    }

    /// Ends the turn because the new provider or model cannot be used. The next turn tries again.
    fn rebase_failed(&mut self, compacting: Compacting, failure: Failure) -> Phase {
        match compacting.then {
            AfterCompaction::Ask => {
                self.notify_fallback_unusable(&failure);
                self.end_turn(OutcomeKind::Failed, None, Some(failure))
            }
            AfterCompaction::Rest | AfterCompaction::Compact(_) => {
                self.hold.compacted = Some(CompactionEnd::Failed(failure));
                let then = AfterCompaction::Rest;
                self.after_reset(Compacting { then, ..compacting })
            }
        }
    }

    /// Fails a compaction because what may not be folded is too large by itself.
    fn too_full(&mut self, compacting: Compacting, full: &FullContext) -> Phase {
        let window = self.facts.wire.context_window;
        let kept = full.kept;
        let of = match window {
            0 => String::new(),
            window => format!(" of {window}"),
        };
        let said = match is_too_long(&compacting.why) {
            true => format!(" The provider said: {}", self.hold.refusal),
            false => String::new(),
        };
        let failure = Failure::new(
            ErrorName::ProviderFailed,
            format!(
                "The context is full: what must stay unchanged takes about {kept}{of} tokens.{said}"
            ),
            words::full_context(full, window),
        );
        match compacting.then {
            AfterCompaction::Ask => self.end_turn(OutcomeKind::ContextFull, None, Some(failure)),
            AfterCompaction::Rest | AfterCompaction::Compact(_) => {
                self.hold.compacted = Some(CompactionEnd::Failed(failure));
                self.after_reset(compacting)
            }
        }
    }

    /// Takes the window that the provider named when it refused a request, unless a smaller one is known.
    pub(crate) fn learn_window(&mut self, error: &ProviderError) {
        let known = self.facts.wire.context_window;
        let smaller = |tokens: &u64| *tokens > 0 && (known == 0 || *tokens < known);
        if let Some(tokens) = error.window.filter(smaller) {
            self.set_window(ContextWindow {
                tokens,
                refused: true,
            });
        }
    }

    /// Takes the window that config, catalog or the endpoint's list have now. What a refusal has taught stays until they say
    /// something else.
    pub(crate) fn take_window(&mut self, tokens: u64) {
        if tokens > 0 && tokens != self.facts.window_given && self.facts.exited.is_none() {
            self.set_window(ContextWindow {
                tokens,
                refused: false,
            });
        }
    }

    fn set_window(&mut self, window: ContextWindow) {
        self.append(Body::SessionSet(SessionSet {
            context_window: Some(window),
            ..SessionSet::default()
        }));
        self.hold.futile = 0;
    }

    /// Whether a request that the provider finds too long may be compacted and sent again.
    pub(crate) fn may_be_shortened(&self) -> bool {
        self.held() || self.hold.too_long < TOO_LONG
    }

    /// Compacts the context after the provider found a request too long, then sends the request again.
    pub(crate) fn too_long(&mut self, error: &ProviderError) -> Phase {
        self.hold.refusal.clone_from(&error.message);
        if self.held() {
            // After the pause the request is sent again, and the provider refuses it again.
            return Phase::Held;
        }
        self.hold.too_long += 1;
        self.compact_first(Trigger::TooLong)
    }

    fn after_reset(&mut self, compacting: Compacting) -> Phase {
        match compacting.then.clone() {
            AfterCompaction::Ask if self.held() => Phase::Held,
            AfterCompaction::Ask => {
                self.set_turn_running("the context is ready");
                self.ask()
            }
            AfterCompaction::Compact(_) if self.hold.suspending => {
                self.leave_to_next_daemon(compacting)
            }
            AfterCompaction::Compact(instructions) => {
                self.compact_manually(instructions, compacting.request_id)
            }
            AfterCompaction::Rest => self.continue_idle(None),
        }
    }

    /// Sets the state to running if a turn is open.
    fn set_turn_running(&mut self, cause: &str) {
        if self.facts.open.is_some() {
            self.state(State::Running, None, cause, None);
        }
    }

    pub(crate) fn stop_compacting(
        &mut self,
        compacting: Compacting,
        reason: StopReason,
    ) -> Option<StopReason> {
        if let CompactionWait::Summary(asking) = &compacting.waits
            && asking.waits.is_in_flight()
        {
            self.effects.push(Effect::CancelAsk);
        }
        let failure = Failure::new(
            ErrorName::Busy,
            "The compaction was interrupted; nothing changed.",
            "Compact again when the session is idle.",
        );
        self.hold.compacted = Some(CompactionEnd::Failed(failure));
        (compacting.then != AfterCompaction::Ask).then_some(reason)
    }
}

/// Whether the provider refused the request as too long.
fn is_too_long(why: &ResetReason) -> bool {
    matches!(
        why,
        ResetReason::Compaction {
            trigger: Trigger::TooLong,
            ..
        }
    )
}

/// Whether a user requested the compaction.
fn is_manual(why: &ResetReason) -> bool {
    matches!(
        why,
        ResetReason::Compaction {
            trigger: Trigger::Manual,
            ..
        }
    )
}
