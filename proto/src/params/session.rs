//! Sessions: make, find, attach, prompt, stop.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::budget::{BudgetNode, Spent};
use crate::options::SessionOptions;
use crate::outcome::{Cost, OutcomeKind, Reason, TurnEnded, TurnLimit, UsageTotals};
use crate::params::forecast::Forecast;
use crate::params::goal::GoalLine;
use crate::params::profile::ProfileParams;
use crate::record::Event;
use crate::state::{ApprovalMode, Kind, Mode, OnAsk, State, WaitingFor};
use crate::{Failure, ItemId, Pid, PromptId, RequestId, Seq, SessionId, Stamp, UntypedText};

/// Parameters of `session.create`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreateParams {
    /// Chosen by the client: creating the same id again returns the same session.
    pub session: SessionId,
    /// Absolute.
    pub cwd: String,
    /// Environment of the session's tools: the client's, without secrets.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Names of variables that the client did not send.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_held: Vec<String>,
    /// Keys requested by `daemon.hello`, by variable name. Kept in memory only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, String>,
    /// First prompt; stored in the same commit as the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The parts of the prompt that were not typed, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untyped: Vec<UntypedText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Preset of model, effort and samples: `fast`, `smart`, `max`, or one from the config. Other options override it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Delete the session once it has exited and no client follows it. Its usage stays in the statistics.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
    /// Work in a new git worktree of the repository that `cwd` is in, on a branch of its own, from the last commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worktree: bool,
    #[serde(flatten)]
    pub profile: ProfileParams,
    #[serde(flatten)]
    pub options: SessionOptions,
}

/// Answer of `session.create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreateOutput {
    pub session: SessionId,
    pub pid: Pid,
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<PromptId>,
}

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

/// Names one session: a pid, a UUID, an unambiguous prefix of at least 4 characters, or a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OneParams {
    pub session: String,
}

/// Parameters of `session.attach`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttachParams {
    pub session: String,
    /// Chosen by the caller; every event of the subscription has it.
    pub subscription: String,
    /// Replay every durable event after this one. Absent: a `snapshot` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_seq: Option<Seq>,
    /// Epoch of `after_seq`; absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch: Option<u64>,
    /// Also live events, which have no `seq`: deltas, output of running tools.
    #[serde(default)]
    pub ephemeral: bool,
    /// Without `after_seq`: number of recent durable events to replay after the snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backlog: Option<u64>,
}

/// Answer of `session.attach`. The events follow as notifications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AttachOutput {
    pub session: SessionId,
    pub pid: Pid,
    pub epoch: u64,
    /// The newest durable record at that moment.
    pub seq: Seq,
}

/// Parameters of `session.detach`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DetachParams {
    pub subscription: String,
}

/// The notification `event`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EventNotification {
    pub subscription: String,
    pub event: Event,
}

/// The notification `event.ended`, the last of a subscription that the client has not ended itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndedNotification {
    pub subscription: String,
    /// The error; absent: the session was unloaded from memory. Either way a client can attach again. Not named
    /// `error`: JSON-RPC libraries would take the notification for a response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

/// When a prompt starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum When {
    /// At once, or not at all.
    Now,
    /// After the running turn.
    #[default]
    Queue,
    /// Within the running turn, after its next tool results.
    Steer,
}

/// Parameters of `session.prompt`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptParams {
    pub session: String,
    pub text: String,
    /// Its parts that were not typed, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untyped: Vec<UntypedText>,
    #[serde(default)]
    pub when: When,
    /// Keys for a session that lost its own, by variable name. Kept in memory only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, String>,
    /// Values of session variables that were lost when the daemon restarted. Others are ignored: a session keeps the
    /// environment of the client that created it. Kept in memory only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// `on_ask` for the turn of this prompt; absent: that of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_ask: Option<OnAsk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `session.prompt`: it is on disk.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptOutput {
    pub prompt_id: PromptId,
    /// Number of prompts before it.
    pub position: u64,
    /// Its record.
    pub seq: Seq,
}

/// Parameters of `session.shell`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShellParams {
    pub session: String,
    /// A line of shell.
    pub command: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `session.shell`: the start of the command is on disk, and it runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShellOutput {
    /// Record of its start, a `child.spawned`.
    pub seq: Seq,
}

/// Parameters of `session.unqueue`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnqueueParams {
    pub session: String,
    pub prompt_id: PromptId,
}

/// Parameters of `session.edit`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EditParams {
    pub session: String,
    pub prompt_id: PromptId,
    pub text: String,
    /// Whether it joins the running turn; absent: unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steer: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Parameters of `session.reorder`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReorderParams {
    pub session: String,
    pub prompt_id: PromptId,
    /// Number of prompts to put before it; a large number moves it to the end.
    pub position: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `session.edit` and `session.reorder`: the queue as it is now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueOutput {
    pub queue: Vec<QueuedPrompt>,
}

/// A prompt that waits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueuedPrompt {
    pub prompt_id: PromptId,
    pub text: String,
    /// Its parts that were not typed, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untyped: Vec<UntypedText>,
    pub steer: bool,
    pub by: String,
    /// `on_ask` for its turn; absent: that of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_ask: Option<OnAsk>,
}

/// What can be sent to a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum Signal {
    /// Interrupts the turn.
    Int,
    /// Interrupts the turn and ends the session.
    Term,
    /// Ends the session; its processes are killed at once.
    Kill,
    /// Start nothing new until `RESUME`; running work finishes.
    Pause,
    /// Continue after `PAUSE`.
    Resume,
}

/// Parameters of `session.signal`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignalParams {
    pub session: String,
    pub signal: Signal,
    /// `PAUSE` and `RESUME`: also for the sub-agents below it. One that is created during such a pause is created paused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tree: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Answer of `session.interrupt` and `session.signal`: it is on its way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SignalOutput {
    /// Whether there was anything to stop.
    pub delivered: bool,
    /// With `tree`: the sub-agents that it changed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<Pid>,
}

/// Parameters of `session.resume`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ResumeParams {
    pub session: String,
    /// Requests to the model that the work may take from here on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add_steps: Option<u64>,
    /// Time that it may take from here on, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add_ms: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// Until when `session.wait` waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Until {
    /// The running or queued turns have ended (at once if none is).
    #[default]
    Turn,
    /// The session has exited.
    Exit,
    /// As `turn`, and also when it waits for a person.
    Attention,
}

/// Parameters of `session.wait`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitParams {
    pub session: String,
    #[serde(default)]
    pub until: Until,
    /// Maximum wait in milliseconds; absent: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

/// Answer of `session.wait`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WaitOutput {
    /// False: the timeout came first.
    pub done: bool,
    /// It waits for the user (`until: attention`).
    pub attention: bool,
    /// Outcome of the newest turn; absent if there was none.
    #[serde(default)]
    pub ended: Option<TurnEnded>,
    #[serde(default)]
    pub exited: Option<Exited>,
    /// Exit code for scripts.
    pub exit_code: i32,
}

/// How a session exited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exited {
    pub outcome: OutcomeKind,
    #[serde(default)]
    pub reason: Option<Reason>,
    pub exit_code: i32,
}

/// Parameters of `session.set`: only the options that change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetParams {
    pub session: String,
    /// Confirm that the provider's prompt cache will be lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirm: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Preset of model, effort and samples: `fast`, `smart`, `max`, or one from the config. Other options override it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    #[serde(flatten)]
    pub options: SessionOptions,
}

impl SetParams {
    /// A request of its own for these options.
    #[must_use]
    pub fn new(session: String, options: SessionOptions) -> Self {
        Self {
            session,
            request_id: Some(RequestId::new()),
            options,
            ..Self::default()
        }
    }
}

/// Parameters of `session.read`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReadParams {
    pub session: String,
    /// First record to return, from 1.
    pub from_seq: Seq,
    /// Maximum number of events; 0 or absent: 200. A page also ends before 512 KiB.
    #[serde(default)]
    pub limit: u64,
}

/// Answer of `session.read`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ReadOutput {
    pub events: Vec<Event>,
    /// Start of the next page; absent on the last page.
    #[serde(default)]
    pub next: Option<Seq>,
    pub epoch: u64,
}

/// Parameters of `session.event`: one durable event that is too large for a frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EventParams {
    pub session: String,
    pub seq: Seq,
    /// Bytes of the JSON text that the client has already.
    #[serde(default)]
    pub offset: u64,
}

/// A piece of a long text: at most 512 KiB, cut between characters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PieceOutput {
    pub text: String,
    /// Total bytes.
    pub total: u64,
    /// Start of the next piece; absent at the end.
    #[serde(default)]
    pub next: Option<u64>,
}

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

/// Parameters of `session.inspect`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct InspectParams {
    pub session: String,
    pub part: InspectPart,
}

/// What can be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InspectPart {
    Status,
    Context,
    Files,
    Children,
    Env,
    Budget,
}

/// Answer of `session.inspect`: the part that was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "part", rename_all = "snake_case")]
#[allow(clippy::large_enum_variant, reason = "made once, and sent")]
pub enum InspectOutput {
    Status {
        summary: SessionSummary,
        queue: Vec<QueuedPrompt>,
        /// Labels, limits, rules and grants in force, as settings would write them.
        settings: BTreeMap<String, String>,
        /// Who is attached, and as what.
        clients: Vec<crate::live::ClientPresence>,
    },
    Context {
        /// Tokens of the newest request and its answer, as the provider reported them.
        tokens: u64,
        /// Whether the provider reported nothing, and `tokens` is estimated from the request's bytes.
        #[serde(default)]
        estimated: bool,
        /// 0: not known.
        window: u64,
        prefix_sha256: String,
        prefix_bytes: u64,
        /// Messages that a request holds now, and the bytes of their wire forms.
        messages: u64,
        message_bytes: u64,
        /// Parts of the context, in order.
        #[serde(default)]
        blocks: Vec<Block>,
    },
    Files {
        /// Files that tools of this session have changed, newest first.
        changed: Vec<ChangedFile>,
    },
    Children {
        children: Vec<crate::params::process::ChildProcess>,
    },
    Env {
        /// What commands of this session see, with values that may be shown.
        shown: BTreeMap<String, String>,
        /// Variables with values only in the memory of the daemon.
        hidden: Vec<String>,
        /// Variables with values that were lost when the daemon ended.
        lost: Vec<String>,
        /// Variables that commands do not get, by their names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        held_back: Vec<String>,
    },
    Budget {
        /// From the day down to the session.
        nodes: Vec<BudgetNode>,
    },
}

/// A file that a session has changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    pub path: String,
    pub turn: u64,
    pub at: Stamp,
    /// Lines added by tools. Without changes by commands and patches of several files.
    pub added: u64,
    pub removed: u64,
    /// A tool for files changed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
    /// A command changed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_command: bool,
}

/// A part of a request, as `session.inspect` lists them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Block {
    pub kind: BlockKind,
    /// Id of the message, for pins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<ItemId>,
    /// Its record; absent for content inserted by a cache reset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<Seq>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Stamp>,
    pub bytes: u64,
    /// Estimated from the bytes, at the rate of the newest request.
    pub tokens: u64,
    /// Number of messages.
    pub messages: u64,
    /// Whether the provider's cache served it in the newest request; absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<bool>,
    /// Whether it is pinned: kept word for word in every compaction.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
}

/// What a part of a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    System,
    Tools,
    /// All messages before those that are listed one by one.
    Older,
    User,
    Assistant,
    Tool,
    /// Summary of folded messages.
    Summary,
}
