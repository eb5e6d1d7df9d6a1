//! The list of models of an endpoint: where it is, and what it says of each model.

use reqwest::Url;
use serde_json::Value;
use tokio::time::Instant;

use super::response::send;
use super::{ListedModel, MODELS_MAX, ProbeRequest};
use crate::failure::ErrorContext;
use crate::http::{self, Auth};

/// The models of a list, with the windows that the endpoint names there or, if it is a server on this machine, elsewhere.
pub(super) async fn listed_models(
    what: &ProbeRequest,
    body: &[u8],
    site: &ErrorContext,
    deadline: Instant,
) -> Vec<ListedModel> {
    let mut models = models(body);
    for model in &mut models {
        model.id = site.clean(&model.id);
    }
    if let Some(url) = windows_of(what)
        && !models.is_empty()
        && models.iter().all(|model| model.context_window.is_none())
        && let Ok(answer) = send(what, &url, what.key.as_ref(), None, deadline).await
    {
        let loaded = self::models(&answer.body);
        for model in &mut models {
            let known = loaded.iter().find(|known| known.id == model.id);
            model.context_window = known.and_then(|known| known.context_window);
        }
    }
    models
}

/// Where LM Studio and Ollama tell the windows of loaded models, beside their OpenAI-compatible API. They are known by
/// their ports.
fn windows_of(what: &ProbeRequest) -> Option<Url> {
    let mut url = Url::parse(what.base_url.trim()).ok()?;
    let path = match url.port() {
        Some(1234) => "/api/v0/models",
        Some(11434) => "/api/ps",
        _ => return None,
    };
    url.set_path(path);
    http::is_loopback(&url).then_some(url)
}

/// The URL of the model list: beside the request URL.
pub(super) fn list_of(what: &ProbeRequest) -> (&str, &'static str) {
    let base = what.base_url.trim().trim_end_matches('/');
    let stem = ["/chat/completions", "/responses", "/messages"]
        .iter()
        .find_map(|path| base.strip_suffix(path))
        .unwrap_or(base);
    match Auth::of(&what.kind) {
        Auth::ApiKey if !stem.ends_with("/v1") => (stem, "/v1/models"),
        Auth::ApiKey | Auth::Bearer => (stem, "/models"),
    }
}

/// The models of a list, as far as it is one.
pub(super) fn models(body: &[u8]) -> Vec<ListedModel> {
    let Ok(list) = serde_json::from_slice::<Value>(body) else {
        return Vec::new();
    };
    let list = list
        .get("data")
        .or_else(|| list.get("models"))
        .unwrap_or(&list);
    let entries = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let models = entries.iter().filter_map(|entry| {
        let id = entry.get("id").or_else(|| entry.get("name"));
        Some(ListedModel {
            id: id.unwrap_or(entry).as_str()?.to_owned(),
            context_window: window(entry),
        })
    });
    models
        .filter(|model| !model.id.trim().is_empty())
        .take(MODELS_MAX)
        .collect()
}

/// The context window that an entry of a list names. The window in which a model is loaded goes before the largest that it
/// could have; of LM Studio the latter says nothing, since it loads models with smaller ones.
fn window(entry: &Value) -> Option<u64> {
    // LM Studio, llama.cpp, vLLM and SGLang, OpenRouter and Ollama, Groq, Mistral.
    const NAMES: &[&str] = &[
        "/loaded_context_length",
        "/meta/n_ctx",
        "/max_model_len",
        "/context_length",
        "/context_window",
        "/max_context_length",
    ];
    let is_of_lm_studio = entry.get("state").is_some();
    let names = NAMES.iter();
    let mut names = names.filter(|name| !is_of_lm_studio || **name == NAMES[0]);
    names.find_map(|name| entry.pointer(name)?.as_u64().filter(|tokens| *tokens > 0))
}

#[cfg(test)]
mod tests;
