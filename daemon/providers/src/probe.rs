//! Checks that an endpoint is reachable, accepts a key and answers, by requesting its list of models, and by a prompt
//! of one token, since a list says nothing about prompts: at the given address, and if no prompts are taken there, once
//! at the address with `/v1`.
//!
//! Stores nothing, and follows redirects only on the same host. Its texts
//! contain no key, even if the server echoes it. Called by the daemon's `provider.probe`.

mod judgement;
mod model_list;
mod prompt;
mod response;

use std::sync::Arc;
use std::time::Duration;

use contract::Secret;
use proto::params::config::KeyState;
use reqwest::Url;
use tokio::time::Instant;

use self::judgement::{judge, judge_prompt, model_count};
use self::model_list::{list_of, listed_models};
use self::prompt::{
    MANY_END_IN_V1, PromptCheck, check_by_prompt, versioned, versioned_prompts, without_prompts,
};
use self::response::send;
use crate::failure::{EntryInfo, ErrorContext};
use crate::http::{self, Auth};

/// Maximum time for a connection and for a whole probe, whatever the settings.
const TIME_MAX: Duration = Duration::from_secs(15);
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

#[cfg(test)]
mod tests;
