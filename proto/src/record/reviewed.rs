//! The review of a risky call by a second model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::CallId;
use crate::words::words;

words! {
    /// What the reviewer says of a call that would be put to the user.
    ReviewVerdict {
        /// It does not run.
        Deny = "deny",
        /// The user decides.
        Ask = "ask",
        /// It runs without asking, if the settings let the reviewer decide that.
        Allow = "allow",
        /// There is no verdict; the user decides.
        Failed = "failed",
    }
}

/// `call.reviewed`: a second model has looked at a call that would be put to the user.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CallReviewed {
    pub call: CallId,
    pub tool: String,
    pub verdict: ReviewVerdict,
    /// In the reviewer's words; of a failed review why it failed.
    pub reason: String,
    /// Whether the verdict decided. Otherwise the user does.
    pub decided: bool,
    /// The model that reviewed it; empty: none was asked.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub model: String,
    pub duration_ms: u64,
}
