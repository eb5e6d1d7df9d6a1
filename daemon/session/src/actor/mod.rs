//! The actor of one session: gather what happened, let the machine decide, do it.
//!
//! Owns everything of the session that changes. Never waits for the disk, a client, a model or a tool: their ends come
//! back as messages.

mod answers;
pub(crate) mod commands;
pub(crate) mod departure;
pub(crate) mod effects;
pub(crate) mod handle;
mod happened;
pub(crate) mod hooks;
pub(crate) mod inbox;
pub(crate) mod judging;
pub(crate) mod life;
mod live;
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
mod unattended;
pub(crate) mod waiters;

use std::sync::Arc;

use proto::record::{Level, Notice};
use proto::{Body, SessionId, Stamp};
use tokio::sync::mpsc;
use turn::{Input, Machine, Now};

use crate::actor::commands::interactions::InteractionState;
use crate::actor::commands::prompt_gate::PromptGate;
use crate::actor::inbox::{Command, Happened};
use crate::actor::life::Life;
use crate::actor::publish::Publisher;
use crate::actor::replies::Replies;
use crate::assembly::setup::Assembly;
use crate::calls::hooks::HookState;
use crate::calls::state::CallState;
use crate::context::ResetState;
use crate::journal::Journal;
use crate::request::Requests;
use crate::request::in_flight::Arrived;
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
    /// Lives until the supervisor puts the session away. Boxed: a future of an `async fn` has room for its arguments twice.
    pub async fn run(mut self: Box<Self>, mut inbox: Inbox) {
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
                () = sleep_until(silence) => self.report_silence(),
                () = sleep_until(background) => self.calls.set_background_due(None),
                () = sleep_until(gathered) => {
                    self.journal.gather_no_more();
                    self.flush();
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
        // A client that sees an event and then asks must find the state that the event reported. Before `flush`, which keeps
        // another state in the place of that one.
        self.tell_seen();
        self.viewers.release(self.journal.durable());
        self.flush();
        self.answer_held();
        self.answer_joining();
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
