//! The model itself: what it refuses, what it lets pass, and what its faults look like from outside.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use super::wire::seal;
use super::{Answer, Fault, Gate, Model, Place, Wire, prefix, strict};

fn tool() -> Value {
    json!({"type": "function", "function": {
        "name": "read_file", "description": "Reads.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
    }})
}

fn body(messages: &[Value]) -> Value {
    json!({
        "model": "m", "messages": messages, "tools": [tool()], "tool_choice": "auto", "stream": true,
    })
}

fn system() -> Value {
    json!({"role": "system", "content": "Be good."})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn calls(ids: &[&str]) -> Value {
    let calls: Vec<_> = ids
        .iter()
        .map(|id| json!({"id": id, "type": "function", "function": {"name": "read_file", "arguments": "{}"}}))
        .collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "done"})
}

fn verdict(messages: &[Value]) -> Result<(), String> {
    strict::check(body(messages).to_string().as_bytes())
}

#[test]
fn a_conversation_in_order_passes() {
    let all = [
        system(),
        user("a"),
        calls(&["1", "2"]),
        result("1"),
        result("2"),
        user("b"),
    ];
    assert_eq!(verdict(&all), Ok(()));
}

#[test]
fn what_a_strict_vendor_refuses_is_refused() {
    let refused = |messages: &[Value], words: &str| {
        let why = verdict(messages).expect_err(words);
        assert!(why.contains(words), "`{why}` does not say `{words}`");
    };
    refused(&[], "no message");
    refused(&[user("a"), calls(&["1"])], "has no result");
    refused(
        &[user("a"), calls(&["1"]), user("b")],
        "where the result of `1` must",
    );
    refused(
        &[user("a"), calls(&["1", "2"]), result("2"), result("1")],
        "where that of `1`",
    );
    refused(
        &[user("a"), calls(&["1"]), result("1"), result("1")],
        "no call asks for",
    );
    refused(
        &[user("a"), calls(&["1"]), result("7")],
        "where that of `1`",
    );
    refused(&[user("a"), calls(&["1", "1"])], "two calls");
    refused(&[user("a"), system()], "behind the first");
    refused(&[system(), calls(&["1"]), result("1")], "speaks first");
    refused(&[user(" ")], "no content");
    refused(
        &[user("a"), json!({"role": "assistant", "content": "b"})],
        "last message",
    );
    refused(
        &[
            user("a"),
            json!({"role": "assistant", "content": ""}),
            user("b"),
        ],
        "without content and calls",
    );
    let mut parsed = calls(&["1"]);
    parsed["tool_calls"][0]["function"]["arguments"] = json!({});
    refused(&[user("a"), parsed, result("1")], "are no text");
}

#[test]
fn what_is_wrong_beside_the_messages_is_refused() {
    let refused = |change: &dyn Fn(&mut Value), words: &str| {
        let mut value = body(&[user("a")]);
        change(&mut value);
        let why = strict::check(value.to_string().as_bytes()).expect_err(words);
        assert!(why.contains(words), "`{why}` does not say `{words}`");
    };
    refused(&|value| value["model"] = json!(""), "`model`");
    refused(&|value| value["session"] = json!(1), "unknown member");
    refused(&|value| value["tool_choice"] = json!("some"), "tool_choice");
    refused(&|value| value["tools"] = json!([]), "no array with tools");
    refused(
        &|value| value["tools"] = json!([tool(), tool()]),
        "two tools",
    );
    let parameters = |value: &mut Value, schema: Value| {
        value["tools"][0]["function"]["parameters"] = schema;
    };
    refused(
        &|value| parameters(value, json!({"type": "object", "required": ["x"]})),
        "no property",
    );
    refused(
        &|value| {
            parameters(
                value,
                json!({"type": "object", "properties": {"x": {"type": "text"}}}),
            )
        },
        "unknown type",
    );
    refused(
        &|value| {
            parameters(
                value,
                json!({"type": "object", "properties": {"x": {"$ref": "#"}}}),
            )
        },
        "$ref",
    );
}

#[test]
fn a_longer_conversation_extends_and_a_changed_one_does_not() {
    let text = |messages: &[Value]| body(messages).to_string().into_bytes();
    let (one, two) = (text(&[user("a")]), text(&[user("a"), user("b")]));
    assert_eq!(prefix::check([&one[..], &two, &two]), Ok(()));
    let changed = text(&[user("A"), user("b")]);
    assert!(prefix::check([&one[..], &changed]).is_err());
    let shorter = prefix::check([&two[..], &one]);
    assert!(shorter.is_err());
    let mut other = body(&[user("a")]);
    other["tools"][0]["function"]["description"] = json!("Reads!");
    let tools = prefix::check([&one[..], other.to_string().as_bytes()]);
    assert!(tools.is_err_and(|why| why.contains("tools differ")));
}

/// Sends a request and returns all that comes back.
fn post(model: &Model, messages: &[Value]) -> String {
    let address = model.base_url().replace("http://", "").replace("/v1", "");
    let mut stream = TcpStream::connect(address).expect("connect");
    let body = body(messages).to_string();
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("send");
    // Fails where the answer was a reset.
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let mut answer = Vec::new();
    // A reset is one of the faults: what came before it counts.
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn faults_befall_the_tries_of_an_answer_and_then_it_comes() {
    let model = Model::start([
        Answer::text("first")
            .fault(Fault::rate_limit("7"))
            .fault(Fault::Reset)
            .fault(Fault::Eof)
            .fault(Fault::Malformed),
        Answer::text("second"),
    ]);
    let limited = post(&model, &[user("a")]);
    assert!(limited.starts_with("HTTP/1.1 429") && limited.contains("retry-after: 7"));
    assert!(!post(&model, &[user("a")]).contains("[DONE]"));
    assert!(!post(&model, &[user("a")]).contains("[DONE]"));
    assert!(post(&model, &[user("a")]).contains("{\"content\":\"oo\n"));
    let whole = post(&model, &[user("a")]);
    assert!(whole.contains("first") && whole.contains("[DONE]"));
    assert!(
        post(&model, &[user("a")]).contains("first"),
        "the same request again gets the same answer"
    );
    assert!(post(&model, &[user("a"), user("b")]).contains("second"));
    assert_eq!(model.count(), 7);
    assert!(model.served()[6].whole);
}

#[test]
fn a_violation_is_answered_400_and_remembered() {
    let model = Model::start([Answer::text("never")]);
    let answer = post(&model, &[user("a"), calls(&["1"])]);
    assert!(answer.starts_with("HTTP/1.1 400") && answer.contains("has no result"));
    assert_eq!(model.violations().len(), 1);
}

#[test]
fn a_port_refuses_until_it_listens() {
    let model = Model::unreachable([Answer::text("there")]);
    let address = model.base_url().replace("http://", "").replace("/v1", "");
    assert!(TcpStream::connect(address).is_err());
    model.listen();
    assert!(post(&model, &[user("a")]).contains("there"));
}

#[tokio::test]
async fn a_gate_holds_an_answer_and_says_that_it_is_there() {
    let gate = Gate::new();
    let model = std::sync::Arc::new(Model::start([
        Answer::text("held").held(Place::Before, &gate)
    ]));
    let asking = {
        let model = std::sync::Arc::clone(&model);
        // Half-closing would look like going away.
        tokio::task::spawn_blocking(move || {
            let address = model.base_url().replace("http://", "").replace("/v1", "");
            let mut stream = TcpStream::connect(address).expect("connect");
            let body = body(&[user("a")]).to_string();
            let head = format!(
                "POST /v1/chat/completions HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            stream
                .write_all(format!("{head}{body}").as_bytes())
                .expect("send");
            let mut first = [0; 12];
            stream.read_exact(&mut first).expect("an answer");
            first
        })
    };
    model.arrived(1).await;
    gate.reached().await;
    assert!(!asking.is_finished(), "the answer is held");
    gate.open();
    assert_eq!(&asking.await.expect("asked"), b"HTTP/1.1 200");
}

/// A request of Messages, with the answer `said` in it.
fn of_messages(said: &[Value], mark: bool) -> String {
    let mut result = json!({"type": "tool_result", "tool_use_id": "a", "content": "done"});
    if mark {
        result["cache_control"] = json!({"type": "ephemeral"});
    }
    json!({
        "model": "m", "max_tokens": 9, "stream": true,
        "system": [{"type": "text", "text": "Be good."}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "go"}]},
            {"role": "assistant", "content": said},
            {"role": "user", "content": [result]},
        ],
    })
    .to_string()
}

fn thinking(text: &str, signature: &str) -> Value {
    json!({"type": "thinking", "thinking": text, "signature": signature})
}

#[test]
fn messages_are_checked_by_their_own_rules_too() {
    let used = json!({"type": "tool_use", "id": "a", "name": "read_file", "input": {}});
    let check = |said: &[Value]| Wire::Messages.check(of_messages(said, true).as_bytes());
    assert_eq!(check(&[thinking("hm", &seal("hm")), used.clone()]), Ok(()));
    for (said, why) in [
        (vec![thinking("Hm", &seal("hm")), used.clone()], "signed"),
        (
            vec![json!({"type": "text", "text": "ok"})],
            "no call asks for",
        ),
        (vec![], "no blocks"),
    ] {
        let refused = check(&said).expect_err(why);
        assert!(refused.contains(why), "{refused}");
    }
    let without = of_messages(&[used], false).replace("\"max_tokens\":9,", "");
    assert!(Wire::Messages.check(without.as_bytes()).is_err());
}

#[test]
fn moved_cache_marks_do_not_change_the_prefix_but_other_bytes_do() {
    let used = json!({"type": "tool_use", "id": "a", "name": "read_file", "input": {}});
    let (with, without) = (
        of_messages(std::slice::from_ref(&used), true),
        of_messages(&[used], false),
    );
    let check =
        |one: &str, two: &str| Wire::Messages.check_prefix([one.as_bytes(), two.as_bytes()]);
    // As the codec writes it: the mark is the last member.
    let marked = without.replace(
        "\"type\":\"tool_result\"}",
        "\"type\":\"tool_result\",\"cache_control\":{\"type\":\"ephemeral\"}}",
    );
    assert_ne!(marked, with, "serde puts it elsewhere");
    assert_eq!(check(&marked, &without), Ok(()));
    for (from, to) in [
        ("\"go\"", "\"GO\""),
        ("Be good", "Be bad"),
        ("\"done\"", "\"\""),
    ] {
        assert!(
            check(&without, &without.replace(from, to)).is_err(),
            "{from}"
        );
    }
}

#[test]
fn responses_are_checked_by_their_own_rules_too() {
    let body = |items: &[Value], key: &str| {
        let mut input = vec![json!({
            "type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}],
        })];
        input.extend_from_slice(items);
        json!({
            "model": "m", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
            "prompt_cache_key": key, "input": input,
        })
        .to_string()
    };
    let reasoning = json!({
        "type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}],
        "encrypted_content": seal("hm"),
    });
    let called =
        json!({"type": "function_call", "call_id": "a", "name": "read_file", "arguments": "{}"});
    let result = json!({"type": "function_call_output", "call_id": "a", "output": "done"});
    let check = |items: &[Value]| Wire::Responses.check(body(items, "k").as_bytes());
    let whole = [reasoning.clone(), called.clone(), result.clone()];
    assert_eq!(check(&whole), Ok(()));
    assert!(check(&[called.clone(), reasoning.clone(), result.clone()]).is_err());
    let mut other = reasoning;
    other["encrypted_content"] = "other".into();
    assert!(check(&[other, called.clone(), result]).is_err());
    assert!(check(&[called]).is_err(), "a call without its result");
    let (one, two, other) = (body(&[], "k"), body(&whole, "k"), body(&whole, "l"));
    let prefix = |two: &str| Wire::Responses.check_prefix([one.as_bytes(), two.as_bytes()]);
    assert_eq!(prefix(&two), Ok(()));
    assert!(prefix(&other).is_err(), "another key is another cache");
}
