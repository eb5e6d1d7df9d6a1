//! The happenings that a trace knows.

use proto::item::{CallStatus, Voice};
use proto::outcome::{OutcomeKind, Reason};
use proto::params::approval::Decision;
use proto::record::{Level, Unattended, Verdict};
use proto::{ApprovalId, CallId, Pid};
use serde::Serialize;

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    Created {
        pid: Pid,
        model: String,
        cwd: String,
    },
    /// A prompt waits.
    Queued {
        prompt: String,
        steer: bool,
        by: String,
    },
    /// A prompt that waits was changed: `edited`, `moved to place 1`, `taken back`.
    Requeued {
        how: String,
        prompt: String,
    },
    TurnStart {
        prompt: String,
    },
    TurnEnd {
        outcome: OutcomeKind,
        reason: Option<Reason>,
        duration_ms: u64,
        steps: u64,
        tool_calls: u64,
        error: Option<String>,
    },
    /// Words that were put to the model in mid-turn.
    Told {
        voice: Voice,
        text: String,
    },
    /// A request went out: the `n`th answer of the session is asked for.
    Request {
        n: u64,
        attempt: u32,
        bytes: u64,
    },
    FirstToken {
        n: u64,
        after_ms: u64,
    },
    /// The answer is there. Without tokens: the provider reported none.
    Answer {
        n: u64,
        duration_ms: u64,
        tokens: Option<Tokens>,
    },
    /// What the rules said to a call.
    Call {
        call: CallId,
        tool: String,
        subject: String,
        verdict: Verdict,
        unattended: Option<Unattended>,
        rule: String,
        layer: String,
    },
    Asked {
        approval: ApprovalId,
        tool: String,
        subject: String,
    },
    Answered {
        approval: ApprovalId,
        decision: Decision,
        by: String,
        /// Absent where the question itself was not seen.
        after_ms: Option<u64>,
        note: Option<String>,
    },
    Start {
        call: CallId,
        tool: String,
        subject: String,
    },
    Run {
        call: CallId,
        tool: String,
        status: CallStatus,
        duration_ms: u64,
        exit_code: Option<i32>,
        signal: Option<i32>,
    },
    /// A call that got a result without having been run to its end.
    Result {
        call: CallId,
        tool: String,
        status: CallStatus,
        text: String,
    },
    Retry {
        in_ms: Option<u64>,
        cause: String,
    },
    WaitsForKey {
        cause: String,
    },
    Paused {
        by: Option<String>,
    },
    Resumed {
        by: Option<String>,
    },
    Set {
        changes: Vec<String>,
        by: Option<String>,
    },
    ChildSpawned {
        pid: Pid,
        command: String,
    },
    ChildExited {
        pid: Pid,
        code: Option<i32>,
        signal: Option<i32>,
        cause: Option<String>,
    },
    Suspended,
    Reopened {
        by: String,
    },
    Exited {
        outcome: OutcomeKind,
        reason: Option<Reason>,
        exit_code: i32,
    },
    Notice {
        level: Level,
        text: String,
    },
    /// A kind that has no words here: resets of the cache, compactions, and what is of a newer version.
    Other {
        kind: String,
        data: String,
    },
}

/// What an answer took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tokens {
    pub prompt: u64,
    pub cached: u64,
    pub output: u64,
    /// Millionths of a US dollar; absent where the price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}
