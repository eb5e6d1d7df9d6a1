//! The states of a session, and what may follow what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::params::interaction::InteractionKind;
use crate::words::words;

words! {
    /// State of a session, as `ps` shows it.
    State {
        /// Ready for the next prompt.
        Idle = "idle",
        /// A turn is in progress.
        Running = "running",
        /// Waits for an answer, a key or a retry.
        Waiting = "waiting",
        /// Paused before its next step; `resume` continues it.
        Paused = "paused",
        /// Closed; the next prompt opens it again.
        Exited = "exited",
    }
}

impl State {
    /// Whether `next` may follow this state. An illegal move is a bug that a test finds.
    #[must_use]
    pub fn may_become(self, next: Self) -> bool {
        use State::{Exited, Idle, Paused, Running, Waiting};
        matches!(
            (self, next),
            (Idle, Running | Waiting | Paused | Exited)
                | (Running, Idle | Waiting | Paused | Exited)
                | (Waiting, Idle | Running | Waiting | Paused | Exited)
                | (Paused, Idle | Running | Waiting | Exited)
                | (Exited, Idle)
        )
    }
}

/// Reason why a session waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    /// The next retry of a failed provider request.
    Retry,
    /// The time of the next restart by the restart policy.
    Restart,
    /// A provider key, which was lost when the daemon restarted.
    Credentials,
    /// The user.
    #[serde(untagged)]
    Interaction(InteractionKind),
}

impl WaitingFor {
    /// Whether the session continues only after an action of the user.
    #[must_use]
    pub fn needs_person(self) -> bool {
        match self {
            Self::Interaction(_) | Self::Credentials => true,
            Self::Retry | Self::Restart => false,
        }
    }
}

/// Kind of a session: used by a person, or by a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    #[default]
    Interactive,
    /// Exits with the outcome of its turn; approval requests follow `on_ask`.
    Headless,
}

words! {
    /// Approval mode: which tool calls run without asking (contract, chapter 50).
    ApprovalMode default Ask {
        /// Ask before every call that changes anything and that no rule allows.
        Ask = "ask",
        /// Allow sandboxed writes and commands; `ask` and `deny` rules still apply.
        Auto = "auto",
        /// Allow everything that no `deny` rule matches.
        Yolo = "yolo",
    }
}

words! {
    /// Mode of a session (contract, chapter 50).
    Mode default Normal {
        Normal = "normal",
        /// Read and plan only: calls that change anything are refused until the user approves a plan.
        Plan = "plan",
    }
}

impl Mode {
    /// Whether it is the default mode.
    #[must_use]
    pub fn is_normal(&self) -> bool {
        *self == Self::Normal
    }
}

words! {
    /// How to handle approval requests when no client is attached (contract, chapters 50 and 80).
    OnAsk {
        /// Allow sandboxed writes; other requests wait for an attached client, or are denied if there is none.
        Sandboxed = "sandboxed",
        /// Allow everything that no deny rule matches.
        Allow = "allow",
        /// Deny every request.
        Deny = "deny",
        /// Wait for an answer.
        Wait = "wait",
        /// Wait for an answer, but let `run` exit with code 75.
        Park = "park",
    }
}

words! {
    /// When a headless session, or one with a goal, goes on by itself after the end of a turn (contract, chapter 70).
    RestartPolicy default Never {
        /// Never: the end of the work is final.
        Never = "never",
        /// After a turn that failed.
        OnFailure = "on-failure",
        /// After a turn that failed; a session without a goal also after one that was completed.
        Always = "always",
    }
}

#[cfg(test)]
mod tests;
