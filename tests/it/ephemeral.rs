//! `run --ephemeral`: nothing of the session is left, whatever ends it.

use rustix::process::Signal;
use testkit::Script;
use tests::{Gate, House, Running, until};

/// Files and directories of sessions, and markers of them.
fn left(house: &House) -> Vec<String> {
    let names = |directory: &str| -> Vec<String> {
        let entries = std::fs::read_dir(house.home().join(directory));
        let entries = entries.into_iter().flatten().flatten();
        let named = entries.map(|entry| format!("{directory}/{}", entry.file_name().display()));
        named.collect()
    };
    ["sessions", "open", "ephemeral"]
        .iter()
        .flat_map(|name| names(name))
        .collect()
}

/// That nothing is left of the session, and no list has it.
fn nothing(house: &House) {
    assert_eq!(left(house), [""; 0]);
    let listed = house.reasonix(&["ls", "--json"]).expect_code(0);
    assert_eq!(listed.out.trim(), "[]");
}

/// A house whose session waits at a gate in its first turn, and which looks for ended sessions every second.
fn held() -> (House, Gate) {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Done."));
    house.settings("[internal]\nevict_minutes = 0.15\n");
    house.daemon();
    let gate = Gate::new(&house, "gate");
    (house, gate)
}

fn start(house: &House, gate: &Gate) -> Running {
    let running = house.start(&["run", "--ephemeral", "--on-ask", "allow", "x"]);
    gate.wait();
    running
}

#[test]
fn the_session_is_gone_when_the_run_has_ended() {
    let house = House::playing(&Script::new().says("One.").says("Two."));
    let done = house.reasonix(&["run", "--ephemeral", "x"]).expect_code(0);
    assert_eq!(done.out, "One.\n");
    assert!(!done.err.contains("not deleted yet"), "{}", done.err);
    nothing(&house);
    let stats = house.reasonix(&["stats", "--json"]).expect_code(0);
    assert!(
        stats.out.contains("\"requests\":1"),
        "its usage stays: {}",
        stats.out
    );
    let input = "{\"kind\":\"prompt\",\"text\":\"a\"}\n{\"kind\":\"prompt\",\"text\":\"b\"}\n";
    let driven = ["run", "--ephemeral", "--input-format", "jsonl"];
    let done = house.reasonix_reading(&driven, input);
    assert!(done.out.contains("Two."), "{done:?}");
    nothing(&house);
}

#[test]
fn a_fork_goes_and_its_origin_stays() {
    let house = House::playing(&Script::new().says("One.").says("Two.").says("Three."));
    let _ = house.reasonix(&["run", "x"]).expect_code(0);
    let _ = house
        .reasonix(&["run", "--ephemeral", "-s", "1", "--fork", "y"])
        .expect_code(0);
    let logs = house.logs();
    assert_eq!(logs.len(), 1);
    assert!(
        !house
            .home()
            .join("ephemeral")
            .read_dir()
            .expect("a directory")
            .any(|_| true)
    );
}

#[test]
fn ephemeral_run_refuses_options_that_conflict_with_deletion() {
    let house = House::playing(&Script::new().says("One."));
    for (arguments, words) in [
        (&["-s", "1"][..], "would delete a session that is kept"),
        (&["-c"], "would delete a session that is kept"),
        (&["--on-ask", "park"], "cannot be used with `--on-ask park`"),
        (&["--detach"], "cannot be used with"),
    ] {
        let line = [&["run", "--ephemeral"], arguments, &["x"]].concat();
        let done = house.reasonix(&line).expect_code(64);
        assert!(done.err.contains(words), "{}", done.err);
    }
    assert_eq!(left(&house), [""; 0]);
}

#[test]
fn signals_and_a_lost_terminal_end_the_run_and_its_session() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 143)] {
        let (house, gate) = held();
        let running = start(&house, &gate);
        running.signal(signal);
        let _ = running.done().expect_code(code);
        nothing(&house);
    }
}

#[test]
fn after_the_client_was_killed_the_daemon_deletes_the_session_at_its_end() {
    let (house, gate) = held();
    let running = start(&house, &gate);
    running.signal(Signal::KILL);
    let _ = running.done();
    assert!(!left(&house).is_empty(), "it runs to its end");
    gate.open();
    until("the session to be deleted", || {
        left(&house).is_empty().then_some(())
    });
    nothing(&house);
}

#[test]
fn after_the_daemon_was_killed_the_session_goes_on_and_is_deleted() {
    let (house, gate) = held();
    let running = start(&house, &gate);
    house.kill_daemon();
    gate.open();
    let done = running.done().expect_code(0);
    assert_eq!(done.out, "Done.\n");
    nothing(&house);
}

#[test]
fn next_daemon_deletes_an_ephemeral_session_after_client_and_daemon_kill() {
    let (house, gate) = held();
    let running = start(&house, &gate);
    running.signal(Signal::KILL);
    let _ = running.done();
    house.kill_daemon_and_parent();
    assert!(!left(&house).is_empty());
    gate.open();
    house.daemon();
    until("the session to be deleted", || {
        left(&house).is_empty().then_some(())
    });
}

#[test]
fn daemon_start_deletes_ended_ephemeral_sessions_and_stale_markers() {
    let house = House::playing(&Script::new().says("One."));
    let done = house.reasonix(&["run", "--json", "x"]).expect_code(0);
    house.stop_daemon();
    let session = done.json()["session"].as_str().expect("an id").to_owned();
    for id in [session.as_str(), "0198c0de-0000-7000-8000-00000000c0de"] {
        std::fs::write(house.home().join("ephemeral").join(id), "").expect("a marker");
    }
    house.daemon();
    until("both to be cleared away", || {
        left(&house).is_empty().then_some(())
    });
    nothing(&house);
}

#[test]
fn fork_of_a_run_is_headless_and_an_ephemeral_one_goes_after_its_client_was_killed() {
    let script = Script::new().says("One.").runs(&Gate::command("gate"));
    let house = House::playing(&script.says("Two.").says("Three."));
    house.settings("[internal]\nevict_minutes = 0.15\n");
    house.daemon();
    let _ = house
        .reasonix(&["run", "--name", "origin", "x"])
        .expect_code(0);
    let gate = Gate::new(&house, "gate");
    let forked = [
        "run",
        "-s",
        "origin",
        "--fork",
        "--ephemeral",
        "--on-ask",
        "allow",
        "y",
    ];
    let running = house.start(&forked);
    gate.wait();
    let kinds = || -> Vec<String> {
        let listed = house.reasonix(&["ls", "--json"]).expect_code(0);
        let listed: Vec<serde_json::Value> =
            serde_json::from_str(&listed.out).expect("a list of sessions");
        let kind = |session: &serde_json::Value| session["kind"].as_str().map(str::to_owned);
        listed.iter().filter_map(kind).collect()
    };
    assert_eq!(kinds(), ["headless", "headless"]);
    running.signal(Signal::KILL);
    let _ = running.done();
    gate.open();
    until("the fork to be deleted", || {
        (kinds().len() == 1).then_some(())
    });
}
