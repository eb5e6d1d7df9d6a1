//! The creator's choices of what the model is given to read and may do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Part of the parameters of `session.create`. All of it is fixed for the session's life.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProfileParams {
    /// Text to add to the system prompt, after the instruction files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub append_system_prompt: Option<String>,
    /// Names of the tools that the model gets; absent: all that the config enables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Directories that the session may write in, beside its workspace root. Absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub add_dirs: Vec<String>,
}
