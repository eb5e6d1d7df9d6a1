//! Sub-agents: sessions that do a part of a call's work. Owns what they inherit, and their lives from the call's start to
//! its end.
//!
//! A sub-agent's session id follows from the call, so a call that is run again after a crash finds the sub-agent that it
//! had: nothing is done twice.

mod background;
mod changes;
mod fallback;
mod life;
mod listing;
mod messages;
mod narrowing;
mod order;
mod places;
mod planner;
mod tree_pause;

use std::sync::{Arc, Weak};

use contract::tool::{Cancel, Progress};
use contract::{AgentTask, Agents, Outcome, PlanRequest, Tool, ToolSet, ToolSpec};
use futures::FutureExt;
use futures::future::BoxFuture;
use knowledge::{AgentDefinitions, find_agents};
use proto::budget::Budget;
use proto::record::{AgentOf, PlannerFinished, PromptReferences};
use proto::{CallId, Failure, Pid, SessionId};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use crate::actor::commands::agents::AgentTerms;
use crate::assembly::agent_models::AgentModels;
use crate::assembly::setup::{ProfileChoice, Setup};
use crate::calls::events::CallEvent;
use crate::reporter::Reporter;
use crate::request::keys::Keys;
use crate::supervisor::load::SessionServices;
use crate::supervisor::workspaces::{self, SessionPlace};
use crate::supervisor::{Client, Supervisor};
use crate::tasks::blocking;
use life::{AgentCall, AgentWork};

pub(crate) use background::WatchedAgents;
pub(crate) use places::{AgentPlaces, DEPTH_MAX, Place};

/// The sub-agents of one session.
pub(crate) struct SessionAgents {
    pub supervisor: Weak<Supervisor>,
    pub session: SessionId,
    pub reporter: Reporter<CallEvent>,
}

impl Agents for SessionAgents {
    fn run(
        &self,
        call: CallId,
        task: AgentTask,
        progress: Arc<dyn Progress>,
        cancel: Arc<dyn Cancel>,
    ) -> BoxFuture<'static, Outcome> {
        let supervisor = self.supervisor.clone();
        let call = AgentCall {
            work: AgentWork {
                parent: self.session,
                call,
                task,
                attempt: 0,
            },
            progress,
            cancel,
            reporter: self.reporter.clone(),
        };
        async move {
            match supervisor.upgrade() {
                Some(supervisor) => supervisor.run_agent(call).await,
                None => life::interrupted("Not run: the daemon is stopping."),
            }
        }
        .boxed()
    }

    fn plan(
        &self,
        request: PlanRequest,
        cancel: Arc<dyn Cancel>,
    ) -> BoxFuture<'static, PlannerFinished> {
        let supervisor = self.supervisor.clone();
        let parent = (self.session, self.reporter.clone());
        async move {
            match supervisor.upgrade() {
                Some(supervisor) => supervisor.plan(parent, &request, cancel).await,
                None => request.failed("the daemon is stopping"),
            }
        }
        .boxed()
    }

    fn send(&self, call: CallId, to: Pid, text: String) -> BoxFuture<'static, Outcome> {
        let (supervisor, from) = (self.supervisor.clone(), self.session);
        async move {
            match supervisor.upgrade() {
                Some(supervisor) => supervisor.send_message(from, call, to, text).await,
                None => life::interrupted("Not sent: the daemon is stopping."),
            }
        }
        .boxed()
    }
}

/// The session that a new one works for. Only who has a place has one.
#[derive(Clone)]
pub(crate) struct Parent {
    pub pid: Pid,
    pub agent: AgentOf,
    pub keys: Arc<Keys>,
    /// What it may use: the new session uses it up too.
    pub budget: Option<Budget>,
    /// What its first prompt refers to.
    pub references: Option<PromptReferences>,
    /// It is paused with its tree: the new session starts paused.
    pub paused: bool,
    /// The tools of the MCP servers that run for the new session alone. `None`: it has those of all sessions.
    pub server_tools: Option<Vec<Arc<dyn Tool>>>,
    /// Held until the sub-agent has ended.
    _place: Arc<Place>,
}

impl Parent {
    /// A choice without the tools that there are no more.
    pub fn narrow(&self, choice: &ProfileChoice, tools: &ToolSet) -> ProfileChoice {
        let mut choice = choice.clone();
        if let Some(names) = &mut choice.tools {
            names.retain(|name| tools.get(name).is_some());
        }
        choice
    }
}

/// The agents that a new session can start, for the model: a line each. Blocks.
pub(crate) fn listed(
    services: &SessionServices,
    setup: &Setup,
    place: SessionPlace<'_>,
) -> Result<String, Failure> {
    if !setup.profile.tools.specs().any(starts_agents) {
        return Ok(String::new());
    }
    let workspace = workspaces::bare(services, setup, place)?;
    Ok(find_agents(&workspace, &services.home.agents()).listed())
}

pub(crate) fn starts_agents(spec: &ToolSpec) -> bool {
    spec.kind == proto::item::ToolKind::Agent
}

/// The id of the session that works for a call.
fn session_of(parent: SessionId, call: &CallId) -> SessionId {
    SessionId(hashed(&[parent.0.as_bytes(), call.0.as_bytes()]))
}

/// An id that follows from these parts.
fn hashed(parts: &[&[u8]]) -> Uuid {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    let mut bytes = [0; 16];
    bytes
        .iter_mut()
        .zip(digest)
        .for_each(|(to, from)| *to = from);
    uuid::Builder::from_random_bytes(bytes).into_uuid()
}

/// The id of the session that works for a call at an attempt: at 0 the agent that the call names, then its fallbacks.
fn session_at(parent: SessionId, call: &CallId, attempt: u32) -> SessionId {
    match attempt {
        0 => session_of(parent, call),
        attempt => session_of(
            session_of(parent, call),
            &CallId(format!("fallback {attempt}")),
        ),
    }
}

/// What is wrong with a call, for the model.
fn no_such_agent(name: &str, found: &AgentDefinitions) -> Outcome {
    let names: Vec<_> = found.counting().map(|agent| &*agent.name).collect();
    Outcome::failed(format!(
        "There is no agent `{name}`. There are: {}.",
        names.join(", ")
    ))
}

impl Supervisor {
    /// The agents of a session's workspace and their models, as the files are now.
    async fn definitions(
        &self,
        terms: &AgentTerms,
    ) -> Result<(AgentDefinitions, AgentModels), Failure> {
        let call_environment = Arc::clone(&terms.call_environment);
        let assembly = Arc::clone(&self.services.assembly);
        blocking(move || {
            let workspace = &call_environment.workspace;
            let models = assembly.agent_models(workspace.cwd());
            let found = find_agents(workspace, &call_environment.user_agents);
            (found, models)
        })
        .await
    }
}

/// Who prompts a sub-agent.
fn client_of(parent: Pid) -> Client {
    Client {
        name: format!("session {parent}"),
    }
}

#[cfg(test)]
mod tests;
