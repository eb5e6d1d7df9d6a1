//! What clients want of a session, and when they get their answer.

use std::collections::VecDeque;

use proto::params::Empty;
use proto::params::session::SessionSummary;
use proto::record::{Level, Notice, SessionSet};
use proto::{Body, ErrorName, Failure, RequestId, Seq, SessionOptions};
use turn::Input;
use turn::facts::{RequestResult, content_of_set};

use crate::actor::Actor;
use crate::actor::inbox::Reply;
use crate::actor::waiters::Waiter;
use crate::assembly::options;
use crate::tasks;

/// Answers to clients that wait for something.
#[derive(Default)]
pub(crate) struct Replies {
    /// Wait for a record to be on disk.
    pub(super) held: Vec<HeldReply>,
    /// Wait for a turn's end, a question, or the session's end.
    pub(super) waiters: Vec<Waiter>,
    /// Signals that were taken, and whether there was anything to do.
    pub(super) signalled: VecDeque<(RequestId, bool)>,
}

/// An answer to a client that waits for the disk.
type HeldReply = (Seq, Box<dyn FnOnce(Result<(), Failure>) + Send>);

impl Actor {
    /// Why nothing can be changed, if that is so.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        if let Some(closed) = self.journal.closed() {
            return Some(closed.refusal());
        }
        (self.life.handed_over || self.is_closing()).then(tasks::shutting_down)
    }

    /// What a `request_id` led to, if it was used before: the same content gets the same answer.
    pub(crate) fn repeated(
        &self,
        id: Option<RequestId>,
        content: &str,
    ) -> Option<Result<RequestResult, Failure>> {
        let done = self.machine.facts().requests.get(&id?)?;
        Some(if done.content == content {
            Ok(done.clone())
        } else {
            Err(Failure::new(
                ErrorName::RequestIdReused,
                "This request id was already used for another request.",
                "Use a new id for each request.",
            ))
        })
    }

    /// Whom to answer when a request has been carried out. `None`: it was carried out already, and is answered like then, or
    /// its `request_id` was used for another one, and it is refused.
    pub(crate) fn unless_repeated(
        &mut self,
        id: Option<RequestId>,
        content: &str,
        reply: Reply<Empty>,
    ) -> Option<Reply<Empty>> {
        match self.repeated(id, content) {
            Some(Ok(done)) => self.reply_when(done.seq, reply, Empty {}),
            Some(Err(failure)) => refuse(reply, failure),
            None => return Some(reply),
        }
        None
    }

    pub(crate) fn set(
        &mut self,
        set: SessionSet,
        notice: Option<String>,
        reply: Reply<SessionSummary>,
    ) {
        let content = format!("set {}", content_of_set(&set));
        let repeated = self.repeated(set.request_id, &content);
        let malformed = options::check_change(&set.options)
            .and_then(|()| self.check_budget(&set.options))
            .and_then(|()| self.check_latitude(&set.options))
            .err();
        if let Some(refusal) = self.refusal().or(match &repeated {
            Some(Err(failure)) => Some(failure.clone()),
            Some(Ok(_)) => None,
            None => malformed,
        }) {
            return refuse(reply, refusal);
        }
        if repeated.is_none() {
            self.step(Input::Set(Box::new(set)));
            if let Some(text) = notice {
                let level = Level::Info;
                let effects = self
                    .machine
                    .record(Body::Notice(Notice { level, text }), self.now());
                self.perform(effects);
            }
        }
        let seq = self.machine.facts().seq;
        match self.summary() {
            Some(summary) => self.reply_when(seq, reply, summary),
            None => refuse(
                reply,
                Failure::new(ErrorName::Internal, "The session has no first record.", ""),
            ),
        }
    }

    /// Checks that a sub-agent is not widened.
    fn check_latitude(&self, change: &SessionOptions) -> Result<(), Failure> {
        match self.parent() {
            Some(_) => options::check_agent_change(&self.machine.facts().options, change),
            None => Ok(()),
        }
    }

    /// Checks a budget against the present model. One that comes with another model was checked with it.
    pub(crate) fn check_budget(&self, change: &SessionOptions) -> Result<(), Failure> {
        let model = self.machine.facts().options.model.as_deref();
        let is_priced = change.model.is_some() || self.requests.route().price.is_some();
        options::check_budget(change.budget, model.unwrap_or_default(), is_priced)
    }

    pub(crate) fn close(&mut self, reply: Reply<Empty>) {
        let busy = !self.machine.is_idle();
        let refusal = self.refusal().or_else(|| {
            busy.then(|| {
                let (what, hint) = match self.machine.is_rewinding() {
                    true => (
                        "The session is rewinding to an earlier turn.",
                        "Try again in a moment.",
                    ),
                    false => (
                        "A turn is running.",
                        "Interrupt it first, or send TERM to end the turn and the session.",
                    ),
                };
                Failure::new(ErrorName::Busy, what, hint)
            })
        });
        if let Some(refusal) = refusal {
            return refuse(reply, refusal);
        }
        self.drop_extractions();
        self.step(Input::Close { request_id: None });
        self.reply_when(self.machine.facts().seq, reply, Empty {});
    }

    /// Answers when the record is on disk: acknowledged means durable (I3).
    pub(crate) fn reply_when<T: Send + 'static>(&mut self, seq: Seq, reply: Reply<T>, output: T) {
        let send = move |written: Result<(), Failure>| {
            // The caller may be gone; its request is carried out all the same.
            let _ = reply.send(written.map(|()| output));
        };
        self.replies.held.push((seq, Box::new(send)));
        self.answer_held();
    }

    pub(crate) fn answer_held(&mut self) {
        let durable = self.journal.durable();
        let failed = self.journal.is_closed();
        for (seq, send) in std::mem::take(&mut self.replies.held) {
            if seq <= durable {
                send(Ok(()));
            } else if failed {
                let refusal = self.refusal();
                send(Err(refusal.unwrap_or_else(|| {
                    Failure::new(ErrorName::Storage, "The record could not be written.", "")
                })));
            } else {
                self.replies.held.push((seq, send));
            }
        }
    }
}

pub(crate) fn refuse<T>(reply: Reply<T>, failure: Failure) {
    // A caller that is gone needs no refusal.
    let _ = reply.send(Err(failure));
}
