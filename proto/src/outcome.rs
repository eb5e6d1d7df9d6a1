//! How turns end, their cost, and the exit code for scripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Spent;
use crate::words::words;
use crate::{CallId, Failure, Pid};

words! {
    /// How a turn ended.
    OutcomeKind {
        Completed = "completed",
        Failed = "failed",
        Interrupted = "interrupted",
        Killed = "killed",
        BudgetExceeded = "budget_exceeded",
        MaxSteps = "max_steps",
        ContextFull = "context_full",
        Blocked = "blocked",
    }
}

words! {
    /// A limit that ended a turn. Its work can go on: `session.resume`.
    TurnLimit {
        Steps = "steps",
        Time = "time",
    }
}

/// Reason, if the kind alone does not say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Interrupted by a person.
    User,
    /// The run's own time limit.
    Timeout,
    /// The daemon was stopped, or died, while the turn ran.
    Shutdown,
    /// The session got TERM.
    Term,
    /// Blocked: an approval request was denied because no client could answer it.
    Denied,
    /// Blocked: the model kept repeating the same calls with the same results.
    Loop,
}

/// A call that was denied because no client could approve it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Denied {
    /// The call of this session: of a sub-agent's denied call, the one that started the sub-agent.
    pub call: CallId,
    pub tool: String,
    /// Subject of the call: the command, or the path.
    pub subject: String,
    /// Why it was not approved, and how to allow it.
    pub why: String,
    /// The sub-agent whose call it was; absent: the session's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<DeniedAgent>,
}

/// A sub-agent with a denied call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeniedAgent {
    pub session: Pid,
    /// Name of its definition.
    pub name: String,
}

impl Denied {
    /// The same for the session that started the sub-agent with this call.
    #[must_use]
    pub fn of_agent(self, call: &CallId, agent: DeniedAgent) -> Self {
        Self {
            call: call.clone(),
            // One further below keeps its name.
            agent: Some(self.agent.unwrap_or(agent)),
            ..self
        }
    }
}

/// Sums over provider calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageTotals {
    pub requests: u64,
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    pub reasoning_tokens: u64,
    /// Cost in millionths of a US dollar, of the calls with a known price.
    pub cost_micros: u64,
    /// Calls without a known price; they count in no sum.
    pub unknown_cost_calls: u64,
    /// Prompt tokens written to the providers' caches, if reported.
    #[serde(default)]
    pub cache_write_tokens: u64,
}

impl UsageTotals {
    /// Of one request.
    #[must_use]
    pub fn of(usage: &crate::record::Usage) -> Self {
        Self {
            requests: 1,
            prompt_tokens: usage.prompt_tokens,
            cached_tokens: usage.cached_tokens,
            output_tokens: usage.output_tokens,
            reasoning_tokens: usage.reasoning_tokens,
            cost_micros: usage.cost_micros.unwrap_or(0),
            unknown_cost_calls: u64::from(usage.cost_micros.is_none()),
            cache_write_tokens: usage.cache_write_tokens,
        }
    }

    /// Adds another sum to this one. What a provider reports may be any number: a sum stops at the largest.
    pub fn add(&mut self, other: &Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
        add(&mut self.requests, other.requests);
        add(&mut self.prompt_tokens, other.prompt_tokens);
        add(&mut self.cached_tokens, other.cached_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
        add(&mut self.cost_micros, other.cost_micros);
        add(&mut self.unknown_cost_calls, other.unknown_cost_calls);
        add(&mut self.cache_write_tokens, other.cache_write_tokens);
    }
}

/// What requests cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// In millionths of a US dollar, of the requests with a known price.
    pub micros: u64,
    pub requests: u64,
    /// Requests without a known price.
    pub unpriced: u64,
}

impl From<&UsageTotals> for Cost {
    fn from(usage: &UsageTotals) -> Self {
        Self {
            micros: usage.cost_micros,
            requests: usage.requests,
            unpriced: usage.unknown_cost_calls,
        }
    }
}

impl From<&Spent> for Cost {
    fn from(spent: &Spent) -> Self {
        Self {
            micros: spent.cost_micros,
            requests: spent.steps,
            unpriced: spent.unpriced,
        }
    }
}

/// `turn.ended`: the end of a turn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEnded {
    pub outcome: OutcomeKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Text of the last answer of the turn.
    pub text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    pub usage: UsageTotals,
    /// The same with what its sub-agents and the planner used; absent: there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_usage: Option<Spent>,
    pub steps: u64,
    pub tool_calls: u64,
    pub duration_ms: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<Denied>,
    /// Whether `Stop` hooks run; work after the turn starts when they have ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hooks: bool,
    /// Whether the session has a restart policy that decides what follows; after the decision comes its next state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub supervised: bool,
}

impl TurnEnded {
    /// The limit that ended the turn, if one did.
    #[must_use]
    pub fn limit(&self) -> Option<TurnLimit> {
        match (self.outcome, self.reason) {
            (OutcomeKind::MaxSteps, _) => Some(TurnLimit::Steps),
            (OutcomeKind::Interrupted, Some(Reason::Timeout)) => Some(TurnLimit::Time),
            _ => None,
        }
    }

    /// The exit code of a run that ended so (contract, chapter 80).
    #[must_use]
    pub fn exit_code(&self) -> i32 {
        exit_code(self.outcome, self.reason)
    }
}

/// The exit code of a run that ended so (contract, chapter 80).
#[must_use]
pub fn exit_code(outcome: OutcomeKind, reason: Option<Reason>) -> i32 {
    match (outcome, reason) {
        (OutcomeKind::Completed, _) => 0,
        (OutcomeKind::Failed, _) => 1,
        (OutcomeKind::BudgetExceeded | OutcomeKind::MaxSteps | OutcomeKind::ContextFull, _) => 2,
        (OutcomeKind::Blocked, _) => 3,
        (OutcomeKind::Interrupted, Some(Reason::Timeout)) => 124,
        (OutcomeKind::Interrupted | OutcomeKind::Killed, Some(Reason::Term)) => 143,
        (OutcomeKind::Interrupted, Some(Reason::Shutdown)) => 1,
        (OutcomeKind::Interrupted, _) => 130,
        (OutcomeKind::Killed, _) => 137,
    }
}
