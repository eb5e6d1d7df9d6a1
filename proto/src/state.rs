//! The states of a session, and what may follow what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::params::interaction::InteractionKind;
use crate::words::words;

words! {
    /// What a session is doing, as `ps` shows it.
    State {
        /// Waits for a prompt. A new session is idle as soon as it is on disk.
        Idle = "idle",
        Running = "running",
        Waiting = "waiting",
        /// Stopped by `PAUSE` before its next step; `RESUME` takes it back to where it was.
        Paused = "paused",
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
            (Idle, Running | Paused | Exited)
                | (Running, Idle | Waiting | Paused | Exited)
                | (Waiting, Idle | Running | Waiting | Paused | Exited)
                | (Paused, Idle | Running | Waiting | Exited)
                | (Exited, Idle)
        )
    }
}

/// For what a waiting session waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    /// The next try of a provider request that failed.
    Retry,
    /// A key that a client brought and that was lost with the last life of the daemon.
    Credentials,
    /// The user.
    #[serde(untagged)]
    Interaction(InteractionKind),
}

impl WaitingFor {
    /// Whether the session goes on only when a person does something.
    #[must_use]
    pub fn needs_person(self) -> bool {
        match self {
            Self::Interaction(_) | Self::Credentials => true,
            Self::Retry => false,
        }
    }
}

/// Who runs a session: a person who is there, or a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    #[default]
    Interactive,
    /// Exits with its turn's outcome; its asks follow `on_ask`.
    Headless,
}

words! {
    /// How approvals of tool calls are answered (contract, chapter 50).
    ApprovalMode default Ask {
        Ask = "ask",
        Auto = "auto",
        Yolo = "yolo",
    }
}

words! {
    /// How the agent works with a person (contract, chapter 50).
    Mode default Normal {
        Normal = "normal",
        /// It looks and plans: calls that change anything are refused until a person has approved a plan.
        Plan = "plan",
    }
}

impl Mode {
    /// Whether it is what a session has where nothing else was said.
    #[must_use]
    pub fn is_normal(&self) -> bool {
        *self == Self::Normal
    }
}

words! {
    /// What becomes of a question that nobody is there to answer (contract, chapters 50 and 80).
    OnAsk {
        /// Writes inside the sandbox are allowed; all else waits for an attached client, or is denied where there is none.
        Sandboxed = "sandboxed",
        /// Everything is allowed, except what a deny rule matches.
        Allow = "allow",
        /// Everything that would be asked is denied.
        Deny = "deny",
        /// Wait, however long it takes.
        Wait = "wait",
        /// Wait, but `run` exits with code 75.
        Park = "park",
    }
}

#[cfg(test)]
mod tests;
