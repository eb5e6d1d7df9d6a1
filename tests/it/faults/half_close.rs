//! A client that says no more and still listens: its earlier calls are carried out and answered.

use std::net::Shutdown;
use std::os::unix::net::UnixStream;

use proto::hello::Role;
use proto::{Body, Pid};
use serde_json::{Value, json};
use testkit::Script;
use tests::raw::hello_params;
use tests::{Gate, House, Raw, until};

/// A connection of which the writing half can be closed.
fn connect(house: &House) -> (UnixStream, Raw) {
    let stream = UnixStream::connect(house.socket()).expect("connect");
    stream
        .set_read_timeout(Some(tests::BOUND))
        .expect("a limit");
    let raw = Raw::of(stream.try_clone().expect("a second end"));
    (stream, raw)
}

/// A client with a session whose command runs until the gate is opened.
fn working(house: &House) -> (Raw, Gate) {
    house.daemon();
    let mut client = house.raw_as(Role::Drive);
    let mut create = serde_json::to_value(house.create("work")).expect("JSON");
    create["on_ask"] = json!("allow");
    client.call("session.create", &create).expect("create");
    let gate = Gate::new(house, "one");
    gate.wait();
    (client, gate)
}

fn prompts(house: &House) -> usize {
    let log = house.log(Pid(1));
    let queued = |body: &Body| matches!(body, Body::PromptQueued(_));
    log.bodies().into_iter().filter(queued).count()
}

#[test]
fn requests_sent_before_a_half_close_are_executed_and_answered() {
    const PROMPTS: usize = 20;
    let script = (0..=PROMPTS).fold(Script::new(), |script, _| script.says("Done."));
    let house = House::playing(&script);
    house.daemon();
    let (stream, mut raw) = connect(&house);
    raw.hello(Role::Drive).expect("hello");
    let create = serde_json::to_value(house.create("first")).expect("JSON");
    raw.call("session.create", &create).expect("create");
    let lines: String = (0..PROMPTS)
        .map(|number| {
            let params = json!({"session": "1", "text": format!("prompt {number}")});
            let call = json!({"jsonrpc": "2.0", "id": 1_000 + number, "method": "session.prompt", "params": params});
            format!("{call}\n")
        })
        .collect();
    raw.bytes(lines.as_bytes()).expect("write");
    stream.shutdown(Shutdown::Write).expect("say no more");
    for number in 0..PROMPTS {
        let frame = raw.frame().unwrap_or_else(|| panic!("no answer {number}"));
        assert!(frame["result"]["prompt_id"].is_string(), "{frame}");
    }
    assert!(raw.is_closed(), "then the daemon closes too");
    assert_eq!(prompts(&house), PROMPTS + 1);
}

#[test]
fn a_whole_conversation_may_be_sent_before_anything_is_read() {
    let house = House::playing(&Script::new().says("Done."));
    house.daemon();
    let mut before = house.raw_as(Role::Drive);
    let mut create = serde_json::to_value(house.create("")).expect("JSON");
    create["prompt"] = Value::Null;
    before.call("session.create", &create).expect("create");
    drop(before);
    let (stream, mut raw) = connect(&house);
    let calls = [
        ("daemon.hello", hello_params("pipe", Role::Drive)),
        (
            "session.prompt",
            json!({"session": "1", "text": "all at once"}),
        ),
        ("session.wait", json!({"session": "1"})),
        ("no.such", json!({})),
    ];
    for (method, params) in &calls {
        raw.ask(method, params);
    }
    stream.shutdown(Shutdown::Write).expect("say no more");
    let mut frames: Vec<Value> = (0..calls.len())
        .map(|_| raw.frame().expect("an answer"))
        .collect();
    frames.sort_by_key(|frame| frame["id"].as_u64());
    assert!(
        frames[1]["result"]["prompt_id"].is_string(),
        "{}",
        frames[1]
    );
    // It waited for as long as the turn took.
    assert_eq!(frames[2]["result"]["exit_code"], 0, "{}", frames[2]);
    assert_eq!(frames[3]["error"]["code"], -32_601);
    assert!(raw.is_closed());
}

#[test]
fn half_closed_client_gets_its_events_and_is_dropped_once_it_disconnects() {
    let house = House::playing(&Script::new().runs(&Gate::command("one")).says("Done."));
    let (mut others, gate) = working(&house);
    let (stream, mut raw) = connect(&house);
    raw.hello(Role::Watch).expect("hello");
    let attach = json!({"session": "1", "subscription": "s", "after_seq": 0, "ephemeral": false});
    raw.call("session.attach", &attach).expect("attach");
    let wait = raw.ask("session.wait", &json!({"session": "1"}));
    stream.shutdown(Shutdown::Write).expect("say no more");
    let (waiting, mut waits) = connect(&house);
    waits.hello(Role::Watch).expect("hello");
    // This one would wait for good, and leaves.
    waits.ask("session.wait", &json!({"session": "1", "until": "exit"}));
    waiting.shutdown(Shutdown::Write).expect("say no more");
    gate.open();
    let (mut kinds, mut answered) = (Vec::new(), false);
    while let Some(frame) = raw.frame() {
        answered |= frame["id"] == json!(wait) && frame["result"]["exit_code"] == 0;
        if let Some(kind) = frame["params"]["event"]["kind"].as_str() {
            kinds.push(kind.to_owned());
        }
    }
    assert!(answered, "the wait has its answer");
    assert!(
        kinds.iter().any(|kind| kind == "tool.finished"),
        "{kinds:?}"
    );
    drop((waiting, waits, stream));
    until("both to be forgotten", || {
        let status = others.call("daemon.status", &json!({})).expect("status");
        (status["clients"].as_array().map(Vec::len) == Some(1)).then_some(())
    });
}

/// What a client gets that attaches so, and closes its sending side at once.
fn frames_of(house: &House, attach: &Value) -> Vec<Value> {
    let (stream, mut raw) = connect(house);
    raw.hello(Role::Watch).expect("hello");
    raw.ask("session.attach", attach);
    stream.shutdown(Shutdown::Write).expect("say no more");
    std::iter::from_fn(|| raw.frame()).collect()
}

#[test]
fn half_closed_client_gets_all_events_recorded_before_its_last_answer() {
    const ANSWERS: usize = 6;
    let answer = "word ".repeat(100_000);
    let script = (0..ANSWERS).fold(Script::new(), |script, _| script.says(&answer));
    let house = House::playing(&script);
    house.daemon();
    let mut others = house.raw_as(Role::Drive);
    let create = serde_json::to_value(house.create("work")).expect("JSON");
    others.call("session.create", &create).expect("create");
    for number in 1..ANSWERS {
        let params = json!({"session": "1", "text": format!("prompt {number}")});
        others.call("session.prompt", &params).expect("prompt");
    }
    others
        .call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    let newest = house.log(Pid(1)).bodies().len();
    let attach = json!({"session": "1", "subscription": "s", "after_seq": 0, "ephemeral": false});
    let frames = frames_of(&house, &attach);
    let bytes: usize = frames.iter().map(|frame| frame.to_string().len()).sum();
    assert!(bytes > 2_000_000, "more than a socket holds: {bytes}");
    let numbers = frames
        .iter()
        .filter_map(|frame| frame["params"]["event"]["seq"].as_u64());
    assert_eq!(numbers.max(), Some(newest as u64), "the newest event");
    let last = frames.last().expect("a frame");
    assert_eq!(last["method"], "event.ended", "{last}");
}

#[test]
fn subscription_of_a_half_closed_client_ends_while_its_session_works() {
    let house = House::playing(&Script::new().runs(&Gate::command("one")).says("Done."));
    let (mut others, gate) = working(&house);
    for cursor in [json!(0), Value::Null] {
        let mut attach = json!({"session": "1", "subscription": "s", "ephemeral": true});
        if !cursor.is_null() {
            attach["after_seq"] = cursor;
        }
        let frames = frames_of(&house, &attach);
        let kinds: Vec<_> = frames
            .iter()
            .filter_map(|frame| frame["params"]["event"]["kind"].as_str())
            .collect();
        let syncs = kinds.iter().filter(|kind| **kind == "sync").count();
        assert!(syncs <= 1, "{kinds:?}");
        let last = frames.last().expect("a frame");
        assert_eq!(last["method"], "event.ended", "{last}");
    }
    gate.open();
    let wait = json!({"session": "1"});
    let waited = others.call("session.wait", &wait).expect("wait");
    assert_eq!(waited["exit_code"], 0, "{waited}");
}
