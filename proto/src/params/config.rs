//! What is configured, and whether it works.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `config.check` and `config.get`: whose project layer counts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// Answer of `config.check`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckOutput {
    pub values: Vec<Value>,
    pub problems: Vec<String>,
    /// Lines of the project's config that have no effect until the project is trusted.
    pub held_back: Vec<String>,
}

/// One setting that is in force.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "SettingValue")]
pub struct Value {
    pub key: String,
    pub value: serde_json::Value,
    /// `default`, or the file that it came from.
    pub origin: String,
}

/// Parameters of `provider.list`.
pub type ProviderListParams = CheckParams;

/// Answer of `provider.list`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderListOutput {
    pub providers: Vec<ProviderStatus>,
    /// What a session gets that names no model; absent where nothing is usable.
    pub default_model: Option<String>,
}

/// One configured provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderStatus {
    pub name: String,
    pub kind: String,
    pub base_url: String,
    pub models: Vec<String>,
    /// The variable that holds the key; empty where none is needed.
    pub api_key_env: String,
    /// Whether the daemon itself has a key (a client may still bring one).
    pub has_key: bool,
    pub origin: String,
}

/// Answer of `trust.get` and `trust.set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustOutput {
    /// The directory that is trusted or not: the one that holds the project's config.
    pub directory: Option<String>,
    pub trusted: bool,
    /// What has no effect until it is trusted, line by line.
    pub held_back: Vec<String>,
    /// SHA-256 over those lines: what a yes is bound to.
    pub hash: String,
}

/// Parameters of `trust.get`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustGetParams {
    pub cwd: String,
}

/// Parameters of `trust.set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustSetParams {
    pub cwd: String,
    pub trusted: bool,
    /// The hash that `trust.get` showed.
    pub hash: String,
}

/// Parameters of `doctor.run`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Throw the index away and make it again from the logs first.
    #[serde(default)]
    pub rebuild_index: bool,
}

/// Answer of `doctor.run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorOutput {
    pub checks: Vec<Check>,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    pub name: String,
    pub level: CheckLevel,
    pub text: String,
    /// What to do about it; empty where it is well.
    pub hint: String,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckLevel {
    Ok,
    Warning,
    Failed,
}
