//! What a session was: forks, rewinds, checkpoints, exports, and their end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::hook::HookEvent;
use crate::params::forecast::Forecast;
use crate::record::{ContinueReason, RewoundFile};
use crate::state::Kind;
use crate::words::words;
use crate::{Pid, RequestId, Seq, SessionId, Stamp};

/// Parameters of `session.fork`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForkParams {
    pub session: String,
    /// Id of the new session, chosen by the client: forking to the same id again returns the same session.
    pub fork: SessionId,
    /// Last turn to copy; absent: the newest ended one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_turn: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Absent: `interactive`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// As in `session.create`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
}

/// Answer of `session.fork`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ForkOutput {
    pub session: SessionId,
    pub pid: Pid,
    /// Last copied turn.
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
    /// Last turn to keep; 0: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_turn: Option<u64>,
    /// Undo the newest rewind.
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
    /// Its record; absent: nothing was changed (`dry_run`).
    #[serde(default)]
    pub seq: Option<Seq>,
    /// Newest visible turn.
    pub turn: u64,
    /// Hidden turns, or turns shown again.
    pub turns: u64,
    /// Result for each file.
    pub files: Vec<RewoundFile>,
    /// Parts that no checkpoint has, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Answer of `session.checkpoints`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckpointsOutput {
    /// Oldest first; without hidden ones.
    pub turns: Vec<TurnCheckpoint>,
    /// Whether a rewind can be undone.
    pub undo: bool,
}

/// A turn that can be gone back to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnCheckpoint {
    pub turn: u64,
    pub at: Stamp,
    /// The first line of its prompt; empty: no prompt started it.
    pub prompt: String,
    /// What started it, if no prompt did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<TurnCause>,
    /// Known files that it changed.
    pub files: Vec<String>,
    /// Parts that no checkpoint has, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What started a turn, if no prompt of a user did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum TurnCause {
    /// The goal continued.
    Goal {
        /// Number of the turn within the goal.
        number: u64,
        why: ContinueReason,
        /// What that is about; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        detail: String,
    },
    /// A message of a session of the same tree, such as the result of a sub-agent.
    Message {
        from: Pid,
        /// Its first line.
        text: String,
    },
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
    /// Bytes that the client has already.
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
    /// Its git worktree, which stays because something in it has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
}

/// Parameters of `session.prune`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PruneParams {
    /// Delete sessions that have been unused for more than this many days; absent: `sessions.keep_days`.
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
    /// Number of old sessions that were kept because they are running, waiting or paused.
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

words! {
    /// Sessions that are searched.
    SearchScope default Global {
        /// One session: `session`.
        Session = "session",
        /// Sessions of the workspace of `session` or of `cwd`.
        Project = "project",
        /// All sessions.
        Global = "global",
    }
}

words! {
    /// Author of a message.
    MessageRole {
        /// The user.
        User = "user",
        /// The model.
        Assistant = "assistant",
        /// The result of a tool call.
        Tool = "tool",
    }
}

/// Parameters of `history.search`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchParams {
    /// Words to find, in any order, ignoring case and endings; `"…"` is a phrase.
    pub query: String,
    #[serde(default)]
    pub scope: SearchScope,
    /// Required for the scope `session`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// A directory of the workspace, for the scope `project`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Only messages of this author.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<MessageRole>,
    /// Only messages since this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Stamp>,
    /// Maximum number of messages; 0 or absent: 50.
    #[serde(default)]
    pub limit: u64,
}

/// Answer of `history.search`: best hits first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchOutput {
    pub hits: Vec<Hit>,
    /// Matching messages, without copies in forks and without those that only have common words.
    pub matches: u64,
    /// False: there are more matches than hits, or not all messages were searched.
    pub complete: bool,
    /// More than 20,000 messages match: only the newest were ranked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub too_many: bool,
    /// The index is being built; absent: it has all sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indexing: Option<IndexingProgress>,
    /// Why the newest messages may be missing: the index cannot take them in. Absent: it has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub behind: Option<String>,
}

/// How many sessions the index has while it is being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IndexingProgress {
    pub sessions: u64,
    /// Number of all sessions; 0: not known yet.
    pub of: u64,
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
    pub role: MessageRole,
    /// Excerpt around the match, in one line.
    pub text: String,
    /// Words of the excerpt that match: first character and the one after the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<(u64, u64)>,
}

/// Parameters of `history.prompts`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptsParams {
    /// Working directory of the sessions.
    pub cwd: String,
}

/// Answer of `history.prompts`: at most 100 prompts, newest last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptsOutput {
    pub prompts: Vec<String>,
}

/// Parameters of `history.around`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AroundParams {
    pub session: String,
    /// Record of the message.
    pub seq: Seq,
    /// Messages before it, at most 50; absent: 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Messages after it, at most 50; absent: 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}

/// Answer of `history.around`: messages that are visible, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AroundOutput {
    pub session: SessionId,
    pub pid: Pid,
    #[serde(default)]
    pub name: Option<String>,
    pub cwd: String,
    pub messages: Vec<HistoryMessage>,
    /// There are messages before the first one.
    pub earlier: bool,
    /// There are messages after the last one.
    pub later: bool,
    /// The index is being built and may not have the session yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indexing: Option<IndexingProgress>,
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryMessage {
    pub seq: Seq,
    #[serde(default)]
    pub turn: Option<u64>,
    pub at: Stamp,
    pub role: MessageRole,
    /// Its beginning, if it is long.
    pub text: String,
    /// Characters that were left out.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Parameters of `stats.query`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatsParams {
    /// Start time; absent: all.
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
    /// Whether to include hooks; reads whole logs.
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
    /// By `provider/model`, most tokens first. Rows have no turns: a turn may use several models.
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
    /// Ended calls, including those that never ran.
    pub calls: u64,
    /// Unsuccessful calls: failed, denied, refused, interrupted.
    pub failed: u64,
    /// All of them, as they ran.
    pub time_ms: u64,
    /// Results in the words for the model.
    pub result_bytes: u64,
    /// Estimated tokens that the results added to the conversation. Later requests read them again, mostly from the
    /// cache; that is not counted.
    pub result_tokens: u64,
}

/// Numbers of repaired calls, by repair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepairCounts {
    /// Undeclared, and accepted.
    pub taken_up: u64,
    /// Cut off, and completed.
    pub closed: u64,
    /// Flattened arguments, nested again.
    pub nested: u64,
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
    /// Runs that warned, timed out or could not be started, and blocked nothing.
    pub failed: u64,
    /// All its runs.
    pub time_ms: u64,
}

/// One row of statistics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StatsRow {
    /// Key of the row: day, model, session or purpose; `total`.
    pub key: String,
    pub usage: crate::outcome::UsageTotals,
    /// Ended turns; 0 in rows of models and purposes.
    #[serde(default)]
    pub turns: u64,
}
