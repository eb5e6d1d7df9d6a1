//! The configuration, and whether it works.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `config.check` and `config.get`: the directory of the project config.
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
    /// What to do about each problem, in the same order.
    #[serde(default)]
    pub hints: Vec<String>,
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
    /// Model of sessions that name none; absent if no model is usable.
    pub default_model: Option<String>,
}

/// One configured provider.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderStatus {
    pub name: String,
    pub kind: String,
    pub base_url: String,
    pub models: Vec<String>,
    /// Variable of the key; empty if no key is needed.
    pub api_key_env: String,
    /// Default model.
    #[serde(default)]
    pub default: String,
    /// Whether the daemon itself has a key (a client may still bring one).
    pub has_key: bool,
    /// Source of the key: `stored`, `environment` (of the daemon), `dotenv` (the `.env` of a trusted working
    /// directory); empty: there is none, or none is needed.
    #[serde(default)]
    pub key_from: String,
    /// Built in, and not configured.
    #[serde(default)]
    pub shipped: bool,
    pub origin: String,
    /// Models that its endpoint lists besides `models`, as it listed them last. Empty: none, or it was never asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub listed: Vec<String>,
    /// Time of that list; absent: it was never asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listed_at: Option<crate::Stamp>,
    /// Facts about its models, in the order of `models` and `listed`.
    #[serde(default)]
    pub facts: Vec<ModelFacts>,
}

/// Facts about a model: from the config, else from the catalog.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelFacts {
    pub model: String,
    /// Tokens; 0: unknown.
    pub context_window: u64,
    /// Tokens; 0: unknown.
    pub max_output_tokens: u64,
    /// Empty: unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub efforts: Vec<String>,
    /// Whether it accepts images; absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    /// Absent: unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<ModelPrice>,
}

/// What a model costs now, in millionths of a US dollar for a million tokens.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelPrice {
    pub input: u64,
    /// Price of tokens read from the cache; absent: as input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<u64>,
    /// Price of tokens written to the cache; absent: as input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache_write: Option<u64>,
    pub output: u64,
    /// Whether the price differs at other hours or for long prompts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub varies: bool,
    /// Date of the price in the catalog; absent: from the config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
}

/// Parameters of `config.set`: a setting of the user's own config.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ConfigSetParams")]
pub struct SetParams {
    pub key: String,
    /// Absent: the setting goes back to its default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<serde_json::Value>,
    /// Whose project layer may come before it: for `value` of the answer, and for a notice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// Answer of `config.set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ConfigSetOutput")]
pub struct SetOutput {
    /// The written file.
    pub file: String,
    /// The setting now in force. For `provider.set`: `providers.NAME`, with the entry.
    pub value: Value,
    /// Why the change has no effect everywhere or at once, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// Parameters of `provider.set`: an entry of the user's own config, added or changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderSetParams {
    pub name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<String>,
    /// Default model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// Make it the default model.
    #[serde(default)]
    pub make_default: bool,
}

/// Parameters of `provider.probe`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderProbeParams {
    /// A configured or built-in provider.
    pub name: String,
    /// Instead: an endpoint that is not configured yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Key to check; absent: the key of new sessions. Not stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
}

/// Answer of `provider.probe`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderProbeOutput {
    /// Requested host and port; empty if this kind of provider needs none.
    pub host: String,
    /// Whether an API answered at the address.
    pub reachable: bool,
    pub key: KeyState,
    /// Time until the answer was complete.
    pub duration_ms: u64,
    /// Models listed by the provider; empty if it lists none.
    pub models: Vec<String>,
    /// Description in one line, without secrets.
    pub text: String,
    /// What to do; empty if all is well.
    pub hint: String,
    /// Another base URL at which an API answers, where none does at this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better_base_url: Option<String>,
    /// Facts about the listed models, in the order of `models`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<ModelFacts>,
}

/// State of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyState {
    /// The provider takes it.
    Works,
    /// The provider refuses it.
    Wrong,
    /// There is none.
    Missing,
    /// None is needed.
    NotNeeded,
    /// It could not be tried.
    Unknown,
}

/// Parameters of `credential.set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CredentialSetParams {
    /// Variable in `api_key_env` of the provider.
    pub variable: String,
    /// The key; absent: remove the stored key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

/// Answer of `credential.set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CredentialSetOutput {
    /// Path of the file with the key.
    pub kept_in: String,
}

/// Answer of `trust.get` and `trust.set`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TrustOutput {
    /// Directory of the project config.
    pub directory: Option<String>,
    pub trusted: bool,
    /// Settings without effect until the project is trusted, line by line.
    pub held_back: Vec<String>,
    /// SHA-256 of those lines; trust applies to this hash.
    pub hash: String,
    /// Answer of `trust.get`: the project's instruction files. The model reads them whether the project is trusted or not;
    /// they permit nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<String>,
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
    /// Hash from `trust.get`.
    pub hash: String,
    /// With `trusted`: trust it only as long as this connection lasts. Nothing is stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub connection: bool,
}

/// Parameters of `doctor.run`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorParams {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Rebuild the index from the logs first.
    #[serde(default)]
    pub rebuild_index: bool,
}

/// Answer of `doctor.run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DoctorOutput {
    pub checks: Vec<Check>,
}

/// One check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    pub name: String,
    pub level: CheckLevel,
    pub text: String,
    /// What to do; empty if it is well.
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
