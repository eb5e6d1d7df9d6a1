//! Whole requests to a loopback server that fails on request.

use std::time::Duration;

use contract::provider::{ErrorKind, Part, ProviderError};
use futures::StreamExt as _;
use proto::item::Finish;

use super::*;
use crate::fake::{self, FakeServer, ServerAction, chunk, end, events, nothing, plain};

const SAYS: &str = r#"data: {"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":"ab"}

"#;
const STOPS: &str = r#"data: {"type":"response.completed","response":{"status":"completed"}}

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

#[tokio::test]
async fn a_request_is_sent_as_it_was_assembled() {
    let script = vec![events(), chunk(SAYS), chunk(STOPS), end()];
    let mut server = FakeServer::start(vec![script]).await;
    let parts = ask(fake::options(KIND, &server.base)).await;
    assert_eq!(
        parts,
        [
            Ok(Part::Text("ab".to_owned())),
            Ok(Part::Done(Finish::Stop))
        ]
    );
    let seen = server.request().await;
    assert_eq!(seen.body, *fake::request().body);
    let head = seen.head.to_lowercase();
    assert!(
        head.starts_with("post /v1/responses http/1.1\r\n"),
        "{head}"
    );
    assert!(head.contains("authorization: bearer sk-acme-0123456789"));
}

#[tokio::test]
async fn statuses_become_errors_with_the_vendors_words() {
    for (status, code, message, kind) in [
        (
            429,
            "rate_limit_exceeded",
            "slow down",
            ErrorKind::Transient,
        ),
        (429, "insufficient_quota", "empty", ErrorKind::OutOfCredit),
        (503, "server_error", "later", ErrorKind::Transient),
        (401, "invalid_api_key", "no", ErrorKind::Credentials),
        (404, "model_not_found", "none", ErrorKind::Permanent),
        (400, "unsupported_value", "no", ErrorKind::Permanent),
        (
            400,
            "context_length_exceeded",
            "long",
            ErrorKind::ContextLength,
        ),
    ] {
        let body = format!(
            r#"{{"error":{{"message":"{message} sk-acme-0123456789","type":"t","param":null,"code":"{code}"}}}}"#
        );
        let server = FakeServer::start(vec![vec![plain(status, "", &body)]]).await;
        let parts = ask(fake::options(KIND, &server.base)).await;
        let Some(Err(error)) = parts.last() else {
            panic!("no error: {parts:?}");
        };
        assert_eq!((error.kind, error.status), (kind, Some(status)), "{code}");
        let answered = crate::failure::answered(status, kind);
        assert_eq!(error.message, format!("`acme` {answered}: {message} ***"));
    }
}

#[tokio::test]
async fn a_broken_connection_is_retryable() {
    for acts in [
        vec![ServerAction::Close],
        vec![events(), chunk(SAYS), ServerAction::Reset],
        vec![events(), chunk(SAYS), end()],
        vec![events(), chunk(SAYS), chunk("data: [DONE]\n\n"), end()],
    ] {
        let server = FakeServer::start(vec![acts]).await;
        let parts = ask(fake::options(KIND, &server.base)).await;
        assert!(
            matches!(parts.last(), Some(Err(error)) if error.kind == ErrorKind::Transient),
            "{parts:?}"
        );
    }
}
