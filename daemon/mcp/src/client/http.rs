//! Streamable HTTP.

use std::collections::{BTreeMap, HashMap};
use std::sync::Once;
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use crate::text::clean;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// Bytes of one event.
const EVENT_MAX: usize = 16 * 1024 * 1024;

/// A transport to this address. The error is a text for the user.
pub(crate) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
) -> Result<StreamableHttpClientTransport<reqwest::Client>, String> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // An error means that the program already chose one.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
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
    let is_local = match address.host_str() {
        Some("localhost" | "127.0.0.1" | "[::1]") => true,
        Some(_) | None => false,
    };
    let mut client = reqwest::Client::builder()
        .user_agent(concat!("reasonix/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT)
        // A redirect could take the headers to another host.
        .redirect(reqwest::redirect::Policy::none());
    if is_local {
        client = client.no_proxy();
    }
    if address.scheme() == "http" {
        client = client.tls_certs_only([]);
    }
    let client = client.build().map_err(|error| error.to_string())?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(url).custom_headers(custom);
    config.auth_header = bearer;
    config.max_sse_event_size = EVENT_MAX;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

/// Why a server cannot be reached, with the whole chain of causes.
pub(crate) fn reason(url: &str, error: &dyn std::error::Error) -> String {
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
    let hint = if text.contains("401") || text.to_lowercase().contains("auth required") {
        " (it wants an authorization; set `headers`)"
    } else {
        ""
    };
    clean(&format!("cannot connect to {url}: {text}{hint}"))
}
