//! Restart policies with the real programs: a run goes on after an injected failure of its endpoint, gives up as it is
//! configured, and stays stopped after a budget, a denial, an empty account or a kill.

use proto::hello::Role;
use proto::record::{ContinueReason, GaveUpReason, SessionGaveUp, SessionRestarted};
use proto::state::{Kind, RestartPolicy};
use proto::{Body, Pid};
use serde_json::json;
use testkit::model::{Answer, Fault, Gate as ModelGate, Model, Place, Usage};
use tests::gate::Gate;
use tests::{House, Raw, until};

/// Every failed try fails its turn, and no test is slower than the window.
const ONE_TRY: &str = "[network]\nidle_seconds = 30\n[internal]\nretry_base_ms = 10\nretry_tries = 1\nrestart_base_ms = 1\n[supervision]\nwindow_seconds = 3600\n";

fn house(model: &Model, settings: &str) -> House {
    let house = House::new();
    house.settings(&format!("{ONE_TRY}{settings}"));
    house.provider(&model.entry("model", None));
    house.daemon();
    house
}

fn bash(command: &str) -> Answer {
    Answer::call("bash", json!({"command": command}))
}

/// An answer whose first tries fail with these statuses.
fn after(statuses: &[u16], answer: Answer) -> Answer {
    let faults = statuses.iter().map(|status| Fault::status(*status));
    faults.fold(answer, Answer::fault)
}

fn restarts(house: &House) -> Vec<SessionRestarted> {
    let bodies = house.log(Pid(1)).bodies().into_iter();
    bodies
        .filter_map(|body| match body {
            Body::SessionRestarted(restarted) => Some(restarted),
            _ => None,
        })
        .collect()
}

/// Why the session gave up, and after how many restarts.
fn gave_up(house: &House) -> Option<(GaveUpReason, u64)> {
    let mut bodies = house.log(Pid(1)).bodies().into_iter();
    bodies.find_map(|body| match body {
        Body::SessionGaveUp(SessionGaveUp {
            reason, restarts, ..
        }) => Some((reason, restarts)),
        _ => None,
    })
}

#[test]
fn failed_run_goes_on_from_its_log_and_runs_nothing_twice() {
    let model = Model::start([
        bash("echo one >> ran"),
        after(&[500], bash("echo two >> ran")),
        Answer::text("Done."),
    ]);
    let house = house(&model, "");
    let run = ["run", "--json", "--on-ask", "allow", "--restart"];
    let done = house.reasonix(&[&run[..], &["on-failure", "do it"]].concat());
    let result = done.expect_code(0).json();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(result["text"], "Done.");
    assert_eq!(result["restarts"], 1);
    let ran = std::fs::read_to_string(house.project().join("ran")).expect("read");
    assert_eq!(ran, "one\ntwo\n");
    let restarted = restarts(&house);
    assert_eq!(restarted.len(), 1);
    assert!(restarted[0].reason.contains("500"), "{restarted:?}");
    let note = model.requests()[2].last_text().to_owned();
    assert!(note.contains("The last turn failed"), "{note}");
    assert!(note.contains("do not repeat"), "{note}");
    model.assert_strict();
    model.assert_prefix();
    let traced = house.reasonix(&["strace", "1"]).expect_code(0);
    assert!(
        traced
            .out
            .contains("restart 1 in 0.00 s after a turn: failed: "),
        "{traced:?}"
    );
    // Every client shows it, also later from the log.
    let shown = house.reasonix(&["logs", "1"]).expect_code(0);
    assert!(
        shown
            .out
            .contains("restart 1: the session goes on in 0.0 s after a failure"),
        "{shown:?}"
    );
}

#[test]
fn run_without_a_policy_fails_as_before() {
    let model = Model::start([after(&[500], Answer::text("Done."))]);
    let house = house(&model, "");
    let done = house.reasonix(&["run", "do it"]).expect_code(1);
    assert!(!done.err.contains("restart"), "{done:?}");
    assert_eq!((model.count(), restarts(&house).len()), (1, 0));
    assert_eq!(gave_up(&house), None);
}

#[test]
fn run_gives_up_after_its_restarts_and_says_so() {
    let statuses = [500, 502, 503, 504];
    let model = Model::start([after(&statuses, Answer::text("Never."))]);
    let house = house(&model, "");
    let done = house
        .reasonix(&["run", "--restart", "on-failure", "do it"])
        .expect_code(1);
    assert!(done.err.contains("restart 3: "), "{done:?}");
    assert!(
        done.err
            .contains("gave up after 3 restarts: too many restarts in a short time"),
        "{done:?}"
    );
    assert_eq!(gave_up(&house), Some((GaveUpReason::TooMany, 3)));
    assert_eq!(model.count(), 4);
    let waits: Vec<u64> = restarts(&house).iter().map(|one| one.wait_ms).collect();
    assert_eq!(waits, [1, 5, 25]);
    let traced = house.reasonix(&["strace", "1"]).expect_code(0).out;
    assert!(
        traced.contains("gave up after 3 restarts: too many restarts in a short time: "),
        "{traced}"
    );
}

/// A house whose first restart waits for a minute.
fn house_that_waits(model: &Model) -> House {
    let house = House::new();
    house.settings(
        "[network]\nidle_seconds = 30\n[internal]\nretry_tries = 1\nrestart_base_ms = 60000\n",
    );
    house.provider(&model.entry("model", None));
    house.daemon();
    house
}

fn until_listed(house: &House, state: &str) {
    until("the state", || {
        let listed = house.reasonix(&["ps"]).expect_code(0).out;
        listed.contains(state).then_some(())
    });
}

/// The same with a run that fails at its first request.
fn waiting(model: &Model) -> (House, Raw) {
    let house = house_that_waits(model);
    let mut params = house.create("do it");
    params.options.kind = Some(Kind::Headless);
    params.options.restart = Some(RestartPolicy::OnFailure);
    let mut raw = house.raw_as(Role::Drive);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    until_it_waits(&mut raw);
    (house, raw)
}

fn until_it_waits(raw: &mut Raw) {
    let get = json!({"session": "1"});
    until("the session to wait for its restart", || {
        let state = raw.call("session.get", &get).expect("get");
        (state["waiting_for"] == "restart").then_some(())
    });
}

#[test]
fn restart_waits_also_after_a_kill_and_a_prompt_takes_its_place() {
    let model = Model::start([after(&[500], Answer::text("Done."))]);
    let (house, raw) = waiting(&model);
    drop(raw);
    assert_eq!(restarts(&house)[0].wait_ms, 60_000);
    let listed = house.reasonix(&["ps"]).expect_code(0).out;
    assert!(listed.contains("waiting: restart"), "{listed}");
    let log = house.reasonix(&["logs", "1"]).expect_code(0).out;
    assert!(
        log.contains("goes on in 1 min 0 s after a failure"),
        "{log}"
    );
    house.kill_daemon_and_parent();
    house.daemon();
    let mut raw = house.raw_as(Role::Drive);
    until_it_waits(&mut raw);
    assert_eq!((model.count(), restarts(&house).len()), (1, 1));
    let prompt = json!({"session": "1", "text": "Do it so."});
    raw.call("session.prompt", &prompt).expect("prompt");
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    assert_eq!(model.count(), 2);
    assert!(model.requests()[1].last_text().contains("Do it so."));
    assert_eq!(house.log(Pid(1)).count("prompt.unqueued"), 1);
}

#[test]
fn interrupt_of_a_restart_that_waits_ends_the_run() {
    let model = Model::start([after(&[500], Answer::text("Never."))]);
    let (house, mut raw) = waiting(&model);
    raw.call("session.interrupt", &json!({"session": "1"}))
        .expect("interrupt");
    let _ = house.reasonix(&["wait", "1"]).expect_code(1);
    assert_eq!(house.log(Pid(1)).count("session.exited"), 1);
    assert_eq!(model.count(), 1);
}

#[test]
fn run_whose_restart_waits_exits_as_its_session_does() {
    // An interrupt takes the restart back: the failure stays.
    for (signal, code) in [("INT", 1), ("TERM", 143), ("KILL", 137)] {
        for command in ["run", "goal"] {
            let model = Model::start([after(&[500], Answer::text("Never."))]);
            let house = house_that_waits(&model);
            let running = house.start(&[command, "--restart", "on-failure", "do it"]);
            until_listed(&house, "waiting: restart");
            if command == "goal" {
                let status = house.reasonix(&["goal", "status", "1"]).expect_code(0);
                assert!(status.out.contains("starts by itself"), "{status:?}");
            }
            let kill = ["kill", "--signal", signal, "1"];
            let _ = house.reasonix(&kill).expect_code(0);
            let done = running.done();
            assert_eq!(done.code(), Some(code), "{command}, {signal}: {done:?}");
            assert_eq!(model.count(), 1, "{command}, {signal}");
        }
    }
}

#[test]
fn prompt_in_the_place_of_a_restart_gives_the_run_its_answer() {
    let model = Model::start([after(&[500], Answer::text("Done so."))]);
    let house = house_that_waits(&model);
    let running = house.start(&["run", "--restart", "on-failure", "do it"]);
    until_listed(&house, "waiting: restart");
    let mut raw = house.raw_as(Role::Drive);
    let prompt = json!({"session": "1", "text": "Do it so."});
    raw.call("session.prompt", &prompt).expect("prompt");
    let done = running.done();
    assert_eq!(done.code(), Some(0), "{done:?}");
    assert_eq!(done.out, "Done so.\n");
}

#[test]
fn number_of_restarts_is_a_setting_and_equal_failures_end_it_sooner() {
    let model = Model::start([after(&[500, 502, 503], Answer::text("Never."))]);
    let house = house(&model, "max_restarts = 1\n");
    let run = ["run", "--restart", "on-failure", "do it"];
    let _ = house.reasonix(&run).expect_code(1);
    assert_eq!(gave_up(&house), Some((GaveUpReason::TooMany, 1)));

    let model = Model::start([after(&[500; 5], Answer::text("Never."))]);
    let house = self::house(&model, "");
    let _ = house.reasonix(&run).expect_code(1);
    assert_eq!(gave_up(&house), Some((GaveUpReason::SameFailure, 2)));
    assert_eq!(model.count(), 3);
}

#[test]
fn budgets_denials_and_empty_accounts_are_not_restarted() {
    let large = Usage {
        prompt: 1000,
        ..Usage::default()
    };
    let model = Model::start([bash("echo one >> ran").usage(large), Answer::text("Never.")]);
    let house = house(&model, "");
    let run = ["run", "--on-ask", "allow", "--restart", "always"];
    let spent = [&run[..], &["--budget-tokens", "100", "do it"]].concat();
    let _ = house.reasonix(&spent).expect_code(2);
    assert_eq!(gave_up(&house), Some((GaveUpReason::Budget, 0)));
    assert_eq!(model.count(), 1);

    let model = Model::start([bash("echo one >> ran"), Answer::text("I could not.")]);
    let house = self::house(&model, "");
    let denied = ["run", "--on-ask", "deny", "--restart", "always", "do it"];
    let _ = house.reasonix(&denied).expect_code(3);
    assert_eq!(gave_up(&house), Some((GaveUpReason::Denied, 0)));
    assert_eq!(model.count(), 2);

    let empty = Fault::refusal(402, "Insufficient Balance", "insufficient_balance");
    let model = Model::start([Answer::text("Never.").fault(empty)]);
    let house = self::house(&model, "");
    let done = house
        .reasonix(&[&run[..], &["--json", "do it"]].concat())
        .expect_code(1);
    assert_eq!(done.json()["error"]["name"], "out_of_credit", "{done:?}");
    assert_eq!(gave_up(&house), Some((GaveUpReason::OutOfCredit, 0)));
    assert_eq!((model.count(), restarts(&house).len()), (1, 0));
}

#[test]
fn killed_run_is_not_restarted() {
    for (signal, code) in [("TERM", 143), ("KILL", 137), ("INT", 130)] {
        let gate = ModelGate::new();
        let model = Model::start([Answer::text("Never.").held(Place::Before, &gate)]);
        let house = house(&model, "");
        let running = house.start(&["run", "--restart", "always", "do it"]);
        until("the request", || (model.count() == 1).then_some(()));
        let _ = house
            .reasonix(&["kill", "--signal", signal, "1"])
            .expect_code(0);
        let done = running.done();
        assert_eq!(done.code(), Some(code), "{signal}: {done:?}");
        assert_eq!((model.count(), restarts(&house).len()), (1, 0), "{signal}");
        assert_eq!(gave_up(&house), None, "{signal}");
    }
}

#[test]
fn restart_survives_a_killed_daemon() {
    let command = format!("echo once >> ran; {}", Gate::command("middle"));
    let model = Model::start([
        after(&[500], bash(&command)),
        after(&[502, 503], Answer::text("Never.")),
    ]);
    let house = house(&model, "max_restarts = 2\n");
    let gate = Gate::new(&house, "middle");
    let run = ["run", "--detach", "--on-ask", "allow", "--restart"];
    let _ = house
        .reasonix(&[&run[..], &["on-failure", "do it"]].concat())
        .expect_code(0);
    gate.wait();
    house.kill_daemon_and_parent();
    gate.open();
    // The next daemon goes on by itself, restarts once more, and counts what was before.
    house.daemon();
    let reason = until("the session to give up", || gave_up(&house));
    assert_eq!(reason, (GaveUpReason::TooMany, 2));
    let numbers: Vec<u64> = restarts(&house).iter().map(|one| one.number).collect();
    assert_eq!(numbers, [1, 2]);
    let ran = std::fs::read_to_string(house.project().join("ran")).expect("read");
    assert_eq!(ran, "once\n");
    let _ = house.reasonix(&["wait", "1"]).expect_code(1);
}

#[test]
fn goal_goes_on_after_a_failed_turn() {
    let complete = json!({"status": "complete", "summary": "done", "evidence": "seen"});
    let model = Model::start([
        Answer::text("Begun."),
        after(&[500], Answer::call("update_goal", complete)),
        Answer::text("Done."),
    ]);
    let house = house(&model, "");
    let goal = ["goal", "Make it work", "--restart", "on-failure", "--json"];
    let result = house.reasonix(&goal).expect_code(0).json();
    assert_eq!(result["goal"]["outcome"], "complete", "{result}");
    assert_eq!(result["restarts"], 1, "{result}");
    let bodies = house.log(Pid(1)).bodies().into_iter();
    let why: Vec<_> = bodies
        .filter_map(|body| match body {
            Body::GoalContinued(continued) => Some(continued.why),
            _ => None,
        })
        .collect();
    use ContinueReason as Why;
    assert_eq!(why, [Why::Started, Why::NoReport, Why::Failed]);
}

#[test]
fn always_runs_a_completed_task_again_within_the_window() {
    let answers = ["One.", "Two.", "Three.", "Four."];
    let model = Model::start(answers.map(Answer::text));
    let house = house(&model, "max_restarts = 2\n");
    let done = house
        .reasonix(&["run", "--restart", "always", "do it"])
        .expect_code(0);
    assert_eq!(done.out, "Three.\n");
    assert_eq!(gave_up(&house), Some((GaveUpReason::TooMany, 2)));
    assert_eq!(model.count(), 3);
}

#[test]
fn restart_takes_no_turn_beyond_the_limit_of_the_goal() {
    let model = Model::start([after(&[500, 502, 503], Answer::text("Never."))]);
    let house = house(&model, "");
    let goal = [
        "goal",
        "Make it work",
        "--restart",
        "on-failure",
        "--max-turns",
        "1",
        "--json",
    ];
    let result = house.reasonix(&goal).expect_code(2).json();
    assert_eq!(result["goal"]["outcome"], "out_of_turns", "{result}");
    assert_eq!(model.count(), 1);
}
