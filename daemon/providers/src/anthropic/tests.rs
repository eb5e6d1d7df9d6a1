//! Whole requests to a loopback server that fails on request.

use std::time::Duration;

use contract::provider::{ErrorKind, Part, ProviderError};
use futures::StreamExt as _;
use proto::item::Finish;

use super::*;
use crate::fake::{self, FakeServer, ServerAction, chunk, end, events, nothing, plain};

const KEY: &str = "sk-acme-0123456789";
const SAYS: &str = r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"ab"}}

"#;
const STOPS: &str = r#"data: {"type":"message_delta","delta":{"stop_reason":"end_turn"}}

data: {"type":"message_stop"}

"#;

type Parts = Vec<Result<Part, ProviderError>>;

async fn ask(options: ProviderOptions) -> Parts {
    let (_, provider) = open(options, &nothing()).expect("a good entry");
    tokio::time::timeout(
        Duration::from_secs(20),
        provider.stream(fake::request()).collect(),
    )
    .await
    .expect("an end in time")
}

fn error(parts: &Parts) -> &ProviderError {
    match parts.last() {
        Some(Err(error)) => error,
        other => panic!("no error at the end: {other:?}"),
    }
}

#[tokio::test]
async fn the_key_has_its_own_header_and_the_base_url_may_have_the_version() {
    for tail in ["", "/", "/messages"] {
        let mut server =
            FakeServer::start(vec![vec![events(), chunk(SAYS), chunk(STOPS), end()]]).await;
        let parts = ask(fake::options(KIND, &format!("{}{tail}", server.base))).await;
        assert_eq!(
            parts,
            [
                Ok(Part::Text("ab".to_owned())),
                Ok(Part::Done(Finish::Stop))
            ]
        );
        let head = server.request().await.head.to_lowercase();
        assert!(head.starts_with("post /v1/messages http/1.1\r\n"), "{head}");
        for line in [
            "x-api-key: sk-acme-0123456789",
            "anthropic-version: 2023-06-01",
        ] {
            assert!(head.lines().any(|there| there == line), "{line} in {head}");
        }
        assert!(!head.contains("authorization"), "{head}");
    }
    for (base, path) in [
        ("https://api.anthropic.com", "/v1/messages"),
        ("https://api.deepseek.com/anthropic/", "/v1/messages"),
        ("https://a.test/v1", "/messages"),
        ("https://a.test/v1/?x=1", "/messages"),
    ] {
        assert_eq!(super::path(base), path, "{base}");
    }
}

/// The beta of a request joins those that the entry names, once, and goes with no other request.
#[tokio::test]
async fn a_beta_of_the_request_joins_those_of_the_entry() {
    let asks = br#"{"messages":[],"compaction":{"type":"summarize"}}"#;
    let beta = "compact-2026-09-04";
    for (own, body, expected) in [
        (None, &asks[..], Some(beta.to_owned())),
        (Some("a-1"), asks, Some(format!("a-1,{beta}"))),
        (Some(beta), asks, Some(beta.to_owned())),
        (Some("a-1"), b"{}", Some("a-1".to_owned())),
        (None, b"{}", None),
    ] {
        let mut server =
            FakeServer::start(vec![vec![events(), chunk(SAYS), chunk(STOPS), end()]]).await;
        let mut options = fake::options(KIND, &server.base);
        let header = own.map(|own| ("Anthropic-Beta".to_owned(), own.to_owned()));
        options.headers = header.into_iter().collect();
        let (_, provider) = open(options, &nothing()).expect("a good entry");
        let request = contract::Request {
            body: body.to_vec().into(),
            ..fake::request()
        };
        let parts: Parts = provider.stream(request).collect().await;
        assert!(parts.iter().all(Result::is_ok), "{parts:?}");
        let head = server.request().await.head.to_lowercase();
        let mut lines = head.lines();
        let sent = lines.find_map(|line| line.strip_prefix("anthropic-beta: "));
        assert_eq!(sent.map(str::to_owned), expected, "{head}");
    }
}

#[tokio::test]
async fn headers_of_the_entry_replace_ours() {
    let script = vec![events(), chunk(SAYS), chunk(STOPS), end()];
    let mut server = FakeServer::start(vec![script]).await;
    let mut options = fake::options(KIND, &server.base);
    options.headers = vec![
        ("Authorization".to_owned(), "Bearer gateway".to_owned()),
        ("anthropic-version".to_owned(), "2099-01-01".to_owned()),
    ];
    ask(options).await;
    let head = server.request().await.head.to_lowercase();
    assert!(!head.contains("x-api-key"), "{head}");
    assert_eq!(head.matches("anthropic-version: 2099-01-01").count(), 1);
    assert_eq!(head.matches("anthropic-version").count(), 1);
}

#[tokio::test]
async fn statuses_become_errors_with_the_vendors_words_and_without_the_key() {
    for (status, vendor, message, headers, kind) in [
        (
            529,
            "overloaded_error",
            "Overloaded",
            "retry-after: 3\r\n",
            ErrorKind::Transient,
        ),
        (
            429,
            "rate_limit_error",
            "slow down",
            "",
            ErrorKind::Transient,
        ),
        (500, "api_error", "Internal", "", ErrorKind::Transient),
        (
            401,
            "authentication_error",
            "invalid x-api-key",
            "",
            ErrorKind::Credentials,
        ),
        (403, "permission_error", "no", "", ErrorKind::Permanent),
        (
            404,
            "not_found_error",
            "model: big",
            "",
            ErrorKind::Permanent,
        ),
        (
            400,
            "invalid_request_error",
            "messages: wrong",
            "",
            ErrorKind::Permanent,
        ),
        (
            400,
            "invalid_request_error",
            "prompt is too long: 9 tokens > 8 maximum",
            "",
            ErrorKind::ContextLength,
        ),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 9 + 1 > 8",
            "",
            ErrorKind::ContextLength,
        ),
        (
            413,
            "request_too_large",
            "Request exceeds the maximum size",
            "",
            ErrorKind::ContextLength,
        ),
    ] {
        let body = format!(
            r#"{{"type":"error","error":{{"type":"{vendor}","message":"{message} {KEY}"}},"request_id":"r"}}"#
        );
        let server = FakeServer::start(vec![vec![plain(status, headers, &body)]]).await;
        let parts = ask(fake::options(KIND, &server.base)).await;
        let error = error(&parts);
        assert_eq!(
            (error.kind, error.status),
            (kind, Some(status)),
            "{message}"
        );
        let answered = crate::failure::answered(status, kind);
        assert_eq!(error.message, format!("`acme` {answered}: {message} ***"));
        let wait = (status == 529).then_some(Duration::from_secs(3));
        assert_eq!(error.retry_after, wait);
    }
}

#[tokio::test]
async fn without_a_key_nothing_is_sent_and_no_redirect_carries_it_away() {
    let mut other = FakeServer::start(vec![]).await;
    let to = format!("Location: {}/messages\r\n", other.base);
    let mut server = FakeServer::start(vec![vec![plain(308, &to, "")]]).await;
    let (_, provider) = open(fake::options(KIND, &server.base), &nothing()).expect("a good entry");
    let mut keyless = fake::request();
    keyless.key = None;
    let parts: Parts = provider.stream(keyless).collect().await;
    assert_eq!(error(&parts).kind, ErrorKind::Credentials);
    assert!(!server.was_asked());
    let parts: Parts = provider.stream(fake::request()).collect().await;
    assert_eq!(error(&parts).kind, ErrorKind::Permanent);
    assert!(error(&parts).message.contains("redirects to "));
    assert!(!other.was_asked(), "the key went to another host");
}

#[tokio::test]
async fn a_broken_connection_is_retryable_and_one_after_the_finish_reason_is_ignored() {
    for acts in [
        vec![ServerAction::Close],
        vec![events(), chunk(SAYS), ServerAction::Reset],
        vec![events(), chunk(SAYS), end()],
        vec![
            events(),
            chunk(SAYS),
            chunk("data: {\"type\":\n\n"),
            chunk(STOPS),
            end(),
        ],
    ] {
        let server = FakeServer::start(vec![acts]).await;
        let parts = ask(fake::options(KIND, &server.base)).await;
        assert_eq!(error(&parts).kind, ErrorKind::Transient);
    }
    let (reason, _) = STOPS
        .split_once("data: {\"type\":\"message_stop\"}")
        .expect("two events");
    let server = FakeServer::start(vec![vec![
        events(),
        chunk(SAYS),
        chunk(reason),
        ServerAction::Reset,
    ]])
    .await;
    let parts = ask(fake::options(KIND, &server.base)).await;
    assert_eq!(parts.last(), Some(&Ok(Part::Done(Finish::Stop))));
}
