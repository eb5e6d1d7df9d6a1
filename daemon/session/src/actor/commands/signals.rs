//! Signals: what stops a turn or the session is acknowledged at once; what the log keeps, when it is on disk.

use proto::params::session::{Signal, SignalOutput};
use proto::record::SessionSet;
use proto::{Failure, RequestId};
use turn::facts::content_of_set;
use turn::{Input, StopReason};

use crate::actor::Actor;
use crate::actor::handle::SessionHandle;
use crate::actor::inbox::Reply;
use crate::actor::replies::refuse;

/// Signals that are remembered by their `request_id`.
const SIGNALS_KEPT: usize = 64;

impl Actor {
    pub(crate) fn signal(
        &mut self,
        signal: Signal,
        request_id: Option<RequestId>,
        by: String,
        reply: Reply<SignalOutput>,
    ) {
        // A signal that is sent again because its answer was lost must not hit the next turn.
        let taken = self
            .replies
            .signalled
            .iter()
            .find(|(id, _)| Some(*id) == request_id);
        if let Some((_, delivered)) = taken {
            let output = delivery(*delivered);
            return match signal {
                Signal::Pause | Signal::Resume => {
                    self.reply_when(self.machine.facts().seq, reply, output);
                }
                Signal::Int | Signal::Term | Signal::Kill => {
                    let _ = reply.send(Ok(output));
                }
            };
        }
        match signal {
            Signal::Int => self.stop(StopReason::User, request_id, reply),
            Signal::Term => self.stop(StopReason::Term, request_id, reply),
            Signal::Kill => self.stop(StopReason::Kill, request_id, reply),
            Signal::Pause => self.pause((true, false), request_id, by, reply),
            Signal::Resume => self.pause((false, false), request_id, by, reply),
        }
    }

    /// A pause for the whole tree, or its end, as far as it concerns this session.
    pub(crate) fn pause_for_tree(
        &mut self,
        paused: bool,
        request_id: Option<RequestId>,
        by: String,
        reply: Reply<SignalOutput>,
    ) {
        self.pause((paused, true), request_id, by, reply);
    }

    fn remember_signal(&mut self, request_id: Option<RequestId>, delivered: bool) {
        let Some(id) = request_id else { return };
        self.replies.signalled.push_back((id, delivered));
        if self.replies.signalled.len() > SIGNALS_KEPT {
            self.replies.signalled.pop_front();
        }
    }

    fn stop(
        &mut self,
        reason: StopReason,
        request_id: Option<RequestId>,
        reply: Reply<SignalOutput>,
    ) {
        let exits = matches!(reason, StopReason::Term | StopReason::Kill);
        let exited = self.machine.facts().exited.is_some();
        // Whatever the machine of a closed session believes, nothing of it runs, and nothing can be written.
        let closed = self.journal.is_closed();
        let steps = !closed && (!self.machine.is_idle() || (exits && !exited));
        let commands = reason == StopReason::User && self.interrupt_user_command();
        let delivered = self.refuse_gated(reason) || steps || commands;
        self.remember_signal(request_id, delivered);
        if exits {
            self.drop_extractions();
        }
        if steps {
            let partial = self.partial();
            self.step(Input::Stop { reason, partial });
        }
        // Acknowledged at once: events report the outcome.
        let _ = reply.send(Ok(delivery(delivered)));
    }

    fn pause(
        &mut self,
        (paused, tree): (bool, bool),
        request_id: Option<RequestId>,
        by: String,
        reply: Reply<SignalOutput>,
    ) {
        let set = SessionSet {
            paused: Some(paused),
            tree: (paused && tree).then_some(true),
            ..SessionSet::default()
        };
        let content = format!("set {}", content_of_set(&set));
        match self.repeated(request_id, &content) {
            Some(Ok(done)) => {
                return self.reply_when(done.seq, reply, delivery(true));
            }
            Some(Err(failure)) => return refuse(reply, failure),
            None => {}
        }
        if let Some(refusal) = self.refusal() {
            return refuse(reply, refusal);
        }
        let before = self.machine.facts().seq;
        self.step(Input::Pause {
            paused,
            tree,
            by,
            request_id,
        });
        // A machine that was there already writes nothing.
        let seq = self.machine.facts().seq;
        let delivered = seq > before;
        self.remember_signal(request_id, delivered);
        self.reply_when(seq, reply, delivery(delivered));
    }
}

fn delivery(delivered: bool) -> SignalOutput {
    SignalOutput {
        delivered,
        agents: Vec::new(),
    }
}

impl SessionHandle {
    /// Sends a signal. Answers at once; `PAUSE` and `RESUME` when they are on disk. `delivered`: there was something to
    /// do.
    ///
    /// # Errors
    /// The session has left memory; for `PAUSE` and `RESUME` also `storage`, `request_id_reused`.
    pub async fn signal(
        &self,
        signal: Signal,
        request_id: Option<RequestId>,
        by: String,
    ) -> Result<SignalOutput, Failure> {
        let send = move |actor: &mut Actor, reply| actor.signal(signal, request_id, by, reply);
        match signal {
            // In a closed session there is nothing to interrupt.
            Signal::Int => self.ask(send).await,
            Signal::Resume => {
                self.check_directory(request_id).await?;
                self.change(send).await
            }
            Signal::Pause | Signal::Term | Signal::Kill => self.change(send).await,
        }
    }

    /// Pauses the session for the whole tree, or ends that. Answers when it is on disk.
    ///
    /// # Errors
    /// As `signal`.
    pub(crate) async fn pause_for_tree(
        &self,
        paused: bool,
        request_id: Option<RequestId>,
        by: String,
    ) -> Result<SignalOutput, Failure> {
        self.change(move |actor: &mut Actor, reply| {
            actor.pause_for_tree(paused, request_id, by, reply);
        })
        .await
    }
}
