//! What tools start is held: gone at its limit, at an interrupt, with its session, with the daemon; and it knows no
//! secrets.

use std::time::{Duration, Instant};

use proto::Pid;
use proto::hello::Role;
use proto::item::CallStatus;
use serde_json::json;
use testkit::Script;
use tests::processes::{self, Process};
use tests::program::run;
use tests::{House, until};

/// A number of seconds that nobody else on this machine sleeps: it marks the processes of one test.
fn nap(test: u32) -> String {
    format!("99{}{test:02}", std::process::id())
}

fn nappers(nap: &str) -> Vec<Process> {
    let sleep = format!("sleep {nap}");
    processes::all()
        .into_iter()
        .filter(|process| process.command == sleep)
        .collect()
}

/// Waits until so many sleep.
fn wait_for(nap: &str, count: usize) {
    until(&format!("{count} processes that sleep {nap}"), || {
        (nappers(nap).len() == count).then_some(())
    });
}

fn nobody_sleeps(nap: &str) {
    let left = nappers(nap);
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn a_command_and_all_it_started_are_gone_at_its_time_limit() {
    let nap = nap(1);
    let command = format!("sleep {nap} & setsid sleep {nap} & (sleep {nap} &) ; sleep {nap}");
    let house = House::playing(
        &Script::new()
            .calls("bash", &json!({"command": command, "timeout_ms": 400}))
            .says("Too slow."),
    );
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "x"])
        .expect_code(0);
    nobody_sleeps(&nap);
    let log = house.log(Pid(1));
    let result = &log.check().results()[0];
    assert_eq!(result.status, CallStatus::Failed, "{}", result.text);
    assert!(
        result.text.contains("0.4 s") || result.text.contains("400"),
        "why it was stopped: {}",
        result.text
    );
}

#[test]
fn the_default_limit_is_a_setting() {
    let nap = nap(2);
    let house = House::playing(
        &Script::new()
            .runs(&format!("sleep {nap}"))
            .says("Too slow."),
    );
    house.settings("[tools]\nbash_timeout_seconds = 1");
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "x"])
        .expect_code(0);
    nobody_sleeps(&nap);
    assert_eq!(house.log(Pid(1)).results()[0].status, CallStatus::Failed);
}

#[test]
fn an_interrupt_ends_commands_that_do_not_want_to_end() {
    let nap = nap(3);
    let command =
        format!("trap '' TERM INT HUP; setsid sleep {nap} & sleep {nap}; sleep {nap}; sleep {nap}");
    let house = House::playing(&Script::new().runs(&command).says("Never said."));
    let running = house.start(&["run", "--on-ask", "allow", "x"]);
    wait_for(&nap, 2);
    let begun = Instant::now();
    running.signal(rustix::process::Signal::INT);
    let _ = running.done().expect_code(130);
    nobody_sleeps(&nap);
    // The tree is gone within 3 s of the request; the rest is room for a busy machine.
    assert!(
        begun.elapsed() < Duration::from_secs(8),
        "{:?}",
        begun.elapsed()
    );
    let log = house.log(Pid(1));
    assert_eq!(log.check().results()[0].status, CallStatus::Interrupted);
}

#[test]
fn a_command_that_hears_an_interrupt_ends_with_all_it_started() {
    let nap = nap(20);
    let script = Script::new().runs(&format!("sleep {nap} & sleep {nap}"));
    let house = House::playing(&script.says("Never said."));
    house.daemon();
    let _ = house
        .reasonix(&["run", "--detach", "--on-ask", "allow", "x"])
        .expect_code(0);
    wait_for(&nap, 2);
    let mut raw = house.raw_as(Role::Drive);
    raw.call("session.interrupt", &json!({"session": "1"}))
        .expect("interrupt");
    // How long this takes is a figure.
    until("its processes to be gone", || {
        nappers(&nap).is_empty().then_some(())
    });
}

#[test]
fn a_killed_session_leaves_no_process() {
    let nap = nap(4);
    let command =
        format!("trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep {nap}; :' & sleep {nap}; :");
    let house = House::playing(&Script::new().runs(&command).says("Never said."));
    let running = house.start(&["run", "--on-ask", "allow", "x"]);
    wait_for(&nap, 2);
    let _ = house.reasonix(&["kill", "-s", "KILL", "1"]).expect_code(0);
    let _ = running.done().expect_code(137);
    until("its processes to be gone", || {
        nappers(&nap).is_empty().then_some(())
    });
    house.log(Pid(1)).check();
}

#[test]
fn nothing_outlives_the_daemon_however_it_ends() {
    let nap = nap(5);
    let command = format!("setsid sleep {nap} & (setsid sh -c 'sleep {nap}; :' &); sleep {nap}");
    for end in ["stopped", "killed", "killed with its parent"] {
        let house = House::playing(&Script::new().runs(&command).says("Never said."));
        house.daemon();
        let _ = house
            .reasonix(&["run", "--detach", "--on-ask", "allow", "x"])
            .expect_code(0);
        wait_for(&nap, 3);
        match end {
            "stopped" => house.stop_daemon(),
            "killed" => {
                // The next life of the daemon may have to see to it.
                house.kill_daemon();
                house.wait_for_daemon();
            }
            _ => house.kill_daemon_and_parent(),
        }
        until(
            &format!("the processes of a daemon that was {end} to be gone"),
            || nappers(&nap).is_empty().then_some(()),
        );
    }
}

#[test]
fn what_a_command_leaves_in_the_background_does_not_hold_up_the_turn() {
    let nap = nap(6);
    let house = House::playing(
        &Script::new()
            .runs(&format!("sleep {nap} & echo started"))
            .says("Done."),
    );
    let begun = Instant::now();
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "x"])
        .expect_code(0);
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "it did not wait for the background: {:?}",
        begun.elapsed()
    );
    let log = house.log(Pid(1));
    assert!(
        log.results()[0].text.contains("started"),
        "{}",
        log.results()[0].text
    );
    // The session has exited, and its processes with it.
    until("the background to be gone", || {
        nappers(&nap).is_empty().then_some(())
    });
}

#[test]
fn commands_know_no_secret() {
    let house = House::playing(&Script::new().runs("env").says("Done."));
    house.provider("name = \"paid\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1\"\nmodel = \"m\"\napi_key_env = \"PAID_ACCESS\"");
    let mut command = house.command(&["run", "--on-ask", "allow", "--model", "replay", "x"]);
    let hidden = [
        "DEEPSEEK_API_KEY",
        "GITHUB_TOKEN",
        "MY_SECRET_THING",
        "DB_PASSWORD",
        "aws_secret_access_key",
        "PAID_ACCESS",
    ];
    for name in hidden {
        command.env(name, "hunter2");
    }
    let carry = [
        ("DATABASE_URL", "postgres://ann:hunter2@db.example/shop"),
        ("SHOP_DSN", "ann:hunter2@tcp(127.0.0.1:3306)/shop"),
        ("SHOP_CONNECTION_STRING", "Server=x;Uid=ann;Pwd=hunter2"),
    ];
    command.envs(carry);
    command.env("REDIS_URL", "redis://localhost/0");
    let _ = run(command.env("HARMLESS", "seen")).expect_code(0);
    let log = house.log(Pid(1));
    let result = &log.check().results()[0];
    assert!(result.text.contains("HARMLESS=seen"), "{}", result.text);
    assert!(result.text.contains("REDIS_URL=redis"), "{}", result.text);
    assert!(!result.text.contains("hunter2"), "{}", result.text);
    for name in hidden.into_iter().chain(carry.map(|(name, _)| name)) {
        assert!(!result.text.contains(name), "{name}: {}", result.text);
    }
    // The value is nowhere in the home either.
    for path in ["logs/reasonixd.log", "reasonix.db", "reasonix.db-wal"] {
        let bytes = std::fs::read(house.home_file(path)).unwrap_or_default();
        assert!(
            !bytes.windows(7).any(|window| window == b"hunter2"),
            "{path}"
        );
    }
    let text = std::fs::read_to_string(&log.path).expect("the log");
    assert!(!text.contains("hunter2"), "the log");
}

#[test]
fn a_client_of_another_make_cannot_hand_secrets_to_commands_either() {
    let house = House::playing(&Script::new().runs("env").says("Done."));
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    let mut params = serde_json::to_value(house.create("x")).expect("JSON");
    params["on_ask"] = "allow".into();
    params["env"]["OPENAI_API_KEY"] = "hunter2".into();
    params["env"]["DATABASE_URL"] = "postgres://ann:hunter2@db.example/shop".into();
    raw.call("session.create", &params).expect("create");
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    let log = house.log(Pid(1));
    assert!(
        !log.results()[0].text.contains("hunter2"),
        "{}",
        log.results()[0].text
    );
    assert!(
        !std::fs::read_to_string(&log.path)
            .expect("the log")
            .contains("hunter2")
    );
}

#[test]
fn command_result_has_both_output_streams_and_exit_code_or_signal() {
    let house = House::playing(
        &Script::new()
            .runs("echo out; echo err >&2; exit 7")
            .runs("kill -9 $$")
            .says("Done."),
    );
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "x"])
        .expect_code(0);
    let log = house.log(Pid(1));
    let results = log.check().results();
    assert_eq!(results[0].status, CallStatus::Failed);
    assert!(
        results[0].text.contains("exit code 7"),
        "{}",
        results[0].text
    );
    assert!(
        results[0].text.contains("out") && results[0].text.contains("err"),
        "{}",
        results[0].text
    );
    assert!(
        results[1].text.contains("signal 9") || results[1].text.contains("KILL"),
        "{}",
        results[1].text
    );
    let shown: Vec<_> = log
        .bodies()
        .into_iter()
        .filter_map(|body| match body {
            proto::Body::ToolFinished(finished) => Some(finished.display),
            _ => None,
        })
        .collect();
    assert!(
        matches!(
            shown[0],
            proto::item::Display::Command {
                exit_code: Some(7),
                signal: None,
                ..
            }
        ),
        "{:?}",
        shown[0]
    );
    assert!(
        matches!(
            shown[1],
            proto::item::Display::Command {
                exit_code: None,
                signal: Some(9),
                ..
            }
        ),
        "{:?}",
        shown[1]
    );
}

#[test]
fn a_command_that_floods_its_output_is_stopped_and_said() {
    let house = House::playing(&Script::new().runs("yes flood").says("Enough."));
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "x"])
        .expect_code(0);
    let log = house.log(Pid(1));
    let result = &log.check().results()[0];
    assert_eq!(result.status, CallStatus::Failed, "{}", result.text);
    assert!(
        result.text.len() < 70_000,
        "{} bytes reach the model",
        result.text.len()
    );
    let status = house
        .reasonix(&["daemon", "status", "--json"])
        .expect_code(0)
        .json();
    let memory = status["memory_bytes"].as_u64().expect("its memory");
    assert!(memory < 150_000_000, "{memory} bytes of memory");
    let size = std::fs::metadata(&log.path).expect("the log").len();
    assert!(size < 2_000_000, "{size} bytes of log");
}

#[test]
fn readers_of_one_answer_run_in_parallel_with_results_in_call_order() {
    // Each waits for the others' marks: alone, none of them would end.
    let house = House::new();
    let waits = |own: &str| {
        let command = format!(
            "touch {own}.m; until [ -e a.m ] && [ -e b.m ] && [ -e c.m ]; do sleep 0.01; done; echo {own}"
        );
        ("bash", json!({"command": command, "timeout_ms": 1500}))
    };
    house.cassette(
        &Script::new()
            .calls_all(&[waits("a"), waits("b"), waits("c")])
            .says("Done.")
            .jsonl(),
    );
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "x"])
        .expect_code(0);
    let log = house.log(Pid(1));
    // These write, so they run one by one, in order, and the first two time out.
    let statuses: Vec<_> = log
        .check()
        .results()
        .iter()
        .map(|result| result.status)
        .collect();
    assert_eq!(
        statuses,
        [CallStatus::Failed, CallStatus::Failed, CallStatus::Ok],
        "writers run alone, in order"
    );
}
