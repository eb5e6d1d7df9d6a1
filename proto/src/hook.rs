//! Hooks: commands of the user's that are told what happens, and may stop some of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CallId;
use crate::words::words;

words! {
    /// When a hook runs. Written as its users know it: `PreToolUse`.
    HookEvent {
        /// Before a call of a tool is looked at by the rules. Gating.
        PreToolUse = "PreToolUse",
        /// Before a prompt enters the session. Gating.
        UserPromptSubmit = "UserPromptSubmit",
        /// Before a sub-agent starts. Gating.
        PreSubagent = "PreSubagent",
        /// After a call has its result, before the model sees it. Observing.
        PostToolUse = "PostToolUse",
        /// A turn has ended. Observing.
        Stop = "Stop",
        /// The session waits for a person. Observing.
        Notification = "Notification",
    }
}

impl HookEvent {
    /// Whether a hook can stop what happens.
    #[must_use]
    pub fn is_gating(self) -> bool {
        match self {
            Self::PreToolUse | Self::UserPromptSubmit | Self::PreSubagent => true,
            Self::PostToolUse | Self::Stop | Self::Notification => false,
        }
    }
}

words! {
    /// What a run of a hook came to.
    HookOutcome {
        Pass = "pass",
        /// What was about to happen is stopped.
        Block = "block",
        /// It ended otherwise than with 0; nothing is stopped by that.
        Warn = "warn",
        /// It took longer than it may, and was killed. On a gating event that blocks.
        Timeout = "timeout",
        /// It could not be started. That blocks nothing.
        Error = "error",
    }
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
