//! The connection to a vendor: sends a request, returns a stream of bytes.
//!
//! Owns the shared HTTP clients and the endpoint. Follows a redirect only on the same host and with
//! an unchanged request, so that a key is never sent elsewhere. Does not interpret the bytes.
//! Called by `read` and `probe`.

use std::collections::HashMap;
use std::error::Error;
use std::net::IpAddr;
use std::sync::{LazyLock, Mutex, Once, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use contract::provider::ProviderError;
use contract::{RequestBuffer, Secret};
use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    LOCATION,
};
use reqwest::{Client, Response, Url, redirect};
use tokio::time::{Instant, timeout_at};

use crate::failure::ErrorContext;
use crate::options::ProviderOptions;
use crate::registry::OpenError;

/// The bytes of a response. An error is the connection's message.
pub(crate) type Body = BoxStream<'static, Result<Bytes, String>>;

/// The target of requests, with headers.
#[derive(Clone)]
pub(crate) struct Endpoint {
    url: Url,
    headers: HeaderMap,
    connect: Duration,
    auth: Auth,
    beta: BetaOf,
}

/// The beta of Anthropic's API that a body needs.
type BetaOf = fn(&[u8]) -> Option<&'static str>;

/// How to send a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    /// `Authorization: Bearer …`
    Bearer,
    /// `x-api-key: …`, and the API version.
    ApiKey,
}

/// Anthropic's header for a key.
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
/// Anthropic's header with the betas that a request uses.
const BETA: HeaderName = HeaderName::from_static("anthropic-beta");

impl Auth {
    /// The header for a kind.
    pub(crate) fn of(kind: &str) -> Self {
        match kind {
            "anthropic" => Self::ApiKey,
            _ => Self::Bearer,
        }
    }

    /// Additional headers of each request, unless the entry sets them.
    pub(crate) fn defaults(self) -> Option<(HeaderName, HeaderValue)> {
        let version = HeaderName::from_static("anthropic-version");
        (self == Self::ApiKey).then(|| (version, HeaderValue::from_static("2023-06-01")))
    }

    /// Adds the key to the headers, unless they already have one. Returns false if a header cannot
    /// contain the key.
    pub(crate) fn show(self, key: &Secret, headers: &mut HeaderMap) -> bool {
        if headers.contains_key(AUTHORIZATION)
            || (self == Self::ApiKey && headers.contains_key(API_KEY))
        {
            return true;
        }
        let key = key.expose().trim();
        let (name, value) = match self {
            Self::Bearer => (AUTHORIZATION, format!("Bearer {key}")),
            Self::ApiKey => (API_KEY, key.to_owned()),
        };
        let Ok(mut value) = HeaderValue::from_str(&value) else {
            return false;
        };
        value.set_sensitive(true);
        headers.insert(name, value);
        true
    }
}

impl Endpoint {
    /// Checks an entry's base URL and headers. The kind appends `path` to the URL.
    pub(crate) fn new(
        options: &ProviderOptions,
        path: &str,
        auth: Auth,
    ) -> Result<Self, OpenError> {
        let url = address(&options.base_url, path).map_err(|reason| OpenError::BaseUrl {
            name: options.name.clone(),
            reason,
        })?;
        let headers = headers(auth, "text/event-stream", &options.headers);
        let mut headers = headers.map_err(|(header, reason)| OpenError::Header {
            name: options.name.clone(),
            header,
            reason: reason.to_owned(),
        })?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        Ok(Self {
            url,
            headers,
            connect: options.timeouts.connect,
            auth,
            beta: |_| None,
        })
    }

    /// The same, where some bodies need a beta of the API.
    pub(crate) fn with_beta(self, beta: BetaOf) -> Self {
        Self { beta, ..self }
    }

    /// Sends a body. Returns the response with any status. Dropping the future cancels the request.
    pub(crate) async fn send(
        &self,
        body: RequestBuffer,
        key: Option<&Secret>,
        site: &ErrorContext,
    ) -> Result<Response, ProviderError> {
        let mut headers = self.headers.clone();
        if let Some(key) = key
            && !self.auth.show(key, &mut headers)
        {
            return Err(site.permanent(
                "has a key that is not valid in a header",
                "store the key again, without line breaks",
            ));
        }
        if let Some(beta) = (self.beta)(&body) {
            add_beta(beta, &mut headers);
        }
        let client = client(ClientRoute::of(&self.url, self.connect))
            .await
            .map_err(|reason| {
                site.permanent(
                    &format!("cannot be reached: {reason}"),
                    "check the system's certificates and the proxy variables",
                )
            })?;
        let sent = client
            .post(self.url.clone())
            .headers(headers)
            .body(Bytes::from_owner(body))
            .send()
            .await;
        sent.map_err(|error| {
            let host = host(&self.url);
            let layer = if error.is_connect() {
                "has no connection to"
            } else {
                "lost its connection to"
            };
            let refused = is_refused(&error) && is_loopback(&self.url);
            let what = format!("{layer} {host}: {}", reason(error));
            match refused {
                true => site.not_running(&what),
                false => site.transient(&what),
            }
        })
    }
}

/// Adds a beta to those that the entry's own headers name.
fn add_beta(beta: &'static str, headers: &mut HeaderMap) {
    let own = headers.get(BETA).and_then(|own| own.to_str().ok());
    let all = match own {
        Some(own) if own.split(',').any(|name| name.trim() == beta) => return,
        Some(own) => HeaderValue::from_str(&format!("{own},{beta}")),
        None => Ok(HeaderValue::from_static(beta)),
    };
    if let Ok(all) = all {
        headers.insert(BETA, all);
    }
}

/// Whether nothing listens at the port.
fn is_refused(error: &reqwest::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let io = error.downcast_ref::<std::io::Error>();
        if io.is_some_and(|io| io.kind() == std::io::ErrorKind::ConnectionRefused) {
            return true;
        }
        cause = error.source();
    }
    false
}

/// The headers of each request: ours, and the entry's own in place of those with the same name. The
/// error is a header that cannot be sent, and why.
pub(crate) fn headers(
    auth: Auth,
    accept: &'static str,
    own: &[(String, String)],
) -> Result<HeaderMap, (String, &'static str)> {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    // A compressor in between would delay events.
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers.extend(auth.defaults());
    for (header, value) in own {
        let wrong = |reason| (header.clone(), reason);
        let name: HeaderName = header
            .parse()
            .map_err(|_| wrong("is not a valid header name"))?;
        let mut value = HeaderValue::from_str(value)
            .map_err(|_| wrong("has a value that is not valid in a header"))?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

/// Host and port, for messages.
pub(crate) fn host(url: &Url) -> String {
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{}:{port}", url.host_str().unwrap_or_default())
}

/// The target of a redirect, as the response names it.
pub(crate) fn redirect_target(response: &Response) -> Option<String> {
    let to = response.headers().get(LOCATION)?;
    to.to_str().ok().map(str::to_owned)
}

/// The start of a body, up to so many bytes and this time. Also returns whether there was more.
pub(crate) async fn start_of(mut body: Body, max: usize, until: Instant) -> (Vec<u8>, bool) {
    let mut start = Vec::new();
    while let Ok(Some(Ok(bytes))) = timeout_at(until, body.next()).await {
        start.extend_from_slice(&bytes);
        if start.len() > max {
            start.truncate(max);
            return (start, true);
        }
    }
    (start, false)
}

/// The bytes of a response.
pub(crate) fn body(response: Response) -> Body {
    response
        .bytes_stream()
        .map(|bytes| bytes.map_err(reason))
        .boxed()
}

/// The URL of an endpoint. Keeps a query, because Azure has its version there.
pub(crate) fn address(base: &str, path: &str) -> Result<Url, String> {
    let mut url =
        Url::parse(base.trim()).map_err(|error| format!("`{base}` is not a URL: {error}"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
        return Err(format!("`{base}` must begin with `https://` or `http://`"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(
            "contains a user or password: put the key into the variable that `api_key_env` names"
                .to_owned(),
        );
    }
    let stem = url.path().trim_end_matches('/');
    let whole = if stem.ends_with(path) {
        stem.to_owned()
    } else {
        format!("{stem}{path}")
    };
    url.set_path(&whole);
    url.set_fragment(None);
    Ok(url)
}

/// Whether a URL names this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_matches(['[', ']']).trim_end_matches('.');
    match host.parse::<IpAddr>() {
        // The unspecified address leads here too.
        Ok(address) => {
            let address = address.to_canonical();
            address.is_loopback() || address.is_unspecified()
        }
        Err(_) => host == "localhost" || host.ends_with(".localhost") || is_own_name(host),
    }
}

/// Whether a host name is this machine's.
fn is_own_name(host: &str) -> bool {
    static OWN: LazyLock<String> = LazyLock::new(|| {
        let name = std::fs::read_to_string("/proc/sys/kernel/hostname");
        name.unwrap_or_default().trim().to_ascii_lowercase()
    });
    let own = OWN.as_str();
    !own.is_empty() && (host == own || host.strip_suffix(".local") == Some(own))
}

/// Properties that need separate clients. There is one client per distinct route, and a daemon has
/// one or two.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct ClientRoute {
    connect: Duration,
    tls: bool,
    /// A model on this machine is reached without a proxy.
    proxied: bool,
}

impl ClientRoute {
    pub(crate) fn of(url: &Url, connect: Duration) -> Self {
        Self {
            connect,
            tls: url.scheme() == "https",
            proxied: !is_loopback(url),
        }
    }

    /// Creates the client. Reads the system's certificates if needed, which takes some
    /// milliseconds.
    fn build(self) -> Result<Client, String> {
        static PROVIDER: Once = Once::new();
        PROVIDER.call_once(|| {
            // An error means that the program already chose one.
            let _ = rustls::crypto::ring::default_provider().install_default();
        });
        let mut builder = Client::builder()
            .user_agent(concat!("reasonix/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.connect)
            .redirect(redirect::Policy::custom(stay));
        if !self.tls {
            builder = builder.tls_certs_only([]);
        }
        if !self.proxied {
            builder = builder.no_proxy();
        }
        builder.build().map_err(reason)
    }
}

/// 307 and 308 repeat the request unchanged. Other redirects would change it to a GET without a
/// body.
fn stay(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let repeats = matches!(attempt.status().as_u16(), 307 | 308);
    let first = attempt.previous().first();
    if repeats
        && attempt.previous().len() <= 3
        && first.is_some_and(|first| first.origin() == attempt.url().origin())
    {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

/// The shared client of a route.
pub(crate) async fn client(route: ClientRoute) -> Result<Client, String> {
    static CLIENTS: LazyLock<Mutex<HashMap<ClientRoute, Client>>> = LazyLock::new(Mutex::default);
    let clients = || CLIENTS.lock().unwrap_or_else(PoisonError::into_inner);
    let known = clients().get(&route).cloned();
    if let Some(client) = known {
        return Ok(client);
    }
    // Certificates come from disk.
    let made = tokio::task::spawn_blocking(move || route.build())
        .await
        .map_err(|error| error.to_string())??;
    Ok(clients().entry(route).or_insert(made).clone())
}

/// The innermost two causes. The outer ones only say that a request failed. Never includes the URL.
pub(crate) fn reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let chain = std::iter::successors(Some(&error as &dyn Error), |&error| error.source());
    if chain.clone().any(is_no_tls) {
        return "the server does not speak TLS: try `http://` in `base_url`".to_owned();
    }
    if chain
        .clone()
        .any(|error| io_kind(error) == Some(std::io::ErrorKind::ConnectionRefused))
    {
        return "connection refused: nothing listens there".to_owned();
    }
    let mut causes: Vec<String> = chain.map(ToString::to_string).collect();
    causes.dedup();
    causes.split_off(causes.len().saturating_sub(2)).join(": ")
}

fn io_kind(error: &(dyn Error + 'static)) -> Option<std::io::ErrorKind> {
    error
        .downcast_ref::<std::io::Error>()
        .map(std::io::Error::kind)
}

/// Whether the other side answered a TLS greeting with something else, as a server without TLS does.
fn is_no_tls(error: &(dyn Error + 'static)) -> bool {
    error.to_string().contains("InvalidContentType")
}

#[cfg(test)]
mod tests;
