//! Whole requests to a loopback server that fails on request.

use std::time::Duration;

use contract::provider::ErrorKind;
use contract::{Codec, Secret};
use proto::item::Finish;
use tokio::sync::oneshot;

use std::sync::Arc;

use contract::provider::{Part, Provider, ProviderError};
use futures::stream::StreamExt;

use crate::fake::{self, FakeServer, ServerAction, chunk, end, events, nothing, plain, request};
use crate::options::ProviderOptions;

const KEY: &str = "sk-acme-0123456789";
const SAYS: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ab\"}}]}\n\n";
const STOPS: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const DONE: &str = "data: [DONE]\n\n";

fn options(base: &str) -> ProviderOptions {
    ProviderOptions {
        headers: vec![("X-Tenant".to_owned(), "tenant-98765".to_owned())],
        ..fake::options("openai", base)
    }
}

fn provider(options: ProviderOptions) -> Arc<dyn Provider> {
    crate::open(options, &nothing()).expect("a good entry").1
}

type Parts = Vec<Result<Part, ProviderError>>;

async fn ask(provider: &Arc<dyn Provider>) -> Parts {
    tokio::time::timeout(
        Duration::from_secs(20),
        provider.stream(request()).collect(),
    )
    .await
    .expect("an end in time")
}

/// The result of a request to a server with these actions.
async fn against(acts: Vec<ServerAction>) -> Parts {
    let server = FakeServer::start(vec![acts]).await;
    ask(&provider(options(&server.base))).await
}

fn error(parts: &Parts) -> &ProviderError {
    match parts.last() {
        Some(Err(error)) => error,
        other => panic!("no error at the end: {other:?}"),
    }
}

fn good() -> Parts {
    vec![
        Ok(Part::Text("ab".to_owned())),
        Ok(Part::Done(Finish::Stop)),
    ]
}

#[tokio::test]
async fn a_request_is_sent_as_it_was_assembled_and_the_connection_is_used_again() {
    let script = || vec![events(), chunk(SAYS), chunk(STOPS), chunk(DONE), end()];
    let mut server = FakeServer::start(vec![script(), script(), script()]).await;
    let provider = provider(options(&format!("{}/?api-version=7", server.base)));
    for _ in 0..3 {
        assert_eq!(ask(&provider).await, good());
        let seen = server.request().await;
        assert_eq!(seen.connection, 0, "one connection for all requests");
        assert_eq!(seen.body, *request().body);
        let head = seen.head.to_lowercase();
        assert!(
            head.starts_with("post /v1/chat/completions?api-version=7 http/1.1\r\n"),
            "{head}"
        );
        for line in [
            "authorization: bearer sk-acme-0123456789",
            "content-type: application/json",
            "accept: text/event-stream",
            "accept-encoding: identity",
            "x-tenant: tenant-98765",
        ] {
            assert!(head.lines().any(|there| there == line), "{line} in {head}");
        }
    }
}

#[tokio::test]
async fn headers_of_the_entry_replace_ours_and_no_key_is_no_header() {
    let script = || vec![events(), chunk(SAYS), chunk(STOPS), end()];
    let mut server = FakeServer::start(vec![script(), script()]).await;
    let mut with = options(&server.base);
    with.headers = vec![("Authorization".to_owned(), "Token t".to_owned())];
    ask(&provider(with)).await;
    let head = server.request().await.head;
    let sent: Vec<_> = head
        .lines()
        .filter(|line| line.to_lowercase().starts_with("authorization:"))
        .collect();
    assert_eq!(sent, ["authorization: Token t"]);
    let mut without = options(&server.base);
    without.api_key_env = None;
    let mut request = request();
    request.key = None;
    let parts: Parts = provider(without).stream(request).collect().await;
    assert_eq!(parts, good());
    assert!(
        !server
            .request()
            .await
            .head
            .to_lowercase()
            .contains("authorization")
    );
}

#[tokio::test]
async fn without_the_key_that_the_entry_names_nothing_is_sent() {
    let mut server = FakeServer::start(vec![]).await;
    let provider = provider(options(&server.base));
    for key in [None, Some(""), Some(" \n")] {
        let mut request = request();
        request.key = key.map(|key| Secret::new(key.to_owned()));
        let parts: Parts = provider.stream(request).collect().await;
        assert_eq!(error(&parts).kind, ErrorKind::Credentials);
        assert!(error(&parts).hint.contains("`ACME_KEY`"));
    }
    assert!(!server.was_asked());
}

#[tokio::test]
async fn statuses_become_errors_with_the_vendors_words_and_without_the_key() {
    let body = format!(r#"{{"error":{{"message":"no: {KEY}"}}}}"#);
    for (status, headers, kind, wait) in [
        (429, "Retry-After: 2\r\n", ErrorKind::Transient, Some(2)),
        (
            503,
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nRetry-After: Sun, 06 Nov 1994 08:49:40 GMT\r\n",
            ErrorKind::Transient,
            Some(3),
        ),
        (500, "", ErrorKind::Transient, None),
        (401, "", ErrorKind::Credentials, None),
        (404, "", ErrorKind::Permanent, None),
    ] {
        let parts = against(vec![plain(status, headers, &body)]).await;
        let error = error(&parts);
        assert_eq!((error.kind, error.status), (kind, Some(status)));
        assert_eq!(error.retry_after, wait.map(Duration::from_secs));
        let answered = crate::failure::answered(status, kind);
        assert_eq!(error.message, format!("`acme` {answered}: no: ***"));
        assert_eq!(parts.len(), 1);
    }
}

#[tokio::test]
async fn an_endless_error_body_does_not_block() {
    let (gone, _kept) = oneshot::channel();
    let head = "HTTP/1.1 500 X\r\nContent-Length: 1000000\r\n\r\n";
    let parts = against(vec![
        ServerAction::Say(format!("{head}{}", "x".repeat(100_000)).into_bytes()),
        ServerAction::Hold(gone),
    ])
    .await;
    assert_eq!(error(&parts).status, Some(500));
}

#[tokio::test]
async fn broken_connections_may_be_tried_again() {
    for acts in [
        vec![ServerAction::Close],
        vec![ServerAction::Reset],
        vec![
            ServerAction::Say(b"SSH-2.0-nope\r\n\r\n".to_vec()),
            ServerAction::Close,
        ],
        vec![events(), ServerAction::Close],
        vec![events(), end()],
        vec![events(), chunk(SAYS), ServerAction::Close],
        vec![events(), chunk(SAYS), ServerAction::Reset],
        vec![events(), chunk(SAYS), end()],
        vec![
            events(),
            chunk(SAYS),
            chunk("data: {\"id\":\"x\",\"choi\n\n"),
            chunk(STOPS),
            chunk(DONE),
            end(),
        ],
        vec![
            events(),
            chunk(SAYS),
            ServerAction::Say(b"zz\r\n".to_vec()),
            ServerAction::Close,
        ],
        vec![plain(204, "", "")],
        vec![plain(200, "", "")],
    ] {
        let parts = against(acts).await;
        assert_eq!(
            (error(&parts).kind, error(&parts).status),
            (ErrorKind::Transient, None)
        );
        assert!(
            error(&parts).message.starts_with("`acme` "),
            "{}",
            error(&parts).message
        );
        assert!(
            !parts
                .iter()
                .any(|part| matches!(part, Ok(Part::Done(_) | Part::Call(_))))
        );
    }
}

#[tokio::test]
async fn an_error_after_the_finish_reason_is_ignored() {
    for last in [ServerAction::Close, ServerAction::Reset] {
        assert_eq!(
            against(vec![events(), chunk(SAYS), chunk(STOPS), last]).await,
            good()
        );
    }
    let unended = STOPS.trim_end();
    assert_eq!(
        against(vec![
            events(),
            chunk(SAYS),
            chunk(unended),
            ServerAction::Close
        ])
        .await,
        good()
    );
}

#[tokio::test]
async fn a_refused_connection_is_a_server_that_does_not_run() {
    // Bound but not listening, so that nobody else can take the port.
    let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
    socket.bind(([127, 0, 0, 1], 0).into()).expect("a port");
    let address = socket.local_addr().expect("an address");
    let parts = ask(&provider(options(&format!("http://{address}/v1")))).await;
    assert_eq!(error(&parts).kind, ErrorKind::NotRunning);
    let message = &error(&parts).message;
    assert!(
        message.starts_with(&format!("`acme` has no connection to {address}: ")),
        "{message}"
    );
    assert!(message.contains("refused"), "{message}");
}

#[tokio::test]
async fn silence_ends_in_time() {
    let short = Duration::from_millis(80);
    for (acts, words) in [
        (vec![], "sent nothing for 80ms"),
        (vec![events()], "sent nothing for 80ms"),
        (
            vec![events(), chunk(SAYS)],
            "was silent in the middle of its answer for 80ms",
        ),
    ] {
        let (gone, dropped) = oneshot::channel();
        let server = FakeServer::start(vec![
            acts.into_iter().chain([ServerAction::Hold(gone)]).collect(),
        ])
        .await;
        let mut options = options(&server.base);
        options.timeouts.first_byte = short;
        options.timeouts.idle = short;
        let parts = ask(&provider(options)).await;
        assert_eq!(error(&parts).kind, ErrorKind::Transient);
        assert_eq!(error(&parts).message, format!("`acme` {words}"));
        tokio::time::timeout(Duration::from_secs(20), dropped)
            .await
            .expect("we hang up")
            .expect("the server saw it");
    }
}

#[tokio::test]
async fn parts_come_as_they_are_sent_and_dropping_the_stream_hangs_up() {
    let (go, wait) = oneshot::channel();
    let (gone, dropped) = oneshot::channel();
    let script = vec![
        events(),
        chunk(SAYS),
        ServerAction::Wait(wait),
        chunk(SAYS),
        ServerAction::Hold(gone),
    ];
    let server = FakeServer::start(vec![script]).await;
    let mut stream = provider(options(&server.base)).stream(request());
    assert_eq!(
        stream.next().await,
        Some(Ok(Part::Text("ab".to_owned()))),
        "before the server goes on"
    );
    go.send(()).expect("the server waits");
    assert_eq!(stream.next().await, Some(Ok(Part::Text("ab".to_owned()))));
    drop(stream);
    tokio::time::timeout(Duration::from_secs(20), dropped)
        .await
        .expect("we hang up")
        .expect("the server saw it");
}

#[tokio::test]
async fn dropping_an_unanswered_request_closes_the_connection() {
    let (gone, dropped) = oneshot::channel();
    let mut server = FakeServer::start(vec![vec![ServerAction::Hold(gone)]]).await;
    let mut stream = provider(options(&server.base)).stream(request());
    tokio::select! {
        part = stream.next() => panic!("an answer out of nothing: {part:?}"),
        seen = server.request() => assert_eq!(seen.connection, 0),
    }
    drop(stream);
    tokio::time::timeout(Duration::from_secs(20), dropped)
        .await
        .expect("we hang up")
        .expect("the server saw it");
}

#[tokio::test]
async fn other_forms_of_an_answer_are_understood() {
    let document = r#"{"choices":[{"message":{"content":"ab"},"finish_reason":"stop"}]}"#;
    assert_eq!(
        against(vec![plain(
            200,
            "Content-Type: application/json\r\n",
            document
        )])
        .await,
        good()
    );
    let mislabelled = format!("{SAYS}{STOPS}");
    assert_eq!(
        against(vec![plain(
            200,
            "Content-Type: application/json\r\n",
            &mislabelled
        )])
        .await,
        good()
    );
    let refused = r#"{"error":{"message":"Unknown model","type":"invalid_request_error"}}"#;
    let parts = against(vec![plain(200, "", refused)]).await;
    assert_eq!(error(&parts).kind, ErrorKind::Permanent);
    assert_eq!(
        error(&parts).message,
        "`acme` answered with an error: Unknown model"
    );
    let parts = against(vec![plain(
        200,
        "Content-Type: text/html; charset=utf-8\r\n",
        "<html></html>",
    )])
    .await;
    assert_eq!(error(&parts).kind, ErrorKind::Permanent);
    assert!(error(&parts).hint.contains("`base_url`"));
}

#[tokio::test]
async fn a_compressed_response_is_decoded_although_not_requested() {
    // `data: {"choices":[{"delta":{"content":"ab"},"finish_reason":"stop"}]}` and a blank line.
    const GZIP: &[u8] = &[
        0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x0d, 0xc8, 0xc1, 0x09, 0x80,
        0x30, 0x0c, 0x05, 0xd0, 0x7b, 0xa7, 0x90, 0x7f, 0x76, 0x82, 0xac, 0x22, 0x22, 0xb1, 0x8d,
        0xb4, 0x50, 0x12, 0x31, 0xb9, 0x95, 0xee, 0x6e, 0xdf, 0xf1, 0x15, 0x0e, 0xa6, 0x6d, 0x20,
        0x57, 0x6b, 0x59, 0x1c, 0x74, 0x0c, 0x14, 0xe9, 0xc1, 0xa0, 0x95, 0xa6, 0x21, 0x1a, 0x20,
        0xf0, 0x8d, 0xb9, 0xe3, 0x69, 0xda, 0xbc, 0x5e, 0x9f, 0xb0, 0x9b, 0xae, 0xf5, 0xb0, 0x17,
        0xf3, 0x9c, 0x29, 0xfd, 0x33, 0x5a, 0x9e, 0xc9, 0x47, 0x00, 0x00, 0x00,
    ];
    let head = format!(
        "HTTP/1.1 200 X\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
        GZIP.len()
    );
    assert_eq!(
        against(vec![ServerAction::Say([head.as_bytes(), GZIP].concat())]).await,
        good()
    );
}

#[tokio::test]
async fn a_redirect_is_followed_on_the_same_host_only() {
    let mut other = FakeServer::start(vec![]).await;
    let here = vec![
        vec![plain(307, "Location: /v2/chat/completions\r\n", "")],
        vec![events(), chunk(SAYS), chunk(STOPS), chunk(DONE), end()],
        vec![plain(
            308,
            &format!("Location: {}/chat/completions\r\n", other.base),
            "",
        )],
        vec![plain(302, "Location: /v2/chat/completions\r\n", "")],
    ];
    let mut server = FakeServer::start(here).await;
    let provider = provider(options(&server.base));
    assert_eq!(ask(&provider).await, good());
    server.request().await;
    let again = server.request().await;
    assert!(
        again.head.starts_with("POST /v2/chat/completions "),
        "{}",
        again.head
    );
    assert_eq!(again.body, *request().body);
    for status in [308, 302] {
        let parts = ask(&provider).await;
        assert_eq!(
            (error(&parts).kind, error(&parts).status),
            (ErrorKind::Permanent, Some(status))
        );
        assert!(
            error(&parts).message.contains("redirects to "),
            "{}",
            error(&parts).message
        );
    }
    assert!(!other.was_asked(), "the key went to another host");
}

#[tokio::test]
async fn a_request_from_a_codec_is_valid_for_the_vendor() {
    let script = vec![events(), chunk(SAYS), chunk(STOPS), chunk(DONE), end()];
    let mut server = FakeServer::start(vec![script]).await;
    let (codec, provider): (Arc<dyn Codec>, _) =
        crate::open(options(&server.base), &nothing()).expect("a good entry");
    let prefix = codec.prefix("big", "Be brief.", &[]);
    let asked = contract::Asked {
        prefix: &prefix,
        fragments: &[],
        tool_choice: contract::ToolChoice::Auto,
        cache_key: "",
    };
    let mut request = request();
    request.body = codec.assemble(&asked);
    let body = request.body.clone();
    let parts: Parts = provider.stream(request).collect().await;
    assert_eq!(parts, good());
    assert_eq!(server.request().await.body, *body);
}
