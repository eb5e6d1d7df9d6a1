//! The options of a provider, from its config entry.
//!
//! Filled by the daemon's assembly, and checked by `open`.

use std::time::Duration;

/// One provider.
#[derive(Clone, Debug)]
pub struct ProviderOptions {
    /// Its name in the config, used in messages.
    pub name: String,
    /// The kind, by its name in the registry.
    pub kind: String,
    /// Base URL of the API, including the version: `https://api.deepseek.com`. A query is kept.
    pub base_url: String,
    /// The model that is asked. Some rules of vendors are of their models, whoever serves them.
    pub model: String,
    /// The entry's models, for messages about an unknown model.
    pub models: Vec<String>,
    /// The environment variable with the key. If set, no request is sent without a key.
    pub api_key_env: Option<String>,
    /// Headers of each request. They replace our own ones with the same name.
    pub headers: Vec<(String, String)>,
    /// Extra members of each request, as comma-joined JSON without braces. May be empty.
    pub extra: String,
    pub timeouts: Timeouts,
    /// Maximum bytes of an answer's content, as the log holds it.
    pub answer_max: usize,
    /// Whether the vendor requires the reasoning of earlier answers, as DeepSeek's thinking models
    /// do. The kinds `anthropic` and `openai-responses` always send back signed or encrypted
    /// reasoning.
    pub sends_reasoning: bool,
    /// Whether the server demands that messages of user and assistant alternate. Only for `openai`.
    pub strict_roles: bool,
    /// Whether the vendor compacts conversations itself. Only for `anthropic` and `openai-responses`.
    pub server_compaction: bool,
    /// Reasoning effort, in the vendor's terms. `None`: the vendor's default.
    pub effort: Option<String>,
    /// The efforts that the models support. Empty: unknown, so any is sent.
    pub efforts: Vec<String>,
    /// Maximum output tokens. 0: the default of the vendor or the kind.
    pub max_output_tokens: u64,
    /// Whether the models accept images. `None`: not known, so none are sent.
    pub vision: Option<bool>,
    /// For `command`: the program and its arguments.
    pub command: Vec<String>,
}

/// `answer_max` unless the user sets another one: several times the limit of any model, and small enough that a record
/// with such an answer fits into the log.
pub const ANSWER_MAX: usize = 16 << 20;

/// Time limits of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For connecting, including TLS.
    pub connect: Duration,
    /// From sending until the first byte of the response.
    pub first_byte: Duration,
    /// Silence between two chunks of a response.
    pub idle: Duration,
    /// Keep-alives without any content.
    pub progress: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            first_byte: Duration::from_secs(120),
            idle: Duration::from_secs(120),
            progress: Duration::from_secs(900),
        }
    }
}
