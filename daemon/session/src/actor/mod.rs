//! The actor of one session: gather what happened, let the machine decide, do it.
//!
//! Owns everything of the session that changes. Never waits for the disk, a client, a model or a tool: their ends come
//! back as messages.

pub(crate) mod commands;
pub(crate) mod departure;
pub(crate) mod effects;
pub(crate) mod handle;
pub(crate) mod hooks;
pub(crate) mod inbox;
pub(crate) mod judging;
pub(crate) mod life;
pub(crate) mod planner;
pub(crate) mod publish;
pub(crate) mod quarantine;
pub(crate) mod reasoning;
pub(crate) mod replies;
pub(crate) mod review;
pub(crate) mod sampling;
pub(crate) mod shutdown;
pub(crate) mod spending;
pub(crate) mod start;
pub(crate) mod waiters;

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::CallAction;
use contract::provider::{ErrorKind, Part};
use proto::live::{Live, ToolOutput};
use proto::record::{Level, Notice};
use proto::{Body, CallId, SessionId, Stamp};
use tokio::sync::mpsc;
use turn::input::{CallQuestion, Unattended};
use turn::{Input, Machine, Now};
use uuid::Uuid;

use crate::actor::commands::interactions::InteractionState;
use crate::actor::commands::prompt_gate::PromptGate;
use crate::actor::inbox::{Command, Happened};
use crate::actor::life::Life;
use crate::actor::publish::Publisher;
use crate::actor::replies::Replies;
use crate::assembly::setup::Assembly;
use crate::calls::call::{Printed, overdue};
use crate::calls::events::CallEvent;
use crate::calls::hooks::HookState;
use crate::calls::state::CallState;
use crate::context::ResetState;
use crate::context::prefix::digest;
use crate::journal::{Journal, JournalEvent};
use crate::request::Requests;
use crate::request::gather::Gather;
use crate::request::in_flight::{self as asking, Arrived};
use crate::viewers::Viewers;
use crate::viewers::fanout::Departure;

/// Messages that are taken in one go.
const GATHER: usize = 256;

/// One session at work. Each part owns its state; the actor decides with the machine, and carries it out with the parts.
pub(crate) struct Actor {
    pub id: SessionId,
    pub epoch: u64,
    pub machine: Machine,
    pub journal: Journal,
    pub viewers: Viewers,
    pub requests: Requests,
    pub resets: ResetState,
    pub calls: CallState,
    pub hooks: HookState,
    pub replies: Replies,
    pub publisher: Publisher,
    pub gate: PromptGate,
    pub life: Life,
    pub interactions: InteractionState,
    pub happened: mpsc::UnboundedSender<Happened>,
    pub assembly: Arc<dyn Assembly>,
}

/// Where an actor's messages come from.
pub(crate) struct Inbox {
    pub commands: mpsc::Receiver<Command>,
    pub gone: mpsc::UnboundedReceiver<Departure>,
    pub happened: mpsc::UnboundedReceiver<Happened>,
    pub arrived: mpsc::Receiver<(u64, Arrived)>,
}

impl Actor {
    /// Lives until the supervisor puts the session away.
    pub async fn run(mut self, mut inbox: Inbox) {
        let (mut happened, mut arrived) = (Vec::new(), Vec::new());
        loop {
            let (frame, draft) = (self.viewers.frame_due(), self.requests.draft().due());
            let silence = self.silence_due();
            let background = self.calls.background_due();
            let gathered = self.journal.gathers_until();
            // Every arm only takes a message out of a queue: dropping one that was not chosen loses nothing.
            tokio::select! {
                count = inbox.happened.recv_many(&mut happened, GATHER) => {
                    if count == 0 { break }
                    for what in happened.drain(..) { self.take(what); }
                }
                count = inbox.arrived.recv_many(&mut arrived, GATHER) => {
                    if count == 0 { break }
                    for (number, what) in arrived.drain(..) { self.arrive(number, what); }
                }
                command = inbox.commands.recv() => {
                    let Some(command) = command else { break };
                    command(&mut self);
                }
                Some(departure) = inbox.gone.recv() => self.depart(departure),
                () = sleep_until(frame) => self.show_growth(),
                () = sleep_until(draft) => self.write_draft(),
                () = sleep_until(silence) => self.tell_silence(),
                () = sleep_until(background) => self.calls.set_background_due(None),
                () = sleep_until(gathered) => {
                    self.journal.gather_no_more();
                    self.journal.flush();
                }
            }
            self.life.activity.note();
            if self.life.parting.is_some() || (self.is_closing() && self.may_end()) {
                break;
            }
        }
        self.end().await;
    }

    pub(crate) fn now(&self) -> Now {
        let mono_ms = u64::try_from(self.life.started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Now {
            wall: Stamp::now(),
            mono_ms,
        }
    }

    /// Lets the machine decide, and performs its effects.
    pub(crate) fn step(&mut self, input: Input) {
        if self.journal.is_closed() {
            // What cannot be written is not done: nothing that follows from it may happen either.
            return;
        }
        let stops = matches!(
            input,
            Input::Stop { .. } | Input::SuspendNow { .. } | Input::TimeUp { .. }
        );
        if stops {
            self.note_samples();
        }
        let now = self.now();
        let mut effects = self.machine.step(input, now);
        effects.extend(self.warn(now));
        self.perform(effects);
    }

    /// Notices to record once, when the first turn after loading runs.
    pub(crate) fn warn(&mut self, now: Now) -> Vec<turn::Effect> {
        if self.life.warning.is_none() || self.machine.facts().open.is_none() {
            return Vec::new();
        }
        let text = self.life.warning.take().unwrap_or_default();
        let level = Level::Warning;
        let notice = Body::Notice(Notice { level, text });
        self.machine.record(notice, now)
    }

    /// Writes a warning for each.
    pub(crate) fn warn_of(&mut self, problems: Vec<String>) {
        let now = self.now();
        for text in problems {
            let level = Level::Warning;
            let notice = Body::Notice(Notice { level, text });
            let effects = self.machine.record(notice, now);
            self.perform(effects);
        }
    }

    fn take(&mut self, what: Happened) {
        match what {
            Happened::Journal(event) => self.take_journal_event(event),
            Happened::Call(event) => self.take_call_event(event),
            Happened::Cataloged(seq) => {
                if seq == self.journal.last() && self.is_settled() {
                    self.journal.unfinished(false);
                    self.journal.flush();
                }
            }
            Happened::Judged {
                call,
                judgement,
                ready,
                hooks,
            } => {
                self.hooks_before(&call, hooks);
                self.calls.put_judged(call.clone(), ready);
                self.judged(call, judgement);
            }
            Happened::JudgedAhead(calls) => self.calls.put_ahead(calls),
            Happened::Reviewed {
                number,
                call,
                judgement,
                review,
            } => self.reviewed(number, call, judgement, review),
            // A log that takes nothing more takes no stricter rules either: judged again, it would be outdated again.
            Happened::Outdated { .. } if self.journal.closed().is_some() => {}
            Happened::Outdated {
                call,
                outdated,
                hooks,
            } => {
                self.hooks_before(&call.id, hooks);
                if let Some(now) = &outdated.guards {
                    self.tighten(now);
                }
                self.judge(call);
            }
            Happened::ReasoningExtracted { number, found } => self.extracted(number, found),
            Happened::SamplingEnded { number } => self.sampling_ended(number),
            Happened::PromptAsked(chain) => self.prompt_asked(chain),
            Happened::EndTold(finished) => self.end_told(finished),
            Happened::HooksRead { read, reply } => self.hooks_read(*read, reply),
            Happened::ContextWindow { model, tokens } => self.window_found(&model, tokens),
            Happened::Planned(finished) => self.step(Input::Planned(finished)),
            Happened::RestartDue => self.step(Input::RestartDue),
            Happened::RetryDue { item, attempt } => self.step(Input::RetryDue { item, attempt }),
            Happened::TimeUp { turn } => {
                let partial = self.partial();
                self.step(Input::TimeUp { turn, partial });
            }
            Happened::RuleKept { id, kept } => self.rule_kept(&id, kept),
            Happened::ResetReady { number, done } => self.reset_ready(number, *done),
            Happened::Rewound(rewound) => self.rewound(*rewound),
            Happened::NotRewound => self.step(Input::NotRewound),
            Happened::Overdue { calls } => {
                for call in calls {
                    if let Some(running) = self.calls.take_running(&call) {
                        running.task.abort();
                        self.step(Input::CallEnded {
                            call,
                            outcome: Box::new(overdue()),
                            duration_ms: 0,
                        });
                    }
                }
            }
        }
    }

    fn take_journal_event(&mut self, event: JournalEvent) {
        match event {
            JournalEvent::Durable(seq) => {
                self.journal.settled(seq);
                self.viewers.settle_absence(seq);
                // A client that sees an event and then asks must find the state that the event reported.
                self.tell_seen();
                self.viewers.release(seq);
                self.start_held();
                self.settle();
            }
            JournalEvent::Failed(reason, trouble) => {
                tracing::error!(session = %self.id, reason, "the log cannot be written; the session is read-only");
                self.journal.fail(reason.clone(), trouble);
                self.viewers.fail(&reason);
                self.stop_unwritable();
                self.settle();
            }
        }
    }

    fn take_call_event(&mut self, event: CallEvent) {
        match event {
            CallEvent::Ended {
                call,
                outcome,
                duration_ms,
            } if let Some(pid) = self.user_command_of(&call) => {
                if let Some(running) = self.calls.take_running(&call) {
                    self.show_output(&call, &running.printed);
                }
                self.user_command_ended(pid, *outcome, duration_ms);
            }
            CallEvent::Ended {
                call,
                mut outcome,
                duration_ms,
            } => {
                if outcome.blocked.is_some() && !self.may_be_let_out() {
                    // The model has been informed what stopped it, and what the user could do.
                    outcome.blocked = None;
                }
                self.hand_over_quarantined(&call, &mut outcome);
                if let Some(running) = self.calls.take_running(&call) {
                    self.show_output(&call, &running.printed);
                }
                self.step(Input::CallEnded {
                    call,
                    outcome,
                    duration_ms,
                });
            }
            CallEvent::Asks {
                call,
                number,
                question,
                reply,
            } => {
                let attended = self.viewers.attended();
                let shown = serde_json::to_string(&question).unwrap_or_default();
                self.calls.put_question(call.clone(), number, reply);
                self.step(Input::CallAsks(Box::new(CallQuestion {
                    call,
                    number,
                    question: *question,
                    shown_hash: digest(&[shown.as_bytes()]),
                    attended: !policy::unasked(self.machine.facts().on_ask(), attended),
                })));
            }
            CallEvent::Withdraws { call, number } => {
                self.step(Input::CallWithdraws { call, number });
            }
            CallEvent::Samples { request, reply } => self.begin_sampling(*request, reply),
            CallEvent::Printed => self.viewers.schedule_frame(),
            CallEvent::HooksRan(finished) => self.tell_hooks(finished),
            CallEvent::BackgroundStarted(child) => self.step(Input::ChildSpawned(child)),
            CallEvent::BackgroundExited(child) => self.child_exited(child),
            CallEvent::AgentFinished(finished) => self.note(Body::AgentFinished(finished)),
            CallEvent::Quarantined(items) => self.take_quarantined(items),
        }
    }

    /// What becomes of an ask depends on who is here now, not on who was when the judging began.
    pub(crate) fn attend(&self, judgement: &mut turn::Judgement) {
        let turn::Judgement::Decided(decided) = judgement else {
            return;
        };
        let on_ask = self.machine.facts().on_ask();
        let attended = self.viewers.attended();
        match decided.action {
            CallAction::AskUser(_) | CallAction::PresentPlan(_) => {
                decided.unattended = match policy::unasked(on_ask, attended) {
                    true => Unattended::Allow,
                    false => Unattended::Wait,
                };
                return;
            }
            CallAction::Run
            | CallAction::UpdateTodos(_)
            | CallAction::ReportGoal(_)
            | CallAction::CallTool { .. } => {}
        }
        let accept_partial = self.calls.call_environment().confine.accept_partial;
        let left = policy::unattended(&decided.decision, on_ask, attended, accept_partial);
        decided.unattended = match left {
            policy::Unattended::Allow => Unattended::Allow,
            policy::Unattended::Deny(why) => Unattended::Deny(why),
            policy::Unattended::Wait => Unattended::Wait,
        };
    }

    /// Whether a person could be asked to let a command run outside the sandbox that has stopped it.
    fn may_be_let_out(&mut self) -> bool {
        let rules = self.rules();
        let facts = self.machine.facts();
        let on_ask = facts.on_ask();
        let stays =
            policy::stays_inside(&rules, facts.approval_mode(), facts.effective_permissions());
        stays.is_none() && !policy::unasked(on_ask, self.viewers.attended())
    }

    fn arrive(&mut self, number: u64, what: Arrived) {
        let awaited = self.requests.in_flight().map(Gather::number);
        if awaited != Some(number) {
            return;
        }
        match what {
            Arrived::Sent(sent) => {
                if let Some(place) = &sent.rewritten {
                    tracing::error!(%place, "earlier bytes of a conversation have changed");
                }
                self.requests.note_sent(sent);
            }
            Arrived::Part(Part::Restarted) => {
                if let Some(dropped) = self.requests.restart_answer() {
                    let dropped = Box::new(self.weighed(dropped, false));
                    self.step(Input::AnswerRestarted { dropped });
                }
            }
            Arrived::Part(part) => {
                let silent = self.requests.in_flight().and_then(Gather::silent_since);
                let turn = asking::waits_or_sent(&part);
                let whole = self.requests.take_part(part);
                if silent.is_some() {
                    self.tell_seen();
                }
                let Some(gather) = self.requests.in_flight() else {
                    return;
                };
                if let Some(turn) = turn {
                    self.step(turn);
                } else if whole {
                    self.show_growth();
                    if let Some(gather) = self.requests.take_in_flight() {
                        self.answered(gather);
                    }
                } else if gather.has_fresh() {
                    self.viewers.schedule_frame();
                }
            }
            Arrived::Sampled { is_in, of } => {
                let status = serde_json::json!({"samples_in": is_in, "samples": of});
                self.live(&Live::Status(status));
            }
            Arrived::Chosen { at, found } => self.requests.choose_sample(at, found),
            Arrived::Broke(error) => {
                self.note_samples();
                self.show_growth();
                if let Some(gather) = self.requests.take_in_flight() {
                    let keyless = gather.is_keyless();
                    let partial = Box::new(self.weighed(gather.finish(), false));
                    // A goal that starts with the daemon may be there before its key.
                    let has_goal = self.machine.facts().goal.is_some();
                    let key_lost = keyless && (has_goal || self.key_was_brought());
                    if error.kind == ErrorKind::Credentials && !keyless {
                        self.requests.note_refused_key();
                    }
                    self.step(Input::Broke {
                        error,
                        partial,
                        jitter: chance(),
                        key_lost,
                    });
                    // One may have come while the request was on its way without.
                    self.use_new_key();
                }
            }
        }
    }

    /// An answer is whole.
    fn answered(&mut self, mut gather: Gather) {
        let wanted = self.machine.facts().options.extract_reasoning == Some(true);
        let extractions = wanted && gather.is_shown() && gather.side_requests().is_none();
        let around = extractions.then(|| self.around(gather.item().clone()));
        let found = gather.take_found();
        gather.leave_out_taken();
        if let Some(recorder) = gather.side_requests() {
            self.note_spent(recorder);
        }
        let answer = self.weighed(gather.finish(), true);
        let trace = around.as_ref().map(|_| answer.reasoning.clone());
        self.step(Input::Answered(Box::new(answer)));
        if let Some(found) = found {
            self.note(Body::ReasoningExtracted(found));
        }
        if let (Some(around), Some(trace)) = (around, trace) {
            self.begin_extraction(around, trace);
        }
    }

    /// The part of an answer in progress that has been shown.
    pub(crate) fn partial(&mut self) -> Option<Box<turn::Answer>> {
        self.show_growth();
        let gather = self.requests.in_flight()?;
        Some(Box::new(gather.answer().clone()))
    }

    /// Whether a client brought the key when the session was made.
    fn key_was_brought(&self) -> bool {
        let created = self.machine.facts().created.as_ref();
        let brought =
            |variable: &String| created.is_some_and(|created| created.env_names.contains(variable));
        self.requests
            .route()
            .key_variable
            .as_ref()
            .is_some_and(brought)
    }

    /// Takes keys that a client has.
    pub(crate) fn offer_keys(&mut self, credentials: BTreeMap<String, String>) {
        self.requests.take_offered(credentials);
        self.use_new_key();
    }

    /// Goes on where a request waits for a key that is there now.
    pub(crate) fn use_new_key(&mut self) {
        if self.machine.wants_credentials() && self.requests.has_fresh_key() {
            self.step(Input::CredentialsArrived);
        }
    }

    pub(crate) fn live(&mut self, live: &Live) {
        let facts = self.machine.facts();
        let turn = facts.open.as_ref().map(|open| open.number);
        let after = self.journal.last();
        self.viewers.live(after, turn, live);
        self.viewers.release(self.journal.durable());
    }

    /// Sends subscribers the text that was added since the last frame.
    pub(crate) fn show_growth(&mut self) {
        self.viewers.begin_frame();
        let fresh = self.requests.take_fresh();
        for live in &fresh {
            self.live(live);
        }
        if !fresh.is_empty() {
            self.requests.schedule_draft();
        }
        let running: Vec<_> = self
            .calls
            .running()
            .iter()
            .map(|(call, running)| (call.clone(), Arc::clone(&running.printed)))
            .collect();
        for (call, printed) in running {
            self.show_output(&call, &printed);
        }
    }

    fn silence_due(&self) -> Option<tokio::time::Instant> {
        self.requests.in_flight()?.silence_due()
    }

    /// Reports that nothing comes of the answer that is waited for. The session goes on waiting.
    fn tell_silence(&mut self) {
        if let Some(ms) = self.requests.note_silence() {
            self.live(&Live::Status(serde_json::json!({"no_data_ms": ms})));
            self.tell_seen();
        }
    }

    fn show_output(&mut self, call: &CallId, printed: &Printed) {
        if let Some((offset, text)) = printed.take() {
            self.live(&Live::ToolOutput(ToolOutput {
                call: call.clone(),
                offset,
                text,
            }));
        }
    }

    /// After every change: have it written, answer waiters, keep the lists fresh.
    pub(crate) fn settle(&mut self) {
        if !self.is_settled() {
            self.journal.unfinished(true);
        }
        if self.machine.is_idle() {
            self.calls.clear_judged();
        }
        if self.requests.in_flight().is_none() {
            self.requests.drop_leave();
        }
        self.drop_hooks();
        self.drop_draft();
        self.journal.flush();
        self.viewers.release(self.journal.durable());
        self.answer_held();
        self.answer_joining();
        self.tell_seen();
        self.answer_waiters();
        self.answer_suspending();
    }

    /// Nothing is left to be done. Work that waits in an exited session does not count: it never runs, unless
    /// somebody sends another prompt.
    pub(crate) fn is_settled(&self) -> bool {
        let none_waits = self.machine.facts().queue.is_empty() || self.machine.is_left_behind();
        // The result of a sub-agent in the background is still to come, also by another daemon.
        let awaits_agents = !self.machine.facts().background_agents.is_empty();
        let has_goal = self.machine.facts().goal.is_some();
        self.machine.is_idle() && none_waits && !awaits_agents && !has_goal
    }
}

async fn sleep_until(due: Option<tokio::time::Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// A number in 0..1 by chance.
#[allow(clippy::cast_precision_loss, reason = "only chance is wanted")]
fn chance() -> f64 {
    Uuid::new_v4().as_u128() as f64 / u128::MAX as f64
}
