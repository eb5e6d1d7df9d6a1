//! The input of a sub-agent from its parent session, and its messages to the parent while it works.

use std::collections::BTreeMap;
use std::sync::Arc;

use proto::budget::Budget;
use proto::params::session::{PromptOutput, When};
use proto::record::{PromptQueued, SessionCreated};
use proto::state::Mode;
use proto::{CallId, ErrorName, Failure, SessionId, SessionOptions};
use turn::facts::CallStage;

use crate::actor::Actor;
use crate::actor::inbox::Reply;
use crate::actor::replies::refuse;
use crate::calls::call::CallEnvironment;
use crate::request::keys::Keys;

/// What a sub-agent inherits, as it is now.
pub(crate) struct AgentTerms {
    pub created: SessionCreated,
    /// Those that a sub-agent has where its definition says nothing else.
    pub options: SessionOptions,
    pub env: BTreeMap<String, String>,
    pub env_held: Vec<String>,
    pub keys: Arc<Keys>,
    /// What the session may use.
    pub budget: Option<Budget>,
    pub call_environment: Arc<CallEnvironment>,
}

/// How far a session has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AgentProgress {
    pub steps: u64,
    pub tokens: u64,
    /// The tools that it calls now.
    pub tools: Vec<String>,
}

impl Actor {
    /// What a sub-agent inherits. `None`: there is no first record.
    pub(crate) fn agent_terms(&self) -> Option<AgentTerms> {
        let facts = self.machine.facts();
        let created = facts.created.clone()?;
        let refuses = facts.effective_permissions().refuses().is_some();
        let own = facts.options.clone();
        let options = SessionOptions {
            approval_mode: Some(facts.approval_mode()),
            // A plan is for the user: an agent of a session that makes one only looks.
            mode: Some(Mode::Normal),
            read_only: Some(refuses),
            on_ask: Some(facts.on_ask()),
            // The model's own, where there is none.
            effort: Some(own.effort.unwrap_or_default()),
            name: None,
            labels: None,
            timeout_ms: None,
            budget: None,
            // Whose work is planned is the session that the user sees.
            planner_model: Some(String::new()),
            samples: Some(1),
            auto_plan: Some(false),
            extract_reasoning: Some(false),
            // Its call reports how it ended, and its parent decides what follows.
            restart: None,
            ..own
        };
        let environment = self.calls.environment();
        Some(AgentTerms {
            created,
            options,
            env: environment.whole().into_iter().collect(),
            env_held: environment.held_back(),
            keys: Arc::clone(self.requests.keys()),
            budget: facts.options.budget,
            call_environment: Arc::clone(self.calls.call_environment()),
        })
    }

    /// Answers when all records so far are on disk.
    pub(crate) fn reply_when_durable(&mut self, reply: Reply<()>) {
        self.reply_when(self.journal.last(), reply, ());
    }

    /// Whether a call of the open turn has no result yet.
    pub(crate) fn has_open_call(&self, call: &CallId) -> bool {
        let open = self.machine.facts().open.iter();
        let mut calls = open.flat_map(|open| &open.calls);
        calls.any(|open| open.call.id == *call && open.stage != CallStage::Closed)
    }

    /// The session that it works for.
    pub(crate) fn parent(&self) -> Option<SessionId> {
        let created = self.machine.facts().created.as_ref()?;
        created.agent.as_ref().map(|agent| agent.parent)
    }

    /// Whether the result of a sub-agent in the background is still to come.
    pub(crate) fn has_background_agent(&self, session: SessionId, call: &CallId) -> bool {
        let agents = &self.machine.facts().background_agents;
        // Its fallback works for the same call.
        agents.contains_key(&session) || agents.values().any(|(own, _)| own == call)
    }

    /// Takes in what another session says, like steering. A session that has exited does not go on for it.
    pub(crate) fn deliver(&mut self, prompt: PromptQueued, reply: Reply<PromptOutput>) {
        if self.machine.facts().exited.is_some() {
            let what = "The session has exited.";
            return refuse(reply, Failure::new(ErrorName::NotFound, what, ""));
        }
        self.prompt(prompt, When::Steer, Vec::new(), reply);
    }

    pub(crate) fn agent_progress(&self) -> AgentProgress {
        let facts = self.machine.facts();
        let running = self.calls.running();
        let calls = facts.open.iter().flat_map(|open| &open.calls);
        let tools = calls.filter(|open| running.contains_key(&open.call.id));
        AgentProgress {
            steps: facts.usage.requests,
            tokens: facts.usage.prompt_tokens + facts.usage.output_tokens,
            tools: tools.map(|open| open.tool.clone()).collect(),
        }
    }
}
