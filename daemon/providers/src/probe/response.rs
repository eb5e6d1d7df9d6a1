//! One request of a probe, and what its response shows by itself.

use contract::Secret;
use reqwest::header::HeaderMap;
use reqwest::{Response, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::model_list::models;
use super::{ProbeFailure, ProbeRequest, TIME_MAX};
use crate::failure::VendorError;
use crate::http::{self, Auth, ClientRoute};

/// Maximum bytes read of a response.
const ANSWER_MAX: usize = 1 << 20;

/// A response.
pub(super) struct ProbeResponse {
    pub(super) status: u16,
    /// Target of a redirect.
    pub(super) to: Option<String>,
    pub(super) body: Vec<u8>,
    /// The body was truncated.
    pub(super) cut: bool,
}

impl ProbeResponse {
    pub(super) fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(&self.body)
    }

    /// The error that stands in place of an answer, as an object or as an event of a stream.
    pub(super) fn error(&self) -> Option<VendorError> {
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
    pub(super) fn is_elsewhere(&self) -> bool {
        matches!(self.status, 404 | 405) || self.text().trim_start().starts_with('<')
    }

    /// Whether it refuses the model alone: then prompts are taken there.
    pub(super) fn is_about_the_model(&self) -> bool {
        let vendor = VendorError::from_text(&self.text());
        self.body.trim_ascii_start().starts_with(b"{")
            && vendor.words().to_lowercase().contains("model")
    }

    /// Whether a prompt that is answered so was sent to an address where none are taken.
    pub(super) fn takes_no_prompts(&self) -> bool {
        self.is_elsewhere() && !self.is_about_the_model()
    }

    /// Whether this is an answer to a prompt.
    pub(super) fn answers_a_prompt(&self) -> bool {
        matches!(self.status, 200..=299) && !self.is_elsewhere() && self.error().is_none()
    }

    /// Whether only an API answers a request for its models so.
    pub(super) fn is_api(&self) -> bool {
        match self.status {
            200 => !models(&self.body).is_empty(),
            status => matches!(status, 401 | 403) && !self.is_elsewhere(),
        }
    }
}

/// One request, with or without the key: a GET, or with a body a POST.
pub(super) async fn send(
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
