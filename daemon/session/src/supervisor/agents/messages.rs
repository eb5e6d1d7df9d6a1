//! Messages between the sessions of one tree: of a session that a client started, and the sub-agents below it.
//!
//! The sender's log has the call, the receiver's the message, which comes like steering. A call that is made again after a
//! crash sends nothing twice: the message's request id follows from it.

use contract::Outcome;
use proto::item::CallStatus;
use proto::record::PromptQueued;
use proto::{CallId, Failure, Pid, PromptId, RequestId, SessionId};

use super::life::failed;
use super::{client_of, session_of};
use crate::supervisor::Supervisor;

/// Sessions above one another. More than sub-agents nest, in case a log says otherwise.
const ABOVE_MAX: usize = 16;

impl Supervisor {
    /// Carries out a call of `session_send`.
    pub(super) async fn send_message(
        &self,
        from: SessionId,
        call: CallId,
        to: Pid,
        text: String,
    ) -> Outcome {
        match self.try_send(from, &call, to, text).await {
            Ok(outcome) => outcome,
            Err(failure) => failed(&failure),
        }
    }

    async fn try_send(
        &self,
        from: SessionId,
        call: &CallId,
        to: Pid,
        text: String,
    ) -> Result<Outcome, Failure> {
        let sender = self.load(from).await?;
        // The message must not be there without the call that sends it.
        sender
            .ask(|actor, reply| actor.reply_when_durable(reply))
            .await?;
        let stranger = || {
            let text = format!(
                "Session {to} does not work with this one: messages go to the session that started this one, and to the agents below that session."
            );
            Ok(Outcome::refused(text))
        };
        let Ok(receiver) = self.find_id(&to.to_string()).await else {
            return stranger();
        };
        if receiver == from {
            return Ok(Outcome::refused("This is your own session."));
        }
        if self.root_of_tree(from).await? != self.root_of_tree(receiver).await? {
            return stranger();
        }
        let pid = sender.pid();
        let prompt = PromptQueued {
            untyped: Vec::new(),
            from: Some(pid),
            added: None,
            prompt_id: PromptId::new(),
            text,
            steer: true,
            on_ask: None,
            references: None,
            by: client_of(pid).name,
            request_id: Some(RequestId(session_of(from, call).0)),
        };
        match self.deliver(receiver, prompt).await {
            Ok(()) => Ok(Outcome::with_status(
                CallStatus::Ok,
                format!("Sent. Session {to} reads it before its next request."),
            )),
            Err(failure) => Ok(Outcome::failed(format!("Not sent: {}", failure.message))),
        }
    }

    /// The session at the top of a tree.
    async fn root_of_tree(&self, session: SessionId) -> Result<SessionId, Failure> {
        let mut top = session;
        for _ in 0..ABOVE_MAX {
            let handle = self.load(top).await?;
            match handle.read(|actor| actor.parent()).await? {
                Some(parent) => top = parent,
                None => break,
            }
        }
        Ok(top)
    }
}
