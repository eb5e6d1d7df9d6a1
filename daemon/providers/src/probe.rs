//! Checks that an endpoint is reachable, accepts a key and answers, by requesting its list of models, and by a prompt
//! of one token, since a list says nothing about prompts: at the given address, and if no prompts are taken there, once
//! at the address with `/v1`.
//!
//! Stores nothing, and follows redirects only on the same host. Its texts
//! contain no key, even if the server echoes it. Called by the daemon's `provider.probe`.

mod prompt;

use std::sync::Arc;
use std::time::Duration;

use contract::Secret;
use contract::provider::ErrorKind;
use proto::params::config::KeyState;
use reqwest::header::HeaderMap;
use reqwest::{Response, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use self::prompt::{
    MANY_END_IN_V1, PromptCheck, check_by_prompt, versioned, versioned_prompts, without_prompts,
};
use crate::failure::{EntryInfo, ErrorContext, VendorError, classify, is_out_of_credit};
use crate::http::{self, Auth, ClientRoute};

/// Maximum time for a connection and for a whole probe, whatever the settings.
const TIME_MAX: Duration = Duration::from_secs(15);
/// Maximum bytes read of a response.
const ANSWER_MAX: usize = 1 << 20;
/// Maximum models returned.
pub const MODELS_MAX: usize = 2_000;

/// A probe request.
#[derive(Clone, Debug)]
pub struct ProbeRequest {
    /// The provider's name, used in messages.
    pub name: String,
    /// The kind, by its name in the registry.
    pub kind: String,
    /// Base URL of the API, including the version.
    pub base_url: String,
    /// The model of a prompt, if one is needed.
    pub model: String,
    /// The key to try, if any.
    pub key: Option<Secret>,
    /// The variable that should contain the key. `None`: according to the config, no key is needed.
    pub key_env: Option<String>,
    /// The entry's own headers.
    pub headers: Vec<(String, String)>,
    /// Time limit for connecting, including TLS. At most 15 s.
    pub connect: Duration,
}

/// Result of a probe.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeResult {
    /// Host and port. Empty if the URL is invalid.
    pub host: String,
    /// Whether an API answered there.
    pub reachable: bool,
    pub key: KeyState,
    /// Time until the first response.
    pub duration: Duration,
    /// At most 2,000.
    pub listed: Vec<ListedModel>,
    /// The result in one line, without secrets.
    pub text: String,
    /// What to do about it. Empty if all is well.
    pub hint: String,
    /// Another base URL at which an API answers, where none does at this one.
    pub better_base_url: Option<String>,
}

/// A model that an endpoint lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListedModel {
    pub id: String,
    /// Its context window in tokens, if the endpoint says so.
    pub context_window: Option<u64>,
}

/// Whether an endpoint is on this machine.
#[must_use]
pub fn is_local(base_url: &str) -> bool {
    Url::parse(base_url.trim()).is_ok_and(|url| http::is_loopback(&url))
}

/// A response.
struct ProbeResponse {
    status: u16,
    /// Target of a redirect.
    to: Option<String>,
    body: Vec<u8>,
    /// The body was truncated.
    cut: bool,
}

/// Why there is no response, and a hint.
type ProbeFailure = (String, &'static str);

/// Runs a probe. Takes at most 15 s. Dropping the future cancels the request.
pub async fn probe(what: ProbeRequest) -> ProbeResult {
    let started = Instant::now();
    let site = site(&what);
    let (stem, path) = list_of(&what);
    let said = match http::address(stem, path) {
        Ok(url) => ask(&what, &site, &url, started).await,
        Err(reason) => silent(
            String::new(),
            (format!("base_url: {reason}"), "fix `base_url`"),
        ),
    };
    ProbeResult {
        text: site.clean(&said.text),
        hint: site.clean(&said.hint),
        ..said
    }
}

/// Asks for the list of models alone: sends no prompt, and says nothing about the key. Empty: there is no list at this
/// address. `None`: no answer that says. Takes at most 15 s.
pub async fn list_models(what: ProbeRequest) -> Option<Vec<ListedModel>> {
    let (stem, path) = list_of(&what);
    let url = http::address(stem, path).ok()?;
    let deadline = Instant::now() + TIME_MAX;
    let answer = send(&what, &url, what.key.as_ref(), None, deadline)
        .await
        .ok()?;
    if answer.is_elsewhere() {
        return Some(Vec::new());
    }
    let site = site(&what);
    if answer.status != 200 {
        return None;
    }
    Some(listed_models(&what, &answer.body, &site, deadline).await)
}

/// The models of a list, with the windows that the endpoint names there or, if it is a server on this machine, elsewhere.
async fn listed_models(
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

/// What texts about an answer are cleaned of.
fn site(what: &ProbeRequest) -> ErrorContext {
    ErrorContext {
        entry: Arc::new(EntryInfo {
            answer_max: crate::options::ANSWER_MAX,
            name: what.name.clone(),
            models: Vec::new(),
            key_env: what.key_env.clone(),
            header_values: what
                .headers
                .iter()
                .map(|(_, value)| value.clone())
                .collect(),
        }),
        key: what.key.clone(),
    }
}

/// The URL of the model list: beside the request URL.
fn list_of(what: &ProbeRequest) -> (&str, &'static str) {
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

async fn ask(what: &ProbeRequest, site: &ErrorContext, url: &Url, started: Instant) -> ProbeResult {
    let deadline = started + TIME_MAX;
    let host = http::host(url);
    let answer = match send(what, url, what.key.as_ref(), None, deadline).await {
        Ok(answer) => answer,
        Err(why) => return silent(host, why),
    };
    if answer.is_elsewhere() {
        return ask_without_list(what, site, host, started).await;
    }
    let duration = started.elapsed();
    let models = listed_models(what, &answer.body, site, deadline).await;
    let is_list = answer.status == 200 && answer.error().is_none();
    // Sessions send no prompt without the key.
    let lacks_key = what.key.is_none() && what.key_env.is_some();
    let checked = match is_list && !lacks_key {
        true => check_by_prompt(what, site, &models, deadline).await,
        false => PromptCheck::Unclear,
    };
    let (key, text, hint) = match checked {
        PromptCheck::Judged(judged) => judged,
        PromptCheck::Elsewhere(better) => return without_prompts(host, better),
        PromptCheck::Refused(why) => (
            KeyState::Unknown,
            format!(
                "answered {}, but refused a prompt of one token: it answered {why}",
                model_count(models.len(), answer.cut)
            ),
            "send a prompt to see whether it lasts".to_owned(),
        ),
        PromptCheck::Unclear => {
            let shown_to_all = is_list && is_shown_to_all(what, url, deadline).await;
            judge(what, site, &answer, models.len(), shown_to_all)
        }
    };
    ProbeResult {
        text: format!("{host} {text}, after {} ms", duration.as_millis()),
        host,
        reachable: answer.to.is_none(),
        key,
        duration,
        listed: models,
        hint,
        better_base_url: None,
    }
}

/// Whether the list of models is shown without a key. Then it proves nothing about the key.
async fn is_shown_to_all(what: &ProbeRequest, url: &Url, deadline: Instant) -> bool {
    match (&what.key, &what.key_env) {
        (Some(_), _) => {
            let keyless = send(what, url, None, None, deadline).await;
            matches!(keyless, Ok(other) if other.status == 200)
        }
        (None, Some(_)) => false,
        (None, None) => true,
    }
}

/// The state of the key, a text and a hint.
type Judgement = (KeyState, String, String);

/// Of an endpoint that has no list of models: is there one at the address with a version? Else it gets a prompt.
async fn ask_without_list(
    what: &ProbeRequest,
    site: &ErrorContext,
    host: String,
    started: Instant,
) -> ProbeResult {
    let deadline = started + TIME_MAX;
    let better = versioned(&what.base_url).filter(|_| Auth::of(&what.kind) == Auth::Bearer);
    let found_at = |better: String| ProbeResult {
        text: format!("{host} has no API at this address, but one at `{better}`"),
        hint: format!("set `base_url` to `{better}`"),
        better_base_url: Some(better),
        ..silent(host.clone(), (String::new(), ""))
    };
    if let Some(better) = better
        && let Ok(list) = http::address(&better, "/models")
        && let Ok(answer) = send(what, &list, what.key.as_ref(), None, deadline).await
        && answer.is_api()
    {
        return found_at(better);
    }
    let (path, body) = prompt::smallest(&what.kind, &what.base_url, &what.model);
    let asked = match http::address(&what.base_url, path) {
        Ok(url) => send(what, &url, what.key.as_ref(), Some(&body), deadline).await,
        Err(reason) => Err((reason, "fix `base_url`")),
    };
    let answer = match asked {
        Ok(answer) => answer,
        Err(why) => return silent(host, why),
    };
    if answer.takes_no_prompts() {
        if let Some(better) = versioned_prompts(what, &what.model, deadline).await {
            return found_at(better);
        }
        return ProbeResult {
            text: format!(
                "{host} has no API at this address: neither a list of models nor prompts"
            ),
            ..silent(host, (String::new(), MANY_END_IN_V1))
        };
    }
    let (key, text, hint) = judge_prompt(what, site, &answer);
    ProbeResult {
        text: format!("{host} {text}, after {} ms", started.elapsed().as_millis()),
        host,
        reachable: answer.to.is_none(),
        key,
        duration: started.elapsed(),
        listed: Vec::new(),
        hint,
        better_base_url: None,
    }
}

impl ProbeResponse {
    fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// The error that stands in place of an answer, as an object or as an event of a stream.
    fn error(&self) -> Option<VendorError> {
        let text = self.text();
        let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let mut parts = std::iter::once(&*text).chain(events);
        parts.find_map(|part| {
            let value: Value = serde_json::from_str(part).ok()?;
            let error = value.get("error").filter(|error| !error.is_null());
            error.and_then(|_| VendorError::from_value(&value))
        })
    }

    /// Whether what was asked for is not at this address: another path, or a web page in its place.
    fn is_elsewhere(&self) -> bool {
        matches!(self.status, 404 | 405) || self.text().trim_start().starts_with('<')
    }

    /// Whether it refuses the model alone: then prompts are taken there.
    fn is_about_the_model(&self) -> bool {
        let vendor = VendorError::from_text(&self.text());
        self.body.trim_ascii_start().starts_with(b"{")
            && vendor.words().to_lowercase().contains("model")
    }

    /// Whether a prompt that is answered so was sent to an address where none are taken.
    fn takes_no_prompts(&self) -> bool {
        self.is_elsewhere() && !self.is_about_the_model()
    }

    /// Whether this is an answer to a prompt.
    fn answers_a_prompt(&self) -> bool {
        matches!(self.status, 200..=299) && !self.is_elsewhere() && self.error().is_none()
    }

    /// Whether only an API answers a request for its models so.
    fn is_api(&self) -> bool {
        match self.status {
            200 => !models(&self.body).is_empty(),
            status => matches!(status, 401 | 403) && !self.is_elsewhere(),
        }
    }
}

fn silent(host: String, (text, hint): ProbeFailure) -> ProbeResult {
    ProbeResult {
        host,
        reachable: false,
        key: KeyState::Unknown,
        duration: Duration::ZERO,
        listed: Vec::new(),
        text,
        hint: hint.to_owned(),
        better_base_url: None,
    }
}

/// One request, with or without the key: a GET, or with a body a POST.
async fn send(
    what: &ProbeRequest,
    url: &Url,
    key: Option<&Secret>,
    body: Option<&Value>,
    deadline: Instant,
) -> Result<ProbeResponse, ProbeFailure> {
    let headers = headers(what, key)?;
    let sending = async {
        let client = http::client(ClientRoute::of(url, what.connect.min(TIME_MAX)))
            .await
            .map_err(|reason| {
                (
                    reason,
                    "check the system's certificates and the proxy variables",
                )
            })?;
        let request = match body {
            Some(body) => client.post(url.clone()).json(body),
            None => client.get(url.clone()),
        };
        request.headers(headers).send().await.map_err(|error| {
            let layer = if error.is_connect() {
                "no connection"
            } else {
                "the connection was lost"
            };
            (
                format!("{layer}: {}", http::reason(error)),
                "check `base_url`, the network and the proxy variables; a model on this machine must be running",
            )
        })
    };
    match timeout_at(deadline, sending).await {
        Ok(response) => Ok(read(response?, deadline).await),
        Err(_) => Err((
            format!("no answer within {} s", TIME_MAX.as_secs()),
            "check `base_url`, the network and the provider's status page",
        )),
    }
}

fn headers(what: &ProbeRequest, key: Option<&Secret>) -> Result<HeaderMap, ProbeFailure> {
    let auth = Auth::of(&what.kind);
    let mut headers = http::headers(auth, "application/json", &what.headers).map_err(|_| {
        let why = "one of its `headers` cannot be sent".to_owned();
        (why, "fix `headers` of this provider")
    })?;
    match key {
        Some(key) if !auth.show(key, &mut headers) => Err((
            "the key cannot be sent in a header".to_owned(),
            "store the key again, without line breaks",
        )),
        _ => Ok(headers),
    }
}

/// Reads a response up to the time and size limits.
async fn read(response: Response, deadline: Instant) -> ProbeResponse {
    let status = response.status().as_u16();
    let to = http::redirect_target(&response);
    let (body, cut) = http::start_of(http::body(response), ANSWER_MAX, deadline).await;
    ProbeResponse {
        status,
        to,
        body,
        cut,
    }
}

/// Interprets the answer to a prompt.
fn judge_prompt(what: &ProbeRequest, site: &ErrorContext, answer: &ProbeResponse) -> Judgement {
    match answer.status {
        200..=299 if answer.answers_a_prompt() => (
            match what.key {
                Some(_) => KeyState::Works,
                None => KeyState::NotNeeded,
            },
            "has no list of models, but answered a prompt of one token".to_owned(),
            String::new(),
        ),
        400 | 404 | 405 | 422 if answer.is_about_the_model() => (
            KeyState::Unknown,
            format!(
                "has no list of models, and refused a prompt to `{}`: {}",
                what.model,
                site.clean(VendorError::from_text(&answer.text()).words())
            ),
            "give the model that it has".to_owned(),
        ),
        _ => judge(what, site, answer, 0, false),
    }
}

/// Interprets a response: the state of the key, a text and a hint.
fn judge(
    what: &ProbeRequest,
    site: &ErrorContext,
    answer: &ProbeResponse,
    count: usize,
    shown_to_all: bool,
) -> Judgement {
    let body = answer.text();
    let key_named = match &what.key_env {
        Some(variable) => format!("the key in `{variable}`"),
        None => "the key".to_owned(),
    };
    let vendor = answer.error();
    let is_found = vendor.is_some();
    let vendor = vendor.unwrap_or_else(|| VendorError::from_text(&body));
    // Some gateways send their errors with a 200.
    let is_error = count == 0
        && (is_found || body.trim_start().starts_with('{') && body.contains("\"error\""));
    let status = Some(answer.status).filter(|status| *status != 200);
    if status.is_none() && !is_error {
        return listed(what, answer, count, shown_to_all);
    }
    // Truncated here too, so that the duration after it stays readable.
    let words = site.clean(vendor.words());
    let refuses = matches!(answer.status, 401 | 403)
        || matches!(classify(status, &vendor), ErrorKind::Credentials);
    let said = format!("answered {}: {words}", answer.status);
    if is_out_of_credit(status, &vendor) && what.key.is_some() {
        return (
            KeyState::Wrong,
            format!("takes no prompts of this key, whose account is empty: it {said}"),
            format!("add credit to the account of {key_named}"),
        );
    }
    if refuses {
        return match (&what.key, &what.key_env) {
            (Some(_), _) => (
                KeyState::Wrong,
                format!("refuses the key: it {said}"),
                format!("check {key_named}, and that it belongs to this provider"),
            ),
            (None, Some(variable)) => (
                KeyState::Missing,
                format!("requires a key, and none is set: it {said}"),
                format!("set `{variable}` in the environment, or store the key"),
            ),
            (None, None) => (
                KeyState::Missing,
                format!("requires a key, and the provider has no `api_key_env`: it {said}"),
                "set `api_key_env` to the variable that holds the key".to_owned(),
            ),
        };
    }
    let key = match (&what.key, &what.key_env) {
        (None, Some(_)) => KeyState::Missing,
        _ => KeyState::Unknown,
    };
    match (answer.status, &answer.to) {
        (300..=399, Some(to)) => (
            key,
            format!("redirects to {}", site.clean(to)),
            "if you trust the new address, set it as `base_url`".to_owned(),
        ),
        (408 | 425 | 429 | 500..=599, _) => (
            key,
            said,
            "the provider has a problem: try again later".to_owned(),
        ),
        _ => (
            key,
            said,
            "check `base_url` and `headers` of this provider".to_owned(),
        ),
    }
}

/// Interprets a successful response: "answered with one model", "answered with 2 models; the key works", "answered with 2
/// models; no key is set". Clients translate these sentences whole.
fn listed(
    what: &ProbeRequest,
    answer: &ProbeResponse,
    count: usize,
    shown_to_all: bool,
) -> Judgement {
    let models = model_count(count, answer.cut);
    match (&what.key, &what.key_env) {
        (Some(_), _) if shown_to_all => (
            KeyState::Unknown,
            format!(
                "answered {models}, but it does so without a key too, so the key was not checked"
            ),
            "send a prompt to check the key".to_owned(),
        ),
        (Some(_), _) => (
            KeyState::Works,
            format!("answered {models}; the key works"),
            String::new(),
        ),
        (None, Some(variable)) => (
            KeyState::Missing,
            format!("answered {models}; no key is set"),
            format!("set `{variable}` in the environment, or store the key"),
        ),
        (None, None) => (
            KeyState::Unknown,
            format!("answered {models}, but no prompt, so whether it needs a key is unknown"),
            "send a prompt to check it".to_owned(),
        ),
    }
}

/// How many models an answer has. `cut`: not all of it was read.
fn model_count(count: usize, cut: bool) -> String {
    match count {
        _ if cut => "with more than 1 MiB of models".to_owned(),
        0 => "without a list of models".to_owned(),
        1 => "with one model".to_owned(),
        count => format!("with {count} models"),
    }
}

/// The models of a list, as far as it is one.
fn models(body: &[u8]) -> Vec<ListedModel> {
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
