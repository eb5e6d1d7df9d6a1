//! The happenings that a trace knows.

use proto::hook::{HookEvent, HookOutcome};
use proto::item::{CallStatus, Voice};
use proto::outcome::{OutcomeKind, Reason};
use proto::params::history;
use proto::record::{
    CallsRepaired, GaveUpReason, Level, Purpose, ReviewVerdict, Unattended, Verdict,
};
use proto::{CallId, InteractionId, Pid, Seq};
use schemars::JsonSchema;
use serde::Serialize;

use crate::form::kinds::AskedLine;

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum What {
    Created {
        pid: Pid,
        model: String,
        cwd: String,
        /// The session that it was forked from, and its last turn that was taken over.
        #[serde(skip_serializing_if = "Option::is_none")]
        forked_from: Option<(Pid, u64)>,
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
        /// How much of it was waiting for the user. The text leaves it out.
        #[serde(skip_serializing_if = "is_zero")]
        waited_ms: u64,
        steps: u64,
        tool_calls: u64,
        error: Option<String>,
    },
    /// Words that were put to the model in mid-turn.
    Told {
        voice: Voice,
        text: String,
    },
    /// A request went out: the `n`th answer of the session is asked for, or, by the purpose, something beside it.
    Request {
        n: u64,
        #[serde(skip_serializing_if = "Purpose::is_answer")]
        purpose: Purpose,
        attempt: u32,
        bytes: u64,
    },
    FirstToken {
        n: u64,
        #[serde(skip_serializing_if = "Purpose::is_answer")]
        purpose: Purpose,
        after_ms: u64,
    },
    /// The answer is there. Without tokens: the provider reported none.
    Answer {
        n: u64,
        #[serde(skip_serializing_if = "Purpose::is_answer")]
        purpose: Purpose,
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
    /// A second model looked at a call that the user would be asked about.
    Reviewed {
        call: CallId,
        tool: String,
        verdict: ReviewVerdict,
        /// Whether the verdict decided. Otherwise the user does.
        decided: bool,
        /// In the reviewer's words; of a failed review why it failed.
        reason: String,
        /// Empty: none was asked.
        #[serde(skip_serializing_if = "String::is_empty")]
        model: String,
        duration_ms: u64,
    },
    /// The user is asked.
    Asked {
        interaction: InteractionId,
        #[serde(flatten)]
        asked: AskedLine,
    },
    /// The user answered, or it was closed.
    Answered {
        interaction: InteractionId,
        /// The decision, or a reply to each question; none if nobody answered.
        answers: Vec<String>,
        by: String,
        unattended: bool,
        /// Absent if its opening was not seen.
        after_ms: Option<u64>,
        note: Option<String>,
    },
    /// The todo list, counted by state.
    Todos {
        done: u64,
        all: u64,
        /// The item in progress.
        now: Option<String>,
    },
    /// What files were was kept.
    Checkpoint {
        files: u64,
        /// Also the tree before a command.
        tree: bool,
        skipped: Option<String>,
    },
    Rewound {
        to_turn: u64,
        of: history::What,
        /// The rewind that it takes back.
        undoes: Option<Seq>,
        restored: u64,
        /// Files that somebody else has changed since.
        left: u64,
        failed: u64,
        by: String,
    },
    CacheReset {
        reason: String,
    },
    /// A message stays word for word in every compaction, or no longer.
    Pinned {
        item: String,
        pinned: bool,
        by: String,
    },
    /// The repairs in the calls of an answer.
    Repaired {
        #[serde(flatten)]
        calls: CallsRepaired,
    },
    /// What a trace of reasoning was turned into, in words.
    ReasoningExtracted {
        found: String,
    },
    Start {
        call: CallId,
        tool: String,
        subject: String,
        /// Outside the sandbox that had stopped it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        outside: bool,
    },
    /// The sandbox stopped it, and a person may let it run once outside.
    Blocked {
        call: CallId,
        tool: String,
        reason: String,
        duration_ms: u64,
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
    /// The session goes on by its restart policy.
    Restarted {
        number: u64,
        /// How the turn before ended.
        outcome: OutcomeKind,
        /// Why it failed; empty if it did not.
        reason: String,
        /// How long it waits before it goes on.
        wait_ms: u64,
    },
    /// It does not go on, although it has such a policy.
    GaveUp {
        reason: GaveUpReason,
        /// So far.
        restarts: u64,
        /// How the last turn failed; empty if it did not.
        detail: String,
    },
    Reopened {
        by: String,
    },
    Exited {
        outcome: OutcomeKind,
        reason: Option<Reason>,
        exit_code: i32,
    },
    /// A hook has run.
    Hook {
        event: HookEvent,
        hook: String,
        outcome: HookOutcome,
        reason: Option<String>,
        duration_ms: u64,
        call: Option<CallId>,
    },
    Notice {
        level: Level,
        text: String,
    },
    /// A goal began, changed, continues or ended, in words.
    Goal {
        text: String,
    },
    /// A kind that has no words here, or that only a newer version knows.
    Other {
        kind: String,
        data: String,
    },
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the form that serde wants"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What an answer took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tokens {
    pub prompt: u64,
    pub cached: u64,
    pub output: u64,
    /// Millionths of a US dollar; absent where the price is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}
