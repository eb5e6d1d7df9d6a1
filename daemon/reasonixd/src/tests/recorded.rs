//! Traffic of each protocol version, as it was recorded. The recordings are never edited, only added to: a daemon that
//! still speaks a version must answer it so.
//!
//! A line is a call, `{"send": {…}, "expect": {…}}`, or a notification that has to come, `{"notified": {…}}`. The
//! expected value is the least: members may be added. `"*"` matches anything but `null`, `$SESSION`, `$CWD` and names that a
//! line's `keep` gives (`{"name": "/pointer"}`) for values that were sent or received before.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::house::{House, hello, name};

const PROTOCOL_1: &str = include_str!("recorded/protocol-1.jsonl");

#[tokio::test(flavor = "multi_thread")]
async fn the_recorded_traffic_of_protocol_1_is_still_answered_so() {
    play(PROTOCOL_1).await;
}

async fn play(recorded: &str) {
    let call = json!({"tool_calls": [{"name": "bash", "arguments": {"command": "touch here"}}]});
    let said = json!({"text": "Left alone."});
    let house = House::new("", &format!("{call}\n{said}\n{said}\n")).await;
    let mut client = house.connect().await;
    let mut known = BTreeMap::from([
        (
            "$SESSION".to_owned(),
            json!("01990000-0000-7000-8000-000000000001"),
        ),
        ("$CWD".to_owned(), json!(house.project())),
    ]);
    for line in recorded.lines().filter(|line| !line.trim().is_empty()) {
        let line: Value = serde_json::from_str(line).expect("a recorded line");
        let (came, expected) = match line.get("send") {
            Some(send) => {
                client.say(&put_in(send, &known).to_string()).await;
                (client.answer().await, &line["expect"])
            }
            None => {
                let wanted = put_in(&line["notified"], &known);
                let came = client
                    .notification(&line.to_string(), |frame| {
                        lacks(&wanted, frame, "").is_none()
                    })
                    .await;
                (came, &line["notified"])
            }
        };
        let expected = put_in(expected, &known);
        assert_eq!(lacks(&expected, &came, ""), None, "{line}\ncame: {came}");
        for (name, pointer) in line["keep"].as_object().into_iter().flatten() {
            let kept = came.pointer(pointer.as_str().expect("a pointer"));
            known.insert(name.clone(), kept.expect("something to keep").clone());
        }
    }
}

/// The value with its names replaced by known values.
fn put_in(value: &Value, known: &BTreeMap<String, Value>) -> Value {
    match value {
        Value::String(text) => known.get(text).unwrap_or(value).clone(),
        Value::Array(values) => values.iter().map(|value| put_in(value, known)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), put_in(value, known)))
            .collect(),
        other => other.clone(),
    }
}

/// Where the least that is expected is not there.
fn lacks(expected: &Value, came: &Value, at: &str) -> Option<String> {
    match (expected, came) {
        (Value::String(any), came) if any == "*" => came.is_null().then(|| at.to_owned()),
        (Value::Object(expected), Value::Object(came)) => {
            expected.iter().find_map(|(name, value)| {
                let at = format!("{at}/{name}");
                lacks(value, came.get(name).unwrap_or(&Value::Null), &at)
            })
        }
        (Value::Array(expected), Value::Array(came)) if expected.len() == came.len() => {
            let mut pairs = expected.iter().zip(came).enumerate();
            pairs.find_map(|(index, (expected, came))| {
                lacks(expected, came, &format!("{at}/{index}"))
            })
        }
        (expected, came) => (expected != came).then(|| format!("{at}: {expected} and not {came}")),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_version_mismatch_names_the_side_to_upgrade() {
    let house = House::new("", "").await;
    let mut client = house.connect().await;
    for (range, upgrade) in [([90, 99], "the daemon"), ([0, 0], "the client")] {
        let mut params = hello("drive");
        params["protocol"] = json!(range);
        let refused = client
            .call("daemon.hello", &params)
            .await
            .expect_err("no version in common");
        assert_eq!(name(&refused), "protocol_mismatch");
        let (text, hint) = (
            refused["message"].to_string(),
            refused["data"]["hint"].to_string(),
        );
        let ours = proto::PROTOCOL;
        for number in [range[0], range[1], ours[0], ours[1]] {
            assert!(text.contains(&number.to_string()), "{text} names {number}");
        }
        assert!(hint.contains(&format!("Upgrade {upgrade}")), "{hint}");
        assert_eq!(refused["data"]["client"], json!(range));
        assert_eq!(refused["data"]["daemon"], json!(ours));
    }
    // A range that reaches over ours meets in ours.
    let mut params = hello("watch");
    params["protocol"] = json!([0, 99]);
    let answer = client.call("daemon.hello", &params).await.expect("hello");
    assert_eq!(answer["protocol"], json!(proto::PROTOCOL[1]));
}
