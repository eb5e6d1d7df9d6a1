//! Sub-agents, as a tool sees them: sessions that do a part of a call's work.

use std::sync::Arc;

use futures::future::BoxFuture;
use proto::record::{PlannerFinished, PlanningOutcome, SkillUse};
use proto::{CallId, Pid, PromptId};

use crate::tool::{Cancel, Outcome, Progress};

/// What a sub-agent is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentTask {
    /// The name of its definition.
    pub agent: String,
    /// What it does, in a few words for the user; may be empty.
    pub description: String,
    /// Its prompt.
    pub prompt: String,
    /// The skill that it works by.
    pub skill: Option<AgentSkill>,
    /// The call returns at once; the result comes as a message.
    pub background: bool,
}

/// A skill that a sub-agent works by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentSkill {
    /// Its instructions, as the model reads them.
    pub text: String,
    /// What it limits.
    pub used: SkillUse,
    /// The model that it asks for.
    pub model: Option<String>,
}

/// A request for a plan. The same turn makes the same request, also after a crash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanRequest {
    pub turn: u64,
    /// Which planner of the session: a new one begins when a rewind has changed the conversation.
    pub round: u64,
    /// The prompt of the turn.
    pub prompt_id: Option<PromptId>,
    /// The planner's prompt.
    pub task: String,
    /// The planner's model: a provider, a model, or `provider/model`.
    pub model: String,
}

impl PlanRequest {
    /// Its end without a plan.
    #[must_use]
    pub fn failed(&self, why: impl Into<String>) -> PlannerFinished {
        PlannerFinished {
            turn: self.turn,
            outcome: PlanningOutcome::Failed,
            session: None,
            pid: None,
            plan: String::new(),
            why: Some(why.into()),
            duration_ms: 0,
        }
    }
}

/// Runs sub-agents of one session.
pub trait Agents: Send + Sync {
    /// Runs one to its end, or starts it in the background. The outcome is its last answer, or why there is none. A call that is made a second time gets
    /// the sub-agent of the first. Ends it soon after cancellation.
    fn run(
        &self,
        call: CallId,
        task: AgentTask,
        progress: Arc<dyn Progress>,
        cancel: Arc<dyn Cancel>,
    ) -> BoxFuture<'static, Outcome>;

    /// Has the planner of the session make a plan. A request that is made a second time asks the model nothing again. Ends it
    /// soon after cancellation.
    fn plan(
        &self,
        request: PlanRequest,
        cancel: Arc<dyn Cancel>,
    ) -> BoxFuture<'static, PlannerFinished>;

    /// Says something to another session of the same tree: `to` is its pid. A call that is made a second time says it
    /// once.
    fn send(&self, call: CallId, to: Pid, text: String) -> BoxFuture<'static, Outcome>;
}

/// Runs none.
impl Agents for () {
    fn run(
        &self,
        _call: CallId,
        _task: AgentTask,
        _progress: Arc<dyn Progress>,
        _cancel: Arc<dyn Cancel>,
    ) -> BoxFuture<'static, Outcome> {
        Box::pin(async { Outcome::failed("No agents can be started here.") })
    }

    fn plan(
        &self,
        request: PlanRequest,
        _cancel: Arc<dyn Cancel>,
    ) -> BoxFuture<'static, PlannerFinished> {
        Box::pin(async move { request.failed("No planner can be started here.") })
    }

    fn send(&self, _call: CallId, _to: Pid, _text: String) -> BoxFuture<'static, Outcome> {
        Box::pin(async { Outcome::failed("There are no other sessions here.") })
    }
}
