//! Entries for well-known vendors that come with the program: usable once their key is there, without a config.
//!
//! Data only; what their models can and cost stands in the catalog. An entry of the config with the same name takes the place of one of these. They are never what a session
//! gets that names no model, unless nothing is configured and their key is there; those on this machine never are.

use proto::{ErrorName, Failure};

use super::providers::{ProviderEntry, find};

/// The kind of an endpoint of which nothing else is said.
pub const KIND: &str = "openai";

/// Where a shipped entry says that it comes from.
pub const ORIGIN: &str = "shipped";

/// One row.
struct Row {
    name: &'static str,
    kind: &'static str,
    base_url: &'static str,
    /// The default first. Empty: the vendor's names change too often; a person chooses one.
    models: &'static [&'static str],
    /// Empty: none is needed.
    api_key_env: &'static str,
    sends_reasoning: bool,
}

/// In the order in which they are tried where nothing is configured.
const ROWS: &[Row] = &[
    Row {
        name: "deepseek",
        kind: KIND,
        base_url: "https://api.deepseek.com",
        models: &["deepseek-v4-flash", "deepseek-v4-pro"],
        api_key_env: "DEEPSEEK_API_KEY",
        sends_reasoning: true,
    },
    Row {
        name: "openai",
        kind: KIND,
        base_url: "https://api.openai.com/v1",
        models: &["gpt-5", "gpt-5-mini", "gpt-4.1"],
        api_key_env: "OPENAI_API_KEY",
        sends_reasoning: false,
    },
    Row {
        name: "anthropic",
        kind: "anthropic",
        base_url: "https://api.anthropic.com/v1",
        models: &["claude-sonnet-4-6", "claude-opus-4-7", "claude-haiku-4-5"],
        api_key_env: "ANTHROPIC_API_KEY",
        sends_reasoning: false,
    },
    Row {
        name: "openrouter",
        kind: KIND,
        base_url: "https://openrouter.ai/api/v1",
        models: &["openrouter/auto"],
        api_key_env: "OPENROUTER_API_KEY",
        sends_reasoning: false,
    },
    Row {
        name: "moonshot",
        kind: KIND,
        base_url: "https://api.moonshot.ai/v1",
        models: &[],
        api_key_env: "MOONSHOT_API_KEY",
        sends_reasoning: false,
    },
    Row {
        name: "zhipu",
        kind: KIND,
        base_url: "https://open.bigmodel.cn/api/paas/v4",
        models: &["glm-4.6"],
        api_key_env: "ZHIPUAI_API_KEY",
        sends_reasoning: false,
    },
    Row {
        name: "qwen",
        kind: KIND,
        base_url: "https://dashscope.aliyuncs.com/compatible-mode/v1",
        models: &["qwen3-coder-plus", "qwen-plus", "qwen-max"],
        api_key_env: "DASHSCOPE_API_KEY",
        sends_reasoning: false,
    },
    Row {
        name: "mistral",
        kind: KIND,
        base_url: "https://api.mistral.ai/v1",
        models: &[
            "mistral-large-latest",
            "mistral-medium-latest",
            "codestral-latest",
        ],
        api_key_env: "MISTRAL_API_KEY",
        sends_reasoning: false,
    },
    Row {
        name: "groq",
        kind: KIND,
        base_url: "https://api.groq.com/openai/v1",
        models: &["openai/gpt-oss-120b", "llama-3.3-70b-versatile"],
        api_key_env: "GROQ_API_KEY",
        sends_reasoning: false,
    },
    Row {
        name: "xai",
        kind: KIND,
        base_url: "https://api.x.ai/v1",
        models: &["grok-4"],
        api_key_env: "XAI_API_KEY",
        sends_reasoning: false,
    },
    Row {
        name: "ollama",
        kind: KIND,
        base_url: "http://127.0.0.1:11434/v1",
        models: &[],
        api_key_env: "",
        sends_reasoning: false,
    },
    Row {
        name: "llama.cpp",
        kind: KIND,
        base_url: "http://127.0.0.1:8080/v1",
        models: &[],
        api_key_env: "",
        sends_reasoning: false,
    },
    Row {
        name: "lmstudio",
        kind: KIND,
        base_url: "http://127.0.0.1:1234/v1",
        models: &[],
        api_key_env: "",
        sends_reasoning: false,
    },
];

/// All of them, as entries.
#[must_use]
pub fn all() -> Vec<ProviderEntry> {
    let entry = |row: &Row| ProviderEntry {
        name: row.name.to_owned(),
        kind: row.kind.to_owned(),
        base_url: row.base_url.to_owned(),
        models: row.models.iter().map(|model| (*model).to_owned()).collect(),
        api_key_env: Some(row.api_key_env.to_owned()).filter(|name| !name.is_empty()),
        sends_reasoning: row.sends_reasoning,
        origin: ORIGIN.to_owned(),
        ..ProviderEntry::default()
    };
    ROWS.iter().map(entry).collect()
}

/// Those whose names the config does not have.
#[must_use]
pub fn besides(configured: &[ProviderEntry]) -> Vec<ProviderEntry> {
    let mut entries = all();
    entries.retain(|entry| configured.iter().all(|known| known.name != entry.name));
    entries
}

/// Finds what a reference means among the configured entries, and then among the shipped ones. A shipped entry takes
/// any model, named as `provider/model`: which there are, its vendor knows.
///
/// # Errors
/// `not_found` with what there is; `ambiguous` with the candidates.
pub fn find_any(
    configured: &[ProviderEntry],
    wanted: &str,
) -> Result<(ProviderEntry, String), Failure> {
    let missed = match find(configured, wanted) {
        Ok((entry, model)) => return Ok((entry.clone(), model)),
        Err(missed) => missed,
    };
    if missed.name != ErrorName::NotFound {
        return Err(missed);
    }
    let shipped = besides(configured);
    if let Some(entry) = shipped.iter().find(|entry| entry.name == wanted)
        && entry.models.is_empty()
    {
        return Err(Failure::new(
            ErrorName::InvalidConfig,
            format!("For the provider `{wanted}` no model is chosen."),
            format!("Name one as `{wanted}/MODEL`, or choose one with `reasonix setup`."),
        ));
    }
    if let Ok((entry, model)) = find(&shipped, wanted) {
        return Ok((entry.clone(), model));
    }
    let any = wanted.split_once('/').and_then(|(name, model)| {
        let entry = shipped.iter().find(|entry| entry.name == name)?;
        (!model.trim().is_empty()).then(|| (entry.clone(), model.to_owned()))
    });
    any.ok_or_else(|| {
        let names: Vec<_> = shipped.iter().map(|entry| entry.name.as_str()).collect();
        let hint = format!(
            "{} Others come with the program: {}.",
            missed.hint,
            names.join(", ")
        );
        Failure { hint, ..missed }
    })
}

/// What a session gets where nothing is configured: the first that has a model chosen and whose key is there.
#[must_use]
pub fn with_key(has_key: &dyn Fn(&str) -> bool) -> Option<ProviderEntry> {
    all().into_iter().find(|entry| {
        let keyed = entry.api_key_env.as_deref().is_some_and(has_key);
        keyed && !entry.models.is_empty()
    })
}

#[cfg(test)]
mod tests;
