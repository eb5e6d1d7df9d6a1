//! Several at once: signals, labels, commands in the background, and the inbox.

use proto::{ErrorName, Failure};
use serde_json::{Value, json};

use crate::commands::summary;
use crate::fake::{Call, Fake, FakeAction};
use crate::program::{reasonix, run};

fn unknown(what: &str) -> FakeAction {
    FakeAction::Refuse(Failure::new(
        ErrorName::NotFound,
        format!("no session `{what}`"),
        "see `reasonix ps`",
    ))
}

/// Sessions 3 and 5 have the label `ci`; 12 is a command in the background.
fn daemon() -> Fake {
    Fake::start(|call: &Call| match call.method.as_str() {
        "process.list" => {
            let processes = match call.params["label"].as_str() {
                Some("ci") | None => vec![summary(3, "running"), summary(5, "idle")],
                Some(_) => Vec::new(),
            };
            let child = json!({"session": 3, "os_pid": 77, "kind": "shell", "pid": 12, "command": "sleep 9", "running_ms": 1});
            vec![FakeAction::Answer(
                json!({"processes": processes, "children": [child]}),
            )]
        }
        "session.signal" => match call.params["session"].as_str() {
            Some(session @ ("9" | "12" | "99")) => vec![unknown(session)],
            Some(session) => vec![FakeAction::Answer(json!({"delivered": session != "5"}))],
            None => vec![FakeAction::Close],
        },
        "process.kill" if call.params["pid"] == 12 => {
            vec![FakeAction::Answer(json!({"delivered": true}))]
        }
        "process.kill" if call.params["pid"] == 99 => {
            vec![FakeAction::Answer(json!({"delivered": false}))]
        }
        "process.kill" => vec![unknown("9")],
        "session.wait" => vec![FakeAction::Answer(
            json!({"done": true, "attention": false, "exit_code": 0}),
        )],
        _ => vec![FakeAction::Close],
    })
}

/// Sessions that got a signal, and which.
fn signalled(fake: &Fake) -> Vec<(String, String)> {
    let sent = fake.params("session.signal");
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    sent.iter()
        .map(|params| (word(&params["session"]), word(&params["signal"])))
        .collect()
}

fn pair(session: &str, signal: &str) -> (String, String) {
    (session.to_owned(), signal.to_owned())
}

#[test]
fn a_label_stands_for_its_sessions_each_once() {
    for (arguments, signal, words) in [
        (
            &["pause", "-l", "ci", "3"][..],
            "PAUSE",
            "5: is already paused",
        ),
        (&["resume", "-l", "ci", "3"], "RESUME", "reasonix run -s 5"),
        (
            &["kill", "-s", "int", "-l", "ci", "3"],
            "INT",
            "5: nothing to stop",
        ),
    ] {
        let fake = daemon();
        let done = run(&mut reasonix(&fake.home(), arguments));
        assert_eq!(done.code, Some(0), "{done:?}");
        assert_eq!(signalled(&fake), [pair("3", signal), pair("5", signal)]);
        assert!(done.err.contains(words), "{}", done.err);
    }
    let fake = daemon();
    let done = run(&mut reasonix(&fake.home(), &["wait", "-l", "ci"]));
    assert_eq!(done.code, Some(0), "{done:?}");
    assert_eq!(fake.params("session.wait").len(), 2);
    let none = run(&mut reasonix(&fake.home(), &["kill", "-l", "nobody"]));
    assert_eq!(none.code, Some(64), "{none:?}");
    assert!(none.err.contains("nobody"), "{}", none.err);
}

#[test]
fn a_number_that_is_no_session_stops_a_command_in_the_background() {
    let fake = daemon();
    let done = run(&mut reasonix(&fake.home(), &["kill", "12", "3"]));
    assert_eq!((done.code, done.err.as_str()), (Some(0), ""), "{done:?}");
    assert_eq!(fake.params("process.kill"), [json!({"pid": 12})]);
    let done = run(&mut reasonix(&fake.home(), &["kill", "9"]));
    assert_eq!(done.code, Some(64));
    assert_eq!(done.err, "reasonix: no session `9`\n  see `reasonix ps`\n");
    let done = run(&mut reasonix(&fake.home(), &["kill", "99"]));
    assert_eq!(done.code, Some(64), "{done:?}");
    assert!(
        done.err.contains("There is no session or command 99."),
        "{}",
        done.err
    );
    let done = run(&mut reasonix(&fake.home(), &["pause", "12"]));
    assert_eq!(done.code, Some(64), "{done:?}");
    assert!(
        done.err.contains("only sessions can be paused") && done.err.contains("reasonix kill 12"),
        "{}",
        done.err
    );
    let listed = run(&mut reasonix(&fake.home(), &["ps"]));
    let line = listed.out.lines().last().unwrap();
    assert!(
        line.starts_with("12") && line.contains("shell") && line.contains("sleep 9"),
        "{listed:?}"
    );
}

#[test]
fn silence_and_a_pause_are_told_plainly() {
    let fake = Fake::start(|_| {
        let mut silent = summary(3, "running");
        silent["silent_since"] = json!(proto::Stamp(proto::Stamp::now().0 - 45_200));
        let mut asks = summary(5, "paused");
        asks["pending_interactions"] = 1.into();
        vec![FakeAction::Answer(
            json!({"processes": [silent, summary(4, "paused"), asks], "children": []}),
        )]
    });
    let done = run(&mut reasonix(&fake.home(), &["ps"]));
    for words in [
        "running, no data 45 s",
        "paused ",
        "paused: needs an answer",
    ] {
        assert!(done.out.contains(words), "{words}: {}", done.out);
    }
}

#[test]
fn the_inbox_also_shows_who_waits_for_a_key_or_is_paused_with_something_waiting() {
    let fake = Fake::start(|call: &Call| match call.method.as_str() {
        "interaction.list" => vec![FakeAction::Answer(json!({"interactions": []}))],
        _ => {
            let mut key = summary(3, "waiting");
            key["waiting_for"] = "credentials".into();
            key["cause"] = "DEEPSEEK_API_KEY is gone".into();
            let mut paused = summary(4, "paused");
            paused["queued"] = 2.into();
            let processes = [key, paused, summary(5, "paused"), summary(6, "running")];
            vec![FakeAction::Answer(
                json!({"processes": processes, "children": []}),
            )]
        }
    });
    let text = run(&mut reasonix(&fake.home(), &["inbox"])).out;
    assert!(
        text.contains("DEEPSEEK_API_KEY is gone")
            && text.contains("queued prompts: 2")
            && text.contains("reasonix resume 4"),
        "{text}"
    );
    assert_eq!(
        run(&mut reasonix(&fake.home(), &["inbox", "-q"])).out,
        "3\n4\n"
    );
    let json = run(&mut reasonix(&fake.home(), &["inbox", "--json"])).out;
    let json: Value = serde_json::from_str(&json).unwrap();
    let waits: Vec<_> = json
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["waiting_for"])
        .collect();
    assert_eq!(waits, ["credentials", "paused"]);
}
