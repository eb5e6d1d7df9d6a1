//! Goals that are long research, with the real programs: the state of a run is in the project and outlives daemons and
//! sessions, and nothing of it is in the prefix.

use std::fs;
use std::path::PathBuf;

use proto::Body;
use serde_json::{Value, json};
use testkit::Script;
use tests::gate::Gate;
use tests::{House, until};

const RUNS: &str = ".reasonix/autoresearch";

/// The directories of runs.
fn runs(house: &House) -> Vec<PathBuf> {
    let entries = fs::read_dir(house.project().join(RUNS));
    let paths = entries.into_iter().flatten().flatten();
    paths.map(|entry| entry.path()).collect()
}

/// The only run.
fn run(house: &House) -> PathBuf {
    let runs = runs(house);
    assert_eq!(runs.len(), 1, "{runs:?}");
    runs[0].clone()
}

fn state(house: &House) -> Value {
    let text = fs::read(run(house).join("state.json")).unwrap_or_default();
    serde_json::from_slice(&text).unwrap_or_default()
}

/// Waits until the state of the run says so.
fn wait_for_status(house: &House, status: &str) -> Value {
    until("the state of the run", || {
        let state = state(house);
        (state["status"] == status).then_some(state)
    })
}

/// What stood before the prompts of the newest session.
fn contexts(house: &House) -> Vec<String> {
    let logs = house.logs();
    let bodies = logs.last().expect("a session").bodies().into_iter();
    bodies
        .filter_map(|body| match body {
            Body::User(message) => message.context,
            _ => None,
        })
        .collect()
}

fn complete() -> Value {
    json!({"status": "complete", "summary": "faster", "evidence": "measured"})
}

fn journal(text: &str) -> Value {
    json!({"command": format!("echo {text} >> {RUNS}/*/journal.md")})
}

#[test]
fn research_keeps_its_state_in_the_project_and_out_of_the_prefix() {
    let house = House::playing(
        &Script::new()
            .calls("bash", &journal("first"))
            .says("Begun.")
            .calls("bash", &journal("second"))
            .calls("update_goal", &complete())
            .says("Done.")
            .says("Hello."),
    );
    let done = house
        .reasonix(&[
            "goal",
            "Make it 3x faster, see the benchmark",
            "--check",
            "true",
        ])
        .expect_code(0);
    let dir = run(&house);
    let name = dir
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    assert!(
        name.ends_with("-make-it-3x-faster-see-the-benchmark"),
        "{name}"
    );
    assert!(
        done.err.contains(&name) && done.err.contains("--simple"),
        "{}",
        done.err
    );
    let read = |file: &str| fs::read_to_string(dir.join(file)).expect(file);
    assert!(
        read("brief.md").contains("Make it 3x faster") && read("brief.md").contains("    true")
    );
    assert_eq!(read("journal.md"), "# Journal\nfirst\nsecond\n");
    let state = wait_for_status(&house, "complete");
    assert_eq!(
        (&state["turn"], &state["why"]),
        (&json!(2), &json!("faster"))
    );
    // The context of each turn names the method and the directory.
    let contexts = contexts(&house);
    let told = |text: &String| text.contains("long research") && text.contains(&name);
    assert!(
        contexts.len() == 2 && contexts.iter().all(told),
        "{contexts:?}"
    );
    // The prefix is that of any session.
    let _ = house.reasonix(&["run", "hello"]).expect_code(0);
    let prefix = |pid: &str| {
        let shown = house
            .reasonix(&["inspect", pid, "--json"])
            .expect_code(0)
            .json();
        assert!(!shown.to_string().contains("autoresearch"), "{shown}");
        shown["prefix_hash"].clone()
    };
    assert_eq!(prefix("1"), prefix("2"));
}

#[test]
fn simple_keeps_nothing_and_research_can_be_forced() {
    let house = House::playing(
        &Script::new()
            .calls("update_goal", &complete())
            .says("One.")
            .calls("update_goal", &complete())
            .says("Two."),
    );
    let text = "Make it 3x faster, see the benchmark";
    let simple = house.reasonix(&["goal", "--simple", text]).expect_code(0);
    assert!(
        runs(&house).is_empty() && !simple.err.contains("research"),
        "{}",
        simple.err
    );
    let both = house.reasonix(&["goal", "--simple", "--research", text]);
    let _ = both.expect_code(64);
    let _ = house
        .reasonix(&["goal", "--research", "Fix it"])
        .expect_code(0);
    assert!(run(&house).to_string_lossy().ends_with("-fix-it"));
}

#[test]
fn killed_daemon_keeps_the_run_and_another_session_goes_on_with_it() {
    let house = House::playing(
        &Script::new()
            .says("Begun.")
            .runs(&Gate::command("middle"))
            .calls("update_goal", &complete())
            .says("Done."),
    );
    let gate = Gate::new(&house, "middle");
    let _ = house
        .reasonix(&["goal", "--research", "Fix it", "--detach"])
        .expect_code(0);
    gate.wait();
    assert_eq!(wait_for_status(&house, "running")["turn"], 2);
    house.kill_daemon_and_parent();
    house.daemon();
    assert_eq!(wait_for_status(&house, "complete")["turn"], 2);
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    let name = run(&house)
        .file_name()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let goal = format!("Go on with {RUNS}/{name}");
    // It follows the same script.
    gate.open();
    let _ = house.reasonix(&["goal", &goal]).expect_code(0);
    let contexts = contexts(&house);
    assert!(
        contexts[0].contains("An earlier run goes on"),
        "{contexts:?}"
    );
    let state = until("the state of the second session", || {
        Some(state(&house)).filter(|state| state["goal"] == goal.as_str())
    });
    assert!(
        state["status"] == "running" || state["status"] == "complete",
        "{state}"
    );
    assert_eq!(wait_for_status(&house, "complete")["turn"], 2);
}

#[test]
fn session_that_only_reads_refuses_research_with_the_way_out() {
    let house = House::playing(&Script::new().says("never"));
    let refused = house
        .reasonix(&["goal", "--research", "--read-only", "Fix it"])
        .expect_code(77);
    assert!(refused.err.contains("--simple"), "{}", refused.err);
    assert!(runs(&house).is_empty());
}
