//! The actor's part of a cache reset: it starts jobs, takes their ends in, and asks for summaries.

use std::sync::Arc;

use contract::ToolChoice;
use proto::live::Live;
use proto::params::Empty;
use proto::params::compact::{CompactOutput, CompactParams, PinParams};
use proto::params::forecast::{Forecast, Forecasts};
use proto::record::{Level, Notice};
use proto::reset::{CacheReset, Pinned, Trigger, Wire};
use proto::{Body, ErrorName, Failure, ItemId, Stamp};
use turn::Input;
use turn::compacting::{CompactionEnd, ResetJob, ResetJobOutcome, ResetReason, Summary};
use turn::compaction::{
    CompactionPlan, CompactionTerms, NothingToCompact, RestatedState, TokenRatio,
};
use turn::facts::{content_of_compaction, content_of_pin};

use crate::actor::Actor;
use crate::actor::handle::SessionHandle;
use crate::actor::inbox::{Happened, Reply};
use crate::actor::replies::refuse;
use crate::assembly::tool_repair;
use crate::context::forecast;
use crate::context::reset::{self as resetting, Done, ModelTarget, ResetInput};
use crate::request::budget;
use crate::request::in_flight::{Ask, Source};
use crate::request::route::ModelRoute;
use crate::tasks;

impl Actor {
    /// Starts a job of a reset.
    pub(crate) fn begin_reset(&mut self, job: ResetJob) {
        let number = job.number;
        let work = self.workpiece(job);
        let happened = self.happened.clone();
        tasks::spawn_blocking(move || {
            let done =
                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| resetting::run(work)));
            let done = done.unwrap_or_else(|_| Done {
                end: ResetJobOutcome::Failed(crashed()),
                own: None,
                request: None,
                swap: None,
                no_writer: None,
            });
            // The actor may be gone: then nobody waits for it.
            let _ = happened.send(Happened::ResetReady {
                number,
                done: Box::new(done),
            });
        });
    }

    fn workpiece(&self, job: ResetJob) -> ResetInput {
        let facts = self.machine.facts();
        let pieces = facts.pieces_upto(job.upto);
        let options = &facts.options;
        let trigger = match &job.why {
            ResetReason::Compaction { trigger, .. } => *trigger,
            ResetReason::Rebase => Trigger::Auto,
        };
        let instructed = matches!(&job.why, ResetReason::Compaction { instructions, .. } if !instructions.trim().is_empty());
        let route = self.requests.route();
        ResetInput {
            parts: self.journal.parts(&pieces),
            file: Arc::clone(self.journal.file()),
            prefix: Arc::clone(&route.prefix),
            codec: Arc::clone(&route.codec),
            cache_key: self.cache_key(),
            terms: CompactionTerms {
                trigger,
                instructed,
                window: facts.wire.context_window,
                context: self.context_tokens().0,
                measure: TokenRatio::new(facts.measure),
                prefix_bytes: route.prefix_bytes(),
                pins: facts.pins.clone(),
                number: facts.compactions + 1,
                summary: None,
                mechanical: false,
                restated: RestatedState {
                    todos: facts.todos.clone(),
                    plan: facts.plan_in_force.clone(),
                    files: facts.edited.iter().cloned().collect(),
                },
            },
            keys: Arc::clone(self.requests.keys()),
            wanted: ModelTarget {
                assembly: Arc::clone(&self.assembly),
                cwd: self.calls.call_environment().workspace.cwd().to_path_buf(),
                text: self.resets.text(),
                wire: Wire {
                    provider: options.provider().to_owned(),
                    model: options.model_name().to_owned(),
                    effort: options.effort.clone(),
                    ..facts.wire.clone()
                },
                is_other_vendor: facts.wants_rendering(),
                is_other: !facts.wire.is_asked_by(options),
                is_same_model: facts.wire.is_model_of(options),
                renders: facts.wants_rendering(),
                keys: facts
                    .stand_in
                    .is_some()
                    .then(|| Arc::clone(self.requests.keys())),
            },
            job,
        }
    }

    /// A job has ended: what belongs to its record is there when the machine makes that.
    pub(crate) fn reset_ready(&mut self, number: u64, done: Done) {
        if let Some(failure) = done.no_writer {
            let text = turn::no_summary_writer(&failure.message);
            let level = Level::Warning;
            self.note(Body::Notice(Notice { level, text }));
        }
        self.resets.put_done(done.own, done.request, done.swap);
        let end = Box::new(done.end);
        self.step(Input::JobEnded { number, end });
        // The end of a job that nobody waits for leaves nothing.
        self.resets.clear_done();
    }

    /// The record of a reset is made: who is asked from here on is in its place.
    pub(crate) fn take_reset(&mut self, reset: &CacheReset) -> Option<String> {
        if reset.wire.is_some()
            && let Some(swap) = self.resets.take_swap()
        {
            let repair = tool_repair::wanted(&swap.model, &self.calls.call_environment().tools);
            self.machine.set_call_repair(repair);
            self.machine.set_limits(swap.model.limits);
            self.machine.set_fallback(swap.model.fallback.clone());
            let route = ModelRoute::new(&swap.model, swap.prefix);
            self.requests.set_route(route);
        }
        if reset.base.is_some() {
            let instructions = &self.calls.call_environment().instructions;
            instructions.after_compaction(&self.resets.text(), reset);
        }
        self.resets.take_own()
    }

    /// Looks up the context window of the session's model: the config, or what its endpoint says, may have changed.
    pub(crate) fn look_up_window(&self) {
        let assembly = Arc::clone(&self.assembly);
        let cwd = self.calls.call_environment().workspace.cwd().to_path_buf();
        let model = self.machine.facts().wire.full_model();
        let happened = self.happened.clone();
        tasks::spawn_blocking(move || {
            let tokens = assembly.context_window(&cwd, &model);
            // The actor may be gone: then nobody waits for it.
            let _ = happened.send(Happened::ContextWindow { model, tokens });
        });
    }

    /// The window is known, of the model that was the session's when it was looked up.
    pub(crate) fn window_found(&mut self, model: &str, tokens: u64) {
        if self.journal.closed().is_none() && self.machine.facts().wire.full_model() == model {
            self.step(Input::ContextWindow(tokens));
        }
    }

    /// Sends the request for a summary.
    pub(crate) fn ask_summary(&mut self, item: ItemId, attempt: u32) {
        let Some(request) = self.resets.summary_request() else {
            // Only a bug leads here: the machine asks when the job has made it.
            tracing::error!(session = %self.id, "a summary is asked for that was not prepared");
            return;
        };
        let leave = match &request.writer {
            Some(writer) => {
                // A quarter of a token for a byte (see `contract::estimate`).
                let tokens = request.body.len() as u64 / 4;
                let expected = budget::expected(tokens, 0, writer.price.as_ref());
                self.requests.new_leave(expected, self.ran_ms())
            }
            None => self.new_leave(),
        };
        let (answer, model, provider, key) = match &request.writer {
            Some(writer) => (
                self.requests.next_of(item, writer),
                writer.name.clone(),
                Arc::clone(&writer.provider),
                self.requests.key_of(writer),
            ),
            None => (
                self.requests.next(item),
                self.requests.route().prefix.model.clone(),
                Arc::clone(&self.requests.route().provider),
                self.requests.key(),
            ),
        };
        let ask = Ask {
            source: Source::Body {
                body: request.body,
                model,
            },
            provider,
            awaited_key: None,
            key,
            attempt,
            answered: self.machine.facts().answered,
            tool_choice: ToolChoice::None,
            ground: self.ground(),
            resets: self.machine.facts().cache.resets,
            before: None,
            budget: self.requests.budget().clone(),
            leave,
        };
        self.requests.send(answer.unseen(), ask);
    }

    /// See `session.compact`.
    pub(crate) fn compact(&mut self, params: CompactParams, reply: Reply<CompactOutput>) {
        let content = content_of_compaction(params.undo);
        match self.repeated(params.request_id, &content) {
            Some(Ok(done)) => {
                let output = CompactOutput {
                    seq: Some(done.seq),
                    ..CompactOutput::default()
                };
                return self.reply_when(done.seq, reply, output);
            }
            Some(Err(failure)) => return refuse(reply, failure),
            None => {}
        }
        if let Some(refusal) = self.refusal() {
            return refuse(reply, refusal);
        }
        self.requests.keys().put(params.credentials.clone());
        if params.preview {
            return self.preview_compaction(&params, reply);
        }
        if !self.machine.is_idle() {
            let busy = Failure::new(
                ErrorName::Busy,
                "The session is busy.",
                "Interrupt the turn first, or wait until the session is idle.",
            );
            return refuse(reply, busy.retryable());
        }
        if params.undo {
            return self.undo_compaction(&params, reply);
        }
        let instructions = params.instructions.unwrap_or_default();
        let request_id = params.request_id;
        self.step(Input::Compact {
            instructions,
            request_id,
        });
        match self.machine.is_compacting() {
            true => self.resets.put_reply(reply),
            false => refuse(reply, not_now()),
        }
    }

    /// The next prompt in the present state.
    pub(crate) fn forecast(&self) -> Forecast {
        let (facts, limits) = (self.machine.facts(), self.machine.limits());
        forecast::standing(
            facts,
            self.context_tokens().0,
            &limits,
            self.requests.route().price.as_deref(),
            Stamp::now(),
        )
    }

    fn undo_compaction(&mut self, params: &CompactParams, reply: Reply<CompactOutput>) {
        let undone = self.machine.facts().undoable_compaction().cloned();
        let Some(undone) = undone else {
            let none = Failure::new(
                ErrorName::NotFound,
                "There is no compaction to undo.",
                "A compaction can be undone until the next turn ends. The original messages stay in the log; `reasonix export` writes them.",
            );
            return refuse(reply, none);
        };
        self.step(Input::UndoCompaction {
            request_id: params.request_id,
        });
        let seq = self.machine.facts().seq;
        let output = CompactOutput {
            seq: Some(seq),
            compaction: Some(undone.done),
            ..CompactOutput::default()
        };
        self.reply_when(seq, reply, output);
    }

    fn preview_compaction(&mut self, params: &CompactParams, reply: Reply<CompactOutput>) {
        let work = self.workpiece(ResetJob {
            number: 0,
            why: ResetReason::Compaction {
                trigger: Trigger::Manual,
                instructions: params.instructions.clone().unwrap_or_default(),
            },
            upto: self.machine.facts().seq,
            summary: Summary::Wanted,
        });
        let now = self.forecast();
        let (price, block) = (
            self.requests.route().price.clone(),
            self.machine.limits().cache_block.max(1),
        );
        tasks::spawn_blocking(move || {
            let said = resetting::preview(work).map(|(planned, head)| match planned {
                CompactionPlan::Done { done, .. } => CompactOutput {
                    forecasts: Some(Box::new(Forecasts {
                        then: forecast::ahead(
                            now.model.clone(),
                            done.tokens_after,
                            (head / block * block).min(now.cached_tokens),
                            price.as_deref(),
                            Stamp::now(),
                        ),
                        now,
                    })),
                    compaction: Some(done),
                    ..CompactOutput::default()
                },
                CompactionPlan::Nothing(why) => nothing(why),
                // Not possible for a manual compaction: a user may compact as often as they like.
                CompactionPlan::Full(_) | CompactionPlan::Ask { .. } => {
                    nothing(NothingToCompact::NothingToFold)
                }
            });
            // The caller may be gone.
            let _ = reply.send(said);
        });
    }

    /// Answers those who wait for the end of a compaction, if it has ended.
    pub(crate) fn tell_compacted(&mut self) {
        let compacting = self.machine.is_compacting();
        if self.resets.announces(compacting) {
            self.live(&Live::Status(serde_json::json!({"compacting": compacting})));
        }
        if !compacting {
            self.resets.drop_summary_request();
        }
        // A prompt that waited may be in a compaction of its own already.
        let end = self.machine.take_compaction_end();
        if end.is_none() && compacting {
            return;
        }
        let Some(reply) = self.resets.take_reply() else {
            return;
        };
        match end {
            Some(CompactionEnd::Done(seq, done)) => {
                let output = CompactOutput {
                    seq: Some(seq),
                    compaction: Some(done),
                    ..CompactOutput::default()
                };
                self.reply_when(seq, reply, output);
            }
            Some(CompactionEnd::Nothing(why)) => drop(reply.send(Ok(nothing(why)))),
            Some(CompactionEnd::Failed(failure)) => refuse(reply, failure),
            None => refuse(reply, not_now()),
        }
    }

    /// See `session.pin`.
    pub(crate) fn pin(&mut self, params: PinParams, by: String, reply: Reply<Empty>) {
        let pinned = Pinned {
            item: params.item,
            pinned: !params.unpin,
            by,
            request_id: params.request_id,
        };
        let content = content_of_pin(&pinned);
        if self.machine.is_compacting() {
            let busy = Failure::new(
                ErrorName::Busy,
                "The context is being compacted.",
                "Pin it after the compaction; `compact --undo` restores the original messages.",
            );
            return refuse(reply, busy.retryable());
        }
        if let Some(refusal) = self.refusal() {
            return refuse(reply, refusal);
        }
        let Some(reply) = self.unless_repeated(params.request_id, &content, reply) else {
            return;
        };
        let facts = self.machine.facts();
        let is_known = facts.knows_item(&pinned.item);
        if !is_known {
            let unknown = Failure::new(
                ErrorName::NotFound,
                format!("There is no message `{}`.", pinned.item),
                "Use `m7` for turn 7 or `m7.3` for its third message; list them with `reasonix inspect PID context`.",
            );
            return refuse(reply, unknown);
        }
        let now = self.now();
        let effects = self.machine.record(Body::MessagePinned(pinned), now);
        self.perform(effects);
        self.reply_when(self.machine.facts().seq, reply, Empty {});
    }
}

impl SessionHandle {
    /// Compacts the context, says what that would do, or takes it back.
    ///
    /// # Errors
    /// `busy` in a turn; `not_found`: nothing can be taken back; `provider_failed`, `storage`, `request_id_reused`.
    pub async fn compact(&self, params: CompactParams) -> Result<CompactOutput, Failure> {
        self.change(|actor, reply| actor.compact(params, reply))
            .await
    }

    /// Keeps a message word for word, or no longer.
    ///
    /// # Errors
    /// `not_found`: there is no such message; `storage`, `request_id_reused`.
    pub async fn pin(&self, params: PinParams, by: String) -> Result<Empty, Failure> {
        self.change(|actor, reply| actor.pin(params, by, reply))
            .await
    }
}

fn nothing(why: NothingToCompact) -> CompactOutput {
    let why = match why {
        NothingToCompact::NothingToFold => {
            "All messages must stay unchanged: there is nothing to compact."
        }
        NothingToCompact::TooLittle => "It would free too little to justify a cache reset.",
    };
    CompactOutput {
        why: Some(why.to_owned()),
        ..CompactOutput::default()
    }
}

fn not_now() -> Failure {
    Failure::new(
        ErrorName::Busy,
        "The context cannot be compacted now.",
        "Try again when the session is idle.",
    )
}

fn crashed() -> Failure {
    Failure::new(
        ErrorName::Internal,
        "The conversation could not be read because of a bug in Reasonix.",
        "Please report this as a bug in Reasonix.",
    )
}
