//! Asks an endpoint whether it is there and takes a key: its list of models, and nothing that costs.
//!
//! Never sends a prompt, keeps nothing, and takes a redirect only on the same host. What it says holds no key, also
//! where the server echoes it. Called by the daemon's `provider.probe`.

use std::sync::Arc;
use std::time::Duration;

use contract::Secret;
use contract::provider::ErrorKind;
use futures::StreamExt as _;
use proto::params::config::KeyState;
use reqwest::header::{ACCEPT, ACCEPT_ENCODING, HeaderMap, HeaderName, HeaderValue, LOCATION};
use reqwest::{Response, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use crate::failure::{Entry, Site, VendorError, classify};
use crate::http::{self, Auth, Route};

/// The longest that a connection, and a whole probe, may take, whatever the settings say.
const TIME_MAX: Duration = Duration::from_secs(15);
/// How much of an answer is read, in bytes.
const ANSWER_MAX: usize = 1 << 20;
/// Models that are told.
const MODELS_MAX: usize = 200;

/// What is to be asked.
#[derive(Clone, Debug)]
pub struct Probe {
    /// What messages call the provider.
    pub name: String,
    /// The kind, by its name in the registry.
    pub kind: String,
    /// Where the API stands, up to the version.
    pub base_url: String,
    /// The key to try; `None`: there is none.
    pub key: Option<Secret>,
    /// The variable that is to hold the key; `None`: none is needed, as far as the config says.
    pub key_env: Option<String>,
    /// The entry's own headers.
    pub headers: Vec<(String, String)>,
    /// For a connection, with TLS; at most 15 s.
    pub connect: Duration,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Probed {
    /// Host and port; empty where the address is none.
    pub host: String,
    /// Whether anything answered.
    pub reachable: bool,
    pub key: KeyState,
    /// Until the first answer was there.
    pub duration: Duration,
    /// Ids of models, at most 200.
    pub models: Vec<String>,
    /// What happened, in one line, without secrets.
    pub text: String,
    /// What to do about it; empty where all is well.
    pub hint: String,
}

/// An answer, read.
struct Answer {
    status: u16,
    /// Where a redirect points.
    to: Option<String>,
    body: Vec<u8>,
    /// The body was longer than is read.
    cut: bool,
}

/// Why there is no answer.
enum Silence {
    /// The entry cannot be sent as it stands: what, and what to do.
    Entry(String, &'static str),
    /// The network: what, and what to do.
    Network(String, &'static str),
}

/// Asks. Takes at most 15 s; dropping the future ends the request.
pub async fn probe(what: Probe) -> Probed {
    let started = Instant::now();
    let site = Site {
        entry: Arc::new(Entry {
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
    };
    let (stem, path) = list_of(&what);
    let said = match http::address(stem, path) {
        Ok(url) => ask(&what, &site, &url, started).await,
        Err(reason) => silent(
            String::new(),
            Silence::Entry(format!("base_url: {reason}"), "mend `base_url`"),
        ),
    };
    Probed {
        text: site.clean(&said.text),
        hint: site.clean(&said.hint),
        ..said
    }
}

/// Where the list of models is: beside what requests are sent to.
fn list_of(what: &Probe) -> (&str, &'static str) {
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

async fn ask(what: &Probe, site: &Site, url: &Url, started: Instant) -> Probed {
    let deadline = started + TIME_MAX;
    let host = format!(
        "{}:{}",
        url.host_str().unwrap_or_default(),
        url.port_or_known_default().unwrap_or_default()
    );
    let answer = match get(what, url, what.key.as_ref(), deadline).await {
        Ok(answer) => answer,
        Err(why) => return silent(host, why),
    };
    let duration = started.elapsed();
    // Some vendors show their list to everybody: then it says nothing of the key.
    let shown_to_all = what.key.is_some()
        && answer.status == 200
        && matches!(get(what, url, None, deadline).await, Ok(other) if other.status == 200);
    let models = models(&answer.body)
        .into_iter()
        .map(|model| site.clean(&model))
        .collect::<Vec<_>>();
    let (key, text, hint) = judge(what, site, &answer, models.len(), shown_to_all);
    Probed {
        text: format!("{host} {text}, after {} ms", duration.as_millis()),
        host,
        reachable: true,
        key,
        duration,
        models,
        hint,
    }
}

fn silent(host: String, why: Silence) -> Probed {
    let (text, hint) = match why {
        Silence::Entry(text, hint) | Silence::Network(text, hint) => (text, hint),
    };
    Probed {
        host,
        reachable: false,
        key: KeyState::Unknown,
        duration: Duration::ZERO,
        models: Vec::new(),
        text,
        hint: hint.to_owned(),
    }
}

/// One GET, with or without the key.
async fn get(
    what: &Probe,
    url: &Url,
    key: Option<&Secret>,
    deadline: Instant,
) -> Result<Answer, Silence> {
    let headers = headers(what, key)?;
    let sending = async {
        let client = http::client(Route::of(url, what.connect.min(TIME_MAX)))
            .await
            .map_err(|reason| {
                Silence::Network(
                    reason,
                    "check the system's certificates and the proxy variables",
                )
            })?;
        let sent = client.get(url.clone()).headers(headers).send().await;
        sent.map_err(|error| {
            let layer = if error.is_connect() {
                "no connection"
            } else {
                "the connection was lost"
            };
            Silence::Network(
                format!("{layer}: {}", http::reason(error)),
                "check `base_url`, the network and the proxy variables; a model on this machine must be running",
            )
        })
    };
    match timeout_at(deadline, sending).await {
        Ok(response) => Ok(read(response?, deadline).await),
        Err(_) => Err(Silence::Network(
            format!("no answer within {} s", TIME_MAX.as_secs()),
            "check `base_url`, the network and the vendor's status page",
        )),
    }
}

fn headers(what: &Probe, key: Option<&Secret>) -> Result<HeaderMap, Silence> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.extend(Auth::of(&what.kind).defaults());
    for (name, value) in &what.headers {
        let (Ok(name), Ok(mut value)) = (name.parse::<HeaderName>(), HeaderValue::from_str(value))
        else {
            return Err(Silence::Entry(
                "one of its `headers` cannot be sent".to_owned(),
                "mend `headers` of this provider",
            ));
        };
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    if let Some(key) = key
        && !Auth::of(&what.kind).show(key, &mut headers)
    {
        return Err(Silence::Entry(
            "the key is one that no header can hold".to_owned(),
            "store the key again, without line breaks",
        ));
    }
    Ok(headers)
}

/// Reads an answer as far as it comes in time and fits.
async fn read(response: Response, deadline: Instant) -> Answer {
    let status = response.status().as_u16();
    let to = response
        .headers()
        .get(LOCATION)
        .and_then(|to| to.to_str().ok())
        .map(str::to_owned);
    let mut body = http::body(response);
    let mut text = Vec::new();
    let mut cut = false;
    while let Ok(Some(Ok(bytes))) = timeout_at(deadline, body.next()).await {
        text.extend_from_slice(&bytes);
        if text.len() > ANSWER_MAX {
            text.truncate(ANSWER_MAX);
            cut = true;
            break;
        }
    }
    Answer {
        status,
        to,
        body: text,
        cut,
    }
}

/// What an answer says: of the key, in words, and what to do.
fn judge(
    what: &Probe,
    site: &Site,
    answer: &Answer,
    count: usize,
    shown_to_all: bool,
) -> (KeyState, String, String) {
    let body = String::from_utf8_lossy(&answer.body);
    let variable = what.key_env.as_deref().unwrap_or("api_key_env");
    if answer.status == 200 {
        return listed(what, answer, &body, count, shown_to_all);
    }
    let vendor = VendorError::from_text(&body);
    // Cut here too: what is behind the words (the duration) is to stay readable.
    let words = match (&*vendor.message, &*vendor.code) {
        ("", "") => "no reason given".to_owned(),
        ("", code) => site.clean(code),
        (message, _) => site.clean(message),
    };
    let refuses = matches!(answer.status, 401 | 403)
        || matches!(
            classify(Some(answer.status), &vendor),
            ErrorKind::Credentials
        );
    let said = format!("answered {}: {words}", answer.status);
    if refuses {
        return match (&what.key, &what.key_env) {
            (Some(_), _) => (
                KeyState::Wrong,
                format!("refuses the key: it {said}"),
                format!("check the key in `{variable}`, and that it belongs to this provider"),
            ),
            (None, Some(_)) => (
                KeyState::Missing,
                format!("wants a key, and there is none: it {said}"),
                format!("set `{variable}` in the environment, or store the key"),
            ),
            (None, None) => (
                KeyState::Missing,
                format!("wants a key, and the provider names none: it {said}"),
                "name the variable that holds it in `api_key_env`".to_owned(),
            ),
        };
    }
    let key = match (&what.key, &what.key_env) {
        (None, Some(_)) => KeyState::Missing,
        _ => KeyState::Unknown,
    };
    match (answer.status, &answer.to) {
        (404 | 405, _) => (
            key,
            format!("answered {}: it has no list of models there", answer.status),
            match versioned(&what.base_url) {
                Some(url) => format!("many stand below a version: try `{url}` as `base_url`"),
                None => "if a prompt fails too, check `base_url`; a key cannot be checked without that list".to_owned(),
            },
        ),
        (300..=399, Some(to)) => (
            key,
            format!("redirects to {}", site.clean(to)),
            "put the address it points to into `base_url`, if you trust it".to_owned(),
        ),
        (408 | 425 | 429 | 500..=599, _) => (
            key,
            said,
            "the vendor's trouble: try again later".to_owned(),
        ),
        _ => (
            key,
            said,
            "check `base_url` and `headers` of this provider".to_owned(),
        ),
    }
}

/// The same address below a version, where it is that of a host alone.
fn versioned(base: &str) -> Option<String> {
    let mut url = Url::parse(base).ok().filter(|url| url.path() == "/")?;
    url.set_path("/v1");
    Some(url.into())
}

/// What a good answer says.
fn listed(
    what: &Probe,
    answer: &Answer,
    body: &str,
    count: usize,
    shown_to_all: bool,
) -> (KeyState, String, String) {
    if body.trim_start().starts_with('<') {
        let hint = "check `base_url`: this is not the address of an API (or a proxy is in the way)";
        let key = if what.key.is_none() && what.key_env.is_some() {
            KeyState::Missing
        } else {
            KeyState::Unknown
        };
        return (key, "answered with a web page".to_owned(), hint.to_owned());
    }
    let models = match count {
        _ if answer.cut => "with more than 1 MiB of models".to_owned(),
        0 => "without a list of models".to_owned(),
        1 => "with one model".to_owned(),
        count => format!("with {count} models"),
    };
    match (&what.key, &what.key_env) {
        (Some(_), _) if shown_to_all => (
            KeyState::Unknown,
            format!(
                "answered {models}, but does so without a key too: whether the key works, it does not tell"
            ),
            "the first prompt will show it".to_owned(),
        ),
        (Some(_), _) => (
            KeyState::Works,
            format!("answered {models} and takes the key"),
            String::new(),
        ),
        (None, Some(variable)) => (
            KeyState::Missing,
            format!("answered {models}; there is no key"),
            format!("set `{variable}` in the environment, or store the key"),
        ),
        (None, None) => (
            KeyState::NotNeeded,
            format!("answered {models}"),
            String::new(),
        ),
    }
}

/// The ids in a list of models, as far as it is one.
fn models(body: &[u8]) -> Vec<String> {
    let Ok(list) = serde_json::from_slice::<Value>(body) else {
        return Vec::new();
    };
    let list = list
        .get("data")
        .or_else(|| list.get("models"))
        .unwrap_or(&list);
    let entries = list.as_array().map(Vec::as_slice).unwrap_or_default();
    let ids = entries.iter().filter_map(|entry| {
        let id = entry.get("id").or_else(|| entry.get("name"));
        id.unwrap_or(entry).as_str()
    });
    ids.filter(|id| !id.trim().is_empty())
        .take(MODELS_MAX)
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests;
