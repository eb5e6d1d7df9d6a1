//! System calls that kill, fail or wait, in the daemon proper. Each test makes sure that its fault has happened.

use std::collections::BTreeMap;
use std::path::PathBuf;

use proto::hello::Role;
use proto::params::session::CreateParams;
use proto::state::OnAsk;
use proto::{Body, ErrorName, Pid, SessionId};
use serde_json::{Value, json};
use testkit::Script;
use testkit::fault::{Fault, FaultAction};
use tests::{House, skip, until};

/// A turn with reads, a write and commands.
fn script() -> Script {
    let append = |text: &str| json!({"path": "written.txt", "content": text, "append": true});
    Script::new()
        .calls_all(&[
            ("read_file", json!({"path": "notes.txt"})),
            ("read_file", json!({"path": "notes.txt"})),
        ])
        .calls("write_file", &append("one\n"))
        .runs("echo two >> ran.txt")
        .runs("echo three >> ran.txt")
        .says("It is done.")
}

fn house() -> House {
    let house = House::playing(&script());
    house.settings("[daemon]\nrecover = \"continue\"");
    house.files("//- notes.txt\nsome notes\n");
    house
}

fn create(house: &House) -> (CreateParams, PathBuf) {
    let mut params = house.create("Do it.");
    params.options.on_ask = Some(OnAsk::Allow);
    let log = log_of(house, params.session);
    (params, log)
}

fn log_of(house: &House, session: SessionId) -> PathBuf {
    let sessions = house.home().join("sessions");
    sessions.join(session.to_string()).join("log.jsonl")
}

/// A fault of the house's daemon, with a directory of its own.
fn fault(house: &House, calls: &str, deed: FaultAction, from: u64, to: u64) -> Fault {
    Fault::new(&house.root().join("fault"), calls, deed, from, to)
}

fn start(house: &House, words: &[String]) -> bool {
    house.daemon_under(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

/// No last call.
const EVER: u64 = i64::MAX as u64;

/// How far a sweep goes.
fn sweep() -> u64 {
    let wished = std::env::var("REASONIX_SWEEP").ok();
    wished.and_then(|text| text.parse().ok()).unwrap_or(3)
}

/// Makes the session and waits for its end, as far as the daemon lives: whether its creation was acknowledged.
fn try_it(house: &House, params: &CreateParams) -> bool {
    let mut raw = house.raw();
    let create = serde_json::to_value(params).expect("JSON");
    let mut say = |method: &str, params: &Value| {
        let line = json!({"jsonrpc": "2.0", "id": method, "method": method, "params": params});
        if raw.bytes(format!("{line}\n").as_bytes()).is_err() {
            return None;
        }
        raw.frame()
    };
    let hello = say(
        "daemon.hello",
        &tests::raw::hello_params("raw", Role::Drive),
    );
    let created = hello.and_then(|_| say("session.create", &create));
    let acknowledged = created.is_some_and(|frame| frame.get("result").is_some());
    if acknowledged {
        say("session.wait", &json!({"session": params.session}));
    }
    acknowledged
}

/// After a kill: another life, in which the session comes to its end, with nothing lost and nothing done twice.
fn survives(house: &House, params: &CreateParams, acknowledged: bool, what: &str) {
    until("the killed daemon to be gone", || {
        house.processes().is_empty().then_some(())
    });
    house.daemon_alone();
    let mut raw = house.raw_as(Role::Drive);
    let known = raw.call("session.get", &json!({"session": params.session}));
    assert!(
        known.is_ok() || !acknowledged,
        "{what}: an acknowledged session is gone"
    );
    // The client repeats an unacknowledged request: it is the same session.
    let again = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &again)
        .unwrap_or_else(|failure| panic!("{what}: {failure:?}"));
    raw.call("session.wait", &json!({"session": params.session}))
        .expect("wait");
    let logs = house.logs();
    assert_eq!(logs.len(), 1, "{what}: one session");
    let log = logs[0].check();
    assert_eq!(log.count("prompt.queued"), 1, "{what}: one prompt");
    let ended = log.bodies().into_iter().find_map(|body| match body {
        Body::TurnEnded(ended) => Some(ended),
        _ => None,
    });
    let text = ended.as_ref().map(|ended| ended.text.as_str());
    let kinds = log.kinds();
    assert_eq!(
        text,
        Some("It is done."),
        "{what}: {ended:?} after {kinds:?}"
    );
    for (file, lines) in [
        ("written.txt", vec!["one"]),
        ("ran.txt", vec!["two", "three"]),
    ] {
        let text = std::fs::read_to_string(house.project().join(file)).unwrap_or_default();
        let mut counts = BTreeMap::new();
        for line in text.lines() {
            *counts.entry(line).or_insert(0) += 1;
        }
        assert!(
            counts
                .iter()
                .all(|(line, count)| lines.contains(line) && *count == 1),
            "{what}: {file} has {text:?}"
        );
    }
    // No half-made file lies about.
    let strays: Vec<_> = strays(&house.home());
    assert!(strays.is_empty(), "{what}: {strays:?}");
}

/// Files that look like the half of something.
fn strays(directory: &std::path::Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            found.extend(strays(&path));
        } else if name.contains(".tmp") || name.ends_with('~') {
            found.push(path);
        }
    }
    found
}

fn kill_at(calls: &str, only_log: bool) {
    let mut hits = 0;
    for nth in 1..=sweep() {
        let house = house();
        let (params, log) = create(&house);
        let what = format!("killed at {calls} number {nth}");
        let mut fault = fault(&house, calls, FaultAction::Kill, nth, nth);
        if only_log {
            fault = fault.on(&log);
        }
        let acknowledged = start(&house, &fault.words()) && try_it(&house, &params);
        // One that was not hit is ended here.
        if fault.hits() == 0 {
            house.kill_daemon();
        }
        hits += fault.hits();
        survives(&house, &params, acknowledged, &what);
    }
    assert!(hits > 0, "no {calls} was hit: the sweep tried nothing");
}

#[test]
fn f01_killed_at_a_write_of_the_log() {
    kill_at("writev,write,pwrite64", true);
}

#[test]
fn f02_killed_at_a_sync_of_the_log() {
    kill_at("fdatasync,fsync", true);
}

#[test]
fn f02_killed_at_any_sync() {
    kill_at("fdatasync,fsync", false);
}

#[test]
fn f02_killed_at_a_rename() {
    kill_at("rename", false);
}

#[test]
fn f02_killed_at_an_unlink() {
    kill_at("unlink", false);
}

/// Whether a copy of a log has taken its place after a sync that failed.
fn is_renewed(log: &std::path::Path) -> bool {
    let beside = log.parent().and_then(|directory| directory.read_dir().ok());
    beside.into_iter().flatten().flatten().any(|entry| {
        let name = entry.file_name();
        name.to_string_lossy().starts_with("log.jsonl.failed-")
    })
}

/// A session whose log fails in this way turns read-only and says why; the daemon and other sessions live.
fn fails(calls: &str, from: u64, to: u64) {
    let house = House::playing(&Script::new().says("One.").says("Two.").says("Three."));
    let mut hurt = house.create("");
    hurt.prompt = None;
    let log = log_of(&house, hurt.session);
    let fault = fault(&house, calls, FaultAction::Fail, from, to).on(&log);
    assert!(start(&house, &fault.words()));
    let mut raw = house.raw_as(Role::Drive);
    // The fault befalls one of the first writes: from then on nothing is acknowledged.
    let create = serde_json::to_value(&hurt).expect("JSON");
    let mut acknowledged = Vec::new();
    let mut refused = raw.call("session.create", &create).err();
    for number in 0..6 {
        if refused.is_some() {
            break;
        }
        let prompt = json!({"session": hurt.session, "text": format!("prompt {number}")});
        match raw.call("session.prompt", &prompt) {
            Ok(output) => acknowledged.push(output["prompt_id"].clone()),
            Err(failure) => refused = Some(failure),
        }
        let _ = raw.call(
            "session.wait",
            &json!({"session": hurt.session, "timeout_ms": 2000}),
        );
    }
    // If it hit a record of a turn, the next prompt may find the log renewed already, with the old one kept.
    match refused {
        Some(refused) => assert_eq!(refused.name, ErrorName::Storage, "{refused:?}"),
        None => assert!(is_renewed(&log), "a failed write is reported or repaired"),
    }
    assert!(fault.hits() > 0, "no {calls} of the log was hit");
    // Another session works.
    let mut other = house.create("hello");
    other.options.on_ask = Some(OnAsk::Allow);
    let made = raw
        .call(
            "session.create",
            &serde_json::to_value(&other).expect("JSON"),
        )
        .expect("another session");
    raw.call("session.wait", &json!({"session": other.session}))
        .expect("wait");
    let pid = Pid(made["pid"].as_u64().expect("a pid"));
    assert_eq!(house.log(pid).check().count("turn.ended"), 1);
    // In the next life, without the fault, everything that was acknowledged is there.
    house.stop_daemon();
    house.daemon_alone();
    let mut raw = house.raw_as(Role::Drive);
    if acknowledged.is_empty() {
        return;
    }
    let page = json!({"session": hurt.session, "from_seq": 1});
    let page = raw.call("session.read", &page).expect("read").to_string();
    for prompt in acknowledged {
        assert!(
            page.contains(prompt.as_str().expect("an id")),
            "{prompt}: {page}"
        );
    }
}

#[test]
fn f17_a_write_that_fails_is_never_acknowledged() {
    fails("writev", 2, EVER);
}

#[test]
fn f18_a_sync_that_fails_once_is_never_acknowledged_nor_tried_again() {
    fails("fdatasync", 2, 2);
}

#[test]
fn f30_a_slow_disk_delays_its_session_and_nobody_else() {
    let house = House::playing(&Script::new().says("One.").says("Two."));
    let mut slow = house.create("");
    slow.prompt = None;
    let log = log_of(&house, slow.session);
    let fault = fault(&house, "fdatasync", FaultAction::Hold, 1, EVER).on(&log);
    assert!(start(&house, &fault.words()));
    let mut raw = house.raw_as(Role::Drive);
    let create = serde_json::to_value(&slow).expect("JSON");
    let waiting = raw.ask("session.create", &create);
    until("the disk to be slow", || (fault.hits() > 0).then_some(()));
    // Others are served while that disk is waited for: with questions, and with work that goes to the disk.
    let mut other = house.raw_as(Role::Drive);
    for _ in 0..20 {
        other.call("daemon.status", &json!({})).expect("a status");
    }
    let quick = serde_json::to_value(house.create("hello")).expect("JSON");
    let quick = other.call("session.create", &quick).expect("create")["session"].clone();
    let waited = other.call("session.wait", &json!({"session": quick}));
    assert_eq!(waited.expect("wait")["exit_code"], 0);
    // All this time it has not been acknowledged.
    raw.patience(std::time::Duration::from_millis(1));
    assert_eq!(raw.some(), None, "acknowledged before it was on disk");
    fault.lift();
    raw.patience(tests::wait::BOUND);
    let created = raw.frame().expect("an answer");
    assert_eq!(created["id"], json!(waiting));
    // In order, and whole.
    let prompt = json!({"session": slow.session, "text": "hello"});
    raw.call("session.prompt", &prompt).expect("prompt");
    raw.call("session.wait", &json!({"session": slow.session}))
        .expect("wait");
    for log in house.logs() {
        assert_eq!(log.check().count("turn.ended"), 1);
    }
}

#[test]
fn f24_where_no_file_can_be_locked_it_does_not_start_and_says_why() {
    if skip::unless(skip::strace(), "`strace` that may put faults in") {
        return;
    }
    let house = House::playing(&script());
    // By a system call of its own, past the C library: a tracer hits it, which does not help on a given file, since the
    // daemon's memory is closed to it.
    let words = "strace -f -qq -o /dev/null -e trace=flock -e inject=flock:error=ENOSYS";
    let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
    assert!(
        !start(&house, &words),
        "two daemons could write the same logs"
    );
    let said = std::fs::read_to_string(house.root().join("said")).expect("its words");
    assert!(
        said.contains("lock") && said.contains("Function not implemented"),
        "{said}"
    );
    // Nothing is hurt.
    house.daemon_alone();
}

#[test]
fn f25_a_limit_of_file_size_refuses_and_does_not_kill() {
    if skip::unless(
        skip::works(&["prlimit", "--fsize=100000", "true"]),
        "`prlimit`",
    ) {
        return;
    }
    let house = House::playing(&Script::new().says("Done."));
    // Room for the catalog and for short logs.
    assert!(start(
        &house,
        &["prlimit".to_owned(), "--fsize=400000".to_owned()]
    ));
    let daemon = house.daemon_pid();
    let mut raw = house.raw_as(Role::Drive);
    let params = serde_json::to_value(house.create("first")).expect("JSON");
    let session = raw.call("session.create", &params).expect("create")["session"].clone();
    let wait = json!({"session": session});
    raw.call("session.wait", &wait).expect("wait");
    let long = "x".repeat(60_000);
    let refused = (0..20).find_map(|_| {
        let prompt = json!({"session": session, "text": long});
        let refused = raw.call("session.prompt", &prompt).err();
        let _ = raw.call("session.wait", &wait);
        refused
    });
    let refused = refused.expect("a file that may not grow");
    assert_eq!(refused.name, ErrorName::Storage, "{refused:?}");
    assert_eq!(house.daemon_pid(), daemon, "the signal does not end it");
    let params = serde_json::to_value(house.create("another")).expect("JSON");
    let other = raw.call("session.create", &params).expect("others go on")["session"].clone();
    let waited = raw.call("session.wait", &json!({"session": other}));
    assert_eq!(waited.expect("wait")["exit_code"], 0);
    raw.call("session.read", &json!({"session": session, "from_seq": 1}))
        .expect("it can be read");
}
