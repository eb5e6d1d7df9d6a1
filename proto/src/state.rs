//! The states of a session, and what may follow what.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a session is doing, as `ps` shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Waits for a prompt. A new session is idle as soon as it is on disk.
    Idle,
    Running,
    Waiting,
    /// Stopped by `PAUSE` before its next step; `RESUME` takes it back to where it was.
    Paused,
    Exited,
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
/// The least is told where several are waited for.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum WaitingFor {
    /// A person's yes or no to a tool call.
    Approval,
    /// A person's answers to questions of the model.
    Question,
    /// A person's yes or no to a plan of the model.
    Plan,
    /// The next try of a provider request that failed.
    Retry,
    /// A key that a client brought and that was lost with the last life of the daemon.
    Credentials,
}

impl WaitingFor {
    /// Whether the session goes on only when a person does something.
    #[must_use]
    pub fn needs_person(self) -> bool {
        match self {
            Self::Approval | Self::Question | Self::Plan | Self::Credentials => true,
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

/// How approvals of tool calls are answered (contract, chapter 50).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalMode {
    #[default]
    Ask,
    Auto,
    Yolo,
}

impl ApprovalMode {
    /// The word for it: on the wire, in settings and in commands.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Auto => "auto",
            Self::Yolo => "yolo",
        }
    }

    /// The approval mode of this word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let all = [Self::Ask, Self::Auto, Self::Yolo];
        all.into_iter()
            .find(|approval_mode| approval_mode.name() == word)
    }
}

/// How the agent works with a person (contract, chapter 50).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    #[default]
    Normal,
    /// It looks and plans: calls that change anything are refused until a person has approved a plan.
    Plan,
}

impl Mode {
    /// The word for it: on the wire and in commands.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Plan => "plan",
        }
    }

    /// The mode of this word.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        let all = [Self::Normal, Self::Plan];
        all.into_iter().find(|mode| mode.name() == word)
    }

    /// Whether it is what a session has where nothing else was said.
    #[must_use]
    pub fn is_normal(&self) -> bool {
        *self == Self::Normal
    }
}

/// What becomes of a question that nobody is there to answer (contract, chapters 50 and 80).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnAsk {
    /// Writers that a confinement holds are allowed; all else waits for an attached approver, or is denied where there is none.
    Sandboxed,
    /// Every ask is a yes; deny rules hold.
    Allow,
    /// Every ask is a no.
    Deny,
    /// Wait, however long it takes.
    Wait,
    /// Wait, but the run that asked leaves with exit code 75.
    Park,
}

#[cfg(test)]
mod tests;
