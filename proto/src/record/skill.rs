//! The use of a skill, or of a command that sets limits, in the records of prompts and calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A skill, or a command of the program that sets limits (`/review`), that a prompt or a call loaded. It is in force until the end of its turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SkillUse {
    pub name: String,
    /// Directory of its files.
    pub directory: String,
    /// The only tools that may be called while it is in force, as rules; empty: none but those that change nothing
    /// outside of the session. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allowed_tools: Option<Vec<String>>,
    /// Calls that change anything are refused while it is in force.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
}
