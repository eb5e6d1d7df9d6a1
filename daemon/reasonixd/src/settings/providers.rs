//! `[[providers]]`: vendor endpoints as they are declared, and how a model reference finds one.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::dollars::DollarPrice;
use super::model_lists::ModelList;

/// One entry.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderEntry {
    pub name: String,
    pub kind: String,
    #[serde(default)]
    pub base_url: String,
    /// One model, or `models` with `default`.
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub models: Vec<String>,
    #[serde(default)]
    pub default: Option<String>,
    #[serde(default)]
    pub api_key_env: Option<String>,
    /// Tokens; 0: not said.
    #[serde(default)]
    pub context_window: u64,
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// Members that each request gets besides, such as `thinking`.
    #[serde(default)]
    pub extra: toml::Table,
    /// The vendor demands the reasoning of earlier answers back.
    #[serde(default)]
    pub sends_reasoning: bool,
    /// The server demands that messages of user and assistant alternate.
    #[serde(default)]
    pub strict_roles: bool,
    /// The vendor compacts conversations itself.
    #[serde(default)]
    pub server_compaction: bool,
    /// The models' reasoning effort, and the efforts that they know.
    #[serde(default)]
    pub effort: Option<String>,
    #[serde(default)]
    pub efforts: Vec<String>,
    /// The longest answer that is asked for, in tokens; 0: not said.
    #[serde(default)]
    pub max_output_tokens: u64,
    /// Whether the models accept images; `None`: not said.
    #[serde(default)]
    pub vision: Option<bool>,
    /// Program and arguments, where the provider is one.
    #[serde(default)]
    pub command: Vec<String>,
    /// What the models cost; `None`: not said.
    #[serde(default)]
    pub price: Option<DollarPrice>,
    /// Requests of its key at a time, over all sessions.
    #[serde(default)]
    pub max_concurrent: Option<NonZeroU32>,
    /// Whether to repair the malformed calls of its models.
    #[serde(default)]
    pub repair: Option<bool>,
    /// The file that it came from.
    #[serde(skip)]
    pub origin: String,
    /// The line in it where the entry begins.
    #[serde(skip)]
    pub line: usize,
    /// What its endpoint listed last; `None`: it was never asked.
    #[serde(skip)]
    pub list: Option<ModelList>,
}

/// The keys of an entry with a sentence each, for the example file and for near-name hints.
pub const FIELDS: &[(&str, &str)] = &[
    ("name", "Name of the entry."),
    (
        "kind",
        "Protocol: `openai` (chat completions: every OpenAI-compatible endpoint), `openai-responses`, `anthropic`, \
         `command` (a program of yours, see docs/command-provider.md), or `replay` (recorded answers, for tests).",
    ),
    ("base_url", "Base URL of the API, up to the version."),
    ("models", "Models of the provider."),
    (
        "default",
        "Default model, if only the provider is named. Unset: the first one.",
    ),
    (
        "model",
        "The only model, in place of `models`. For `replay`: the path of the recording.",
    ),
    (
        "api_key_env",
        "Environment variable with the key. Unset: no key is needed.",
    ),
    (
        "context_window",
        "Context window of the models, in tokens. Unset: from the catalog (`reasonix models` shows it).",
    ),
    ("headers", "Additional headers of each request."),
    ("extra", "Additional members of each request's body."),
    (
        "sends_reasoning",
        "Whether to send earlier reasoning back, as DeepSeek's thinking models require. Signed or encrypted \
         reasoning of `anthropic` and `openai-responses` is always sent back.",
    ),
    (
        "strict_roles",
        "Whether the server demands that user and assistant alternate, as Mistral's API and the chat templates of some \
         local models do. Consecutive user messages are then sent as one. Only for `openai`.",
    ),
    (
        "server_compaction",
        "Whether the provider compacts the conversation itself instead of having the model write a summary, as the APIs of \
         Anthropic and OpenAI offer. What it writes replaces answers and tool results; your messages are still sent word \
         for word. Where the provider refuses, the model writes the summary. Only for `anthropic` and \
         `openai-responses`.",
    ),
    (
        "effort",
        "Reasoning effort, in the provider's terms. Unset: the provider's default. For `anthropic` it turns \
         adaptive thinking on.",
    ),
    (
        "efforts",
        "Efforts that the models support; others are refused without a request. Unset: from the catalog; if it has \
         none, any effort is sent.",
    ),
    (
        "max_output_tokens",
        "Maximum length of an answer, in tokens; 0: the provider's default (`anthropic` needs a number: 32000). Not \
         for `openai`, whose servers name it differently: use `extra`.",
    ),
    (
        "vision",
        "Whether the models accept images: images of tool results are sent only to models that do, others get a note. \
         Unset: from the catalog; if it has no answer, none are sent. Not for `command`.",
    ),
    (
        "command",
        "For `command`, in place of `base_url`: the program and its arguments.",
    ),
    (
        "price",
        "Prices of all models of the entry, in US dollars per million tokens: `input`, `output`, and, if they \
         differ from `input`, `cached` (read from the provider's cache) and `cache_write` (written to it); with \
         `tiers = [{ above = TOKENS, … }]` for longer prompts. Unset: from the catalog; if it has none, the cost is \
         unknown.",
    ),
    (
        "max_concurrent",
        "Maximum number of concurrent requests with this key, over all sessions; others wait. Unset: 16. Not for \
         `replay`.",
    ),
    (
        "repair",
        "Whether to repair malformed tool calls: undeclared, cut off, repeating, or too deeply nested. Unset: true. Only \
         for `openai`.",
    ),
];

/// The keys of an entry that only describe its models, and how each is checked: a wrong one is left out, and the entry stays.
const DESCRIBING: [(&str, Try); 5] = [
    ("context_window", fits::<u64>),
    ("max_output_tokens", fits::<u64>),
    ("efforts", fits::<Vec<String>>),
    ("vision", fits::<bool>),
    ("price", fits::<DollarPrice>),
];

/// A key, and why it was left out.
type Wrong = (&'static str, String);
type Try = fn(toml::Value) -> Result<(), toml::de::Error>;

fn fits<T: DeserializeOwned>(value: toml::Value) -> Result<(), toml::de::Error> {
    value.try_into::<T>().map(drop)
}

/// Reads an entry. Also returns the keys about its models that were left out, and why.
///
/// # Errors
/// It is not an entry.
pub fn read(text: &str) -> Result<(ProviderEntry, Vec<Wrong>), toml::de::Error> {
    let mut table: toml::Table = toml::from_str(text)?;
    let mut wrong = Vec::new();
    for (key, fits) in DESCRIBING {
        if let Some(value) = table.get(key)
            && let Err(error) = fits(value.clone())
        {
            wrong.push((key, error.message().to_owned()));
            table.remove(key);
        }
    }
    Ok((table.try_into()?, wrong))
}

impl ProviderEntry {
    /// Whether to repair the malformed calls of its models.
    #[must_use]
    pub fn repairs_calls(&self) -> bool {
        self.kind == "openai" && self.repair.unwrap_or(true)
    }

    /// With which effort a model thinks as little as it can, of those that it knows, the lowest first.
    #[must_use]
    pub fn least_effort(&self, efforts: &[String]) -> Option<String> {
        // There an effort switches thinking on.
        let thinks_only_then = self.kind == "anthropic";
        let lowest = efforts.first().or(self.effort.as_ref());
        lowest.filter(|_| !thinks_only_then).cloned()
    }

    /// All models of the config, the default first.
    #[must_use]
    pub fn all_models(&self) -> Vec<String> {
        let mut models = Vec::new();
        for model in self.default.iter().chain(&self.model).chain(&self.models) {
            if !models.contains(model) {
                models.push(model.clone());
            }
        }
        models
    }

    /// What its endpoint lists besides them.
    #[must_use]
    pub fn listed(&self) -> Vec<String> {
        let known = self.all_models();
        let list = self.list.iter().flat_map(|list| &list.models);
        list.filter(|model| !known.contains(model))
            .cloned()
            .collect()
    }

    /// Whether any name may be a model of it: its endpoint has no list, or one that was cut off.
    #[must_use]
    pub fn takes_any_model(&self) -> bool {
        self.list.as_ref().is_some_and(|list| !list.complete)
    }

    /// Whether the config says the same, whatever the endpoints list.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let bare = |entry: &Self| Self {
            list: None,
            line: 0,
            ..entry.clone()
        };
        bare(self) == bare(other)
    }
}
