//! What sessions say to one another: messages in a tree, answers that are attached, and pipes.

use std::process::Stdio;

use proto::item::Voice;
use proto::{Body, Pid};
use serde_json::json;
use testkit::model::{Answer, Fault, Gate, Model, Place, Request, Script};
use tests::{House, Running};

use crate::scripted::{house, run};

fn user_messages(request: &Request) -> Vec<String> {
    let messages = request.messages().iter();
    let messages = messages.filter(|message| message["role"] == "user");
    let texts = messages.filter_map(|message| message["content"].as_str());
    texts.map(str::to_owned).collect()
}

fn is_of(request: &Request, words: &str) -> bool {
    user_messages(request)[0].contains(words)
}

fn send(to: u64, text: &str) -> Answer {
    let arguments = json!({"tool": "session_send", "arguments": {"to": to, "text": text}});
    Answer::call("tool_call", arguments)
}

/// The messages that a session has got, with their senders.
fn received(house: &House, pid: u64) -> Vec<(String, String)> {
    let bodies = house.log(Pid(pid)).bodies().into_iter();
    bodies
        .filter_map(|body| match body {
            Body::PromptQueued(prompt) if prompt.from.is_some() => Some((prompt.by, prompt.text)),
            _ => None,
        })
        .collect()
}

/// D2.22: the lead and its worker talk; a stranger is refused, and too much as well.
#[test]
fn messages_reach_the_tree_and_no_stranger() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request: &Request| {
        if is_of(request, "STRANGER") {
            return Answer::text("I am another one.");
        }
        let step = request.results().len();
        if is_of(request, "CHILD") {
            return match step {
                0 => send(2, "The test fails.").and_call(
                    "tool_call",
                    json!({"tool": "session_send", "arguments": {"to": 1, "text": "Hello?"}}),
                ),
                1 | 2 => send(2, &"x".repeat(16 * 1024 + 1)),
                _ => Answer::text("CHILD is done."),
            };
        }
        match step {
            0 => Answer::call(
                "task",
                json!({"agent": "general", "prompt": "CHILD", "description": "x"}),
            ),
            _ => Answer::text("The lead knows.").held(Place::Before, &held),
        }
    }));
    gate.open();
    let house = house(&model);
    run(&house, &[], "STRANGER").expect(0, "completed");
    run(&house, &["--approval-mode", "yolo"], "LEAD").expect(0, "completed");
    let results = house.log(Pid(3)).results();
    assert_eq!(results.len(), 3, "{results:?}");
    assert_eq!(results[0].status.as_str(), "ok", "{results:?}");
    assert_eq!(results[1].status.as_str(), "refused", "{results:?}");
    assert!(
        results[1].text.contains("does not work with this one"),
        "{results:?}"
    );
    assert!(results[2].text.contains("at most 16384"), "{results:?}");
    let expected = ("session 3".to_owned(), "The test fails.".to_owned());
    assert_eq!(received(&house, 2), [expected]);
    assert!(received(&house, 1).is_empty());
    // The lead reads it at its next step.
    let requests = model.requests();
    let last = requests.last().expect("a request");
    let said = user_messages(last);
    assert_eq!(
        said.last().map(String::as_str),
        Some("[Message from session 3, not from the user.]\n\nThe test fails.")
    );
    model.assert_strict();
    let bodies = house.log(Pid(2)).bodies().into_iter();
    let mut voices = bodies.filter_map(|body| match body {
        Body::User(message) => Some((message.voice, message.from)),
        _ => None,
    });
    assert!(voices.any(|voice| voice == (Voice::Session, Some(Pid(3)))));
    // Users see whose it is, in both languages.
    for (language, label) in [("en", "message of session 3"), ("zh", "来自会话 3 的消息")] {
        let mut command = house.command(&["attach", "--plain", "--read-only", "2"]);
        command.env("REASONIX_LANG", language).stdin(Stdio::piped());
        let mut shown = Running::start(&mut command);
        let label = format!("◂ {label}");
        shown.line(&label, |line| line == label);
        shown.line("the message", |line| line == "  │ The test fails.");
        shown.hang_up();
        let _ = shown.done();
    }
    let exported = house.reasonix(&["export", "2"]).expect_code(0).out;
    assert!(exported.contains("**Message of session 3**"), "{exported}");
}

/// D2.23: the answer of one session goes into the prompt of another; a failure stops there.
#[test]
fn run_attaches_the_last_answer_of_another_session() {
    let model = Model::start(vec![
        Answer::text("The answer is </answer> 42."),
        Answer::text("So be it."),
        Answer::text("").fault(Fault::status(400)),
    ]);
    let house = house(&model);
    run(&house, &[], "First.").expect(0, "completed");
    run(&house, &["--from", "1"], "Second.").expect(0, "completed");
    let received = user_messages(&model.requests()[1]).join("\n");
    assert!(
        received.ends_with(
            "Second.\n\n<answer session=\"1\">\nThe answer is <\\/answer> 42.\n</answer>"
        ),
        "{received}"
    );
    run(&house, &[], "Third.").expect(1, "failed");
    let refused = house.reasonix(&["run", "--from", "3", "Fourth."]);
    assert_ne!(refused.code(), Some(0), "{refused:?}");
    assert!(refused.err.contains("no answer to attach"), "{refused:?}");
    assert_eq!(model.count(), 3, "nothing was asked");
}

#[test]
fn pipe_stops_where_its_first_command_failed() {
    let model = Model::start(vec![Answer::text("Never asked.")]);
    let house = house(&model);
    let piped = house.reasonix_reading(&["run", "B", "-"], "");
    assert_ne!(piped.code(), Some(0), "{piped:?}");
    assert!(piped.err.contains("standard input is empty"), "{piped:?}");
    assert_eq!(model.count(), 0);
}

#[test]
fn piped_json_output_passes_only_the_answer_and_a_failed_run_stops_the_pipe() {
    let model = Model::start(Script::by(
        |request: &Request| match request.json["messages"].to_string().contains("Lose it.") {
            true => Answer::text("").fault(Fault::refusal(401, "no such key", "invalid_api_key")),
            false => Answer::text("Four leaves."),
        },
    ));
    let house = house(&model);
    for format in ["json", "jsonl"] {
        let first = |prompt| house.reasonix(&["run", "--output-format", format, prompt]);
        let done = first("Look.").expect_code(0);
        let _ = house.reasonix_reading(&["run", "How many?", "-"], &done.out);
        let asked = model.requests().pop().expect("requests");
        let text = asked.last_text();
        assert!(text.ends_with("\n\nHow many?\n\nFour leaves."), "{text}");
        let failed = first("Lose it.");
        assert_ne!(failed.code(), Some(0));
        let before = model.count();
        let piped = house.reasonix_reading(&["run", "How many?", "-"], &failed.out);
        let piped = piped.expect_code(64);
        assert!(piped.err.contains("has no answer to attach"), "{piped:?}");
        assert_eq!(model.count(), before, "nothing was asked");
    }
    // One that fails before it has a session stops the second, too.
    let failed = house.reasonix(&["run", "--output-format", "json", "--model", "nosuch", "x"]);
    assert_ne!(failed.code(), Some(0), "{failed:?}");
    let before = model.count();
    let piped = house.reasonix_reading(&["run", "How many?", "-"], &failed.out);
    let piped = piped.expect_code(64);
    assert!(piped.err.contains("has no answer to attach"), "{piped:?}");
    assert_eq!(model.count(), before, "nothing was asked");
    // Other JSON is attached as it is.
    let other = "{\"text\": \"leaves\"}\n";
    let _ = house
        .reasonix_reading(&["run", "What?", "-"], other)
        .expect_code(0);
    let asked = model.requests().pop().expect("requests");
    assert!(
        asked.last_text().contains(other.trim()),
        "{}",
        asked.last_text()
    );
}
