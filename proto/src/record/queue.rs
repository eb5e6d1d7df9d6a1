//! Records of prompts that wait for their turn.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::item::Attachment;
use crate::record::{KnownFile, SkillUse};
use crate::state::OnAsk;
use crate::{Pid, PromptId, RequestId, UntypedText};

/// Steps and time that a user adds to a turn which a limit ended: the limits of the turn that continues it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AddedLimits {
    /// Requests to the model; absent: the limit of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<u64>,
    /// Milliseconds; absent: the limit of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ms: Option<u64>,
}

/// `prompt.queued`: accepted, and from now on kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptQueued {
    pub prompt_id: PromptId,
    pub text: String,
    /// Its parts that were not typed, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untyped: Vec<UntypedText>,
    /// Add it to the running turn, after the next tool results, instead of waiting for the end of the turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steer: bool,
    /// `on_ask` for the turn of this prompt; absent: that of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_ask: Option<OnAsk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<PromptReferences>,
    /// It continues a turn that a limit ended, with these limits of its own. The daemon wrote its text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<AddedLimits>,
    /// The session of the same tree that sent it, as a message or as the result of a sub-agent; absent: a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Pid>,
    /// Name of the sending client.
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// What the references of a prompt (`@path`) led to when it came. Sent before its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptReferences {
    /// A block for each file or directory.
    pub text: String,
    /// Files that are attached as a whole, and instruction files of which the start is (`partial`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<KnownFile>,
    /// For display.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<Attachment>,
    /// The skill that the prompt uses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<SkillUse>,
}

/// `prompt.unqueued`: taken back before it started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptUnqueued {
    pub prompt_id: PromptId,
}

/// `prompt.edited`: a prompt that waits has other words now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptEdited {
    pub prompt_id: PromptId,
    pub text: String,
    /// Its parts that were not typed, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untyped: Vec<UntypedText>,
    /// Replaces that of the prompt before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<PromptReferences>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub steer: bool,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}

/// `prompt.moved`: a prompt that waits has another place in the queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptMoved {
    pub prompt_id: PromptId,
    /// Number of prompts before it.
    pub position: u64,
    pub by: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
}
