//! Past sessions, with the real programs: search, statistics, export, deletion.

use proto::hello::Role;
use proto::{ErrorName, Pid};
use serde_json::{Value, json};
use testkit::Script;
use tests::{House, Raw};

/// A house with two finished sessions.
fn two_sessions() -> (House, String, String) {
    let house = House::playing(&Script::new().says("The answer is a Needle.").says("Again."));
    let _ = house
        .reasonix(&["run", "--name", "one", "first"])
        .expect_code(0);
    let _ = house
        .reasonix(&["run", "--name", "two", "look for hay"])
        .expect_code(0);
    let mut raw = house.raw_as(Role::Drive);
    let pid = |raw: &mut Raw, name: &str| {
        let found = raw
            .call("session.get", &json!({"session": name}))
            .expect("it is there");
        found["pid"].to_string()
    };
    let (one, two) = (pid(&mut raw, "one"), pid(&mut raw, "two"));
    (house, one, two)
}

fn requests(raw: &mut Raw) -> u64 {
    let stats = raw.call("stats.query", &json!({})).expect("statistics");
    stats["total"]["usage"]["requests"]
        .as_u64()
        .expect("a number")
}

#[test]
fn words_are_found_in_all_sessions() {
    let (house, one, two) = two_sessions();
    let mut raw = house.raw_as(Role::Watch);
    let mut look = |params: Value| raw.call("history.search", &params);
    let found = look(json!({"text": "NEEDLE the"})).expect("found");
    let pids: Vec<_> = found["hits"]
        .as_array()
        .expect("hits")
        .iter()
        .map(|hit| hit["pid"].to_string())
        .collect();
    assert_eq!(pids, [two.clone(), one]);
    assert_eq!(found["complete"], true);
    assert_eq!(found["hits"][0]["role"], "assistant");
    let hay = look(json!({"text": "hay"})).expect("found");
    assert_eq!(hay["hits"][0]["text"], "look for hay");
    let elsewhere = look(json!({"text": "hay", "cwd": "/elsewhere"})).expect("an answer");
    assert_eq!(elsewhere["hits"], json!([]));
    let nothing = look(json!({"text": "  "})).expect_err("no words");
    assert_eq!(nothing.name, ErrorName::InvalidParams);
}

#[test]
fn deleting_frees_the_disk_and_lowers_no_sum() {
    let (house, one, two) = two_sessions();
    let mut raw = house.raw_as(Role::Drive);
    let before = requests(&mut raw);
    assert_eq!(before, 2);
    let asked = raw
        .call("session.delete", &json!({"session": one}))
        .expect_err("not yet");
    assert_eq!(asked.name, ErrorName::ConfirmNeeded);
    let id = house
        .log(Pid(one.parse().expect("a pid")))
        .created()
        .session;
    let gone = raw
        .call("session.delete", &json!({"session": one, "confirm": true}))
        .expect("deleted");
    assert!(gone["bytes"].as_u64() > Some(0));
    assert!(!house.home().join("sessions").join(id.to_string()).exists());
    assert_eq!(requests(&mut raw), before);
    drop(raw);
    house.kill_daemon();
    house.wait_for_daemon();
    let mut raw = house.raw_as(Role::Drive);
    assert_eq!(requests(&mut raw), before);
    let missing = raw
        .call("session.get", &json!({"session": one}))
        .expect_err("gone");
    assert_eq!(missing.name, ErrorName::NotFound);
    let stats = raw
        .call("stats.query", &json!({"session": two}))
        .expect("of one");
    assert_eq!(stats["total"]["usage"]["requests"], 1);
    // The catalog made again from the logs says the same.
    let _ = house.reasonix(&["doctor", "--rebuild-index"]);
    assert_eq!(requests(&mut raw), before);
}

#[test]
fn pruning_needs_a_number_of_days_and_takes_only_what_is_older() {
    let (house, _, _) = two_sessions();
    let mut raw = house.raw_as(Role::Drive);
    let for_ever = raw
        .call("session.prune", &json!({}))
        .expect_err("kept for ever");
    assert_eq!(for_ever.name, ErrorName::InvalidParams);
    house.settings("[sessions]\nkeep_days = 30\n");
    let none = raw.call("session.prune", &json!({})).expect("pruned");
    assert_eq!(none, json!({"sessions": [], "bytes": 0, "kept": 0}));
    let none = raw
        .call("session.prune", &json!({"keep_days": 1, "dry_run": true}))
        .expect("a dry run");
    assert_eq!(none["sessions"], json!([]));
}

#[test]
fn an_export_contains_the_conversation_and_the_events() {
    let (house, one, _) = two_sessions();
    let mut raw = house.raw_as(Role::Watch);
    let mut export = |format: &str| {
        let params = json!({"session": one, "format": format});
        let piece = raw.call("session.export", &params).expect("an export");
        assert!(
            piece.get("next").is_none_or(Value::is_null),
            "one piece: {piece}"
        );
        piece["text"].as_str().expect("a text").to_owned()
    };
    let page = export("markdown");
    assert!(
        page.contains("> first\n") && page.contains("The answer is a Needle."),
        "{page}"
    );
    let events = export("jsonl");
    let first: Value = serde_json::from_str(events.lines().next().expect("a line")).expect("JSON");
    assert_eq!(
        (&first["seq"], &first["kind"]),
        (&json!(1), &json!("session.created"))
    );
    let read = raw
        .call("session.read", &json!({"session": one, "from_seq": 1}))
        .expect("read");
    let read: Vec<Value> = read["events"].as_array().expect("events").clone();
    let lines: Vec<Value> = events
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines, read);
}
