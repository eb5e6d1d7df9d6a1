//! Hooks: commands of the user's that are told what happens, and may stop some of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CallId;

/// When a hook runs. Written as its users know it: `PreToolUse`.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum HookEvent {
    /// Before a call of a tool is looked at by the rules. Gating.
    PreToolUse,
    /// Before a prompt enters the session. Gating.
    UserPromptSubmit,
    /// Before a sub-agent starts. Gating.
    PreSubagent,
    /// After a call has its result, before the model sees it. Observing.
    PostToolUse,
    /// A turn has ended. Observing.
    Stop,
    /// The session waits for a person. Observing.
    Notification,
}

impl HookEvent {
    /// All of them, in the order of the contract.
    pub const ALL: [Self; 6] = [
        Self::PreToolUse,
        Self::UserPromptSubmit,
        Self::PreSubagent,
        Self::PostToolUse,
        Self::Stop,
        Self::Notification,
    ];

    /// As it is written in settings and told to hooks.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::PreSubagent => "PreSubagent",
            Self::PostToolUse => "PostToolUse",
            Self::Stop => "Stop",
            Self::Notification => "Notification",
        }
    }

    /// Whether a hook can stop what it is notified of.
    #[must_use]
    pub fn is_gating(self) -> bool {
        match self {
            Self::PreToolUse | Self::UserPromptSubmit | Self::PreSubagent => true,
            Self::PostToolUse | Self::Stop | Self::Notification => false,
        }
    }
}

/// What a run of a hook came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookOutcome {
    Pass,
    /// What it was notified of does not happen.
    Block,
    /// It ended otherwise than with 0; nothing is stopped by that.
    Warn,
    /// It took longer than it may, and was killed. On a gating event that blocks.
    Timeout,
    /// It could not be started. That blocks nothing.
    Error,
}

impl HookOutcome {
    /// Whether what the hook was notified of is stopped by this.
    #[must_use]
    pub fn blocks(self, event: HookEvent) -> bool {
        match self {
            Self::Block => true,
            Self::Timeout => event.is_gating(),
            Self::Pass | Self::Warn | Self::Error => false,
        }
    }

    /// As programs and the lists for people have it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Block => "block",
            Self::Warn => "warn",
            Self::Timeout => "timeout",
            Self::Error => "error",
        }
    }
}

/// `hook.finished`: a hook has run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookFinished {
    pub event: HookEvent,
    /// Its description, else its command.
    pub hook: String,
    /// The file that it stands in.
    pub source: String,
    pub outcome: HookOutcome,
    /// What it said on its standard error, or why it did not run; absent where it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub duration_ms: u64,
    /// The call that it was notified of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
}

impl HookFinished {
    /// Whether what it was notified of was stopped by it.
    #[must_use]
    pub fn blocks(&self) -> bool {
        self.outcome.blocks(self.event)
    }
}
