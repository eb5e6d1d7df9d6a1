//! The result of a run for programs: one object, on every path.

use proto::outcome::{Denied, OutcomeKind, TurnEnded, UsageTotals};
use proto::record::SessionExited;
use proto::{Pid, SessionId};
use serde_json::{Map, Value, json};

use super::Format;
use crate::exit::{self, Error};
use crate::output;

/// What is known of a run. Filled as it goes on, so that a failure in the middle tells what there is.
#[derive(Debug, Default)]
pub struct Report {
    pub session: Option<SessionId>,
    pub pid: Option<Pid>,
    outcome: String,
    pub text: String,
    usage: UsageTotals,
    duration_ms: u64,
    steps: u64,
    tool_calls: u64,
    denied: Vec<Denied>,
    error: Option<Value>,
}

impl Report {
    /// The turn has ended.
    pub fn ended(&mut self, ended: TurnEnded) {
        self.outcome = outcome(ended.outcome);
        self.text = ended.text;
        self.usage = ended.usage;
        self.duration_ms = ended.duration_ms;
        self.steps = ended.steps;
        self.tool_calls = ended.tool_calls;
        self.denied = ended.denied;
        self.error = ended.error.as_ref().map(exit::describe);
    }

    /// The session has exited without an end of the turn.
    pub fn exited(&mut self, exited: &SessionExited) {
        self.outcome = outcome(exited.outcome);
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
            Format::Text => Ok(()),
            Format::Json => output::json(&self.value(false)),
            Format::Jsonl => output::json(&self.value(true)),
        }
    }

    /// The object; `line`: as the last line of the events.
    fn value(&self, line: bool) -> Value {
        let mut value = Map::new();
        if line {
            value.insert("kind".into(), "result".into());
        }
        value.insert("session".into(), json!(self.session));
        value.insert("pid".into(), json!(self.pid));
        value.insert("outcome".into(), self.outcome.clone().into());
        value.insert("text".into(), self.text.clone().into());
        value.insert("usage".into(), json!(self.usage));
        value.insert("cost_usd".into(), json!(cost_usd(&self.usage)));
        value.insert("duration_ms".into(), self.duration_ms.into());
        value.insert("steps".into(), self.steps.into());
        value.insert("tool_calls".into(), self.tool_calls.into());
        value.insert("denied".into(), json!(self.denied));
        if let Some(error) = &self.error {
            value.insert("error".into(), error.clone());
        }
        Value::Object(value)
    }
}

/// The outcome as the protocol spells it.
fn outcome(kind: OutcomeKind) -> String {
    json!(kind).as_str().unwrap_or_default().to_owned()
}

/// The cost, where the price of every call is known.
fn cost_usd(usage: &UsageTotals) -> Option<f64> {
    // Exact up to 2^53 millionths: nine thousand million dollars.
    #[allow(clippy::cast_precision_loss)]
    (usage.unknown_cost_calls == 0).then(|| usage.cost_micros as f64 / 1e6)
}
