//! The result of a run for programs: one object, on every path.

use std::io::{self, IsTerminal as _};

use proto::budget::Spent;
use proto::outcome::{Cost, Denied, OutcomeKind, Reason, TurnEnded, UsageTotals};
use proto::params::worktree::WorktreeReport;
use proto::record::{GoalEnded, Level, Notice, SessionExited};
use proto::{Pid, SessionId};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use super::Format;
use crate::exit::{self, Error};
use crate::messages::run::Msg;
use crate::output;

/// The report of a run. Filled as it goes on, so that a failure in the middle reports what is known.
#[derive(Debug, Default)]
pub struct Report {
    pub session: Option<SessionId>,
    pub pid: Option<Pid>,
    outcome: String,
    reason: Option<Reason>,
    pub text: String,
    usage: UsageTotals,
    /// What it used with its sub-agents.
    tree: Spent,
    /// There were any.
    has_agents: bool,
    duration_ms: u64,
    steps: u64,
    tool_calls: u64,
    denied: Vec<Denied>,
    error: Option<Value>,
    /// How the goal ended, if the run had one.
    goal: Option<GoalEnded>,
    /// How often the session was restarted by its restart policy.
    pub restarts: u64,
    /// The answer as a value, if it had to fit a schema and does.
    pub structured: Option<Value>,
    /// The git worktree that the session works in.
    pub worktree: Option<WorktreeReport>,
    /// Warnings and errors that the session reported on the way: problems of the config, too.
    warnings: Vec<String>,
}

impl Report {
    /// A turn has ended. Of several turns the last one gives the outcome; their usage is added up.
    pub fn ended(&mut self, ended: TurnEnded) {
        self.outcome = outcome(ended.outcome);
        self.reason = ended.reason;
        self.text = ended.text;
        self.usage.add(&ended.usage);
        self.has_agents |= ended.tree_usage.is_some();
        let own = Spent {
            ms: ended.duration_ms,
            ..Spent::from(&ended.usage)
        };
        self.tree = self.tree.plus(&ended.tree_usage.unwrap_or(own));
        self.duration_ms = self.duration_ms.saturating_add(ended.duration_ms);
        self.steps = self.steps.saturating_add(ended.steps);
        self.tool_calls = self.tool_calls.saturating_add(ended.tool_calls);
        self.denied.extend(ended.denied);
        self.error = ended.error.as_ref().map(exit::describe);
    }

    /// The session has exited without an end of the turn.
    pub fn exited(&mut self, exited: &SessionExited) {
        self.outcome = outcome(exited.outcome);
        self.reason = exited.reason;
    }

    /// The session goes on by its restart policy.
    pub fn restarted(&mut self) {
        self.restarts += 1;
    }

    /// The session has sent a notice.
    pub fn noticed(&mut self, notice: &Notice) {
        if notice.level != Level::Info {
            self.warnings.push(notice.text.clone());
        }
    }

    /// The goal of the run has ended.
    pub fn goal(&mut self, ended: &GoalEnded) {
        self.goal = Some(ended.clone());
    }

    /// Whether the newest turn was completed.
    pub fn is_complete(&self) -> bool {
        self.outcome == outcome(OutcomeKind::Completed)
    }

    /// Whether a budget was used up: prompts that wait stay in the queue.
    pub fn is_out_of_budget(&self) -> bool {
        self.outcome == outcome(OutcomeKind::BudgetExceeded)
    }

    /// We left, or never got there.
    pub fn left(&mut self, outcome: &str) {
        outcome.clone_into(&mut self.outcome);
    }

    /// It failed on the way.
    pub fn fail(&mut self, error: &Error) {
        self.left("failed");
        self.error = Some(error.describe());
    }

    /// Prints it, where the format has one.
    pub fn print(&self, format: Format) -> Result<(), Error> {
        match format {
            Format::Text => {
                self.tell_cost();
                Ok(())
            }
            Format::Json => output::json(&self.result(false)),
            Format::Jsonl => output::json(&self.result(true)),
        }
    }

    /// Prints the turn's cost to standard error for a user; a program reads it in the object.
    fn tell_cost(&self) {
        let usage = &self.usage;
        if usage.requests > 0 && io::stderr().is_terminal() {
            let words = match self.has_agents {
                true => Msg::SpentWithAgents,
                false => Msg::Spent,
            };
            output::progress(&say!(
                words,
                output::short(usage.prompt_tokens),
                output::short(usage.output_tokens),
                output::cost(&self.tree)
            ));
        }
    }

    /// The object; `line`: as the last line of the events.
    fn result(&self, line: bool) -> RunResult<'_> {
        RunResult {
            kind: line.then_some("result"),
            session: self.session,
            pid: self.pid,
            outcome: &self.outcome,
            reason: self.reason,
            text: &self.text,
            usage: self.usage,
            tree_usage: self.has_agents.then_some(self.tree),
            cost_usd: cost_usd((&self.tree).into()),
            duration_ms: self.duration_ms,
            steps: self.steps,
            tool_calls: self.tool_calls,
            denied: &self.denied,
            structured: self.structured.as_ref(),
            goal: self.goal.as_ref(),
            restarts: (self.restarts > 0).then_some(self.restarts),
            worktree: self.worktree.as_ref(),
            warnings: &self.warnings,
            error: self.error.as_ref(),
        }
    }
}

/// The result of a run, as it is printed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunResult<'a> {
    /// `result`, where it stands behind the events of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    session: Option<SessionId>,
    pid: Option<Pid>,
    outcome: &'a str,
    /// Why the turn was stopped, if somebody or a limit stopped it.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Reason>,
    text: &'a str,
    usage: UsageTotals,
    /// The same with what its sub-agents and the planner used; absent: there were none.
    #[serde(skip_serializing_if = "Option::is_none")]
    tree_usage: Option<Spent>,
    /// With that of its sub-agents. Null where the price of a call is not known.
    cost_usd: Option<f64>,
    duration_ms: u64,
    steps: u64,
    tool_calls: u64,
    /// Calls that were denied because nobody was there to say yes.
    denied: &'a [Denied],
    /// The answer as a value, with `--json-schema`; absent: no answer fits.
    #[serde(skip_serializing_if = "Option::is_none")]
    structured: Option<&'a Value>,
    /// How the goal ended, with `reasonix goal`.
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<&'a GoalEnded>,
    /// How often the session was restarted by its restart policy (`--restart`); absent: never.
    #[serde(skip_serializing_if = "Option::is_none")]
    restarts: Option<u64>,
    /// The git worktree of the session, if it has one: what changed, and how to take it over or delete it.
    #[serde(skip_serializing_if = "Option::is_none")]
    worktree: Option<&'a WorktreeReport>,
    /// Warnings of the session while it ran, problems of the config among them; absent: none.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    warnings: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Value>,
}

/// The outcome as the protocol spells it.
fn outcome(kind: OutcomeKind) -> String {
    json!(kind).as_str().unwrap_or_default().to_owned()
}

/// The cost, where the price of every call is known.
fn cost_usd(cost: Cost) -> Option<f64> {
    // Exact up to 2^53 millionths: nine thousand million dollars.
    #[allow(clippy::cast_precision_loss)]
    (cost.unpriced == 0).then(|| cost.micros as f64 / 1e6)
}
