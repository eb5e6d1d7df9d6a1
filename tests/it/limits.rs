//! Limits of steps and time: the turn ends with its reason and the command that goes on, and that command lets the work
//! go on, also after the daemon was killed.

use proto::hello::Role;
use proto::record::GoalOutcome;
use proto::{Body, Pid};
use serde_json::{Value, json};
use testkit::Script;
use tests::gate::Gate;
use tests::{House, until};

/// Creates an interactive session that may do everything, with these limits, and sends it this prompt.
fn interactive(house: &House, prompt: &str, max_steps: Option<u64>, timeout_ms: Option<u64>) {
    let mut params = house.create(prompt);
    params.options.kind = Some(proto::state::Kind::Interactive);
    params.options.on_ask = Some(proto::state::OnAsk::Allow);
    params.options.max_steps = max_steps;
    params.options.timeout_ms = timeout_ms;
    let params = serde_json::to_value(&params).expect("JSON");
    let created = house.raw_as(Role::Drive).call("session.create", &params);
    created.expect("create");
}

fn wait(house: &House) -> Value {
    let mut raw = house.raw_as(Role::Watch);
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait")
}

/// The row of the only session in `ps`.
fn listed(house: &House) -> String {
    let ps = house.reasonix(&["ps", "-a"]).expect_code(0);
    ps.out.lines().nth(1).unwrap_or_default().to_owned()
}

fn notices(house: &House) -> Vec<String> {
    let bodies = house.log(Pid(1)).bodies().into_iter();
    bodies
        .filter_map(|body| match body {
            Body::Notice(notice) => Some(notice.text),
            _ => None,
        })
        .collect()
}

#[test]
fn step_limit_pauses_the_work_and_added_steps_continue_it_after_a_kill() {
    let house = House::playing(
        &Script::new()
            .runs("echo one >> ran")
            .says("Half is done.")
            .runs("echo two >> ran")
            .runs("echo three >> ran")
            .says("All is done."),
    );
    house.daemon();
    interactive(&house, "do it", Some(1), None);
    assert_eq!(wait(&house)["ended"]["outcome"], "max_steps");
    assert!(
        listed(&house).contains("paused: step limit"),
        "{}",
        listed(&house)
    );
    let named = "`reasonix resume 1 --add-steps N`";
    assert!(notices(&house).join("\n").contains(named));
    house.kill_daemon_and_parent();
    house.daemon();
    let resumed = house.reasonix(&["resume", "1", "--add-steps", "5"]);
    let resumed = resumed.expect_code(0);
    assert!(resumed.err.contains("continues its work"), "{resumed:?}");
    assert_eq!(wait(&house)["ended"]["text"], "All is done.");
    let ran = std::fs::read_to_string(house.project().join("ran")).expect("it ran");
    assert_eq!(ran, "one\ntwo\nthree\n");
    assert!(notices(&house).contains(&"The work continues; more steps: 5.".to_owned()));
    assert!(listed(&house).contains("idle"), "{}", listed(&house));
    // Nothing is stopped any more.
    let refused = house.reasonix(&["resume", "1", "--add-steps", "5"]);
    let refused = refused.expect_code(64);
    assert!(refused.err.contains("No limit"), "{refused:?}");
}

#[test]
fn run_that_reached_its_limit_names_the_command_and_goes_on_with_it() {
    let house = House::playing(
        &Script::new()
            .runs("echo one >> ran")
            .says("Half is done.")
            .runs("echo two >> ran")
            .says("All is done."),
    );
    let arguments = ["run", "--on-ask", "allow", "--max-steps", "1", "do it"];
    let ran = house.reasonix(&arguments).expect_code(2);
    assert!(
        ran.err.contains("reasonix resume 1 --add-steps N"),
        "{ran:?}"
    );
    let _ = house
        .reasonix(&["resume", "1", "--add-steps", "3"])
        .expect_code(0);
    let waited = house.reasonix(&["wait", "1", "--json"]).expect_code(0);
    assert_eq!(waited.json()["ended"]["text"], "All is done.");
}

#[test]
fn time_limit_pauses_a_goal_and_added_time_continues_it() {
    let complete = json!({"status": "complete", "summary": "done", "evidence": "seen"});
    let house = House::playing(
        &Script::new()
            .says("Hello.")
            .runs(&Gate::command("slow"))
            .calls("update_goal", &complete)
            .says("Done."),
    );
    let gate = Gate::new(&house, "slow");
    house.daemon();
    interactive(&house, "hello", None, Some(2_000));
    wait(&house);
    let mut raw = house.raw_as(Role::Drive);
    raw.call("goal.start", &json!({"session": "1", "text": "It works"}))
        .expect("goal");
    gate.wait();
    until("the time limit", || {
        listed(&house).contains("paused: time limit").then_some(())
    });
    house.kill_daemon_and_parent();
    house.daemon();
    let status = house.reasonix(&["goal", "status", "1"]).expect_code(0);
    assert!(status.out.contains("It works"), "{status:?}");
    let ended = |body: &Body| matches!(body, Body::GoalEnded(_));
    assert!(!house.log(Pid(1)).bodies().iter().any(ended));
    gate.open();
    let _ = house
        .reasonix(&["resume", "1", "--add-minutes", "5"])
        .expect_code(0);
    let outcome = until("the end of the goal", || {
        let mut bodies = house.log(Pid(1)).bodies().into_iter();
        bodies.find_map(|body| match body {
            Body::GoalEnded(ended) => Some(ended.outcome),
            _ => None,
        })
    });
    assert_eq!(outcome, GoalOutcome::Complete);
}
