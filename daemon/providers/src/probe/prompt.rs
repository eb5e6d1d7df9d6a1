//! The prompt that an endpoint gets: as small as its kind takes, at the given address and, if none are taken there, once at
//! the address with `/v1`.

use proto::params::config::KeyState;
use reqwest::Url;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::judgement::{Judgement, judge, model_count};
use super::response::{ProbeResponse, send};
use super::{ListedModel, ProbeRequest, ProbeResult, silent};
use crate::anthropic;
use crate::failure::{ErrorContext, VendorError};
use crate::http::{self, Auth};

/// The path of a prompt after the base URL, and its body.
pub(super) fn smallest(kind: &str, base: &str, model: &str) -> (&'static str, Value) {
    let messages = json!([{"role": "user", "content": "hi"}]);
    match kind {
        "anthropic" => (
            anthropic::path(base),
            json!({"model": model, "max_tokens": 1, "messages": messages}),
        ),
        // It refuses fewer.
        "openai-responses" => (
            "/responses",
            json!({"model": model, "max_output_tokens": 16, "input": "hi", "store": false}),
        ),
        _ => (
            "/chat/completions",
            json!({"model": model, "max_tokens": 1, "messages": messages}),
        ),
    }
}

/// What a prompt shows about an endpoint that lists its models.
pub(super) enum PromptCheck {
    /// The prompt was answered, or the key was refused.
    Judged(Judgement),
    /// No prompts are taken at this address, but at the named one, if any.
    Elsewhere(Option<String>),
    /// The prompt was refused for another reason than the key: its status and the words of the refusal.
    Refused(String),
    /// Nothing.
    Unclear,
}

/// Checks endpoint and key by a prompt.
pub(super) async fn check_by_prompt(
    what: &ProbeRequest,
    site: &ErrorContext,
    models: &[ListedModel],
    deadline: Instant,
) -> PromptCheck {
    let configured = models.iter().find(|model| model.id == what.model);
    let Some(model) = configured.or_else(|| models.first()) else {
        return PromptCheck::Unclear;
    };
    let Some(answer) = send_prompt(what, &what.base_url, &model.id, deadline).await else {
        return PromptCheck::Unclear;
    };
    if answer.takes_no_prompts() {
        return PromptCheck::Elsewhere(versioned_prompts(what, &model.id, deadline).await);
    }
    if answer.answers_a_prompt() {
        let listed = model_count(models.len(), false);
        let (key, end) = match what.key {
            Some(_) => (KeyState::Works, "and a prompt of one token; the key works"),
            None => (KeyState::NotNeeded, "and a prompt of one token"),
        };
        let text = format!("answered {listed}, {end}");
        return PromptCheck::Judged((key, text, String::new()));
    }
    let words = || site.clean(VendorError::from_text(&answer.text()).words());
    // Another model may be one that this key may use.
    if answer.is_about_the_model() {
        return PromptCheck::Refused(format!("{}: {}", answer.status, words()));
    }
    match judge(what, site, &answer, 0, false) {
        judged @ (KeyState::Works | KeyState::Wrong | KeyState::Missing, ..) => {
            PromptCheck::Judged(judged)
        }
        _ => PromptCheck::Refused(format!("{}: {}", answer.status, words())),
    }
}

/// Sends the smallest prompt to a base URL. `None`: no answer.
async fn send_prompt(
    what: &ProbeRequest,
    base_url: &str,
    model: &str,
    deadline: Instant,
) -> Option<ProbeResponse> {
    let (path, body) = smallest(&what.kind, base_url, model);
    let url = http::address(base_url, path).ok()?;
    let sent = send(what, &url, what.key.as_ref(), Some(&body), deadline).await;
    sent.ok()
}

/// The address with a version, if prompts are taken there: answered, or refused for another reason than the address.
pub(super) async fn versioned_prompts(
    what: &ProbeRequest,
    model: &str,
    deadline: Instant,
) -> Option<String> {
    let better = versioned(&what.base_url).filter(|_| Auth::of(&what.kind) == Auth::Bearer)?;
    let answer = send_prompt(what, &better, model, deadline).await?;
    let is_api = !answer.takes_no_prompts() && answer.to.is_none() && answer.status < 500;
    is_api.then_some(better)
}

/// Of an endpoint that lists its models, but takes no prompts at this address.
pub(super) fn without_prompts(host: String, better: Option<String>) -> ProbeResult {
    let (text, hint) = match &better {
        Some(better) => (
            format!("{host} takes no prompts at this address, but at `{better}`"),
            format!("set `base_url` to `{better}`"),
        ),
        None => (
            format!("{host} lists its models, but takes no prompts at this address"),
            MANY_END_IN_V1.to_owned(),
        ),
    };
    ProbeResult {
        text,
        hint,
        better_base_url: better,
        ..silent(host, (String::new(), ""))
    }
}

/// A hint for an address at which no prompts are taken.
pub(super) const MANY_END_IN_V1: &str = "check `base_url`: the part of the provider's address before `/chat/completions`, `/responses` or `/messages`; many end in `/v1`";

/// The same URL with a version, if it has none and does not name a method of the API.
pub(super) fn versioned(base: &str) -> Option<String> {
    let mut url = Url::parse(base.trim()).ok()?;
    let path = url.path().trim_end_matches('/').to_owned();
    let is_version = |part: &str| {
        let number = part.strip_prefix('v').unwrap_or_default();
        number.starts_with(|first: char| first.is_ascii_digit())
    };
    let is_method = |part: &str| matches!(part, "completions" | "responses" | "messages");
    if path
        .split('/')
        .any(|part| is_version(part) || is_method(part))
    {
        return None;
    }
    url.set_path(&format!("{path}/v1"));
    Some(url.into())
}
