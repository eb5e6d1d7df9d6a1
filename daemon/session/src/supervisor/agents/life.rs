//! One sub-agent's life: it waits for its place, is created or found again, works, and ends with its call.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::tool::{Cancel, Progress};
use contract::{AgentTask, Outcome, Tool};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::budget::Spent;
use proto::item::CallStatus;
use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::params::session::{Signal, Until, WaitOutput, When};
use proto::params::worktree::WorktreeState;
use proto::record::{AgentFinished, AgentOf, PromptQueued, PromptReferences};
use proto::{CallId, Failure, PromptId, SessionId};
use tokio::time::{Instant, sleep};

use super::fallback::{AgentEnd, FailedAgent, with_failures};
use super::order::{Order, order};
use super::{Parent, Place, client_of, no_such_agent, session_at};
use crate::actor::Actor;
use crate::actor::commands::agents::{AgentProgress, AgentTerms};
use crate::actor::handle::SessionHandle;
use crate::calls::events::CallEvent;
use crate::reporter::Reporter;
use crate::supervisor::Supervisor;
use crate::supervisor::worktrees::{self, WorktreeSource};
use crate::tasks::{self, blocking};

/// How long a sub-agent that got a stop request is waited for, beyond what its own calls get.
const STOPPING: Duration = Duration::from_millis(2_000);

/// How long a session that has exited may take until it can leave memory: its last records are on their way to the disk.
const SETTLES: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(10);

/// What a sub-agent is to do, and for which call.
#[derive(Clone)]
pub(crate) struct AgentWork {
    pub parent: SessionId,
    pub call: CallId,
    pub task: AgentTask,
    /// 0: the agent that the call names works; then its fallbacks, one after the other.
    pub attempt: u32,
}

/// A call that has a sub-agent do its work.
pub(crate) struct AgentCall {
    pub work: AgentWork,
    pub progress: Arc<dyn Progress>,
    pub cancel: Arc<dyn Cancel>,
    pub reporter: Reporter<CallEvent>,
}

/// A sub-agent that is there.
pub(super) struct Started {
    pub handle: SessionHandle,
    /// It was not there before.
    pub is_new: bool,
    /// Held as long as it works.
    pub place: Arc<Place>,
}

pub(super) fn interrupted(text: &str) -> Outcome {
    Outcome::with_status(CallStatus::Interrupted, text)
}

pub(super) fn failed(failure: &Failure) -> Outcome {
    let said = format!(
        "The agent could not start: {} {}",
        failure.message, failure.hint
    );
    Outcome::failed(said.trim_end())
}

impl Supervisor {
    /// Runs the sub-agent of a call to its end, and after a failure its fallbacks.
    pub(super) async fn run_agent(&self, call: AgentCall) -> Outcome {
        let mut work = call.work.clone();
        let mut failed_before = Vec::new();
        loop {
            let end = self.run_attempt(&call, &work, &failed_before).await;
            let next = match &end.failure {
                Some(_) => self.fallback_of(&work).await,
                None => None,
            };
            let (Some(next), Some(why)) = (next, end.failure) else {
                let outcome = with_failures(end.outcome, &work.task.agent, &failed_before);
                let text = match end.worktree {
                    Some(worktree) => format!("{}\n\n{worktree}", outcome.text),
                    None => outcome.text,
                };
                return Outcome { text, ..outcome };
            };
            failed_before.push(FailedAgent {
                agent: work.task.agent,
                why,
                worktree: end.worktree,
            });
            work = next;
        }
    }

    /// Runs one sub-agent of a call to its end.
    async fn run_attempt(
        &self,
        call: &AgentCall,
        work: &AgentWork,
        failed_before: &[FailedAgent],
    ) -> AgentEnd {
        let started = match self.start_agent(work, &call.cancel).await {
            Ok(started) => started,
            Err(outcome) => return AgentEnd::not_started(outcome),
        };
        self.report_fallback(work, &started, failed_before).await;
        // Its parent may have been narrowed while it was created.
        self.narrow_agents(work.parent).await;
        let handle = &started.handle;
        let (session, pid) = (handle.id(), handle.pid());
        let agent = &work.task.agent;
        if work.task.background {
            return AgentEnd::without_failure(self.leave_in_background(work, started));
        }
        call.progress.output(&format!("session {pid} ({agent})\n"));
        let ended = tokio::select! {
            ended = self.agent_ended(session, &*call.progress) => Some(ended),
            () = call.cancel.cancelled() => None,
        };
        let mut end = match ended {
            Some(ended) => AgentEnd::of(agent, ended),
            None => {
                self.stop_agent(session, call.cancel.grace_ms()).await;
                let outcome = interrupted("The agent was stopped with this call.");
                AgentEnd::without_failure(outcome)
            }
        };
        self.exit_agent(session).await;
        end.worktree = self.end_worktree(session).await;
        call.reporter
            .report(CallEvent::AgentFinished(AgentFinished {
                call: work.call.clone(),
                session,
                pid,
                agent: agent.clone(),
                spent: self.spent_by_agent(work.parent, session).await,
                denied: end.denials.denied.clone(),
                blocked: end.denials.blocked,
            }));
        self.release_servers_of(session);
        end
    }

    /// Creates the sub-agent of a call, or finds the one that it had before the daemon's end.
    pub(super) async fn start_agent(
        &self,
        call: &AgentWork,
        cancel: &Arc<dyn Cancel>,
    ) -> Result<Started, Outcome> {
        let parent = self.load(call.parent).await.map_err(|why| failed(&why))?;
        // It has a log of its own, which must never be there without the call that it works for.
        let on_disk = parent
            .ask(|actor, reply| actor.reply_when_durable(reply))
            .await;
        on_disk.map_err(|why| failed(&why))?;
        let terms = parent.read(|actor| actor.agent_terms()).await;
        let terms = terms.map_err(|why| failed(&why))?;
        let terms = terms.ok_or_else(|| Outcome::failed("The session has no first record."))?;
        let above = terms.created.agent.as_ref().map_or(0, |agent| agent.depth);
        let (session, depth) = (session_at(call.parent, &call.call, call.attempt), above + 1);
        if self.exists(session).await.map_err(|why| failed(&why))? {
            let place = Arc::new(self.places.take_back(call.parent, depth));
            let handle = self.load(session).await.map_err(|why| failed(&why))?;
            self.prompt_again(call, &terms, &handle).await?;
            return Ok(Started {
                handle,
                is_new: false,
                place,
            });
        }
        let (found, models) = self.definitions(&terms).await.map_err(|why| failed(&why))?;
        let Some(definition) = found.named(&call.task.agent) else {
            return Err(no_such_agent(&call.task.agent, &found));
        };
        let mut order = order(definition, &terms, &models, session, depth, &call.task)?;
        let place = tokio::select! {
            place = self.places.take(call.parent, depth) => place.map_err(|why| failed(&why))?,
            () = cancel.cancelled() => {
                return Err(interrupted("Not run: the call was stopped before the agent started."));
            }
        };
        if order.worktree {
            let source = WorktreeSource {
                workspace: Arc::clone(&terms.call_environment.workspace),
                search_path: terms.env.get("PATH").cloned().unwrap_or_default(),
            };
            let made = self.make_worktree(session, source).await;
            let cwd = made.map_err(|why| failed(&why))?;
            order.params.cwd = cwd.to_string_lossy().into_owned();
        }
        let created = match self.mount_servers_of(&order, cancel).await {
            Ok(tools) => {
                let place = Arc::new(place);
                self.create_agent(call, &terms, order, (place, tools)).await
            }
            Err(_) if cancel.is_cancelled() => Err(interrupted(
                "Not run: the call was stopped while the agent's MCP servers started.",
            )),
            Err(failure) => Err(failed(&failure)),
        };
        if created.is_err() && matches!(self.exists(session).await, Ok(false)) {
            self.discard_worktree(session).await;
        }
        created
    }

    /// Gives a sub-agent its task again if a crash kept it out of its log: only the first of its first records is there.
    async fn prompt_again(
        &self,
        call: &AgentWork,
        terms: &AgentTerms,
        handle: &SessionHandle,
    ) -> Result<(), Outcome> {
        let is_without = handle.read(|actor| {
            let facts = actor.machine.facts();
            facts.turns == 0 && facts.queue.is_empty() && facts.exited.is_none()
        });
        if !is_without.await.unwrap_or(false) {
            return Ok(());
        }
        let prompt = PromptQueued {
            untyped: Vec::new(),
            from: None,
            added: None,
            references: references_of(&call.task),
            on_ask: None,
            prompt_id: PromptId::new(),
            text: call.task.prompt.clone(),
            steer: false,
            by: client_of(terms.created.pid).name,
            request_id: None,
        };
        let keys = Arc::clone(&terms.keys);
        let given = handle.change(move |actor, reply| {
            actor.requests.keys().fill_from(&keys);
            actor.prompt(prompt, When::Queue, Vec::new(), reply);
        });
        given.await.map(drop).map_err(|why| failed(&why))
    }

    /// Starts the MCP servers of a new sub-agent alone. `None`: it has none of its own.
    async fn mount_servers_of(
        &self,
        order: &Order,
        cancel: &Arc<dyn Cancel>,
    ) -> Result<Option<Vec<Arc<dyn Tool>>>, Failure> {
        if order.mcp_servers.is_empty() {
            return Ok(None);
        }
        let assembly = Arc::clone(&self.services.assembly);
        let (cwd, names) = (PathBuf::from(&order.params.cwd), order.mcp_servers.clone());
        let cancel = Arc::clone(cancel);
        let mounted = blocking(move || assembly.mount_servers(&cwd, &names, &*cancel)).await?;
        mounted.map(Some)
    }

    pub(super) async fn create_agent(
        &self,
        call: &AgentWork,
        terms: &AgentTerms,
        order: Order,
        (place, server_tools): (Arc<Place>, Option<Vec<Arc<dyn Tool>>>),
    ) -> Result<Started, Outcome> {
        let creating_now = self.places.begin_creating();
        // After that: a pause of the tree that comes now waits for this sub-agent, and pauses it.
        let above = self.load(call.parent).await.map_err(|why| failed(&why))?;
        let paused = above.read(|actor| actor.machine.facts().tree_paused).await;
        let parent = Parent {
            paused: paused.map_err(|why| failed(&why))?,
            pid: terms.created.pid,
            agent: AgentOf {
                parent: call.parent,
                call: call.call.clone(),
                name: call.task.agent.clone(),
                description: call.task.description.clone(),
                depth: place.depth(),
                mcp_servers: order.mcp_servers.clone(),
            },
            server_tools,
            keys: Arc::clone(&terms.keys),
            budget: terms.budget,
            references: references_of(&call.task),
            _place: Arc::clone(&place),
        };
        let Some(me) = self.me.upgrade() else {
            return Err(interrupted("Not run: the daemon is stopping."));
        };
        let session = order.params.session;
        // In a task of its own: half a session, because the call was given up, would be in the way of the next.
        let creating: BoxFuture<'static, _> = async move {
            let client = client_of(parent.pid);
            let Order {
                params, profile, ..
            } = order;
            me.create_for(params, &client, &profile, Some(&parent))
                .await
        }
        .boxed();
        let made = tasks::shielded(creating).await;
        drop(creating_now);
        made.and_then(|made| made).map_err(|why| failed(&why))?;
        let handle = self.load(session).await.map_err(|why| failed(&why))?;
        Ok(Started {
            handle,
            is_new: true,
            place,
        })
    }

    /// Waits until a sub-agent has done its work, whatever becomes of its life in memory meanwhile.
    pub(super) async fn agent_ended(
        &self,
        session: SessionId,
        progress: &dyn Progress,
    ) -> Result<WaitOutput, Failure> {
        loop {
            let handle = match self.load(session).await {
                Ok(handle) => handle,
                Err(failure) => {
                    self.never_when_closing().await;
                    return Err(failure);
                }
            };
            let waited = tokio::select! {
                waited = handle.wait(Until::Turn) => waited,
                () = show_progress(&handle, progress) => continue,
            };
            match waited {
                Ok(waited) => return Ok(waited),
                // It leaves memory: it is loaded again.
                Err(_) => self.never_when_closing().await,
            }
        }
    }

    /// A daemon that stops says nothing of a sub-agent's end: the next one finds it again. Then the call waits until it
    /// is stopped itself.
    pub(super) async fn never_when_closing(&self) {
        if self.refuse_when_closing().is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Stops a sub-agent whose call is to stop.
    pub(super) async fn stop_agent(&self, session: SessionId, grace_ms: u64) {
        // Of a daemon that stops each session is told by itself.
        let Ok(handle) = self.load(session).await else {
            return;
        };
        let signal = if grace_ms == 0 {
            Signal::Kill
        } else {
            Signal::Term
        };
        let by = "its parent".to_owned();
        if handle.signal(signal, None, by).await.is_ok() {
            let patience = STOPPING + Duration::from_millis(grace_ms);
            let exits = handle.wait(Until::Exit);
            // It goes on stopping; only the call does not wait for ever.
            let _ = tokio::time::timeout(patience, exits).await;
        }
    }

    /// Ends the session of a sub-agent that has done its work. One that somebody gives another prompt goes on.
    pub(super) async fn exit_agent(&self, session: SessionId) {
        if let Ok(handle) = self.load(session).await {
            // It may have exited by itself.
            let _ = handle.close().await;
        }
    }

    /// Has the MCP servers that ran for a sub-agent alone end: its session leaves memory, and starts them again if it is
    /// continued. Returns at once.
    pub(super) fn release_servers_of(&self, session: SessionId) {
        let Some(me) = self.me.upgrade() else {
            return;
        };
        tasks::spawn(async move {
            let due = Instant::now() + SETTLES;
            while let Some(handle) = me.slots.loaded(session) {
                let has_own = handle.read(|actor| {
                    let created = actor.machine.facts().created.as_ref();
                    let agent = created.and_then(|created| created.agent.as_ref());
                    agent.is_some_and(|agent| !agent.mcp_servers.is_empty())
                });
                // One that somebody follows leaves when it is idle.
                if !has_own.await.unwrap_or(false)
                    || me.evict(&handle).await
                    || Instant::now() > due
                {
                    return;
                }
                sleep(LOOK).await;
            }
        });
    }

    /// What a sub-agent used that has exited. Its session may have left memory since.
    pub(super) async fn spent_by_agent(&self, parent: SessionId, agent: SessionId) -> Spent {
        let known = || self.services.ledger.spent_by_agent(parent, agent);
        if let Some(spent) = known() {
            return spent;
        }
        // Both were away: it is counted again as soon as it is back.
        let (_parent, _agent) = (self.load(parent).await, self.load(agent).await);
        known().unwrap_or_default()
    }

    /// Ends the worktree of a sub-agent that has exited. Returns the text for the parent's model.
    pub(super) async fn end_worktree(&self, session: SessionId) -> Option<String> {
        let report = self.settle_worktree(session).await?;
        // One that somebody gave another prompt goes on.
        let has_ended = report.state != WorktreeState::InUse;
        has_ended.then(|| worktrees::text_for_parent(&report))
    }

    /// Ends sub-agents whose call the daemon before this one left, and that no call waits for any more.
    pub(crate) async fn end_lost_agents(&self) {
        for handle in self.handles() {
            let Ok(Some(terms)) = handle.read(|actor| actor.agent_terms()).await else {
                continue;
            };
            let Some(agent) = terms.created.agent else {
                continue;
            };
            let awaited = match self.load(agent.parent).await {
                Ok(parent) => {
                    let (call, session) = (agent.call, handle.id());
                    let awaits = move |actor: &mut Actor| {
                        actor.has_open_call(&call)
                            || actor.has_background_agent(session, &call)
                            || actor.awaits_planner(&call)
                    };
                    parent.read(awaits).await.unwrap_or(false)
                }
                Err(_) => false,
            };
            if !awaited {
                let by = "reasonix".to_owned();
                // What cannot be written does not go on anyway.
                let _ = handle.signal(Signal::Term, None, by).await;
                let Some(me) = self.me.upgrade() else {
                    return;
                };
                tasks::spawn(async move {
                    if handle.wait(Until::Exit).await.is_ok() {
                        me.settle_worktree(handle.id()).await;
                    }
                });
            }
        }
    }
}

/// What the first prompt of a sub-agent refers to.
fn references_of(task: &AgentTask) -> Option<PromptReferences> {
    task.skill.as_ref().map(|skill| PromptReferences {
        text: skill.text.clone(),
        files: Vec::new(),
        attached: Vec::new(),
        skill: Some(skill.used.clone()),
    })
}

/// Shows how far a sub-agent has come, as long as it lives.
async fn show_progress(handle: &SessionHandle, progress: &dyn Progress) {
    let mut seen = handle.shared.seen.clone();
    let mut shown = AgentProgress::default();
    while seen.changed().await.is_ok() {
        let Ok(now) = handle.read(|actor| actor.agent_progress()).await else {
            break;
        };
        if now != shown && (!now.tools.is_empty() || now.steps > shown.steps) {
            progress.output(&line_of(&now));
            shown = now;
        }
    }
    std::future::pending().await
}

fn line_of(progress: &AgentProgress) -> String {
    let AgentProgress {
        steps,
        tokens,
        tools,
    } = progress;
    let doing = match tools.as_slice() {
        [] => String::new(),
        tools => format!(" · {}", tools.join(", ")),
    };
    format!("step {steps} · {tokens} tokens{doing}\n")
}

/// What a sub-agent's end is for its call.
pub(super) fn outcome_of(agent: &str, waited: &WaitOutput) -> Outcome {
    let Some(ended) = &waited.ended else {
        return Outcome::failed(format!("The agent `{agent}` ended without an answer."));
    };
    let text = ended.text.trim();
    if ended.outcome == OutcomeKind::Completed && !text.is_empty() {
        return Outcome::with_status(CallStatus::Ok, text);
    }
    let why = why_ended(ended);
    let said = match text.is_empty() {
        true => format!("The agent `{agent}` gave no answer: {why}."),
        false => format!("The agent `{agent}` did not finish: {why}. Its last words:\n{text}"),
    };
    match ended.outcome {
        OutcomeKind::Interrupted | OutcomeKind::Killed => interrupted(&said),
        OutcomeKind::Completed
        | OutcomeKind::Failed
        | OutcomeKind::BudgetExceeded
        | OutcomeKind::MaxSteps
        | OutcomeKind::ContextFull
        | OutcomeKind::Blocked => Outcome::failed(said),
    }
}

pub(super) fn why_ended(ended: &TurnEnded) -> String {
    if let Some(error) = &ended.error {
        return error.message.trim_end_matches('.').to_owned();
    }
    let why = match ended.reason {
        Some(Reason::User | Reason::Term) => "somebody stopped it",
        Some(Reason::Timeout) => "its time was up",
        Some(Reason::Shutdown) => "the daemon stopped",
        Some(Reason::Denied) => "nobody could approve a call",
        Some(Reason::Loop) => "it repeated the same calls without a new result",
        None => match ended.outcome {
            OutcomeKind::Completed => "it gave no answer",
            OutcomeKind::Failed => "its turn failed",
            OutcomeKind::Interrupted | OutcomeKind::Killed => "it was stopped",
            OutcomeKind::BudgetExceeded => "its budget was used up",
            OutcomeKind::MaxSteps => "its step limit was reached",
            OutcomeKind::ContextFull => "its context was full",
            OutcomeKind::Blocked => "it was blocked",
        },
    };
    why.to_owned()
}
