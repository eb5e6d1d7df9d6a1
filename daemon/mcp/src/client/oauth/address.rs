//! Addresses of a login: only those at which nobody else reads along. Pure.

use reqwest::Url;
use rmcp::transport::auth::AuthorizationMetadata;

use crate::client::http;

/// The browser may only come back to the machine of the client.
pub(super) fn check_redirect(redirect_uri: &str) -> Result<(), String> {
    let is_loopback = Url::parse(redirect_uri)
        .is_ok_and(|url| url.scheme() == "http" && url.port().is_some() && http::is_local(&url));
    match is_loopback {
        true => Ok(()),
        false => {
            Err("the redirect must be an http:// address of this machine with a port".to_owned())
        }
    }
}

/// Codes and tokens go to no address where others could read them.
pub(super) fn check_endpoints(metadata: &AuthorizationMetadata) -> Result<(), String> {
    let registration = metadata.registration_endpoint.as_deref();
    let endpoints = [metadata.token_endpoint.as_str()];
    let endpoints = endpoints.into_iter().chain(registration);
    endpoints
        .map(safe_address)
        .try_for_each(|url| url.map(drop))
}

/// An address that is reached by HTTPS, or is on this machine.
pub(super) fn safe_address(address: &str) -> Result<Url, String> {
    let url = Url::parse(address).map_err(|error| format!("its login address: {error}"))?;
    if url.scheme() != "https" && !(url.scheme() == "http" && http::is_local(&url)) {
        return Err(format!(
            "its authorization server wants the login over `{}`, which is not safe",
            url.scheme()
        ));
    }
    Ok(url)
}

/// The `state` of an address that the user is to open. Refuses one that no browser should get.
pub(super) fn browser_state(address: &str) -> Result<String, String> {
    let url = safe_address(address)?;
    let mut pairs = url.query_pairs();
    let state = pairs.find(|(name, _)| name == "state");
    let state = state.map(|(_, value)| value.into_owned());
    state.ok_or_else(|| "its login address has no `state`".to_owned())
}
