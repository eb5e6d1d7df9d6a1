//! Budgets with the real programs, and a model that counts its requests: once a budget is used up nothing more is sent, a
//! raise lets the session continue, and usage is remembered.

use serde_json::{Value, json};
use testkit::model::{Answer, Model, Request, Script, Usage, Wire};
use tests::{House, until};

use crate::scripted::{FAST_RETRIES, run};

/// What each request takes: 1,000 tokens, and with the price of `entry` 1,000 millionths of a dollar.
const USAGE: Usage = Usage {
    prompt: 900,
    cached: 0,
    output: 100,
    reasoning: 0,
};

/// Answers for ever: a search for files while `calls` says so, else a word.
fn model(calls: fn(usize) -> bool) -> Model {
    Model::start(Script::by(move |request| {
        let answer = match calls(request.number) {
            // Another call each time: the same one over and over would be a loop.
            true => {
                let pattern = format!("{}*", request.number);
                Answer::call("glob", json!({"pattern": pattern}))
            }
            false => Answer::text("Done."),
        };
        answer.usage(USAGE)
    }))
}

fn priced(model: &Model) -> String {
    let entry = model.entry_of(Wire::Messages, "model", None);
    format!("[[providers]]\n{entry}price = {{ input = 1, output = 1 }}\n")
}

/// A house with these settings, and a daemon that runs.
fn house(model: &Model, settings: &str) -> House {
    let house = House::new();
    configure(&house, model, settings);
    house.daemon();
    house
}

fn configure(house: &House, model: &Model, settings: &str) {
    house.config_text(&format!("{FAST_RETRIES}{settings}\n{}", priced(model)));
}

/// A provider command that follows a script.
fn does(house: &House, line: &[&str]) {
    let done = house.reasonix(line);
    assert_eq!(done.code(), Some(0), "{done:?}");
}

/// The node of this kind, as `reasonix budget` has it.
fn node(house: &House, pid: &str, kind: &str) -> Value {
    let shown = house.reasonix(&["budget", pid, "--json"]).expect_code(0);
    let shown = shown.json();
    let nodes = shown["nodes"].as_array().expect("nodes").clone();
    let found = nodes.into_iter().find(|node| node["kind"] == kind);
    found.unwrap_or_else(|| panic!("no {kind} in {shown}"))
}

fn notices(ran: &crate::scripted::RunOutput, words: &str) -> usize {
    let all = ran.all("notice").into_iter();
    all.filter(|notice| notice.to_string().contains(words))
        .count()
}

#[test]
fn request_that_exceeds_the_budget_is_the_last_until_the_budget_is_raised() {
    let model = model(|number| number < 40);
    let house = house(&model, "");
    let first = run(&house, &["--budget-tokens", "2.5k"], "Look around.");
    let first = first.expect(2, "budget_exceeded");
    assert_eq!(
        model.count(),
        3,
        "the third crosses it, a fourth is not sent"
    );
    let error = first.result["error"].to_string();
    let pid = first.pid();
    assert!(error.contains("3000 of 2500 tokens"), "{error}");
    assert!(
        error.contains(&format!("reasonix budget {pid} --tokens 6000")),
        "{error}"
    );
    assert_eq!(
        notices(&first, "is nearly used up"),
        1,
        "once, at the third"
    );
    let session = node(&house, &pid, "session");
    assert_eq!(session["spent"]["tokens"], 3000);
    assert_eq!(session["limit"], json!({"tokens": 2500}));
    assert_eq!(session["rest"], json!({"tokens": 0}));

    let shown = house.reasonix(&["budget", &pid]).expect_code(0);
    let words = format!("the session budget ({pid}) has no tokens left");
    assert!(shown.err.contains(&words), "{}", shown.err);
    let shown = house.reasonix(&["show", &pid]).expect_code(0);
    assert!(
        shown.out.contains("turn ended: budget exceeded"),
        "{}",
        shown.out
    );
    let listed = house.reasonix(&["ls", "--json"]).expect_code(0).out;
    assert!(
        listed.contains(r#""cut_off":"budget_exceeded""#),
        "{listed}"
    );

    // The session is there, and says the same again.
    run(&house, &["-s", &pid], "Go on.").expect(2, "budget_exceeded");
    assert_eq!(model.count(), 3);
    house.kill_daemon_and_parent();
    house.daemon();
    let again = run(&house, &["-s", &pid], "Go on.").expect(2, "budget_exceeded");
    assert_eq!(model.count(), 3, "usage is remembered");
    assert_eq!(notices(&again, "is nearly used up"), 0, "no second warning");

    does(&house, &["budget", &pid, "--tokens", "5k"]);
    let raised = run(&house, &["-s", &pid], "Go on.").expect(2, "budget_exceeded");
    assert_eq!(model.count(), 5, "two more fit");
    assert_eq!(notices(&raised, "is nearly used up"), 1, "of the new limit");
    // Without a limit nothing holds it.
    run(&house, &["-s", &pid, "--budget-tokens", "0"], "Go on.").expect(0, "completed");
    assert_eq!(model.count(), 40);
}

#[test]
fn day_budget_covers_all_sessions_and_survives_deletion_and_restart() {
    let model = model(|_| false);
    let house = house(&model, "[budget.day]\nusd = 0.003\n");
    let one = run(&house, &[], "One.").expect(0, "completed");
    let two = run(&house, &[], "Two.").expect(0, "completed");
    assert_eq!(
        node(&house, &one.pid(), "day")["spent"]["cost_micros"],
        2000
    );
    // The usage of a deleted session still counts.
    does(&house, &["rm", &one.pid(), "--yes"]);
    house.kill_daemon_and_parent();
    house.daemon();
    assert_eq!(
        node(&house, &two.pid(), "day")["spent"]["cost_micros"],
        2000
    );
    assert_eq!(
        node(&house, &two.pid(), "project")["spent"]["cost_micros"],
        2000
    );
    assert_eq!(
        node(&house, &two.pid(), "session")["spent"]["cost_micros"],
        1000
    );
    run(&house, &[], "Three.").expect(0, "completed");
    assert_eq!(model.count(), 3);
    let refused = run(&house, &[], "Four.").expect(2, "budget_exceeded");
    assert_eq!(model.count(), 3, "nothing was sent");
    let error = refused.result["error"].to_string();
    assert!(
        error.contains("The day's budget is used up: $0.003 of $0.003"),
        "{error}"
    );
    assert!(error.contains("config set budget.day.usd 0.006"), "{error}");
    // It may be raised while it is spent, without a restart.
    configure(&house, &model, "[budget.day]\nusd = 0.0035\n");
    run(&house, &["-s", &refused.pid()], "Four.").expect(0, "completed");
    assert_eq!(model.count(), 4);
    // The project's file makes it narrower, never wider.
    configure(&house, &model, "[budget.project]\nsteps = 5\n");
    house.files("//- reasonix.toml\n[budget.day]\nusd = 9\n[budget.project]\nsteps = 9\n");
    run(&house, &[], "Five.").expect(0, "completed");
    run(&house, &[], "Six.").expect(2, "budget_exceeded");
    house.files("//- reasonix.toml\n[budget.project]\nsteps = 4\n");
    configure(&house, &model, "");
    run(&house, &[], "Six.").expect(2, "budget_exceeded");
    assert_eq!(model.count(), 5);
}

#[test]
fn a_summary_cannot_bypass_a_budget() {
    let model = Model::start(Script::by(|_| {
        Answer::text("words ".repeat(4_000)).usage(USAGE)
    }));
    let house = house(&model, "");
    let ran = run(&house, &[], "Tell me.").expect(0, "completed");
    let pid = ran.pid();
    for _ in 0..3 {
        run(&house, &["-s", &pid], "More.").expect(0, "completed");
    }
    let asked = model.count();
    does(&house, &["budget", &pid, "--steps", "1"]);
    let refused = house.reasonix(&["compact", &pid]);
    assert_eq!(refused.code(), Some(2), "{refused:?}");
    assert!(refused.err.contains("--steps"), "{refused:?}");
    assert_eq!(model.count(), asked, "nothing was sent");
    does(&house, &["budget", &pid, "--steps", "0"]);
    does(&house, &["compact", &pid]);
    assert_eq!(model.count(), asked + 1);
}

#[test]
fn prompts_that_wait_stay_and_go_on_with_a_raise() {
    let model = model(|number| number == 1);
    let house = house(&model, "");
    let mut raw = house.raw_as(proto::hello::Role::Drive);
    let mut params = house.create("Look.");
    params.options.budget = Some(proto::budget::Budget {
        steps: Some(1),
        ..proto::budget::Budget::default()
    });
    params.options.on_ask = Some(proto::state::OnAsk::Allow);
    let params = serde_json::to_value(&params).expect("JSON");
    let created = raw.call("session.create", &params).expect("a session");
    let pid = created["pid"].to_string();
    let waited = json!({"session": pid});
    let ended = raw.call("session.wait", &waited).expect("its end");
    assert_eq!(ended["exit_code"], 2);
    // A second prompt is refused too, and the one after it waits.
    let prompt = |text: &str| json!({"session": pid, "text": text});
    raw.call("session.prompt", &prompt("More.")).expect("taken");
    raw.call("session.wait", &waited).expect("its end");
    assert_eq!(model.count(), 1);
    let change = json!({"session": pid, "budget": {"steps": 9}});
    raw.call("session.set", &change).expect("raised");
    raw.call("session.prompt", &prompt("Again."))
        .expect("taken");
    let ended = raw.call("session.wait", &waited).expect("its end");
    assert_eq!(ended["exit_code"], 0, "{ended}");
    until("all prompts", || (model.count() == 2).then_some(()));
}

#[test]
fn a_model_without_a_price_says_that_money_does_not_hold_it() {
    let model = model(|number| number < 3);
    let house = House::new();
    let entry = model.entry_of(Wire::Messages, "model", None);
    let budget = "[budget.session]\nusd = 0.000001\n";
    house.config_text(&format!("{FAST_RETRIES}\n{budget}[[providers]]\n{entry}"));
    house.daemon();
    let ran = run(&house, &[], "Look.").expect(0, "completed");
    assert_eq!(
        notices(&ran, "is unknown, so a budget in money cannot limit"),
        1
    );
    let text = house.reasonix(&["budget", &ran.pid()]).expect_code(0).out;
    assert!(text.contains("$0.00+ of $0.000001"), "{text}");
}

#[test]
fn a_budget_in_money_is_refused_for_a_model_without_a_price() {
    let model = model(|_| false);
    let house = House::new();
    let entry = model.entry_of(Wire::Messages, "model", None);
    house.config_text(&format!("{FAST_RETRIES}\n[[providers]]\n{entry}"));
    house.daemon();
    let refused = |line: &[&str]| {
        let done = house.reasonix(line);
        let err = done.err.as_str();
        assert_ne!(done.code(), Some(0), "{line:?}: {err}");
        assert!(err.contains("is unknown, so a budget in money"), "{err}");
        assert!(err.contains("Set `price = { input = "), "{err}");
    };
    refused(&["run", "--budget-usd", "1", "Look."]);
    assert_eq!(model.count(), 0, "nothing was sent");
    let pid = run(&house, &["--budget-usd", "0"], "Look.")
        .expect(0, "completed")
        .pid();
    refused(&["budget", &pid, "--usd", "1"]);
    refused(&["run", "-s", &pid, "--budget-usd", "1", "Look."]);
    assert_eq!(model.count(), 1);
    does(&house, &["budget", &pid, "--tokens", "100k", "--usd", "0"]);
}

#[test]
fn raised_budget_lets_a_goal_go_on_that_it_had_ended() {
    let model = model(|number| number < 40);
    let house = house(&model, "");
    let goal = ["goal", "Look around", "--budget-usd", "0.0025"];
    let ended = house.reasonix(&goal).expect_code(2);
    let how = "reasonix goal change 1 --budget-usd N";
    assert!(ended.err.contains(how), "{}", ended.err);
    assert_eq!(model.count(), 3, "the third crosses it");
    let refused = house.reasonix(&["goal", "change", "1", "--budget-usd", "0.002"]);
    let refused = refused.expect_code(64);
    assert!(refused.err.contains("--budget-usd"), "{}", refused.err);
    assert_eq!(node(&house, "1", "session")["limit"]["cost_micros"], 2_500);
    let raise = ["goal", "change", "1", "--budget-usd", "0.0045"];
    let raised = house.reasonix(&raise).expect_code(0);
    assert!(raised.out.contains("the goal goes on"), "{}", raised.out);
    let _ = house.reasonix(&["wait", "1"]).expect_code(2);
    assert_eq!(model.count(), 5, "two more are sent");
    assert_eq!(node(&house, "1", "session")["limit"]["cost_micros"], 4_500);
}

#[test]
fn sub_agent_spending_ends_the_goal_of_its_parent() {
    let model = Model::start(Script::by(|request: &Request| {
        let messages = request.json["messages"].to_string();
        let answer = if messages.contains("Look into every corner.") {
            let pattern = format!("{}*", request.number);
            Answer::call("glob", json!({"pattern": pattern}))
        } else {
            let task = json!({"agent": "general", "prompt": "Look into every corner.", "description": "look"});
            Answer::call("task", task)
        };
        answer.usage(USAGE)
    }));
    let house = house(&model, "");
    let goal = ["goal", "Know it all", "--budget-usd", "0.0045"];
    let ended = house.reasonix(&goal).expect_code(2);
    let how = "reasonix goal change 1 --budget-usd N";
    assert!(ended.err.contains(how), "{}", ended.err);
    // One request of the parent, four of its sub-agent; the fifth exceeds the budget.
    assert_eq!(model.count(), 5);
    assert_eq!(node(&house, "1", "session")["spent"]["cost_micros"], 5_000);
    let status = house.reasonix(&["goal", "status", "1", "--json"]);
    assert_eq!(status.expect_code(0).json()["limit"], "usd");
    let child = house.log(proto::Pid(2)).check().count("session.exited");
    assert_eq!(child, 1, "the sub-agent has exited");
}

#[test]
fn goal_goes_on_after_a_budget_of_the_day_has_ended_it() {
    let model = model(|number| number < 40);
    let house = house(&model, "[budget.day]\nusd = 0.0025\n");
    let goal = ["goal", "Look around", "--max-turns", "9"];
    let ended = house.reasonix(&goal).expect_code(2);
    let how = "`reasonix goal change 1 --max-turns 9` lets the goal go on";
    assert!(ended.err.contains(how), "{}", ended.err);
    let status = house.reasonix(&["goal", "status", "1"]).expect_code(0).out;
    assert!(status.contains("goal change 1 --max-turns N"), "{status}");
    assert_eq!(model.count(), 3);
    configure(&house, &model, "[budget.day]\nusd = 0.0045\n");
    does(&house, &["goal", "change", "1", "--max-turns", "9"]);
    let _ = house.reasonix(&["wait", "1"]).expect_code(2);
    assert_eq!(model.count(), 5, "two more are sent");
}

#[test]
fn status_names_the_limit_that_has_ended_the_goal() {
    let model = model(|number| number < 40);
    let house = house(&model, "");
    let goal = ["goal", "Look around", "--budget-tokens", "2500"];
    let ran = house.reasonix(&goal).expect_code(2);
    let how = "reasonix goal change 1 --budget-tokens N";
    assert!(ran.err.contains(how), "{}", ran.err);
    let status = house.reasonix(&["goal", "status", "1"]).expect_code(0);
    assert!(status.out.contains(how), "{}", status.out);
    let status = house.reasonix(&["goal", "status", "1", "--json"]);
    assert_eq!(status.expect_code(0).json()["limit"], "tokens");
}
