//! One function an effect: what the machine wants done, done.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::tool::StoppedBy;
use contract::{Outcome, Prefix, PrefixText, RequestEnvironment, ToolChoice};
use proto::hook::HookEvent;
use proto::item::{Item, ToolCall};
use proto::live::{Live, Partial};
use proto::record::{Level, Notice};
use proto::{Body, ItemId, Record, Seq};
use turn::Effect;
use turn::compaction::TokenRatio;

use crate::actor::Actor;
use crate::actor::inbox;
use crate::actor::inbox::Happened;
use crate::assembly::guards::Guards;
use crate::calls::call::{Printed, Started, Stop};
use crate::calls::events::CallEvent;
use crate::calls::state::Running;
use crate::context::prefix::FrozenPrefix;
use crate::request::in_flight::{Ask, Material, Source};
use crate::request::samples::Sampling;
use crate::request::side_requests::UsageRecorder;
use crate::tasks;

/// How long calls may take to come back after they were asked to stop, on top of the grace before KILL.
const OVERDUE_MS: u64 = 3_000;

impl Actor {
    pub(crate) fn perform(&mut self, effects: Vec<Effect>) {
        // After all other effects: records have their numbers already.
        let mut spent = Vec::new();
        for effect in effects {
            match effect {
                Effect::Append(record) => self.append(&record),
                Effect::Ask {
                    upto,
                    item,
                    attempt,
                    tool_choice,
                } => self.ask(upto, item, attempt, tool_choice),
                Effect::Reset(job) => self.begin_reset(job),
                Effect::AskSummary { item, attempt } => self.ask_summary(item, attempt),
                Effect::Plan(request) => self.begin_plan(request),
                Effect::CancelPlan => self.cancel_plan(),
                Effect::CancelAsk => spent.extend(self.requests.cancel()),
                Effect::Supersede { item } => self.live(&Live::Partial(Partial {
                    item,
                    superseded: true,
                })),
                Effect::Retry {
                    item,
                    attempt,
                    in_ms,
                } => self.later(in_ms, Happened::RetryDue { item, attempt }),
                Effect::ArmRestart { in_ms } => self.later(in_ms, Happened::RestartDue),
                Effect::Judge { call } => self.judge(call),
                Effect::Run { call, after } => self.run_call(call, after),
                Effect::AnswerCall {
                    call,
                    number,
                    answer,
                } => self.calls.answer_question(call, number, answer),
                Effect::CancelCalls { grace_ms, by } => self.cancel_calls(grace_ms, by),
                Effect::NotifyTurnEnd => self.run_stop_hooks(),
                Effect::CancelTurnEndNotification => self.stop_telling(),
                Effect::ArmTimeout { turn, in_ms } => self.later(in_ms, Happened::TimeUp { turn }),
            }
        }
        for recorder in spent {
            self.note_spent(&recorder);
        }
        self.tell_compacted();
        self.settle();
    }

    /// Appends a record, with the message's wire bytes, and gets it ready to be sent.
    pub(crate) fn append(&mut self, record: &Record) {
        if let Body::InteractionOpened(interaction) = &record.body {
            self.interactions.opened(interaction, record.seq);
        }
        if let Body::SessionExited(exited) = &record.body {
            self.stop_children_of(exited);
        }
        if let Body::SessionSet(set) = &record.body
            && let Some(dir) = &set.added_dir
        {
            let workspace = &self.calls.call_environment().workspace;
            workspace.add_root(PathBuf::from(dir));
        }
        let instructions = &self.calls.call_environment().instructions;
        instructions.note_record(record);
        self.charge(record);
        self.keep_research_state(record);
        self.notify(&record.body);
        let fragment = match &record.body {
            Body::User(message) => self
                .requests
                .route()
                .codec
                .render(&Item::User(message.clone())),
            Body::Assistant(message) => self
                .requests
                .route()
                .codec
                .render(&Item::Assistant(message.clone())),
            Body::Tool(message) => self
                .requests
                .route()
                .codec
                .render(&Item::Tool(message.clone())),
            _ => None,
        };
        let own = match &record.body {
            Body::SessionCreated(_) => self.frozen_prefix().ok(),
            Body::CheckpointCreated(checkpoint) => {
                self.calls.take_checkpoint_own(checkpoint.call.as_ref())
            }
            Body::CacheReset(reset) => self.take_reset(reset),
            _ => None,
        };
        match self
            .journal
            .append(record, own.as_deref(), fragment.as_deref())
        {
            Ok(line) => self.viewers.record(record, &line),
            Err(error) => self
                .journal
                .fail(format!("a record cannot be written as JSON: {error}"), None),
        }
    }

    /// The `own` member of the first record.
    fn frozen_prefix(&self) -> Result<String, serde_json::Error> {
        let prefix = Prefix::clone(&self.requests.route().prefix);
        let text = PrefixText::clone(&self.resets.text());
        serde_json::to_string(&FrozenPrefix { prefix, text })
    }

    fn ask(&mut self, upto: Seq, item: ItemId, attempt: u32, tool_choice: ToolChoice) {
        let samples = self.machine.facts().options.samples.unwrap_or(1);
        let around = (samples > 1).then(|| self.around(item.clone()));
        let answer = self.requests.next(item);
        self.requests.begin_draft();
        self.journal.gather_no_more();
        let leave = self.new_leave();
        let route = self.requests.route();
        let ask = Ask {
            source: Source::Material(self.made_from(upto)),
            provider: Arc::clone(&route.provider),
            key: self.requests.key(),
            awaited_key: self.requests.awaited_key(),
            attempt,
            answered: self.machine.facts().answered,
            tool_choice,
            ground: self.ground(),
            resets: self.machine.facts().cache.resets,
            before: self.requests.shape().cloned(),
            budget: self.requests.budget().clone(),
            leave,
        };
        let Some(around) = around else {
            return self.requests.send(answer, ask);
        };
        let recorder = UsageRecorder::default();
        let sampling = Sampling {
            ask,
            codec: Arc::clone(&route.codec),
            samples,
            temperature: route.temperature,
            around,
            price: route.price.clone(),
            recorder: recorder.clone(),
        };
        let answer = answer.with_side_requests(recorder);
        self.requests.send_samples(answer, sampling);
    }

    /// Writes what subscribers have seen of the answer in flight beside the log.
    pub(crate) fn write_draft(&mut self) {
        let viewers = &self.viewers;
        self.requests.write_draft(|item| viewers.seen_of(item));
    }

    /// Removes the draft of an answer once the log has everything that it holds.
    pub(crate) fn drop_draft(&mut self) {
        // What a hand-over cut off is nowhere else: the next life goes on from it.
        let needed =
            self.machine.is_suspended() || self.journal.is_closed() || !self.journal.is_settled();
        if !needed && self.requests.has_stale_draft() {
            self.requests.remove_draft();
        }
    }

    /// What a provider that is a program runs with.
    pub(crate) fn ground(&self) -> RequestEnvironment {
        let call_environment = self.calls.call_environment();
        RequestEnvironment {
            session: call_environment.session,
            cwd: call_environment.workspace.cwd().to_path_buf(),
            env: Arc::clone(&call_environment.env),
        }
    }

    /// What the body of a request up to this record is made from.
    pub(crate) fn made_from(&self, upto: Seq) -> Material {
        Material {
            file: Arc::clone(self.journal.file()),
            parts: self.journal.parts(&self.machine.facts().pieces_upto(upto)),
            prefix: Arc::clone(&self.requests.route().prefix),
            codec: Arc::clone(&self.requests.route().codec),
            cache_key: self.cache_key(),
        }
    }

    /// The tokens of the conversation, and whether they are estimated: nothing has measured a fork before its first answer.
    pub(crate) fn context_tokens(&self) -> (u64, bool) {
        let facts = self.machine.facts();
        if facts.context_tokens > 0 {
            return (facts.context_tokens, facts.context_estimated);
        }
        let parts = self.made_from(self.journal.last()).parts;
        if parts.is_empty() {
            return (0, false);
        }
        let messages: usize = parts.iter().map(|part| part.fragment.len()).sum();
        let bytes = self.requests.route().prefix_bytes() + messages as u64;
        (TokenRatio::new(facts.measure).tokens(bytes), true)
    }

    /// The key by which the provider's cache knows the conversation: forks share the beginning.
    pub(crate) fn cache_key(&self) -> String {
        let created = self.machine.facts().created.as_ref();
        let origin = created.and_then(|created| created.origin.as_ref());
        origin.map_or(self.id, |origin| origin.first).to_string()
    }

    /// Takes over what the settings forbid by now; whether that is more than before.
    pub(crate) fn tighten(&mut self, now: &Arc<Guards>) -> bool {
        if self.journal.closed().is_some() {
            return false;
        }
        let stricter = self.calls.tighten(now);
        if stricter.is_empty() {
            return false;
        }
        let facts = self.machine.facts();
        self.calls.rules(facts.created.as_ref(), &facts.grants);
        let stricter = contract::scrub(&stricter.join(", "));
        self.note(Body::Notice(Notice {
            level: Level::Info,
            text: format!(
                "The settings became stricter; this session follows them from its next call: {stricter}. What they loosen applies to new sessions."
            ),
        }));
        true
    }

    fn run_call(&mut self, call: ToolCall, after: Option<Seq>) {
        match after {
            // On disk before it starts: after a crash it must be known that it may have run (I4).
            Some(seq) if seq > self.journal.durable() => {
                self.journal.gather_no_more();
                self.calls.hold(seq, call);
            }
            _ => self.start(&call),
        }
    }

    /// Starts the calls whose start is on disk now.
    pub(crate) fn start_held(&mut self) {
        let durable = self.journal.durable();
        for call in self.calls.take_held(durable) {
            self.start(&call);
        }
        if let Some(child) = self.calls.take_user_command(Some(durable)) {
            self.start_user_command(&child);
        }
    }

    fn start(&mut self, call: &ToolCall) {
        let ready = self.calls.take_judged(&call.id);
        let reporter = inbox::call_reporter(&self.happened);
        let printed = Arc::new(Printed::new(reporter.clone()));
        let stop = Arc::new(Stop::default());
        let asker = self.asker(HookEvent::PostToolUse);
        match self
            .calls
            .call_environment()
            .start(call, ready, &printed, &stop, asker, reporter)
        {
            Some(Started::Done(outcome, duration_ms)) => self.report_call(CallEvent::Ended {
                call: call.id.clone(),
                outcome,
                duration_ms,
            }),
            Some(Started::Running(task)) => {
                self.calls.put_running(
                    call.id.clone(),
                    Running {
                        printed,
                        stop,
                        task,
                    },
                );
            }
            None => {
                let outcome = Box::new(Outcome::failed("There is no such tool any more."));
                let ended = CallEvent::Ended {
                    call: call.id.clone(),
                    outcome,
                    duration_ms: 0,
                };
                self.report_call(ended);
            }
        }
    }

    fn cancel_calls(&mut self, grace_ms: u64, by: StoppedBy) {
        self.calls.stop_running(grace_ms, by);
        // A call that was held back for the disk never starts.
        for call in self.calls.drop_held() {
            let outcome = Outcome::with_status(
                proto::item::CallStatus::Interrupted,
                "Not run: the turn was stopped.",
            );
            self.report_call(CallEvent::Ended {
                call: call.id,
                outcome: Box::new(outcome),
                duration_ms: 0,
            });
        }
        let calls = self.calls.running().keys().cloned().collect();
        self.later(grace_ms + OVERDUE_MS, Happened::Overdue { calls });
    }

    /// Puts the event after those that have already come.
    fn report_call(&self, event: CallEvent) {
        let _ = self.happened.send(Happened::Call(event));
    }

    /// Something that happens after a while, unless the actor ends before.
    fn later(&self, in_ms: u64, what: Happened) {
        let happened = self.happened.clone();
        let ended = self.life.ended.clone();
        tasks::spawn(async move {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(in_ms)) => {
                    let _ = happened.send(what);
                }
                () = ended.cancelled() => {}
            }
        });
    }
}
