//! Sub-agents, as a tool sees them: sessions that do a part of a call's work.

use std::sync::Arc;

use futures::future::BoxFuture;
use proto::record::SkillUse;
use proto::{CallId, Pid};

use crate::tool::{Cancel, Outcome, Progress};

/// What a sub-agent is to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentTask {
    /// The name of its definition.
    pub agent: String,
    /// What it is told.
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

    fn send(&self, _call: CallId, _to: Pid, _text: String) -> BoxFuture<'static, Outcome> {
        Box::pin(async { Outcome::failed("There are no other sessions here.") })
    }
}
