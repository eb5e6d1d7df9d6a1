//! Revoking the tokens of a login at its authorization server (RFC 7009).

use std::time::Duration;

use reqwest::Url;
use rmcp::transport::auth::AuthorizationMetadata;
use serde_json::Value;

use super::address::safe_address;
use super::record::{Record, Tokens};
use super::{new_manager, reason};
use crate::client::http;

/// How long finding the authorization server and revoking all tokens may take: the user waits.
const REVOKING_MAX: Duration = Duration::from_secs(10);

/// What became of tokens at their authorization server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revocation {
    /// It accepts them no more.
    Done,
    /// It cannot revoke tokens.
    Unsupported,
    /// It may still accept them: why, as a text for the user.
    Failed(String),
}

/// Has the tokens of a login revoked.
pub(super) async fn revoke(url: &str, record: &Record) -> Revocation {
    let revoking = tokio::time::timeout(REVOKING_MAX, revoke_unbounded(url, record));
    match revoking.await {
        Ok(Ok(revocation)) => revocation,
        Ok(Err(reason)) => Revocation::Failed(reason),
        Err(_) => {
            let seconds = REVOKING_MAX.as_secs();
            Revocation::Failed(format!("its servers did not answer within {seconds} s"))
        }
    }
}

async fn revoke_unbounded(url: &str, record: &Record) -> Result<Revocation, String> {
    let manager = new_manager(url).await.map_err(|error| reason(&error))?;
    let found = manager.resolve_metadata().await;
    let metadata = found.map_err(|error| reason(&error))?.metadata;
    let Some(endpoint) = text(&metadata, "revocation_endpoint") else {
        return Ok(Revocation::Unsupported);
    };
    let endpoint = safe_address(endpoint)?;
    let server = Url::parse(url).map_err(|error| error.to_string())?;
    if http::is_local(&endpoint) && !http::is_local(&server) {
        return Err("its metadata names an address of this machine".to_owned());
    }
    let issuers = (&record.credentials.issuer, &metadata.issuer);
    if let (Some(then), Some(now)) = issuers
        && then != now
    {
        return Err("it has another authorization server now".to_owned());
    }
    let client = http::client(&endpoint)?;
    let Tokens { access, refresh } = record.tokens();
    // The refresh token first: most servers end what was made of it along with it.
    let tokens = [("refresh_token", refresh), ("access_token", access)];
    for (hint, token) in tokens {
        let Some(token) = token else { continue };
        let mut pairs = vec![("token", &*token), ("token_type_hint", hint)];
        let mut request = client.post(endpoint.clone());
        let id = &*record.credentials.client_id;
        match &record.client_secret {
            None => pairs.push(("client_id", id)),
            Some(secret) if takes_secret_in_body(&metadata) => {
                pairs.extend([("client_id", id), ("client_secret", secret)]);
            }
            Some(secret) => request = request.basic_auth(encoded(id), Some(encoded(secret))),
        }
        let request = request
            .header("content-type", "application/x-www-form-urlencoded")
            .header("accept", "application/json")
            .body(form(&pairs));
        let answer = request.send().await;
        let answer = answer.map_err(|error| http::causes(&error.without_url()))?;
        let status = answer.status();
        if !status.is_success() && !is_unsupported_kind(answer).await {
            return Err(format!("it answered {status}"));
        }
    }
    Ok(Revocation::Done)
}

/// Whether a server cannot revoke this kind of token, which then ends with the other one.
async fn is_unsupported_kind(answer: reqwest::Response) -> bool {
    let is_short = answer.content_length().is_some_and(|bytes| bytes < 16_384);
    let error = match is_short {
        true => answer.json::<Value>().await.unwrap_or_default(),
        false => Value::Null,
    };
    error["error"] == "unsupported_token_type"
}

fn text<'a>(metadata: &'a AuthorizationMetadata, name: &str) -> Option<&'a str> {
    metadata.additional_fields.get(name)?.as_str()
}

/// Whether the server wants a client's secret in the body; else it is in a header, as the standard has it by default.
fn takes_secret_in_body(metadata: &AuthorizationMetadata) -> bool {
    let named = |name: &str| metadata.additional_fields.get(name)?.as_array();
    let methods = named("revocation_endpoint_auth_methods_supported")
        .or_else(|| named("token_endpoint_auth_methods_supported"));
    let has = |wanted: &str| {
        let methods = methods.into_iter().flatten();
        methods.filter_map(Value::as_str).any(|name| name == wanted)
    };
    has("client_secret_post") && !has("client_secret_basic")
}

/// `application/x-www-form-urlencoded`.
fn form(pairs: &[(&str, &str)]) -> String {
    // Only its query is used.
    let Ok(mut url) = Url::parse("http://localhost/") else {
        return String::new();
    };
    url.query_pairs_mut().extend_pairs(pairs);
    url.query().unwrap_or_default().to_owned()
}

fn encoded(text: &str) -> String {
    form(&[("", text)]).trim_start_matches('=').to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_encoded_and_the_secret_is_where_the_server_takes_it() {
        assert_eq!(form(&[("a", "x y&="), ("b", "ä")]), "a=x+y%26%3D&b=%C3%A4");
        assert_eq!(encoded("a:b=c"), "a%3Ab%3Dc");
        let in_body = |more: Value| {
            let mut text =
                json!({"authorization_endpoint": "https://a/", "token_endpoint": "https://a/t"});
            for (name, value) in more.as_object().unwrap() {
                text[name] = value.clone();
            }
            takes_secret_in_body(&serde_json::from_value(text).unwrap())
        };
        let (post, basic) = ("client_secret_post", "client_secret_basic");
        assert!(!in_body(json!({})));
        assert!(in_body(
            json!({"token_endpoint_auth_methods_supported": [post]})
        ));
        assert!(!in_body(
            json!({"token_endpoint_auth_methods_supported": [post, basic]})
        ));
        assert!(!in_body(json!({
            "revocation_endpoint_auth_methods_supported": [basic],
            "token_endpoint_auth_methods_supported": [post],
        })));
    }
}
