//! The main way: one prompt through the whole house.

use proto::item::CallStatus;
use proto::{Pid, Seq};
use serde_json::json;
use testkit::Script;
use tests::{House, processes, skip, until};

const PROJECT: &str = "\
//- greet.sh
echo helo
//- test.sh
[ \"$(sh greet.sh)\" = hello ] && echo passed
";

/// A model that reads, edits and tests.
fn fixing() -> Script {
    Script::new()
        .calls("read_file", &json!({"path": "greet.sh"}))
        .calls(
            "edit_file",
            &json!({"path": "greet.sh", "old_string": "helo", "new_string": "hello"}),
        )
        .runs("sh test.sh")
        .says("The greeting is right now.")
}

#[test]
fn one_prompt_reads_edits_and_runs_and_the_log_records_all_of_it() {
    let house = House::playing(&fixing());
    house.files(PROJECT);
    house.daemon();
    let done = house
        .reasonix(&["run", "--on-ask", "allow", "Fix the greeting"])
        .expect_code(0);
    assert_eq!(done.out, "The greeting is right now.\n");
    assert_eq!(house.read("greet.sh"), "echo hello\n");

    let log = house.log(Pid(1));
    log.check();
    let results = log.results();
    let said: Vec<_> = results
        .iter()
        .map(|result| (result.tool.as_str(), result.status))
        .collect();
    assert_eq!(
        said,
        [
            ("read_file", CallStatus::Ok),
            ("edit_file", CallStatus::Ok),
            ("bash", CallStatus::Ok)
        ]
    );
    assert!(results[0].text.contains("echo helo"), "{}", results[0].text);
    assert!(
        results[2].text.contains("exit code 0") && results[2].text.contains("passed"),
        "{}",
        results[2].text
    );
    assert_eq!(log.count("usage"), 4, "one request a step");
    assert_eq!(log.kinds().first().copied(), Some("session.created"));
    assert_eq!(log.kinds().last().copied(), Some("session.exited"));
}

#[test]
fn start_of_a_writing_call_is_durable_before_the_next_record() {
    let house = House::playing(&fixing());
    house.files(PROJECT);
    house.daemon();
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "Fix the greeting"])
        .expect_code(0);
    let log = house.log(Pid(1));
    // The record after the start of a writer was made when the writer had ended; by then the start was durable.
    for (index, line) in log.lines.iter().enumerate() {
        if line.kind == "tool.started" && line.data.contains("\"read_only\":false") {
            let next = &log.lines[index + 1];
            assert!(
                next.durable >= line.seq,
                "record {} was not durable before {} ({})",
                line.seq,
                next.seq,
                next.kind
            );
        }
    }
}

#[test]
fn the_first_command_starts_the_daemon_and_the_second_finds_it() {
    let house = House::playing(&Script::new().says("Hello."));
    let _ = house.reasonix(&["run", "hello"]).expect_code(0);
    let first = house.daemon_pid().expect("a daemon that stays");
    let _ = house.reasonix(&["run", "hello"]).expect_code(0);
    assert_eq!(house.daemon_pid(), Some(first));
    assert_eq!(
        house.logs().iter().map(|log| log.pid()).collect::<Vec<_>>(),
        [Pid(1), Pid(2)]
    );
    let stopped = house.reasonix(&["daemon", "stop"]).expect_code(0);
    assert!(stopped.err.contains("stopped"), "{stopped:?}");
    assert!(!processes::runs(first));
    let left = house.processes();
    assert!(left.is_empty(), "{left:#?}");
}

#[test]
fn commands_inherit_the_clients_environment_and_the_daemon_does_not() {
    if skip::unless_root("seeing the daemon's environment") {
        return;
    }
    let house = House::playing(&Script::new().runs("echo \"$STRAY and $PWD\"").says("Done."));
    let _ = tests::program::run(
        house
            .command(&["run", "--on-ask", "allow", "x"])
            .env("STRAY", "kept"),
    )
    .expect_code(0);
    // A session's tools have the client's environment; the daemon itself has next to nothing.
    let log = house.log(Pid(1));
    let expected = format!("kept and {}", house.project().display());
    assert!(
        log.results()[0].text.contains(&expected),
        "{}",
        log.results()[0].text
    );
    let daemon = house.daemon_pid().expect("a daemon");
    let found = processes::environment(daemon);
    let has = |name: &str| found.iter().any(|entry| entry.starts_with(name));
    assert!(
        has("REASONIX_HOME="),
        "its environment can be seen: {found:?}"
    );
    assert!(!has("STRAY="), "{found:?}");
}

#[test]
fn a_session_goes_on_after_the_daemon_was_stopped_and_started() {
    let house = House::playing(&Script::new().says("One.").says("Two."));
    assert_eq!(
        house.reasonix(&["run", "first"]).expect_code(0).out,
        "One.\n"
    );
    let _ = house.reasonix(&["daemon", "stop"]).expect_code(0);
    assert_eq!(
        house.reasonix(&["run", "-c", "second"]).expect_code(0).out,
        "Two.\n"
    );
    let log = house.log(Pid(1));
    log.check();
    assert_eq!(log.count("message.user"), 2);
    assert_eq!(log.count("turn.ended"), 2);
    assert_eq!(house.logs().len(), 1);
}

#[test]
fn logs_and_files_of_a_session_agree() {
    let house = House::playing(&fixing());
    house.files(PROJECT);
    let _ = house
        .reasonix(&["run", "--on-ask", "allow", "Fix the greeting"])
        .expect_code(0);
    let printed = house
        .reasonix(&["logs", "--json", "1"])
        .expect_code(0)
        .lines();
    let log = house.log(Pid(1));
    assert_eq!(printed.len(), log.lines.len());
    for (event, line) in printed.iter().zip(&log.lines) {
        assert_eq!(event["seq"], json!(line.seq));
        assert_eq!(event["kind"], json!(line.kind));
        let data: serde_json::Value = serde_json::from_str(&line.data).expect("JSON");
        assert_eq!(event["data"], data);
    }
    let since = house
        .reasonix(&["logs", "--json", "--since", "5", "1"])
        .expect_code(0)
        .lines();
    assert_eq!(
        since.first().map(|event| event["seq"].clone()),
        Some(json!(Seq(5)))
    );
    assert_eq!(since.len(), log.lines.len() - 4);
}

#[test]
fn the_demo_fixes_its_project_and_leaves_nothing() {
    let house = House::new();
    let temp = house.root().join("t");
    std::fs::create_dir(&temp).expect("a directory");
    let done = tests::program::run(house.command(&["demo"]).env("TMPDIR", &temp)).expect_code(0);
    assert!(done.out.contains("This was session 1"), "{}", done.out);
    assert!(done.out.contains("The test passes now"), "{}", done.out);
    assert!(
        done.out.contains("ok      median of 10 9 2 is 9"),
        "{}",
        done.out
    );
    let left: Vec<_> = std::fs::read_dir(&temp)
        .expect("a directory")
        .flatten()
        .map(|entry| entry.path())
        .collect();
    assert!(left.is_empty(), "{left:?}");
    let running = house.processes();
    assert!(running.is_empty(), "{running:#?}");
}

#[test]
fn a_demo_that_is_kept_can_be_attached_to_as_it_says() {
    let house = House::new();
    let temp = house.root().join("t");
    std::fs::create_dir(&temp).expect("a directory");
    let done =
        tests::program::run(house.command(&["demo", "--keep"]).env("TMPDIR", &temp)).expect_code(0);
    let attach = done
        .out
        .lines()
        .find(|line| line.contains("reasonix attach"))
        .expect("how to attach")
        .trim();
    let home = attach
        .strip_prefix("REASONIX_HOME=")
        .and_then(|rest| rest.split(' ').next())
        .expect("the demo's home");
    assert!(attach.ends_with("reasonix attach 1"), "{attach}");
    // With its own home, as the line says; the house's socket is another.
    let mut command = house.command(&["attach", "--plain", "1"]);
    let attached = tests::program::run(
        command
            .env("REASONIX_HOME", home)
            .env_remove("REASONIX_SOCKET"),
    )
    .expect_code(0);
    assert!(
        attached
            .out
            .contains("Fixed. `median.sh` sorted its numbers as text"),
        "{attached:?}"
    );
    let mut stop = house.command(&["daemon", "stop"]);
    let _ = tests::program::run(
        stop.env("REASONIX_HOME", home)
            .env_remove("REASONIX_SOCKET"),
    )
    .expect_code(0);
    until("everything of the demo to be gone", || {
        house.processes().is_empty().then_some(())
    });
}
