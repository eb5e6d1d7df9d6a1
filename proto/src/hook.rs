//! Hooks: commands of the user that run on events, and may stop some of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CallId;
use crate::words::words;

words! {
    /// Event of a hook, spelled as in its settings: `PreToolUse`.
    HookEvent {
        /// Before a tool call, and before the rules decide about it. Can block.
        PreToolUse = "PreToolUse",
        /// Before a prompt enters the session. Can block.
        UserPromptSubmit = "UserPromptSubmit",
        /// After a tool call has run, before the model sees its result. Cannot block.
        PostToolUse = "PostToolUse",
        /// After a turn has ended. Cannot block.
        Stop = "Stop",
        /// When the session waits for the user. Cannot block.
        Notification = "Notification",
    }
}

impl HookEvent {
    /// Whether a hook can block the event.
    #[must_use]
    pub fn is_gating(self) -> bool {
        match self {
            Self::PreToolUse | Self::UserPromptSubmit => true,
            Self::PostToolUse | Self::Stop | Self::Notification => false,
        }
    }
}

words! {
    /// Outcome of a hook.
    HookOutcome {
        Pass = "pass",
        /// The event was blocked.
        Block = "block",
        /// It exited with another code than 0; blocks nothing.
        Warn = "warn",
        /// It exceeded its time limit and was killed. Blocks events that can be blocked.
        Timeout = "timeout",
        /// It could not be started. Blocks nothing.
        Error = "error",
    }
}

impl HookOutcome {
    /// Whether this outcome blocks the event.
    #[must_use]
    pub fn blocks(self, event: HookEvent) -> bool {
        match self {
            Self::Block => true,
            Self::Timeout => event.is_gating(),
            Self::Pass | Self::Warn | Self::Error => false,
        }
    }
}

/// `hook.finished`: a hook has run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookFinished {
    pub event: HookEvent,
    /// Its description, else its command.
    pub hook: String,
    /// File of the hook.
    pub source: String,
    pub outcome: HookOutcome,
    /// Its standard error, or why it did not run; absent if it passed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub duration_ms: u64,
    /// The call of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
}

impl HookFinished {
    /// Whether the event was blocked by it.
    #[must_use]
    pub fn blocks(&self) -> bool {
        self.outcome.blocks(self.event)
    }
}
