//! The actor of one session: gather what happened, let the machine decide, do it.
//!
//! Owns everything of the session that changes. Never waits for the disk, a client, a model or a tool: their ends come
//! back as messages.

pub(crate) mod approvals;
pub(crate) mod attach;
pub(crate) mod background;
pub(crate) mod compaction;
pub(crate) mod departure;
pub(crate) mod dispatch;
pub(crate) mod draft;
pub(crate) mod effects;
pub(crate) mod follow;
pub(crate) mod handle;
pub(crate) mod hooks;
pub(crate) mod inbox;
pub(crate) mod inspection;
pub(crate) mod permissions;
pub(crate) mod persisting;
pub(crate) mod plans;
pub(crate) mod presence;
pub(crate) mod prompt_gate;
pub(crate) mod publish;
pub(crate) mod questions;
pub(crate) mod queue;
pub(crate) mod reasoning;
pub(crate) mod replies;
pub(crate) mod rewind;
pub(crate) mod shutdown;
pub(crate) mod signals;
pub(crate) mod spending;
pub(crate) mod start;
pub(crate) mod waiters;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use contract::{CallAction, Codec, Prefix, Provider, Secret};
use policy::RuleSet;
use proto::live::{Live, ToolOutput};
use proto::params::compact::CompactOutput;
use proto::params::session::SessionSummary;
use proto::record::{Level, Notice};
use proto::{Body, CallId, Failure, ItemId, Pid, RequestId, Seq, SessionId, Stamp};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use turn::input::Unattended;
use turn::{Input, Machine, Now};
use uuid::Uuid;

use crate::actor::departure::Kept;
use crate::actor::draft::Keeping;
use crate::actor::handle::{Activity, Seen};
use crate::actor::inbox::{Command, Happened, Reply};
use crate::actor::persisting::Lasting;
use crate::actor::prompt_gate::PromptGate;
use crate::assembly::persisted_rules::KeptRules;
use crate::assembly::setup::{Assembly, Layered};
use crate::calls::call::{Bench, Printed, Ready, Stop, overdue};
use crate::calls::environment::Environment;
use crate::calls::events::CallEvent;
use crate::calls::hooks::HookState;
use crate::calls::permissions::RulesAsOf;
use crate::context::reset::Swap;
use crate::journal::catalog_feed::CatalogFeed;
use crate::journal::sidecar::AsideFile;
use crate::journal::{Journal, JournalEvent};
use crate::request::budget::{Leave, Seat};
use crate::request::in_flight::{self as asking, Arrived, Gather};
use crate::request::keys::Keys;
use crate::request::reasoning::Harvests;
use crate::request::shape::Shape;
use crate::viewers::absence::Absence;
use crate::viewers::fanout::{Fanout, Join, Joined};

/// How often subscribers are sent what has grown: the rate of a screen.
const LIVE_FRAME: Duration = Duration::from_millis(20);
/// Messages that are taken in one go.
const GATHER: usize = 256;

/// A call that runs.
pub(crate) struct Running {
    pub printed: Arc<Printed>,
    pub stop: Arc<Stop>,
    pub task: tokio::task::AbortHandle,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Does nothing to a call that has ended. One that is dropped with its actor takes its processes along.
        self.task.abort();
    }
}

/// An answer to a client that waits for the disk.
pub(crate) type HeldReply = (Seq, Box<dyn FnOnce(Result<(), proto::Failure>) + Send>);

pub(crate) struct Actor {
    pub id: SessionId,
    pub epoch: u64,
    pub machine: Machine,
    pub journal: Journal,
    pub fanout: Fanout,
    pub codec: Arc<dyn Codec>,
    pub provider: Arc<dyn Provider>,
    pub prefix: Arc<Prefix>,
    pub bench: Arc<Bench>,
    pub layers: Vec<Layered>,
    /// What is kept for the workspace, beyond the session.
    pub kept_rules: Arc<dyn KeptRules>,
    /// Answers that hold always, whose rules are being written.
    pub lasting: Vec<Lasting>,
    /// The rules as of what stands beside them.
    pub compiled: Option<(RulesAsOf, Arc<RuleSet>)>,
    pub keys: Arc<Keys>,
    pub key_variable: Option<String>,
    pub own_key: Option<Secret>,
    pub catalog: CatalogFeed,
    pub seen: watch::Sender<Seen>,

    pub happened: mpsc::UnboundedSender<Happened>,
    pub arrived: mpsc::Sender<(u64, Arrived)>,
    pub ended: CancellationToken,

    /// The request in flight.
    pub gather: Option<Gather>,
    /// Of the model that `provider` is asked for; `None`: not known.
    pub price: Option<Arc<::catalog::Price>>,
    pub asked: u64,
    /// The newest request that this life of the session has sent.
    pub shape: Option<Arc<Shape>>,
    /// What judged calls will run, until they do.
    pub judged: HashMap<CallId, Ready>,
    /// Calls that start when this record is on disk.
    pub held: Vec<(Seq, proto::item::ToolCall)>,
    pub running: BTreeMap<CallId, Running>,
    pub replies: Vec<HeldReply>,
    pub waiters: Vec<crate::actor::waiters::Waiter>,
    /// Followers that wait to be let in.
    pub joining: Vec<(Join, oneshot::Sender<Result<Joined, Failure>>)>,
    /// Where followers say that they are gone: heard even when the commands' queue is full.
    pub gone: mpsc::UnboundedSender<u64>,
    /// Where each question of this life stands in the log: none is shown before it is durable.
    pub asked_at: HashMap<String, Seq>,
    /// Signals that were taken, and whether there was anything to do.
    pub signalled: VecDeque<(RequestId, bool)>,
    /// What stands beside the checkpoint of a rewind, until its record is made.
    pub rewind_own: Option<String>,
    /// What stands beside the record of a cache reset, until that is made.
    pub reset_own: Option<String>,
    /// Who is asked from that record on.
    pub swap: Option<Box<Swap>>,
    /// The request for a digest, as a job has just made it.
    pub digest_made: Option<Vec<u8>>,
    /// The request for a digest.
    pub digest_request: Option<Arc<[u8]>>,
    /// It was told that earlier bytes of requests are being changed.
    pub told_compacting: bool,
    /// Who waits for the end of a compaction.
    pub compact_reply: Option<Reply<CompactOutput>>,
    pub live_due: Option<tokio::time::Instant>,
    /// What the catalog was told last.
    pub listed: Option<SessionSummary>,
    /// Who waits for the end that the daemon has asked for; none: it has not.
    pub closing: Vec<oneshot::Sender<()>>,
    /// When a session that closes waits no longer for its commands in the background.
    pub children_due: Option<tokio::time::Instant>,
    /// Why commands in the background were stopped that have not ended yet.
    pub stopped: BTreeMap<Pid, String>,
    /// Who waits for the session to be suspended.
    pub suspending: Vec<oneshot::Sender<()>>,
    /// It is handed over: no more work is taken.
    pub leaving: bool,
    pub born: tokio::time::Instant,
    /// From TERM to KILL.
    pub grace_ms: u64,
    pub keeping: Keeping,
    /// What an earlier life kept of an answer, until the machine is recovered.
    pub kept: Option<(ItemId, turn::Answer)>,
    pub absence: Absence,
    pub seen_file: AsideFile,
    /// The newest end of a turn that was not looked at yet.
    pub turn_ended_at: Option<Seq>,
    pub environment: Environment,
    /// What is to be said when this life's first turn begins.
    pub warning: Option<String>,
    /// It leaves memory: told when it has.
    pub parting: Option<oneshot::Sender<Box<Kept>>>,
    pub assembly: Arc<dyn Assembly>,
    pub activity: Arc<Activity>,
    pub hooks: HookState,
    pub gate: PromptGate,
    /// What the session may use.
    pub budget: Seat,
    /// That of the request in flight.
    pub leave: Option<Arc<Leave>>,
    pub harvests: Harvests,
    /// Whether requests to `provider` may say a temperature.
    pub temperature: bool,
}

/// Where an actor's messages come from.
pub(crate) struct Inbox {
    pub commands: mpsc::Receiver<Box<Command>>,
    pub gone: mpsc::UnboundedReceiver<u64>,
    pub happened: mpsc::UnboundedReceiver<Happened>,
    pub arrived: mpsc::Receiver<(u64, Arrived)>,
}

impl Actor {
    /// Lives until the supervisor puts the session away.
    pub async fn run(mut self, mut inbox: Inbox) {
        let (mut happened, mut arrived) = (Vec::new(), Vec::new());
        loop {
            let (frame, keeping, silence) = (self.live_due, self.keeping.due, self.silence_due());
            let children = self.children_due;
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
                    self.command(*command);
                }
                Some(subscriber) = inbox.gone.recv() => self.leave(subscriber),
                () = sleep_until(frame) => self.show_growth(),
                () = sleep_until(keeping) => self.keep(),
                () = sleep_until(silence) => self.tell_silence(),
                () = sleep_until(children) => self.children_due = None,
            }
            self.activity.note();
            if self.parting.is_some() || (self.is_closing() && self.may_end()) {
                break;
            }
        }
        self.end().await;
    }

    pub(crate) fn now(&self) -> Now {
        let mono_ms = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        Now {
            wall: Stamp::now(),
            mono_ms,
        }
    }

    /// Lets the machine decide, and does what it says.
    pub(crate) fn step(&mut self, input: Input) {
        if self.journal.failed.is_some() {
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

    /// What is to be said once, when the first turn of this life is under way.
    pub(crate) fn warn(&mut self, now: Now) -> Vec<turn::Effect> {
        if self.warning.is_none() || self.machine.facts().open.is_none() {
            return Vec::new();
        }
        let text = self.warning.take().unwrap_or_default();
        let level = Level::Warning;
        let notice = Body::Notice(Notice { level, text });
        self.machine.record(notice, now)
    }

    fn take(&mut self, what: Happened) {
        match what {
            Happened::Journal(event) => self.take_journal_event(event),
            Happened::Call(event) => self.take_call_event(event),
            Happened::Cataloged(seq) => {
                if seq == self.journal.index.last() && self.is_settled() {
                    self.journal.unfinished(false);
                    self.journal.flush();
                }
            }
            Happened::Judged {
                call,
                mut judgement,
                ready,
                hooks,
            } => {
                self.hooks_before(&call, hooks);
                self.judged.insert(call.clone(), ready);
                self.attend(&mut judgement);
                self.step(Input::Judged { call, judgement });
            }
            Happened::Harvested { number, found } => self.harvested(number, found),
            Happened::PromptAsked(chain) => self.prompt_asked(chain),
            Happened::EndTold(finished) => self.end_told(finished),
            Happened::HooksRead { read, reply } => self.hooks_read(*read, reply),
            Happened::RetryDue { item, attempt } => self.step(Input::RetryDue { item, attempt }),
            Happened::TimeUp { turn } => {
                let partial = self.partial();
                self.step(Input::TimeUp { turn, partial });
            }
            Happened::RuleKept { approval_id, kept } => self.rule_kept(&approval_id, kept),
            Happened::ResetReady { number, done } => self.reset_ready(number, *done),
            Happened::Rewound(rewound) => self.rewound(*rewound),
            Happened::NotRewound => self.step(Input::NotRewound),
            Happened::Overdue { calls } => {
                for call in calls {
                    if let Some(running) = self.running.remove(&call) {
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
                self.settle_absence();
                // Who sees an event and then asks must find what the event told.
                self.tell_seen();
                self.fanout.release(seq);
                self.start_held();
                self.settle();
            }
            JournalEvent::Failed(reason, trouble) => {
                tracing::error!(session = %self.id, reason, "the log cannot be written; the session is read-only");
                self.journal.fail(reason.clone(), trouble);
                self.fanout.fail(&reason);
                self.stop_unwritable();
                self.settle();
            }
        }
    }

    fn take_call_event(&mut self, event: CallEvent) {
        match event {
            CallEvent::Ended {
                call,
                mut outcome,
                duration_ms,
            } => {
                if outcome.blocked.is_some() && !self.may_be_let_out() {
                    // The model has been told what stopped it, and what a person could do.
                    outcome.blocked = None;
                }
                if let Some(running) = self.running.remove(&call) {
                    self.show_output(&call, &running.printed);
                }
                self.step(Input::CallEnded {
                    call,
                    outcome,
                    duration_ms,
                });
            }
            CallEvent::Printed => self.schedule_frame(),
            CallEvent::FilesChanged => self.step(Input::FilesChanged),
            CallEvent::HooksRan(finished) => self.tell_hooks(finished),
            CallEvent::BackgroundStarted(child) => self.step(Input::ChildSpawned(child)),
            CallEvent::BackgroundExited(child) => self.child_exited(child),
        }
    }

    /// What becomes of an ask depends on who is here now, not on who was when the judging began.
    fn attend(&self, judgement: &mut turn::Judgement) {
        let turn::Judgement::Decided {
            decision,
            unattended,
            action,
            ..
        } = judgement
        else {
            return;
        };
        let on_ask = self.machine.facts().on_ask();
        let attended = self.fanout.attended();
        match action {
            CallAction::AskUser(_) | CallAction::PresentPlan(_) => {
                *unattended = match policy::unasked(on_ask, attended) {
                    true => Unattended::Allow,
                    false => Unattended::Wait,
                };
                return;
            }
            CallAction::Run | CallAction::UpdateTodos(_) | CallAction::CallTool { .. } => {}
        }
        let accept_partial = self.bench.confine.accept_partial;
        *unattended = match policy::unattended(decision, on_ask, attended, accept_partial) {
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
        let stays = policy::stays_inside(&rules, facts.settings.posture, facts.stance());
        stays.is_none() && !policy::unasked(on_ask, self.fanout.attended())
    }

    fn arrive(&mut self, number: u64, what: Arrived) {
        let Some(gather) = self
            .gather
            .as_mut()
            .filter(|gather| gather.number == number)
        else {
            return;
        };
        match what {
            Arrived::Sent(sent) => {
                if let Some(place) = &sent.rewritten {
                    tracing::error!(%place, "earlier bytes of a conversation have changed");
                }
                gather.answer.request_bytes = sent.request_bytes;
                gather.answer.rewritten = sent.rewritten;
                self.shape = sent.shape.or(self.shape.take());
            }
            Arrived::Part(part) => {
                let was_silent = gather.silent_since().is_some();
                let turn = asking::waits_or_sent(&part);
                let whole = gather.take(part);
                if was_silent {
                    self.tell_seen();
                }
                let Some(gather) = self.gather.as_ref() else {
                    return;
                };
                if let Some(turn) = turn {
                    self.step(turn);
                } else if whole {
                    self.show_growth();
                    if let Some(gather) = self.gather.take() {
                        self.answered(gather);
                    }
                } else if gather.has_fresh() {
                    self.schedule_frame();
                }
            }
            Arrived::Sampled { is_in, of } => {
                let status = serde_json::json!({"samples_in": is_in, "samples": of});
                self.live(&Live::Status(status));
            }
            Arrived::Chosen { at, found } => (gather.won, gather.found) = (Some(at), found),
            Arrived::Broke(error) => {
                self.note_samples();
                self.show_growth();
                if let Some(gather) = self.gather.take() {
                    let keyless = gather.keyless;
                    let partial = Box::new(self.weighed(gather.finish(), false));
                    let key_lost = keyless && self.key_was_brought();
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
        let settings = &self.machine.facts().settings;
        let harvests = settings.harvest && !gather.unseen && gather.beside.is_none();
        let around = harvests.then(|| self.around(gather.item.clone()));
        let found = gather.found.take();
        if let Some(books) = &gather.beside {
            books.leave_out(gather.won);
            self.note_spent(books);
        }
        let answer = self.weighed(gather.finish(), true);
        let trace = around.as_ref().map(|_| answer.reasoning.clone());
        self.step(Input::Answered(Box::new(answer)));
        if let Some(found) = found {
            self.note(Body::ReasoningHarvested(found));
        }
        if let (Some(around), Some(trace)) = (around, trace) {
            self.begin_harvest(around, trace);
        }
    }

    /// What has been shown of an answer in progress.
    pub(crate) fn partial(&mut self) -> Option<Box<turn::Answer>> {
        self.show_growth();
        let gather = self.gather.as_ref()?;
        Some(Box::new(gather.answer.clone()))
    }

    /// The key for the next request: what clients brought, then the daemon's own.
    pub(crate) fn key(&self) -> Option<Secret> {
        let variable = self.key_variable.as_ref()?;
        self.keys.get(variable).or_else(|| self.own_key.clone())
    }

    /// Whether a client brought the key when the session was made.
    fn key_was_brought(&self) -> bool {
        let created = self.machine.facts().created.as_ref();
        let brought =
            |variable: &String| created.is_some_and(|created| created.env_names.contains(variable));
        self.key_variable.as_ref().is_some_and(brought)
    }

    /// Goes on where a request waits for a key that is there now.
    pub(crate) fn use_new_key(&mut self) {
        if self.machine.wants_credentials() && self.key().is_some() {
            self.step(Input::CredentialsArrived);
        }
    }

    pub(crate) fn live(&mut self, live: &Live) {
        let facts = self.machine.facts();
        let turn = facts.open.as_ref().map(|open| open.number);
        let after = self.journal.index.last();
        self.fanout.live(after, Stamp::now(), turn, live);
        self.fanout.release(self.journal.index.durable());
    }

    pub(crate) fn schedule_frame(&mut self) {
        if self.live_due.is_none() {
            self.live_due = Some(tokio::time::Instant::now() + LIVE_FRAME);
        }
    }

    /// Sends subscribers what has grown since the last frame.
    pub(crate) fn show_growth(&mut self) {
        self.live_due = None;
        let fresh = self.gather.as_mut().map(Gather::fresh).unwrap_or_default();
        for live in &fresh {
            self.live(live);
        }
        if !fresh.is_empty() {
            self.keep_soon();
        }
        let running: Vec<_> = self
            .running
            .iter()
            .map(|(call, running)| (call.clone(), Arc::clone(&running.printed)))
            .collect();
        for (call, printed) in running {
            self.show_output(&call, &printed);
        }
    }

    fn silence_due(&self) -> Option<tokio::time::Instant> {
        self.gather.as_ref()?.silence_due()
    }

    /// Tells that nothing comes of the answer that is waited for. The session goes on waiting.
    fn tell_silence(&mut self) {
        if let Some(ms) = self.gather.as_mut().map(Gather::tell_silence) {
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

    /// After every change: have it written, tell who waits, keep the lists fresh.
    pub(crate) fn settle(&mut self) {
        if !self.is_settled() {
            self.journal.unfinished(true);
        }
        if self.machine.is_idle() {
            self.judged.clear();
        }
        if self.gather.is_none() {
            self.drop_leave();
        }
        self.drop_hooks();
        self.drop_kept();
        self.journal.flush();
        self.fanout.release(self.journal.index.durable());
        self.answer_held();
        self.answer_joining();
        self.tell_seen();
        self.answer_waiters();
        self.answer_suspending();
    }

    /// Nothing is left to be done. What waits in a session that has exited is not: nothing will ever come of it, unless
    /// somebody says more.
    pub(crate) fn is_settled(&self) -> bool {
        let none_waits = self.machine.facts().queue.is_empty() || self.machine.is_left_behind();
        self.machine.is_idle() && none_waits
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
