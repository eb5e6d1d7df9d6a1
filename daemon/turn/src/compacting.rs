//! What changes earlier bytes of requests before the next one is sent: compaction, another model, and messages that have
//! to be rendered anew. What a compaction does is planned in `compaction`; here stands when, and what follows.
//!
//! Nothing is logged before it is whole: a crash, a stop or a failure in it leaves the conversation as it was.

use contract::provider::ProviderError;
use proto::outcome::OutcomeKind;
use proto::record::Level;
use proto::reset::{CacheReset, Compaction, Trigger};
use proto::state::State;
use proto::{Body, ErrorName, Failure, RequestId, Seq};

use crate::compaction::NothingToCompact;
use crate::input::{Effect, StopReason};
use crate::machine::{Asking, Phase, RequestWait, Step};
use crate::words;

mod summary_request;

/// So many summaries that came to nothing in a row, and the next one is put together without the model (contract,
/// chapter 60).
const FAILURES: u32 = 2;
/// So many compactions for one request that the provider finds too long, and the turn ends (decision 11).
const TOO_LONG: u32 = 2;

/// A reset in the making.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Compacting {
    pub why: ResetReason,
    pub waits: CompactionWait,
    pub then: AfterCompaction,
    pub request_id: Option<RequestId>,
    /// The summary is asked for by an excerpt: all of the conversation is too long.
    pub short: bool,
}

/// What earlier bytes change for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResetReason {
    Compaction {
        trigger: Trigger,
        /// What a person wants to be kept.
        instructions: String,
    },
    /// Another provider, model or effort is to be asked, or messages were rendered for another provider.
    Rebase,
}

/// What is waited for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CompactionWait {
    /// The end of this job, by its number.
    Job(u64),
    /// The model's summary.
    Summary(Asking),
}

/// What follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AfterCompaction {
    /// The open turn's next request.
    Ask,
    /// Nothing: the session was at rest, and a person asked for it.
    Rest,
    /// At rest, the compaction that a person asked for, with what they want to be kept: the messages had to be rendered for
    /// who is asked before that.
    Compact(String),
}

/// A job that plans a reset, or writes it.
#[derive(Clone, Debug, PartialEq)]
pub struct ResetJob {
    /// Its number: a late end of an earlier one is ignored.
    pub number: u64,
    pub why: ResetReason,
    /// The conversation up to here.
    pub upto: Seq,
    pub summary: Summary,
}

/// Where the summary of a compaction comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Summary {
    /// It is not there yet: the job says whether one is wanted.
    Wanted,
    /// The same, and a request with all of the conversation would be too long.
    WantedShort,
    /// The model has written it.
    Written(String),
    /// It is put together without the model.
    Mechanical,
}

/// What a job came to.
#[allow(
    clippy::large_enum_variant,
    reason = "one is made at a time, and travels in a box"
)]
#[derive(Clone, Debug, PartialEq)]
pub enum ResetJobOutcome {
    /// The record of the reset. What belongs into the line's `own` member is kept by whoever did the job.
    Reset(CacheReset),
    /// The request for a summary is ready.
    Ask,
    Nothing(NothingToCompact),
    /// What may not be folded is too much by itself: so many tokens.
    Full(u64),
    /// The log could not be read, or the new provider is not usable.
    Failed(Failure),
}

/// How a compaction that somebody waits for has ended.
#[derive(Clone, Debug, PartialEq)]
pub enum CompactionEnd {
    Done(Seq, Compaction),
    Nothing(NothingToCompact),
    Failed(Failure),
}

impl Compacting {
    /// Whether neither a job nor a request is under way.
    pub(crate) fn is_quiet(&self) -> bool {
        matches!(&self.waits, CompactionWait::Summary(asking) if !asking.waits.is_in_flight())
    }

    /// The request for a summary.
    pub(crate) fn request(&mut self) -> Option<&mut Asking> {
        match &mut self.waits {
            CompactionWait::Summary(asking) => Some(asking),
            CompactionWait::Job(_) => None,
        }
    }

    /// When the request for a summary is made again, on the monotonic clock.
    pub(crate) fn waits_until(&self) -> Option<u64> {
        match &self.waits {
            CompactionWait::Summary(asking) => match asking.waits {
                RequestWait::Retry { due_ms } => Some(due_ms),
                _ => None,
            },
            CompactionWait::Job(_) => None,
        }
    }

    /// How the next job gets its summary, where the model is still to write it.
    fn wanted(&self) -> Summary {
        match self.short {
            true => Summary::WantedShort,
            false => Summary::Wanted,
        }
    }
}

impl Step<'_> {
    /// Whether the context is to be compacted before the next request.
    pub(crate) fn is_near_full(&self) -> bool {
        let (tokens, window) = (self.facts.context_tokens, self.facts.wire.context_window);
        let ratio = u64::from(self.limits.compact_percent);
        let near = u128::from(tokens) * 100 >= u128::from(window) * u128::from(ratio);
        let summing_up = self.facts.open.as_ref().is_some_and(|open| open.summing_up);
        window > 0
            && ratio > 0
            && near
            && !summing_up
            && tokens >= self.facts.spared.max(self.hold.futile)
    }

    /// A person wants the context compacted. Only at rest; in a turn it is done before the next request by itself.
    pub(crate) fn compact(
        &mut self,
        phase: Phase,
        instructions: String,
        request_id: Option<RequestId>,
    ) -> Phase {
        if !matches!(phase, Phase::Idle) || self.facts.open.is_some() || self.hold.suspending {
            return phase;
        }
        if self.facts.wants_rebase() || !self.facts.is_rendered() {
            return self.reset(
                ResetReason::Rebase,
                AfterCompaction::Compact(instructions),
                request_id,
            );
        }
        self.compact_by_hand(instructions, request_id)
    }

    fn compact_by_hand(&mut self, instructions: String, request_id: Option<RequestId>) -> Phase {
        let why = ResetReason::Compaction {
            trigger: Trigger::Manual,
            instructions,
        };
        self.reset(why, AfterCompaction::Rest, request_id)
    }

    /// Brings back what the newest compaction has folded. Only at rest.
    pub(crate) fn undo_compaction(&mut self, phase: Phase, request_id: Option<RequestId>) -> Phase {
        let at_rest = matches!(phase, Phase::Idle) && self.facts.open.is_none();
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

    /// Renders the conversation, or only its prefix, for who is to be asked next.
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
            why,
        };
        // A person's wish is worth another try of the model.
        let summary = match self.hold.failures >= FAILURES && !is_manual(&compacting.why) {
            true => Summary::Mechanical,
            false => compacting.wanted(),
        };
        compacting.waits = self.job(&compacting.why, summary);
        Phase::Compacting(compacting)
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

    /// A job has ended.
    pub(crate) fn job_ended(&mut self, phase: Phase, number: u64, end: ResetJobOutcome) -> Phase {
        let Phase::Compacting(compacting) = phase else {
            return phase;
        };
        if compacting.waits != CompactionWait::Job(number) {
            return Phase::Compacting(compacting);
        }
        match end {
            ResetJobOutcome::Reset(reset) => self.write_reset(compacting, reset),
            ResetJobOutcome::Ask => self.ask_summary(compacting),
            ResetJobOutcome::Nothing(why) => {
                // Not again before there is more that could be folded.
                let step = (self.facts.wire.context_window / 20).max(1);
                self.hold.futile = self.facts.context_tokens.saturating_add(step);
                if is_too_long(&compacting.why) {
                    return self.too_full(compacting, self.facts.context_tokens);
                }
                self.hold.compacted = Some(CompactionEnd::Nothing(why));
                self.behind_reset(compacting)
            }
            ResetJobOutcome::Full(kept) => self.too_full(compacting, kept),
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
            self.tell_stand_in();
        }
        if another {
            // They were of another model.
            self.hold.futile = 0;
            self.hold.failures = 0;
        }
        if let Some(done) = done {
            self.hold.failures = 0;
            self.hold.futile = 0;
            if done.mechanical {
                self.notice(Level::Warning, words::MECHANICAL_SUMMARY);
            }
            self.hold.compacted = Some(CompactionEnd::Done(seq, done));
        }
        self.behind_reset(compacting)
    }

    /// The daemon hands over: nothing of it was logged, and the next life's request comes to the same.
    pub(crate) fn leave_to_next_life(&mut self, compacting: Compacting) -> Phase {
        match self.stop_compacting(compacting, StopReason::User) {
            Some(_) => Phase::Idle,
            None => Phase::Held,
        }
    }

    /// Nothing has changed. A compaction that is needed is tried again, and in the end done without the model.
    fn reset_failed(&mut self, compacting: Compacting, failure: Failure) -> Phase {
        if compacting.why == ResetReason::Rebase {
            return self.not_rebased(compacting, failure);
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
                false => compacting.wanted(),
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
        // Not in the way of the turn: it is tried again when there is more to fold.
        let step = (self.facts.wire.context_window / 50).max(1);
        self.hold.futile = self.facts.context_tokens.saturating_add(step);
        self.hold.compacted = Some(CompactionEnd::Failed(failure));
        self.behind_reset(compacting)
    }

    /// Who is to be asked cannot be: the turn ends, and the next one tries again.
    fn not_rebased(&mut self, compacting: Compacting, failure: Failure) -> Phase {
        match compacting.then {
            AfterCompaction::Ask => {
                self.tell_no_stand_in(&failure);
                self.end_turn(OutcomeKind::Failed, None, Some(failure))
            }
            AfterCompaction::Rest | AfterCompaction::Compact(_) => {
                self.hold.compacted = Some(CompactionEnd::Failed(failure));
                let then = AfterCompaction::Rest;
                self.behind_reset(Compacting { then, ..compacting })
            }
        }
    }

    /// What may not be folded is too much by itself.
    fn too_full(&mut self, compacting: Compacting, kept: u64) -> Phase {
        let window = self.facts.wire.context_window;
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
                "The context is full: messages that must stay unchanged take about {kept}{of} tokens.{said}"
            ),
            "Unpin messages, rewind, run `/compact`, or continue in a new session.",
        );
        match compacting.then {
            AfterCompaction::Ask => self.end_turn(OutcomeKind::ContextFull, None, Some(failure)),
            AfterCompaction::Rest | AfterCompaction::Compact(_) => {
                self.hold.compacted = Some(CompactionEnd::Failed(failure));
                self.behind_reset(compacting)
            }
        }
    }

    /// Whether a request that the provider finds too long is made again.
    pub(crate) fn may_be_shortened(&self) -> bool {
        self.held() || self.hold.too_long < TOO_LONG
    }

    /// The provider finds a request too long: the context is compacted, and the request made again.
    pub(crate) fn too_long(&mut self, error: &ProviderError) -> Phase {
        self.hold.refusal.clone_from(&error.message);
        if self.held() {
            // The request is made again, and found too long again.
            return Phase::Held;
        }
        self.hold.too_long += 1;
        self.compact_first(Trigger::TooLong)
    }

    fn behind_reset(&mut self, compacting: Compacting) -> Phase {
        match compacting.then.clone() {
            AfterCompaction::Ask if self.held() => Phase::Held,
            AfterCompaction::Ask => {
                self.runs("the context is ready");
                self.ask()
            }
            AfterCompaction::Compact(_) if self.hold.suspending => {
                self.leave_to_next_life(compacting)
            }
            AfterCompaction::Compact(instructions) => {
                self.compact_by_hand(instructions, compacting.request_id)
            }
            AfterCompaction::Rest => self.go_on_at_rest(None),
        }
    }

    /// The turn waits for nothing any more.
    fn runs(&mut self, cause: &str) {
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

/// Whether the request cannot be sent as it stands.
fn is_too_long(why: &ResetReason) -> bool {
    matches!(
        why,
        ResetReason::Compaction {
            trigger: Trigger::TooLong,
            ..
        }
    )
}

/// Whether a person asked for it.
fn is_manual(why: &ResetReason) -> bool {
    matches!(
        why,
        ResetReason::Compaction {
            trigger: Trigger::Manual,
            ..
        }
    )
}
