//! Past sessions, with the real programs: search, statistics, export, deletion.

use proto::hello::Role;
use proto::{ErrorName, Pid};
use serde_json::{Value, json};
use testkit::Script;
use tests::{House, Raw, Running, until};

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

/// The pids of the hits of a search, in order.
fn found(raw: &mut Raw, params: Value) -> Vec<String> {
    let found = raw.call("history.search", &params).expect("an answer");
    let hits = found["hits"].as_array().expect("hits");
    hits.iter().map(|hit| hit["pid"].to_string()).collect()
}

#[test]
fn words_are_found_in_all_sessions() {
    let (house, one, two) = two_sessions();
    let mut raw = house.raw_as(Role::Watch);
    let mut look = |params: Value| raw.call("history.search", &params);
    let found = look(json!({"query": "NEEDLE the"})).expect("found");
    let mut pids: Vec<_> = found["hits"]
        .as_array()
        .expect("hits")
        .iter()
        .map(|hit| hit["pid"].to_string())
        .collect();
    pids.sort();
    assert_eq!(pids, [one, two.clone()]);
    assert_eq!(
        (&found["complete"], &found["matches"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(found["hits"][0]["role"], "assistant");
    assert!(found["hits"][0]["marks"].is_array());
    let hay = look(json!({"query": "hay"})).expect("found");
    assert_eq!(hay["hits"][0]["text"], "look for hay");
    let role = look(json!({"query": "hay", "role": "tool"})).expect("an answer");
    assert_eq!(role["hits"], json!([]));
    let own = look(json!({"query": "hay", "scope": "session", "session": two})).expect("found");
    assert_eq!(own["matches"], 1);
    let elsewhere = look(json!({"query": "hay", "scope": "project", "cwd": "/elsewhere"}));
    assert_eq!(elsewhere.expect("an answer")["hits"], json!([]));
    let nothing = look(json!({"query": "  "})).expect_err("no words");
    assert_eq!(nothing.name, ErrorName::InvalidParams);
    let nowhere = look(json!({"query": "x", "scope": "session"})).expect_err("no session");
    assert_eq!(nowhere.name, ErrorName::InvalidParams);
    let (seq, text) = (&hay["hits"][0]["seq"], &hay["hits"][0]["text"]);
    let around = json!({"session": two, "seq": seq, "after": 1});
    let around = raw.call("history.around", &around).expect("messages");
    assert_eq!(&around["messages"][0]["text"], text);
    assert_eq!(around["messages"][1]["role"], "assistant");
    let none = raw.call("history.around", &json!({"session": two, "seq": 9_999}));
    assert_eq!(
        none.expect_err("no message there").name,
        ErrorName::NotFound
    );
}

#[test]
fn prompts_of_a_directory_are_those_of_its_interactive_sessions() {
    let (house, ..) = two_sessions();
    let mut drive = house.raw_as(Role::Drive);
    for prompt in ["one of a person", "another of a person"] {
        let params = serde_json::to_value(house.create(prompt)).expect("JSON");
        let created = drive.call("session.create", &params).expect("created");
        let ends = json!({"session": created["session"]});
        drive.call("session.wait", &ends).expect("its end");
    }
    let mut raw = house.raw_as(Role::Watch);
    let mut prompts = |cwd: &str| {
        let answer = raw.call("history.prompts", &json!({"cwd": cwd}));
        answer.expect("an answer")["prompts"].clone()
    };
    assert_eq!(
        prompts(&house.project().to_string_lossy()),
        json!(["one of a person", "another of a person"])
    );
    assert_eq!(prompts("/elsewhere"), json!([]));
}

#[test]
fn history_survives_a_killed_daemon_a_damaged_index_and_forgets_what_is_deleted() {
    let (house, one, two) = two_sessions();
    // Killed with whatever the index has of them.
    house.kill_daemon();
    house.wait_for_daemon();
    let mut raw = house.raw_as(Role::Drive);
    let needle = json!({"query": "needle"});
    let both = found(&mut raw, needle.clone());
    assert_eq!(both.len(), 2, "{both:?}");
    let index = house.home().join("history.db");
    house.kill_daemon_and_parent();
    for side in ["history.db-wal", "history.db-shm"] {
        drop(std::fs::remove_file(house.home().join(side)));
    }
    std::fs::write(&index, "damaged").expect("the index is overwritten");
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    assert_eq!(found(&mut raw, needle.clone()), both);
    let fork = json!({"session": two, "fork": proto::SessionId::new()});
    let forked = raw.call("session.fork", &fork).expect("a fork");
    assert_eq!(
        found(&mut raw, needle.clone()),
        both,
        "a fork adds no copies"
    );
    let gone = json!({"session": two, "confirm": true});
    let _ = raw.call("session.delete", &gone).expect("deleted");
    let mut left = found(&mut raw, needle);
    left.sort();
    assert_eq!(
        left,
        [one, forked["pid"].to_string()],
        "the copy is all that is left"
    );
}

#[test]
fn index_that_cannot_be_used_is_reported_and_not_said_to_be_built() {
    let house = House::new();
    let index = house.home().join("history.db");
    std::fs::create_dir_all(index.join("in the way")).expect("a directory");
    let searched = house.reasonix(&["search", "anything"]);
    assert_ne!(searched.code(), Some(0), "{searched:?}");
    assert!(
        searched.err.contains("The history index cannot be used")
            && !searched.err.contains("being built"),
        "{searched:?}"
    );
    let doctor = house.reasonix(&["doctor"]).out;
    assert!(
        doctor.contains("history: The history index cannot be used"),
        "{doctor}"
    );
    house.stop_daemon();
    std::fs::remove_dir_all(&index).expect("out of the way");
    let nothing = house.reasonix(&["search", "anything"]).expect_code(0);
    assert!(!nothing.err.contains("being built"), "{nothing:?}");
    assert!(!house.reasonix(&["doctor"]).out.contains("history index"));
}

#[test]
fn messages_that_the_index_cannot_take_in_are_said_to_be_missing() {
    let (house, one, _two) = two_sessions();
    let search = |words: &str| house.reasonix(&["search", words]).expect_code(0);
    assert!(!search("needle").err.contains("missing"));
    // Another program, such as a backup, keeps the index locked: it can be read and not written.
    let lock = "import sqlite3, sys\nindex = sqlite3.connect(sys.argv[1], isolation_level=None)\nindex.execute('BEGIN IMMEDIATE')\nprint('locked', flush=True)\nsys.stdin.read()";
    let mut python = std::process::Command::new("python3");
    python
        .args(["-c", lock])
        .arg(house.home().join("history.db"))
        .stdin(std::process::Stdio::piped());
    let mut backup = Running::start(&mut python);
    backup.line("the lock", |line| line == "locked");
    let _ = house
        .reasonix(&["run", "-s", &one, "look for straw"])
        .expect_code(0);
    let mut raw = house.raw_as(Role::Watch);
    let answer = raw
        .call("history.search", &json!({"query": "needle"}))
        .expect("what it has");
    assert_eq!(answer["complete"], json!(false), "{answer}");
    assert!(answer["behind"].is_string(), "{answer}");
    assert_eq!(answer["hits"].as_array().map(Vec::len), Some(2), "{answer}");
    let said = search("needle").err;
    assert!(
        said.contains("the newest messages may be missing"),
        "{said}"
    );
    backup.hang_up();
    let _ = backup.done();
    until("the index to follow", || {
        let straw = search("straw");
        (straw.out.contains("straw") && !straw.err.contains("missing")).then_some(())
    });
}

#[test]
fn ephemeral_sessions_are_not_found_and_chinese_words_are() {
    let house = House::playing(&Script::new().says("数据库连接失败").says("数据库"));
    let _ = house
        .reasonix(&["run", "--name", "one", "为什么"])
        .expect_code(0);
    let _ = house
        .reasonix(&["run", "--ephemeral", "再说一次"])
        .expect_code(0);
    let mut raw = house.raw_as(Role::Watch);
    assert_eq!(found(&mut raw, json!({"query": "连接"})), ["1"]);
    assert_eq!(found(&mut raw, json!({"query": "据库"})), ["1"]);
    assert!(found(&mut raw, json!({"query": "再说一次"})).is_empty());
    let shown = house.reasonix(&["search", "数据库"]).expect_code(0);
    assert!(
        shown.out.contains("assistant: 数据库连接失败"),
        "{}",
        shown.out
    );
    let seq = json!({"query": "连接"});
    let seq = raw.call("history.search", &seq).expect("found")["hits"][0]["seq"].to_string();
    let around = house
        .reasonix(&["history", "around", "1", &seq])
        .expect_code(0);
    assert!(around.out.contains("为什么"), "{}", around.out);
}

#[test]
fn the_model_searches_earlier_sessions() {
    // Each session plays it from its beginning.
    let script = Script::new()
        .calls(
            "tool_call",
            &json!({"tool": "history", "arguments": {"query": "printer password"}}),
        )
        .says("Done.");
    let house = House::playing(&script);
    let said = "the password of the printer is swordfish";
    let _ = house.reasonix(&["run", said]).expect_code(0);
    let _ = house.reasonix(&["run", "what was it"]).expect_code(0);
    let log = house.reasonix(&["logs", "--json", "2"]).expect_code(0).out;
    let found = "user: the **password** of the **printer** is swordfish";
    assert!(
        log.contains("session 1 seq 5") && log.contains(found),
        "the result names the place: {log}"
    );
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
fn damaged_log_is_not_exported_as_if_it_were_whole() {
    let (house, one, _) = two_sessions();
    house.stop_daemon();
    for session in std::fs::read_dir(house.home().join("sessions")).expect("sessions") {
        let log = session.expect("a session").path().join("log.jsonl");
        let mut bytes = std::fs::read(&log).expect("a log");
        let place = bytes.len() / 2;
        bytes[place] ^= 1;
        std::fs::write(&log, bytes).expect("a damaged log");
    }
    house.daemon();
    let file = house.project().join("page.md");
    let to_file = ["-o", file.to_str().expect("a path")];
    for rest in [&[][..], &["--format", "jsonl"], &to_file] {
        let arguments = [&["export", one.as_str()], rest].concat();
        let done = house.reasonix(&arguments).expect_code(1);
        assert_eq!(done.out, "");
        assert!(done.err.contains("is damaged after record"), "{done:?}");
    }
    assert!(!file.exists());
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
