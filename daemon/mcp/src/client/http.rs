//! Streamable HTTP.

use std::collections::{BTreeMap, HashMap};
use std::sync::Once;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::service::ClientInitializeError;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};

use crate::config::without_password;
use crate::text::clean;

/// How long a connection may take.
pub(crate) const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of one event.
pub(super) const EVENT_MAX: usize = 16 * 1024 * 1024;

/// Why a server whose entry brings an authorization, and so has no login, refuses it.
pub(super) const OWN_AUTHORIZATION_REFUSED: &str =
    "it does not accept the `Authorization` of its entry's `headers`";

/// Chooses the implementation of TLS, if the program has not.
pub(crate) fn install_tls() {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error means that the program already chose one.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// What a server that wants a login says in its answer to a request: its `WWW-Authenticate`.
pub(crate) async fn challenge(url: &str, headers: &BTreeMap<String, String>) -> Option<String> {
    let (client, config) = transport(url, headers).ok()?;
    // Servers may answer another method than `POST` without it, and check the authorization before the content.
    let request = client
        .post(url)
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let headers = config.custom_headers.into_iter();
    let request = headers.fold(request, |request, (name, value)| {
        request.header(name, value)
    });
    let answer = request.send().await.ok()?;
    let wants_login = answer.status() == reqwest::StatusCode::UNAUTHORIZED;
    let challenge = answer.headers().get(reqwest::header::WWW_AUTHENTICATE);
    let challenge = challenge.filter(|_| wants_login)?;
    challenge.to_str().ok().map(str::to_owned)
}

/// Whether an address is on this machine.
pub(crate) fn is_local(address: &reqwest::Url) -> bool {
    match address.host_str() {
        Some("localhost" | "127.0.0.1" | "[::1]") => true,
        Some(_) | None => false,
    }
}

/// A client for one address. The error is a text for the user.
pub(crate) fn client(address: &reqwest::Url) -> Result<reqwest::Client, String> {
    install_tls();
    let mut client = reqwest::Client::builder()
        .user_agent(concat!("reasonix/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        // A redirect could take the headers to another host.
        .redirect(reqwest::redirect::Policy::none());
    if is_local(address) {
        client = client.no_proxy();
    }
    if address.scheme() == "http" {
        client = client.tls_certs_only([]);
    }
    client.build().map_err(|error| error.to_string())
}

/// How a server is reached: the client, and what it sends with each request. The error is a text for the user.
pub(crate) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<(reqwest::Client, StreamableHttpClientTransportConfig), String> {
    let address = reqwest::Url::parse(url).map_err(|error| format!("its url: {error}"))?;
    if !matches!(address.scheme(), "http" | "https") {
        return Err("its url must begin with http:// or https://".to_owned());
    }
    let mut custom = HashMap::new();
    let mut bearer = None;
    for (name, value) in headers {
        if name.eq_ignore_ascii_case("authorization")
            && let Some(token) = value.strip_prefix("Bearer ")
        {
            bearer = Some(token.to_owned());
            continue;
        }
        let name = HeaderName::try_from(name)
            .map_err(|_| format!("the header name {name:?} is not valid"))?;
        let mut value = HeaderValue::try_from(value)
            .map_err(|_| format!("the value of the header `{name}` is not valid"))?;
        value.set_sensitive(true);
        custom.insert(name, value);
    }
    let client = client(&address)?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(custom);
    config.auth_header = bearer;
    config.max_sse_event_size = EVENT_MAX;
    Ok((client, config))
}

/// Why a server cannot be reached.
pub(crate) fn reason(url: &str, error: &ClientInitializeError) -> String {
    let text = handshake_cause(error);
    let hint = match start_wants_login(error) {
        true => format!(" ({OWN_AUTHORIZATION_REFUSED})"),
        false => String::new(),
    };
    let url = without_password(url);
    clean(&format!("cannot connect to {url}: {text}{hint}"))
}

/// Why a handshake failed. The SDK's own words name its types.
pub(crate) fn handshake_cause(error: &ClientInitializeError) -> String {
    let text = match error {
        ClientInitializeError::TransportError { error, .. } => causes(&*error.error),
        ClientInitializeError::JsonRpcError(error) => error.message.clone().into_owned(),
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_) => {
            "it answered the handshake with something else".to_owned()
        }
        error => causes(error),
    };
    clean(&text)
}

/// An error with the whole chain of its causes.
pub(crate) fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    // The SDK does not name it as a cause.
    if let Some(StreamableHttpError::Client(error)) =
        error.downcast_ref::<StreamableHttpError<reqwest::Error>>()
    {
        return causes(error);
    }
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let words = inner.to_string();
        if !text.contains(&words) {
            text.push_str(": ");
            text.push_str(&words);
        }
        cause = inner.source();
    }
    text
}

/// Whether a handshake failed because the server wants an authorization, or another one.
pub(crate) fn start_wants_login(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::TransportError { error, .. } => wants_login(&*error.error),
        _ => false,
    }
}

/// Whether a server answered a handshake with an error: it may know another one.
pub(crate) fn handshake_refused(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::JsonRpcError(_) => true,
        ClientInitializeError::TransportError { error, .. } => {
            let error: &(dyn std::error::Error + 'static) = &*error.error;
            let mut causes = std::iter::successors(Some(error), |error| error.source());
            causes.any(|error| {
                matches!(
                    error.downcast_ref::<StreamableHttpError<reqwest::Error>>(),
                    Some(
                        StreamableHttpError::UnexpectedServerResponse(_)
                            | StreamableHttpError::HttpStatus(_)
                            | StreamableHttpError::SessionExpired
                    )
                )
            })
        }
        _ => false,
    }
}

/// The `WWW-Authenticate` of a server that refused a request because the login has too few rights.
pub(crate) fn missing_rights(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    while let Some(error) = cause {
        if let Some(StreamableHttpError::InsufficientScope(missing)) =
            error.downcast_ref::<StreamableHttpError<reqwest::Error>>()
        {
            return Some(missing.www_authenticate_header.clone());
        }
        cause = error.source();
    }
    None
}

/// Whether a request that failed has had no effect: it was refused, or never arrived.
pub(crate) fn did_nothing(error: &(dyn std::error::Error + 'static)) -> bool {
    let refused = |error: &StreamableHttpError<reqwest::Error>| {
        matches!(
            error,
            StreamableHttpError::SessionExpired
                | StreamableHttpError::ReinitializationFailed(_)
                | StreamableHttpError::UnexpectedServerResponse(_)
                | StreamableHttpError::HttpStatus(_)
        )
    };
    is_caused_by(error, refused) || never_arrived(error)
}

/// Whether a request failed because there was nobody to send it to.
pub(crate) fn never_arrived(error: &(dyn std::error::Error + 'static)) -> bool {
    is_caused_by(
        error,
        |error| matches!(error, StreamableHttpError::Client(error) if error.is_connect()),
    )
}

/// Whether this holds for an error of a request among the causes of an error.
fn is_caused_by(
    error: &(dyn std::error::Error + 'static),
    holds: impl Fn(&StreamableHttpError<reqwest::Error>) -> bool,
) -> bool {
    let mut causes = std::iter::successors(Some(error), |error| error.source());
    causes.any(|error| error.downcast_ref().is_some_and(&holds))
}

/// Whether a server answered that it wants an authorization, or another one.
pub(crate) fn wants_login(error: &(dyn std::error::Error + 'static)) -> bool {
    is_caused_by(error, |error| match error {
        StreamableHttpError::AuthRequired(_) => true,
        StreamableHttpError::Client(error) => {
            error.status() == Some(reqwest::StatusCode::UNAUTHORIZED)
        }
        StreamableHttpError::UnexpectedServerResponse(text) => text.starts_with("HTTP 401"),
        _ => false,
    })
}
