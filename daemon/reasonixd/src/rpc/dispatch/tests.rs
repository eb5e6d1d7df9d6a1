//! A call that panics is answered like any other.

use tokio::sync::mpsc;

use super::*;
use crate::rpc::room::SharedRoom;

#[tokio::test]
async fn a_call_that_panics_is_answered_with_internal() {
    let mut module = RpcModule::new(());
    module
        .register_async_method("bug", |_, _, _| async move {
            "no number".parse::<u64>().expect("a bug")
        })
        .expect("a free name");
    let (outgoing, _waiting) = mpsc::channel(1);
    let peer = Arc::new(Peer::new(
        1,
        crate::rpc::peer::Origin::Elsewhere,
        outgoing,
        SharedRoom::default(),
    ));
    let line = br#"{"jsonrpc": "2.0", "id": 7, "method": "bug"}"#;
    let Answer::Later { call, .. } = call(line, peer, &module.into()) else {
        panic!("a call")
    };
    let answer: serde_json::Value = serde_json::from_slice(&call.await).expect("JSON");
    assert_eq!(answer["id"], 7);
    assert_eq!(answer["error"]["data"]["name"], "internal");
}

fn peer() -> Arc<Peer> {
    let (outgoing, _waiting) = mpsc::channel(1);
    let elsewhere = crate::rpc::peer::Origin::Elsewhere;
    Arc::new(Peer::new(1, elsewhere, outgoing, SharedRoom::default()))
}

#[test]
fn an_object_that_is_call_and_answer_at_once_is_refused() {
    for member in [
        r#""result": null"#,
        r#""error": {"code": 1}"#,
        r#""result": 1, "result": 2"#,
        r#""error": 1, "error": 1"#,
        r#""x": 1, "result": 1, "result": null"#,
    ] {
        let line = format!(r#"{{"jsonrpc": "2.0", "id": 7, "method": "bug", {member}}}"#);
        let methods: Methods = RpcModule::new(()).into();
        let Answer::Now(answer) = call(line.as_bytes(), peer(), &methods) else {
            panic!("it was begun: {line}")
        };
        let answer: serde_json::Value = serde_json::from_slice(&answer).expect("JSON");
        assert_eq!(answer["error"]["code"], -32600, "{answer}");
    }
}

#[test]
fn a_message_does_not_quote_megabytes() {
    let text = format!(
        "invalid value: `{}`, expected a number",
        "x".repeat(4 << 20)
    );
    let bounded = bounded(&text, PARSER_WORDS_MAX);
    assert!(bounded.len() < 1_000);
    assert!(bounded.starts_with("invalid value") && bounded.ends_with("expected a number"));
}

#[test]
fn error_of_megabytes_becomes_a_small_frame() {
    let long = "x".repeat(4 << 20);
    let message = format!("`{long}` is not a directory.");
    let hint = format!("Make `{long}` or name another.");
    let failure = Failure::new(ErrorName::InvalidParams, message, hint);
    let frame = error_frame(Some(Id::Number(7)), &failure);
    assert!(frame.len() < 10_000, "{}", frame.len());
    let text = String::from_utf8(frame).expect("UTF-8");
    for part in ["is not a directory.", "or name another."] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn an_id_of_megabytes_is_refused_and_not_repeated() {
    for (length, refused) in [(ID_MAX, false), (ID_MAX + 1, true), (3 << 20, true)] {
        let id = "x".repeat(length);
        let line = format!(r#"{{"jsonrpc": "2.0", "id": "{id}", "method": "bug"}}"#);
        let methods: Methods = RpcModule::new(()).into();
        let Answer::Now(answer) = call(line.as_bytes(), peer(), &methods) else {
            panic!("it was begun")
        };
        assert!(answer.len() < ID_MAX + 1_000, "{length}");
        let answer: serde_json::Value = serde_json::from_slice(&answer).expect("JSON");
        assert_eq!(answer["id"].is_null(), refused, "{length}");
        let code = if refused { -32600 } else { -32601 };
        assert_eq!(answer["error"]["code"], code, "{length}");
    }
}
