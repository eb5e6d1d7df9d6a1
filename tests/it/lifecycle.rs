//! The life of the daemon: one a home, found or started, restarted after a crash, ended in order.

use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Child;
use std::time::{Duration, Instant};

use proto::hello::Role;
use proto::outcome::{OutcomeKind, Reason};
use proto::{Body, ErrorName, Pid};
use rustix::process::Signal;
use serde_json::json;
use testkit::Script;
use testkit::model::{Answer, Model, Place};
use tests::processes;
use tests::program::run;
use tests::{Gate, House, until};

use crate::scripted::{self, RunOutput};

/// Waits for the end of a program; its exit code.
fn code(child: &mut Child) -> Option<i32> {
    until("the program to end", || {
        child.try_wait().expect("ask for its state")
    })
    .code()
}

#[test]
fn of_daemons_that_start_together_one_stays_and_the_others_end_well() {
    for _ in 0..3 {
        let house = House::new();
        let mut children: Vec<Child> = (0..4).map(|_| house.spawn_daemon(&["serve"])).collect();
        let winner = house.wait_for_daemon();
        for child in children.iter_mut().filter(|child| child.id() != winner) {
            assert_eq!(code(child), Some(0), "{}", house.daemon_log());
        }
        assert_eq!(
            house.daemon_pid(),
            Some(winner),
            "the winner is still there"
        );
        processes::send(winner, Signal::TERM);
        for child in &mut children {
            let _ = code(child);
        }
    }
}

#[test]
fn clients_that_start_together_get_the_same_daemon() {
    let house = House::playing(&Script::new().says("Hello."));
    let running: Vec<_> = (0..6).map(|_| house.start(&["run", "hello"])).collect();
    for running in running {
        let _ = running.done().expect_code(0);
    }
    let daemons = house
        .processes()
        .into_iter()
        .filter(|process| process.command.contains(" serve"))
        .count();
    assert_eq!(daemons, 1);
    let pids: Vec<_> = house.logs().iter().map(|log| log.pid().0).collect();
    assert_eq!(pids, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn stale_socket_file_is_replaced_by_the_next_daemon() {
    let house = House::playing(&Script::new().says("Hello."));
    house.daemon();
    house.kill_daemon_and_parent();
    assert!(house.socket().exists(), "a killed daemon leaves its socket");
    let _ = house.reasonix(&["run", "hello"]).expect_code(0);
    house.stop_daemon();
    assert!(!house.socket().exists(), "a daemon that ends removes it");
    // Any other file there is not a daemon either.
    drop(UnixListener::bind(house.socket()).expect("a socket of nobody"));
    let _ = house.reasonix(&["run", "hello"]).expect_code(0);
}

#[test]
fn a_socket_that_was_removed_is_made_again_and_the_work_goes_on() {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Done."));
    house.daemon();
    let gate = Gate::new(&house, "gate");
    let _ = house
        .reasonix(&["run", "--detach", "--on-ask", "allow", "work"])
        .expect_code(0);
    gate.wait();
    let before = house.daemon_pid();
    std::fs::remove_file(house.socket()).expect("remove the socket");
    assert_eq!(
        Some(house.wait_for_daemon()),
        before,
        "the same daemon, by a new socket"
    );
    gate.open();
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    // A client that comes while it is gone gets to the same daemon too.
    std::fs::remove_file(house.socket()).expect("remove the socket");
    let _ = house.reasonix(&["ls"]).expect_code(0);
    assert_eq!(house.daemon_pid(), before);
}

#[test]
fn a_live_daemons_socket_is_not_taken() {
    let house = House::new();
    house.daemon();
    let first = house.daemon_pid();
    for arguments in [&["serve"][..], &[]] {
        let mut second = house.spawn_daemon(arguments);
        assert_eq!(
            code(&mut second),
            Some(0),
            "the first one answers: that is well"
        );
        assert_eq!(house.daemon_pid(), first);
    }
}

#[test]
fn daemon_stops_though_nobody_asks_for_its_exit_status() {
    let house = House::new();
    // A child of this test, which asks only at its end: so do first processes of containers.
    house.daemon_alone();
    let _ = house.reasonix(&["daemon", "stop"]).expect_code(0);
    assert_eq!(house.daemon_pid(), None);
}

#[test]
fn the_parent_starts_a_killed_daemon_again_and_gives_up_on_one_that_keeps_dying() {
    let house = House::new();
    house.daemon();
    for _ in 0..3 {
        let before = house.daemon_pid();
        house.kill_daemon();
        assert_ne!(Some(house.wait_for_daemon()), before);
    }
    house.kill_daemon();
    until("the parent to give up", || {
        house.processes().is_empty().then_some(())
    });
    // The next client starts one.
    let _ = house.reasonix(&["ls"]).expect_code(0);
    assert!(house.daemon_pid().is_some());
}

#[test]
fn a_daemon_that_stops_ends_what_runs_and_writes_it_down() {
    let house = House::playing(
        &Script::new()
            .runs(&Gate::command("gate"))
            .says("Here I am again."),
    );
    house.daemon();
    let gate = Gate::new(&house, "gate");
    let _ = house
        .reasonix(&["run", "--detach", "--on-ask", "allow", "work"])
        .expect_code(0);
    gate.wait();
    let begun = Instant::now();
    let _ = house.reasonix(&["daemon", "stop"]).expect_code(0);
    // Its parent, which was not started by that client, ends right after it.
    until("nothing to be left", || {
        house.processes().is_empty().then_some(())
    });
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(10), "it took {took:?}");
    let log = house.log(Pid(1));
    let end = log
        .check()
        .bodies()
        .into_iter()
        .find_map(|body| match body {
            Body::TurnEnded(ended) => Some((ended.outcome, ended.reason)),
            _ => None,
        });
    assert_eq!(
        end,
        Some((OutcomeKind::Interrupted, Some(Reason::Shutdown)))
    );
    let none = house.reasonix(&["ps"]).expect_code(0);
    assert!(none.err.contains("no daemon is running"), "{none:?}");
    assert!(
        !none.err.contains("unfinished"),
        "the run has exited: {none:?}"
    );
    let again = house.reasonix(&["run", "-s", "1", "go on"]).expect_code(0);
    assert_eq!(again.out, "Here I am again.\n", "it goes on when asked");
}

#[test]
fn a_daemon_that_is_to_go_when_it_is_idle_lets_the_turn_end_and_takes_no_new_one() {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Done."));
    house.daemon();
    let gate = Gate::new(&house, "gate");
    let _ = house
        .reasonix(&["run", "--detach", "--on-ask", "allow", "work"])
        .expect_code(0);
    gate.wait();
    let mut raw = house.raw_as(Role::Drive);
    raw.call("daemon.shutdown", &json!({"mode": "idle"}))
        .expect("shut down");
    for (method, params) in [
        (
            "session.prompt",
            json!({"session": "1", "text": "one more"}),
        ),
        (
            "session.create",
            serde_json::to_value(house.create("another")).expect("JSON"),
        ),
    ] {
        let refused = raw.call(method, &params).expect_err("no new turns");
        assert_eq!(
            refused.name,
            ErrorName::ShuttingDown,
            "{method}: {refused:?}"
        );
    }
    gate.open();
    until("the daemon to go", || {
        house.processes().is_empty().then_some(())
    });
    let log = house.log(Pid(1));
    let ended = log
        .check()
        .bodies()
        .into_iter()
        .find_map(|body| match body {
            Body::TurnEnded(ended) => Some(ended.outcome),
            _ => None,
        });
    assert_eq!(ended, Some(OutcomeKind::Completed), "the turn was let end");
}

#[test]
fn a_home_with_a_long_path_has_its_socket_elsewhere() {
    let house = House::new();
    let runtime = house.root().join("x");
    let home = house.root().join("h".repeat(120));
    for directory in [&runtime, &home] {
        std::fs::create_dir(directory).expect("a directory");
        std::fs::set_permissions(
            directory,
            std::os::unix::fs::PermissionsExt::from_mode(0o700),
        )
        .expect("close it");
    }
    let command = |arguments: &[&str]| {
        let mut command = house.command(arguments);
        command
            .env_remove("REASONIX_SOCKET")
            .env("REASONIX_HOME", &home)
            .env("XDG_RUNTIME_DIR", &runtime);
        command
    };
    let _ = run(&mut command(&["ls"])).expect_code(0);
    let status = run(&mut command(&["daemon", "status", "--json"]))
        .expect_code(0)
        .json();
    let socket = status["socket"].as_str().expect("its socket");
    assert!(socket.starts_with(&*runtime.to_string_lossy()), "{socket}");
    UnixStream::connect(socket).expect("a daemon that listens");
    let _ = run(&mut command(&["daemon", "stop"])).expect_code(0);
    // One that was asked for and cannot be is an error that says so.
    let mut too_long = house.command(&["ls"]);
    let refused = run(too_long.env("REASONIX_SOCKET", home.join("socket"))).expect_code(78);
    assert!(refused.err.contains("107"), "{refused:?}");
}

#[test]
fn the_status_matches_the_daemon() {
    let house = House::playing(&Script::new().runs(&Gate::command("gate")).says("Done."));
    house.daemon();
    let gate = Gate::new(&house, "gate");
    let _ = house
        .reasonix(&["run", "--detach", "--on-ask", "allow", "work"])
        .expect_code(0);
    gate.wait();
    let status = house
        .reasonix(&["daemon", "status", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(status["pid"].as_u64(), house.daemon_pid().map(u64::from));
    assert_eq!(status["version"], proto::VERSION);
    assert_eq!(
        status["sessions"],
        json!({"stored": 1, "loaded": 1, "running": 1, "waiting": 0})
    );
    assert!(
        status["memory_bytes"]
            .as_u64()
            .is_some_and(|bytes| bytes > 1_000_000),
        "{status}"
    );
    let names: Vec<_> = status["clients"]
        .as_array()
        .expect("clients")
        .iter()
        .map(|client| client["name"].clone())
        .collect();
    assert_eq!(names, ["reasonix daemon status"], "the run was detached");
    gate.open();
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
}

#[test]
fn a_failed_daemon_start_is_reported_in_the_daemons_own_words() {
    use std::os::unix::fs::PermissionsExt as _;
    let house = House::new();
    let open = |mode| {
        std::fs::set_permissions(house.home(), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    open(0o777);
    let done = house.reasonix(&["ls"]).expect_code(69);
    open(0o700);
    assert!(done.err.contains("others can write to"), "{}", done.err);
    assert!(done.err.contains("chmod go-w"), "{}", done.err);
}

#[test]
fn a_restart_hands_a_turn_over_that_goes_on_and_does_nothing_twice() {
    let answer = testkit::model::Gate::new();
    let once = json!({"command": "echo once >> ran"});
    let model = Model::start([
        Answer::call("bash", once),
        Answer::text("It ran, and I say so.").held(Place::Middle, &answer),
    ]);
    let house = scripted::house(&model);
    let before = house.daemon_pid();
    let running = house.start(&["run", "--on-ask", "allow", "--output-format", "jsonl", "go"]);
    until("the answer to be on its way", || {
        answer.is_reached().then_some(())
    });
    let restarting = house.start(&["daemon", "restart"]);
    restarting.err_line("the hand-over", |line| line.contains("session 1"));
    answer.open();
    let _ = restarting.done().expect_code(0);
    let ran = RunOutput::of(&running.done()).expect(0, "completed");
    assert_eq!(ran.text(), "It ran, and I say so.");
    assert_ne!(house.wait_for_daemon(), before.unwrap_or_default());
    assert_eq!(house.read("ran"), "once\n");
    let log = house.log(Pid(1));
    assert_eq!(log.check().count("tool.started"), 1);
    model.assert_prefix();
}

#[test]
fn restart_names_the_command_that_it_ends_and_tells_the_model_why() {
    let model = Model::start([
        Answer::call("bash", json!({"command": "touch started; sleep 100"})),
        Answer::text("It was ended."),
    ]);
    let house = scripted::house(&model);
    let arguments = ["run", "--on-ask", "allow", "--output-format", "jsonl", "go"];
    let running = house.start(&arguments);
    until("the command to run", || {
        house.project().join("started").exists().then_some(())
    });
    let restarted = house.reasonix(&["daemon", "restart"]).expect_code(0);
    let mut lines = restarted.err.lines();
    let is_named = lines.any(|line| line.contains("to be ended") && line.contains("sleep 100"));
    assert!(is_named, "{restarted:?}");
    let _ = RunOutput::of(&running.done()).expect(0, "completed");
    let told = format!("{:?}", model.requests()[1].messages());
    assert!(
        told.contains("stopped because the daemon stops or restarts"),
        "{told}"
    );
}

/// Members that may differ between two views of an idle session: clients, and data of this daemon.
fn lasting(house: &House) -> serde_json::Value {
    let mut summary = house
        .raw_as(Role::Watch)
        .call("session.get", &json!({"session": "1"}))
        .expect("a summary");
    for of_now in ["attached", "cache_expires_in_ms"] {
        summary.as_object_mut().expect("members").remove(of_now);
    }
    summary
}

#[test]
fn a_session_is_what_it_was_in_the_next_life_of_the_daemon() {
    let usage = testkit::model::Usage {
        prompt: 1_000,
        cached: 600,
        output: 30,
        reasoning: 10,
    };
    let model =
        Model::start(["One.", "Two.", "Three."].map(|text| Answer::text(text).usage(usage)));
    let house = House::new();
    let entry = model.entry("model", None);
    house.provider(&format!("{entry}price = {{ input = 3.0, output = 9.0 }}\n"));
    house.daemon();
    let words = [
        "--effort",
        "low",
        "--approval-mode",
        "auto",
        "--read-only",
        "--label",
        "mine",
    ];
    let _ = scripted::run(&house, &words, "one").expect(0, "completed");
    let _ = scripted::run(&house, &["-s", "1"], "two").expect(0, "completed");
    let prompt = || house.reasonix(&["prompt", "1", "--raw"]).expect_code(0).out;
    let (before, prefix) = (lasting(&house), prompt());
    assert_eq!(before["effort"], "low");
    assert_eq!(
        (&before["approval_mode"], &before["only_reads"]),
        (&json!("auto"), &json!(true))
    );
    assert_eq!(before["usage"]["prompt_tokens"], 2_000);
    assert!(
        before["usage"]["cost_micros"].as_u64() > Some(0),
        "{before}"
    );
    for end in [House::stop_daemon, House::kill_daemon_and_parent] {
        end(&house);
        house.daemon();
        assert_eq!(lasting(&house), before);
        assert_eq!(prompt(), prefix);
    }
    let _ = scripted::run(&house, &["-s", "1"], "three").expect(0, "completed");
    assert_eq!(lasting(&house)["usage"]["prompt_tokens"], 3_000);
    model.assert_prefix();
}

#[test]
fn session_numbers_continue_after_an_orderly_shutdown() {
    let house = House::playing(&Script::new().says("Done.").says("Done.").says("Done."));
    for line in [
        ["run", "One."],
        ["daemon", "stop"],
        ["run", "Two."],
        ["daemon", "restart"],
        ["run", "Three."],
    ] {
        let _ = house.reasonix(&line).expect_code(0);
    }
    let listed = house.reasonix(&["ls", "-q"]).expect_code(0);
    assert_eq!(listed.out, "3\n2\n1\n");
}

#[test]
fn an_unusable_provider_is_reported_by_doctor() {
    let house = House::new();
    house.provider(
        "name = \"odd\"\nkind = \"telepathy\"\nbase_url = \"http://127.0.0.1:1\"\nmodel = \"m\"",
    );
    let done = house.reasonix(&["doctor"]).expect_code(1);
    assert!(done.out.contains("FAILED   provider odd"), "{}", done.out);
    assert!(done.out.contains("telepathy"), "{}", done.out);
}

#[test]
fn doctor_fails_where_nothing_can_be_saved() {
    let house = House::playing(&Script::new().says("Hello."));
    let _ = house.reasonix(&["doctor"]).expect_code(0);
    // In the way of the file that it tries to write.
    std::fs::create_dir(house.home_file("write-check.tmp")).expect("a directory");
    let done = house.reasonix(&["doctor"]).expect_code(1);
    assert!(
        done.out
            .contains("FAILED   store: nothing can be saved: cannot write `"),
        "{}",
        done.out
    );
}

#[test]
fn daemon_that_cannot_open_its_log_names_it() {
    let house = House::new();
    let log = house.home_file("logs/reasonixd.log");
    std::fs::create_dir_all(&log).expect("a directory");
    let refused = house.reasonix(&["ls"]).expect_code(69);
    let name = log.display().to_string();
    assert!(refused.err.contains(&name), "{}", refused.err);
}
