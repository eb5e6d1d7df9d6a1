//! What an entry of the config says about a provider, as plain values.
//!
//! Filled by the daemon's assembly; checked by `open`.

use std::time::Duration;

/// One provider.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name in the config: what messages call it.
    pub name: String,
    /// The kind, by its name in the registry.
    pub kind: String,
    /// Where the API stands, up to the version: `https://api.deepseek.com`. A query is kept.
    pub base_url: String,
    /// The models that the entry offers, for messages about a model that is not there.
    pub models: Vec<String>,
    /// The environment variable that holds the key. Where it is set, no request goes out without a key.
    pub api_key_env: Option<String>,
    /// Headers for each request. One that is named here replaces ours.
    pub headers: Vec<(String, String)>,
    /// Members for each request, as comma-joined JSON members without the braces, or empty.
    pub extra: String,
    pub timeouts: Timeouts,
    /// Whether the vendor demands the reasoning of earlier answers (DeepSeek's thinking models do). The kinds
    /// `anthropic` and `openai-responses` always send back what their vendors sign or encrypt.
    pub sends_reasoning: bool,
    /// How hard the model is to think, in the vendor's word. `None`: as the vendor likes.
    pub effort: Option<String>,
    /// The efforts that the models have. Empty: not known, any is sent.
    pub efforts: Vec<String>,
    /// The longest answer that is asked for, in tokens. 0: as the vendor likes, or what the kind has to say.
    pub max_output_tokens: u64,
    /// For `command`: the program and its arguments.
    pub command: Vec<String>,
}

/// How long to wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For a connection, with TLS.
    pub connect: Duration,
    /// From sending until the answer's first byte.
    pub first_byte: Duration,
    /// Silence between two pieces of an answer.
    pub idle: Duration,
    /// Keep-alives without anything of the answer in them.
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
