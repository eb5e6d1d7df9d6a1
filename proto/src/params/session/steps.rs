//! Answers of the model one by one, with their calls, byte for byte.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Seq, Stamp};

/// Parameters of `session.steps`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepsParams {
    pub session: String,
    /// Only this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// Only steps after this one.
    #[serde(default)]
    pub after: u64,
    /// Maximum number of rows; 0 or absent: 200.
    #[serde(default)]
    pub limit: u64,
}

/// Answer of `session.steps`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepsOutput {
    pub steps: Vec<Step>,
    /// `after` of the next page; absent at the end.
    #[serde(default)]
    pub next: Option<u64>,
}

/// One answer of the model and the calls that it led to.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Its number in the session, from 1.
    pub n: u64,
    pub turn: u64,
    /// The record of the answer.
    pub seq: Seq,
    pub at: Stamp,
    /// Number of tries.
    pub attempts: u32,
    pub request_bytes: u64,
    pub first_token_ms: u64,
    pub duration_ms: u64,
    pub prompt_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    /// The first line of the answer, at most 120 characters.
    pub text: String,
    pub calls: Vec<StepCall>,
}

/// A call of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepCall {
    pub call: String,
    pub tool: String,
    pub subject: String,
    /// Absent while it has no result.
    #[serde(default)]
    pub status: Option<crate::item::CallStatus>,
    pub duration_ms: u64,
    /// Time until the answer of the user, in milliseconds; 0 if nobody was asked.
    pub asked_ms: u64,
}

/// Parameters of `session.step`: the request or the answer of one step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepParams {
    pub session: String,
    pub n: u64,
    pub part: StepPart,
    /// Bytes that the client has already.
    #[serde(default)]
    pub offset: u64,
}

/// A half of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepPart {
    /// The request's body, byte for byte, made again from the log.
    Sent,
    /// The answer and the results of its calls, as JSON lines.
    Got,
}

/// Parameters of `session.output`: all that a call printed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OutputParams {
    pub session: String,
    pub call: crate::CallId,
    /// Bytes that the client has already.
    #[serde(default)]
    pub offset: u64,
}
