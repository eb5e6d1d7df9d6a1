//! What sessions are, in short, and lists of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::Spent;
use crate::outcome::{Cost, OutcomeKind, TurnLimit, UsageTotals};
use crate::params::forecast::Forecast;
use crate::params::goal::GoalLine;
use crate::state::{ApprovalMode, Kind, Mode, State, WaitingFor};
use crate::{Pid, Seq, SessionId, Stamp};

/// What a session is, in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSummary {
    pub session: SessionId,
    pub pid: Pid,
    pub ppid: Pid,
    /// Name of its definition, if it is a sub-agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    #[serde(default)]
    pub name: Option<String>,
    /// What lists call it: the name, else the first line of the first prompt, at most 120 characters. Empty: neither.
    #[serde(default)]
    pub title: String,
    #[serde(default)]
    pub labels: Vec<String>,
    pub cwd: String,
    /// `provider/model`.
    pub model: String,
    /// Reasoning effort; absent: the default of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<String>,
    pub kind: Kind,
    pub state: State,
    #[serde(default)]
    pub waiting_for: Option<WaitingFor>,
    /// Why the state was entered last.
    pub cause: String,
    pub approval_mode: ApprovalMode,
    #[serde(default)]
    pub mode: Mode,
    /// Calls that change anything are refused.
    #[serde(default)]
    pub only_reads: bool,
    /// Of a sub-agent: what it does, in a few words of the session that started it; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    pub turns: u64,
    /// Number of the model's answers so far.
    #[serde(default)]
    pub steps: u64,
    /// Tool and subject of the call that runs, at most 120 characters. Empty: none does.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub activity: String,
    /// Session and turn of the origin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<crate::record::Origin>,
    pub usage: UsageTotals,
    /// The same with what its sub-agents and planners used; absent: there were none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree_usage: Option<Spent>,
    /// Prompt tokens of the newest request, to compare with `context_window`.
    pub context_tokens: u64,
    pub context_window: u64,
    pub created_at: Stamp,
    pub active_at: Stamp,
    /// The first line of the newest prompt or answer, at most 120 characters.
    pub last_line: String,
    pub queued: u64,
    /// The goal in progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Box<GoalLine>>,
    /// Approvals, questions and plans that wait for the user.
    pub pending_interactions: u64,
    pub attached: u64,
    /// The newest durable record.
    pub seq: Seq,
    #[serde(default)]
    pub exit_code: Option<i32>,
    /// Outcome of the newest turn, if it was not completed; absent while a turn runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut_off: Option<OutcomeKind>,
    /// The limit at which its work stopped; `session.resume` continues it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_limit: Option<TurnLimit>,
    /// Commands that run in the background.
    #[serde(default)]
    pub children: u64,
    /// Time since which the provider has sent nothing; absent while data arrives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent_since: Option<Stamp>,
    /// Why the session cannot be written, and accepts no work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<String>,
    /// Its context is being compacted, or rendered for another model.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub compacting: bool,
    /// The planner works on the prompt of the running turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub planning: bool,
    /// Whether lists are extracted from the reasoning, for display.
    #[serde(default)]
    pub extract_reasoning: bool,
    /// Number of samples of each answer.
    #[serde(default = "one_sample")]
    pub samples: u32,
    /// Failed `provider/model` that `model` replaces; it is used again from the next turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
    /// Cost of the next prompt if the provider has dropped its cache; absent: there is none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cold: Option<Box<Forecast>>,
    /// Lifetime of unused cache entries at the provider, in milliseconds, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_ttl_ms: Option<u64>,
    /// Time of the newest request that the next one extends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_used: Option<Stamp>,
}

impl SessionSummary {
    /// What it cost, with its sub-agents and planners.
    #[must_use]
    pub fn cost(&self) -> Cost {
        let own = Cost::from(&self.usage);
        self.tree_usage.as_ref().map_or(own, Cost::from)
    }
}

fn one_sample() -> u32 {
    1
}

/// Parameters of `session.list`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SessionListParams")]
pub struct ListParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// Only sessions of this working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Maximum number of sessions; 0 or absent: 100.
    #[serde(default)]
    pub limit: u64,
    /// Only sessions older than this pid: `next` of the previous page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Pid>,
}

/// Answer of `session.list`: newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SessionListOutput")]
pub struct ListOutput {
    pub sessions: Vec<SessionSummary>,
    /// Start of the next page; absent on the last page.
    #[serde(default)]
    pub next: Option<Pid>,
}
