//! Records of supervision: a session goes on by itself after the end of a turn, or gives up.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PromptId;
use crate::outcome::OutcomeKind;
use crate::state::OnAsk;
use crate::words::words;

/// `session.restarted`: the session goes on from its log after the end of a turn, as its restart policy says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionRestarted {
    /// Number of the restart in the session, from 1.
    pub number: u64,
    /// How the turn ended.
    pub outcome: OutcomeKind,
    /// Why it failed; empty if it did not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// How long the session waits before its next turn.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub wait_ms: u64,
    /// The prompt that starts the next turn; absent: the next turn is that of the goal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<RestartPrompt>,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The prompt that starts the turn after a restart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RestartPrompt {
    pub prompt_id: PromptId,
    pub text: String,
    /// How the turn that ended handled approval requests, if its prompt said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_ask: Option<OnAsk>,
}

words! {
    /// Why a session with a restart policy does not go on.
    GaveUpReason {
        /// It has been restarted too often within the window.
        TooMany = "too_many",
        /// The same failure came three times in a row.
        SameFailure = "same_failure",
        /// The account at the provider has no credit.
        OutOfCredit = "out_of_credit",
        /// A budget is used up.
        Budget = "budget",
        /// A call was denied because nobody could approve it.
        Denied = "denied",
        /// The turn reached its limit of steps or time.
        Limit = "limit",
        /// The turn was blocked, for instance by a hook or because it repeated the same calls.
        Blocked = "blocked",
    }
}

/// `session.gave_up`: the session has a restart policy, and its work ends nevertheless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionGaveUp {
    pub reason: GaveUpReason,
    /// Number of restarts of the session so far.
    pub restarts: u64,
    /// How the last turn failed; empty if it did not.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}
