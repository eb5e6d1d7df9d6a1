//! Sub-agents in the background: their call returns at once, and their result comes to the parent as a message.
//!
//! The parent's log names those whose result is still to come, so a daemon that starts finds them again. The message has a
//! request id that follows from the sub-agent's session: it comes once, whatever was cut off.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use contract::Outcome;
use contract::tool::Cancel;
use proto::item::CallStatus;
use proto::params::session::Until;
use proto::record::{AgentFinished, AgentStarted, PromptQueued};
use proto::{Body, CallId, Failure, Pid, PromptId, RequestId, SessionId};

use super::fallback::{AgentEnd, Denials, FailedAgent, NeverCancelled, Unseen, with_failures};
use super::life::{AgentWork, Started};
use super::{Place, client_of};
use crate::supervisor::Supervisor;
use crate::tasks;

/// Bytes of a result in a message. More is in the sub-agent's log.
const RESULT_BYTES_MAX: usize = 64 * 1024;
/// How long a sub-agent whose parent has exited may take to stop.
const GRACE_MS: u64 = 2_000;

/// The sub-agents in the background that somebody waits for.
#[derive(Default)]
pub(crate) struct WatchedAgents(Mutex<BTreeSet<SessionId>>);

impl WatchedAgents {
    /// False: somebody does already.
    fn begin(&self, session: SessionId) -> bool {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.insert(session)
    }

    fn end(&self, session: SessionId) {
        let mut watched = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        watched.remove(&session);
    }
}

/// A sub-agent whose result is still to come.
struct BackgroundAgent {
    parent: SessionId,
    call: CallId,
    started: AgentStarted,
    /// Held until it has ended.
    place: Option<Arc<Place>>,
    /// Once it has ended.
    denials: Denials,
}

impl Supervisor {
    /// The outcome of a call whose sub-agent goes on without it.
    pub(super) fn leave_in_background(&self, call: &AgentWork, started: Started) -> Outcome {
        let Started { handle, place, .. } = started;
        let (session, pid) = (handle.id(), handle.pid());
        let agent = call.task.agent.clone();
        let text = format!(
            "The agent `{agent}` works in the background as session {pid}. Its result comes to you as a message; do not wait for it by calls. It ends with this session."
        );
        let started = AgentStarted {
            session,
            pid,
            agent,
        };
        self.watch_agent(BackgroundAgent {
            parent: call.parent,
            call: call.call.clone(),
            started: started.clone(),
            place: Some(place),
            denials: Denials::default(),
        });
        Outcome {
            agent: Some(started),
            ..Outcome::with_status(CallStatus::Ok, text)
        }
    }

    /// Waits again for the sub-agents in the background of the sessions that are loaded.
    pub(crate) async fn watch_background_agents(&self) {
        for handle in self.handles() {
            let parent = handle.id();
            let agents = handle.read(|actor| {
                let facts = actor.machine.facts();
                let created = facts.created.as_ref();
                let above = created.and_then(|created| created.agent.as_ref());
                let depth = above.map_or(0, |agent| agent.depth);
                (depth + 1, facts.background_agents.clone())
            });
            let Ok((depth, agents)) = agents.await else {
                continue;
            };
            for (call, started) in agents.into_values() {
                self.watch_agent(BackgroundAgent {
                    parent,
                    call,
                    started,
                    place: Some(Arc::new(self.places.take_back(parent, depth))),
                    denials: Denials::default(),
                });
            }
        }
    }

    fn watch_agent(&self, agent: BackgroundAgent) {
        let session = agent.started.session;
        let Some(me) = self.me.upgrade() else {
            return;
        };
        if !me.watched_agents.begin(session) {
            return;
        }
        tasks::spawn(async move {
            me.follow_agent(agent).await;
            me.watched_agents.end(session);
        });
    }

    /// Waits for the end of a sub-agent or of its parent, whichever comes first. After a failure its fallback works.
    async fn follow_agent(&self, agent: BackgroundAgent) {
        let (mut current, mut ended_before, mut failed_before) = (agent, Vec::new(), Vec::new());
        let result = loop {
            let Some(mut end) = self.follow_attempt(&current).await else {
                break None;
            };
            current.denials = std::mem::take(&mut end.denials);
            let next = match &end.failure {
                Some(_) => self.next_in_background(&mut current).await,
                None => None,
            };
            let (Some(work), Some(why)) = (next, end.failure) else {
                let name = &current.started.agent;
                let outcome = with_failures(end.outcome, name, &failed_before);
                break Some((outcome, end.worktree));
            };
            failed_before.push(FailedAgent {
                agent: current.started.agent.clone(),
                why,
                worktree: end.worktree,
            });
            let cancel: Arc<dyn Cancel> = Arc::new(NeverCancelled);
            let started = match self.start_agent(&work, &cancel).await {
                Ok(started) => started,
                Err(outcome) => {
                    let name = &work.task.agent;
                    break Some((with_failures(outcome, name, &failed_before), None));
                }
            };
            self.report_fallback(&work, &started, &failed_before).await;
            self.narrow_agents(work.parent).await;
            let next = BackgroundAgent {
                parent: current.parent,
                call: current.call.clone(),
                started: AgentStarted {
                    session: started.handle.id(),
                    pid: started.handle.pid(),
                    agent: work.task.agent,
                },
                place: Some(started.place),
                denials: Denials::default(),
            };
            ended_before.push(std::mem::replace(&mut current, next));
        };
        if let Some((outcome, worktree)) = result
            && let Err(failure) = self.bring_result(&current, &outcome, worktree).await
        {
            // The parent still awaits it: the next daemon tries again.
            let session = current.started.session;
            return tracing::error!(%session, %failure, "the result of a sub-agent was not delivered");
        }
        for agent in ended_before.into_iter().chain([current]) {
            self.note_finished(agent).await;
        }
    }

    /// Waits for the end of one sub-agent. `None`: its parent has exited, and it was stopped.
    async fn follow_attempt(&self, agent: &BackgroundAgent) -> Option<AgentEnd> {
        let session = agent.started.session;
        let mut end = tokio::select! {
            ended = self.agent_ended(session, &Unseen) => {
                Some(AgentEnd::of(&agent.started.agent, ended))
            }
            () = self.parent_exited(agent.parent) => None,
        };
        if end.is_none() {
            self.stop_agent(session, GRACE_MS).await;
        }
        self.exit_agent(session).await;
        let worktree = self.end_worktree(session).await;
        if let Some(end) = &mut end {
            end.worktree = worktree;
        }
        self.release_servers_of(session);
        end
    }

    /// The work of the fallback of an agent in the background that failed, which gives back its place.
    async fn next_in_background(&self, agent: &mut BackgroundAgent) -> Option<AgentWork> {
        let BackgroundAgent {
            parent,
            call,
            started,
            ..
        } = &*agent;
        let work = self.work_of((*parent, call), started.session, &started.agent);
        let next = self.fallback_of(&work.await?).await?;
        agent.place = None;
        Some(next)
    }

    /// Returns when the parent has exited, or is gone.
    async fn parent_exited(&self, parent: SessionId) {
        loop {
            let Ok(handle) = self.load(parent).await else {
                return self.never_when_closing().await;
            };
            match handle.wait(Until::Exit).await {
                Ok(_) => return,
                // It leaves memory: it is loaded again.
                Err(_) => self.never_when_closing().await,
            }
        }
    }

    async fn bring_result(
        &self,
        agent: &BackgroundAgent,
        outcome: &Outcome,
        worktree: Option<String>,
    ) -> Result<(), Failure> {
        let AgentStarted {
            session,
            pid,
            agent: name,
        } = &agent.started;
        let mut text = result_text(name, *pid, outcome);
        if let Some(worktree) = worktree {
            text.push_str("\n\n");
            text.push_str(&worktree);
        }
        let prompt = PromptQueued {
            untyped: Vec::new(),
            from: Some(*pid),
            added: None,
            prompt_id: PromptId::new(),
            text,
            steer: true,
            on_ask: None,
            references: None,
            by: client_of(*pid).name,
            request_id: Some(RequestId(session.0)),
        };
        self.deliver(agent.parent, prompt).await
    }

    /// Gives a session the message of another one. Returns when it is on disk.
    pub(super) async fn deliver(&self, to: SessionId, prompt: PromptQueued) -> Result<(), Failure> {
        loop {
            let handle = self.load(to).await?;
            let message = prompt.clone();
            let delivered = handle
                .change(|actor, reply| actor.deliver(message, reply))
                .await;
            match delivered {
                Ok(_) => return Ok(()),
                // It may have left memory between the two.
                Err(_) if self.is_gone(&handle) => self.never_when_closing().await,
                Err(failure) => return Err(failure),
            }
        }
    }

    /// Whether this life of a session is over.
    pub(super) fn is_gone(&self, handle: &crate::actor::handle::SessionHandle) -> bool {
        let loaded = self.handles();
        !loaded.iter().any(|other| other.is(handle))
    }

    /// The parent's log says that it has ended, and what it used.
    async fn note_finished(&self, agent: BackgroundAgent) {
        let BackgroundAgent {
            parent,
            call,
            started,
            denials,
            ..
        } = agent;
        let finished = AgentFinished {
            call,
            session: started.session,
            pid: started.pid,
            agent: started.agent,
            spent: self.spent_by_agent(parent, started.session).await,
            denied: denials.denied,
            blocked: denials.blocked,
        };
        if let Ok(handle) = self.load(parent).await {
            // A log that takes no records has no use for it.
            let _ = handle
                .read(|actor| actor.note(Body::AgentFinished(finished)))
                .await;
        }
    }
}

/// What the parent's model reads.
fn result_text(name: &str, pid: Pid, outcome: &Outcome) -> String {
    let text = &outcome.text;
    let end = text.floor_char_boundary(RESULT_BYTES_MAX);
    let cut = match end < text.len() {
        true => "\n(cut: the rest is in its log)",
        false => "",
    };
    let how = match outcome.status {
        CallStatus::Ok => "has finished",
        _ => "has ended without finishing",
    };
    format!(
        "The agent `{name}` in the background (session {pid}) {how}. Its result:\n\n{}{cut}",
        &text[..end]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_result_is_cut_between_letters() {
        let outcome = Outcome::with_status(CallStatus::Ok, "ä".repeat(RESULT_BYTES_MAX));
        let text = result_text("explore", Pid(7), &outcome);
        assert!(
            text.starts_with("The agent `explore` in the background (session 7) has finished.")
        );
        assert!(
            text.ends_with("ä\n(cut: the rest is in its log)"),
            "{}",
            text.len()
        );
        let failed = result_text("explore", Pid(7), &Outcome::failed("No."));
        assert!(failed.ends_with("has ended without finishing. Its result:\n\nNo."));
    }
}
