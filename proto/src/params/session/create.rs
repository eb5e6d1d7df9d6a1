//! Creating a session, and changing its options.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::options::SessionOptions;
use crate::params::profile::ProfileParams;
use crate::{Pid, PromptId, RequestId, SessionId, UntypedText};

/// Parameters of `session.create`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreateParams {
    /// Chosen by the client: creating the same id again returns the same session.
    pub session: SessionId,
    /// Absolute.
    pub cwd: String,
    /// Environment of the session's tools: the client's, without secrets.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Names of variables that the client did not send.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env_held: Vec<String>,
    /// Keys requested by `daemon.hello`, by variable name. Kept in memory only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub credentials: BTreeMap<String, String>,
    /// First prompt; stored in the same commit as the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The parts of the prompt that were not typed, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untyped: Vec<UntypedText>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Preset of model, effort and samples: `fast`, `smart`, `max`, or one from the config. Other options override it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// Delete the session once it has exited and no client follows it. Its usage stays in the statistics.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ephemeral: bool,
    /// Work in a new git worktree of the repository that `cwd` is in, on a branch of its own, from the last commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub worktree: bool,
    #[serde(flatten)]
    pub profile: ProfileParams,
    #[serde(flatten)]
    pub options: SessionOptions,
}

/// Answer of `session.create`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CreateOutput {
    pub session: SessionId,
    pub pid: Pid,
    pub model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_id: Option<PromptId>,
}

/// Parameters of `session.set`: only the options that change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetParams {
    pub session: String,
    /// Confirm that the provider's prompt cache will be lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirm: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<RequestId>,
    /// Preset of model, effort and samples: `fast`, `smart`, `max`, or one from the config. Other options override it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    #[serde(flatten)]
    pub options: SessionOptions,
}

impl SetParams {
    /// A request of its own for these options.
    #[must_use]
    pub fn new(session: String, options: SessionOptions) -> Self {
        Self {
            session,
            request_id: Some(RequestId::new()),
            options,
            ..Self::default()
        }
    }
}
