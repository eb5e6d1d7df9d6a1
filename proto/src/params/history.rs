//! What a session was: forks, rewinds, checkpoints, exports, and their end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hook::HookEvent;
use crate::params::forecast::Forecast;
use crate::record::RewoundFile;
use crate::words::words;
use crate::{Pid, RequestId, Seq, SessionId, Stamp};

/// Parameters of `session.fork`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForkParams {
    pub session: String,
    /// The id of the new session, made by the client: forking to the same id again answers with the same session.
    pub fork: SessionId,
    /// The last turn that the fork has; absent: the newest that has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_turn: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Answer of `session.fork`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForkOutput {
    pub session: SessionId,
    pub pid: Pid,
    /// The last turn that was taken over.
    pub at_turn: u64,
    /// Cost of its first prompt if sent now; absent: its origin is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
}

words! {
    /// Parts that a rewind restores.
    What default Both {
        /// Hide the messages after the turn.
        Conversation = "conversation",
        /// Restore the files as they were at the end of the turn.
        Code = "code",
        Both = "both",
    }
}

/// Parameters of `session.rewind`: `to_turn`, or `undo`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RewindParams {
    pub session: String,
    /// The last turn that stays; 0: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_turn: Option<u64>,
    /// Takes back the newest rewind that was not taken back.
    #[serde(default)]
    pub undo: bool,
    #[serde(default)]
    pub what: What,
    /// Also restore files that somebody else has changed since.
    #[serde(default)]
    pub force: bool,
    /// Preview only; change nothing.
    #[serde(default)]
    pub dry_run: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `session.rewind`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RewindOutput {
    /// The record that holds it; absent: nothing was done (`dry_run`).
    #[serde(default)]
    pub seq: Option<Seq>,
    /// The newest turn that is shown now.
    pub turn: u64,
    /// Turns that are hidden, or shown again.
    pub turns: u64,
    /// What became of each file.
    pub files: Vec<RewoundFile>,
    /// What no checkpoint holds, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Answer of `session.checkpoints`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointsOutput {
    /// Oldest first; those that a rewind has hidden are not among them.
    pub turns: Vec<TurnCheckpoint>,
    /// Whether there is a rewind that can be undone.
    pub undo: bool,
}

/// A turn that can be gone back to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnCheckpoint {
    pub turn: u64,
    pub at: Stamp,
    /// The first line of its prompt.
    pub prompt: String,
    /// Files that it has changed, as far as is known.
    pub files: Vec<String>,
    /// Parts that no checkpoint has, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

words! {
    /// Format of an export.
    ExportFormat default Markdown {
        /// The conversation, for reading.
        Markdown = "markdown",
        /// All stored events, one per line.
        Jsonl = "jsonl",
    }
}

/// Parameters of `session.export`. The answer is a piece of the text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ExportParams {
    pub session: String,
    #[serde(default)]
    pub format: ExportFormat,
    /// Bytes that are there already.
    #[serde(default)]
    pub offset: u64,
}

/// Parameters of `session.delete`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeleteParams {
    pub session: String,
    /// Confirms the deletion. Without it the answer is `confirm_needed`, with the data that would be lost.
    #[serde(default)]
    pub confirm: bool,
}

/// Answer of `session.delete`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeleteOutput {
    pub session: SessionId,
    pub pid: Pid,
    /// Bytes on disk that were freed.
    pub bytes: u64,
}

/// Parameters of `session.prune`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PruneParams {
    /// Sessions without activity for more days than this; absent: `sessions.keep_days`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_days: Option<u64>,
    /// Preview only; delete nothing.
    #[serde(default)]
    pub dry_run: bool,
}

/// Answer of `session.prune`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PruneOutput {
    pub sessions: Vec<Pruned>,
    pub bytes: u64,
    /// Those that are old enough and stay because they run, wait or are paused.
    pub kept: u64,
}

/// A session that was, or would be, deleted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pruned {
    pub session: SessionId,
    pub pid: Pid,
    #[serde(default)]
    pub name: Option<String>,
    pub cwd: String,
    pub active_at: Stamp,
    pub bytes: u64,
}

/// Parameters of `history.search`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchParams {
    /// Words to find, all of them, in any order, ignoring case.
    pub text: String,
    /// Only sessions of this working directory; absent: of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Maximum number of messages; 0 or absent: 50.
    #[serde(default)]
    pub limit: u64,
}

/// Answer of `history.search`: newest sessions first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchOutput {
    pub hits: Vec<Hit>,
    /// False: there is more than was looked at, or more hits than the limit.
    pub complete: bool,
}

/// A message that matches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hit {
    pub session: SessionId,
    pub pid: Pid,
    #[serde(default)]
    pub name: Option<String>,
    pub cwd: String,
    pub seq: Seq,
    #[serde(default)]
    pub turn: Option<u64>,
    pub at: Stamp,
    /// `user`, `assistant` or `tool`.
    pub role: String,
    /// The place, with some words around it, in one line.
    pub text: String,
}

/// Parameters of `stats.query`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatsParams {
    /// From this moment on; absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Stamp>,
    /// Only this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// Only sessions of this working directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Offset of the caller from UTC in minutes; its days start at its midnight.
    #[serde(default)]
    pub utc_offset_minutes: i32,
    /// Whether hooks are counted too: that reads whole logs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hooks: bool,
    /// Whether tools are counted too: that reads whole logs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tools: bool,
}

/// Answer of `stats.query`; includes deleted sessions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatsOutput {
    pub total: StatsRow,
    /// By day (`2026-11-21`), oldest first.
    pub days: Vec<StatsRow>,
    /// By the `provider/model` that was asked, most tokens first. Turns are of no model: one may ask several.
    pub models: Vec<StatsRow>,
    /// By session (its pid), most tokens first; at most 100. Deleted ones are one row, `deleted`.
    pub sessions: Vec<StatsRow>,
    /// By hook, most time first; at most 200. Only on request, and without deleted sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hooks: Vec<HookRow>,
    /// By purpose of requests (`answer`, `summary`, …), most tokens first.
    #[serde(default)]
    pub purposes: Vec<StatsRow>,
    /// By tool, most result tokens first; at most 200. Only on request, and without deleted sessions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolRow>,
    /// Repaired calls. Only if hooks were requested (both read whole logs), and without deleted sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repairs: Option<Box<RepairCounts>>,
}

/// Outcomes of the calls of one tool. Rows have no cost: requests do not belong to tools.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolRow {
    pub tool: String,
    /// Calls that have ended, those that never ran included.
    pub calls: u64,
    /// Unsuccessful calls: failed, denied, refused, interrupted.
    pub failed: u64,
    /// All of them together, as they ran.
    pub time_ms: u64,
    /// Of the results, in the words for the model.
    pub result_bytes: u64,
    /// An estimate of the tokens by which the results made the conversation longer. They are read again, mostly from the
    /// vendor's cache, with each request that follows; that is not in it.
    pub result_tokens: u64,
}

/// Numbers of repaired calls, by repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepairCounts {
    /// Not declared, and taken up.
    pub taken_up: u64,
    /// Broken off, and closed.
    pub closed: u64,
    /// Flat arguments, nested again.
    pub nested: u64,
    /// Repeated in circles, and not run.
    pub held_back: u64,
}

/// What one hook did at one event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookRow {
    /// Its description, else its command.
    pub hook: String,
    pub event: HookEvent,
    /// File of the hook.
    pub source: String,
    pub runs: u64,
    /// Runs that blocked their event.
    pub blocked: u64,
    /// Runs that warned, were too slow or could not be started, and stopped nothing.
    pub failed: u64,
    /// All its runs together.
    pub time_ms: u64,
}

/// One row of statistics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatsRow {
    /// The day, the model, the session, the purpose; `total`.
    pub key: String,
    pub usage: crate::outcome::UsageTotals,
    /// Turns that ended, however they did; 0 in rows of models and purposes.
    #[serde(default)]
    pub turns: u64,
}
