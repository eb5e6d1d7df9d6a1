//! Planner and executor: two sessions with a model each, one plan a turn, and what becomes of both when something
//! happens.

use proto::hello::Role;
use proto::record::PlanningOutcome;
use proto::state::{Kind, State};
use proto::{Body, Pid};
use serde_json::{Value, json};
use testkit::model::{Answer, Fault, Gate, Model, Place, Request, Script, Usage};
use tests::log::Log;
use tests::{House, Raw, Terminal, until};

use crate::scripted::{FAST_RETRIES, RunOutput, run};

const PLAN: &str = "1. Read a.txt. 2. Say what it says.";

/// What each request takes: 1,000 tokens.
const USAGE: Usage = Usage {
    prompt: 900,
    cached: 0,
    output: 100,
    reasoning: 0,
};

/// Looks at a file, then plans.
fn plans(request: &Request) -> Answer {
    let answer = match request.last()["role"] == "tool" {
        false => Answer::call("read_file", json!({"path": "a.txt"})),
        true => Answer::text(PLAN),
    };
    answer.usage(USAGE)
}

fn done(request: &Request) -> Answer {
    Answer::text(format!("Done {}.", request.answered() + 1)).usage(USAGE)
}

/// A house with an executor and a planner by these scripts, and a daemon that runs.
struct Pair {
    house: House,
    executor: Model,
    planner: Model,
}

impl Pair {
    fn new(planner: impl Into<Script>, settings: &str) -> Self {
        Self::with(Script::by(done), planner, settings)
    }

    fn with(executor: impl Into<Script>, planner: impl Into<Script>, settings: &str) -> Self {
        let (executor, planner) = (Model::start(executor), Model::start(planner));
        let house = House::new();
        house.settings(&format!(
            "default_model = \"main\"\n{FAST_RETRIES}[agent]\nplanner_model = \"thinker\"\n{settings}\n"
        ));
        house.provider(&executor.entry("main", None));
        house.provider(&planner.entry("thinker", None));
        house.files("//- a.txt\nblue\n");
        house.daemon();
        Self {
            house,
            executor,
            planner,
        }
    }

    /// Waits until the planner holds at this gate.
    fn reached(&self, gate: &Gate) {
        until("the planner to be asked", || {
            gate.is_reached().then_some(())
        });
    }

    /// The planners of a session, by their logs.
    fn planners(&self, parent: Pid) -> Vec<Log> {
        let logs = self.house.logs().into_iter();
        logs.filter(|log| log.created().ppid == parent).collect()
    }
}

/// How each planning of a session ended.
fn endings(log: &Log) -> Vec<(PlanningOutcome, String)> {
    let bodies = log.bodies().into_iter();
    let ended = bodies.filter_map(|body| match body {
        Body::PlannerFinished(finished) => Some((finished.outcome, finished.plan)),
        _ => None,
    });
    ended.collect()
}

fn planned() -> (PlanningOutcome, String) {
    (PlanningOutcome::Planned, PLAN.to_owned())
}

fn notices(log: &Log) -> Vec<String> {
    let bodies = log.bodies().into_iter();
    let notices = bodies.filter_map(|body| match body {
        Body::Notice(notice) => Some(notice.text),
        _ => None,
    });
    notices.collect()
}

/// The contents of a request's messages of this role.
fn said(request: &Request, role: &str) -> Vec<String> {
    let messages = request.messages().iter();
    let messages = messages.filter(|message| message["role"] == role);
    let text = |message: &Value| message["content"].as_str().unwrap_or_default().to_owned();
    messages.map(text).collect()
}

fn next(house: &House, text: &str) -> RunOutput {
    run(house, &["-s", "1"], text)
}

#[test]
fn both_prefixes_stay_the_same_over_ten_turns() {
    let pair = Pair::new(Script::by(plans), "");
    run(&pair.house, &[], "Fix part 1.").expect(0, "completed");
    for turn in 2..=10 {
        next(&pair.house, &format!("Fix part {turn}.")).expect(0, "completed");
    }
    pair.executor.assert_prefix();
    pair.planner.assert_prefix();
    assert_eq!((pair.executor.count(), pair.planner.count()), (10, 20));
    let (first, last) = (&pair.planner.requests()[0], &pair.planner.requests()[19]);
    assert_eq!(said(first, "system"), said(last, "system"));
    assert_eq!(first.json["tools"], last.json["tools"]);
    let tools = first.json["tools"].as_array().expect("tools");
    let names: Vec<_> = tools.iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["glob", "grep", "ls", "read_file"]);
    // The executor gets the plan after the prompt, and nothing of what the planner read.
    let executor = &pair.executor.requests()[9];
    let told = said(executor, "user").join("\n");
    assert!(
        told.contains("Fix part 10.") && told.contains(PLAN),
        "{told}"
    );
    assert!(!executor.json.to_string().contains("blue"));
    // The planner gets the prompts, and the last answers.
    let told = said(last, "user").join("\n");
    assert!(
        told.contains("Fix part 1.") && told.contains("Fix part 10."),
        "{told}"
    );
    assert!(
        told.contains("Done 9.") && !told.contains("Done 10."),
        "{told}"
    );
    let log = pair.house.log(Pid(1));
    assert_eq!(endings(log.check()), vec![planned(); 10]);
    let [planner] = &pair.planners(Pid(1))[..] else {
        panic!("one planner")
    };
    assert_eq!(planner.check().count("turn.ended"), 10);
    let agent = planner.created().agent.expect("a sub-agent");
    assert_eq!((&*agent.name, agent.depth), ("planner", 1));
    assert_eq!(planner.created().options.read_only, Some(true));
    assert_eq!(planner.created().options.planner_model, None);
}

/// An interactive session with this prompt, and its client.
fn interactive(pair: &Pair, prompt: &str) -> Raw {
    let mut params = pair.house.create(prompt);
    params.options.kind = Some(Kind::Interactive);
    let mut raw = pair.house.raw_as(Role::Drive);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    raw
}

/// Whether a row of the screen says so, after the mark of work.
fn is_planning(screen: &str) -> bool {
    let mut rows = screen.lines();
    rows.any(|row| row.split_whitespace().nth(1) == Some("planning") && !row.contains('`'))
}

#[test]
fn planning_is_shown_and_the_plan_is_shown_when_it_is_there() {
    let gate = Gate::new();
    let held = gate.clone();
    let planner = Script::by(move |_: &Request| Answer::text(PLAN).held(Place::Before, &held));
    let pair = Pair::new(planner, "");
    let _raw = interactive(&pair, "Fix it.");
    pair.reached(&gate);
    let terminal = Terminal::reasonix(&pair.house, &["attach", "1"], 100, 30);
    terminal.wait_text("planning with `thinker`");
    terminal.wait_for("the state", is_planning);
    let listed = pair.house.reasonix(&["ps", "--tree"]).expect_code(0).out;
    let rows: Vec<_> = listed.lines().skip(1).collect();
    assert!(
        rows[0].starts_with("1 ") && rows[0].contains("planning"),
        "{listed}"
    );
    assert!(rows[1].contains("└ Fix it."), "{listed}");
    gate.open();
    terminal.wait_text("plan by session 2");
    terminal.wait_text("2. Say what it says.");
    terminal.wait_text("Done 1.");
    terminal.wait_for("another state", |screen| !is_planning(screen));
}

#[test]
fn planner_only_reads_and_counts_for_the_budget_of_the_session() {
    let planner = Script::by(|request: &Request| {
        let answer = match request.results().len() {
            0 => Answer::call("write_file", json!({"path": "made", "content": "x"})),
            1 => Answer::call("bash", json!({"command": "touch made"})),
            _ => Answer::text(PLAN),
        };
        answer.usage(USAGE)
    });
    let pair = Pair::new(planner, "");
    let line = ["--budget-tokens", "4000"];
    run(&pair.house, &line, "Fix it.").expect(0, "completed");
    assert!(!pair.house.project().join("made").exists());
    let shown = pair
        .house
        .reasonix(&["budget", "1", "--json"])
        .expect_code(0)
        .json();
    let nodes = shown["nodes"].as_array().expect("nodes").iter();
    let session = nodes.filter(|node| node["kind"] == "session");
    let spent: Vec<_> = session.map(|node| &node["spent"]["tokens"]).collect();
    assert_eq!(spent, [&json!(4000)], "{shown}");
    // Nothing is left for the planner, nor for the executor.
    let (planned, executed) = (pair.planner.count(), pair.executor.count());
    next(&pair.house, "Fix more.").expect(2, "budget_exceeded");
    assert_eq!(
        (pair.planner.count(), pair.executor.count()),
        (planned, executed)
    );
    let said = notices(&pair.house.log(Pid(1)));
    assert!(
        said.iter()
            .any(|text| text.contains("no plan for this turn")),
        "{said:?}"
    );
    // And a daemon that starts knows it.
    pair.house.kill_daemon_and_parent();
    pair.house.daemon();
    next(&pair.house, "Fix more of it.").expect(2, "budget_exceeded");
    assert_eq!(pair.executor.count(), executed);
}

#[test]
fn failed_planner_does_not_fail_the_turn() {
    let refuses = || Answer::text("").fault(Fault::refusal(400, "the thinker is ill", "x"));
    let pair = Pair::new(Script::by(move |_: &Request| refuses()), "");
    let ran = run(&pair.house, &[], "Fix it.").expect(0, "completed");
    assert_eq!(ran.text(), "Done 1.");
    let log = pair.house.log(Pid(1));
    let said = notices(log.check());
    let words = "There is no plan for this turn, and the session's model works without one: ";
    let why = said.iter().find(|text| text.starts_with(words));
    assert!(
        why.is_some_and(|why| why.contains("the thinker is ill")),
        "{said:?}"
    );
    assert_eq!(endings(&log), [(PlanningOutcome::Failed, String::new())]);
    // One that cannot even start.
    let set = json!({"session": "1", "planner_model": ""});
    let mut raw = pair.house.raw_as(Role::Drive);
    raw.call("session.set", &set).expect("set");
    next(&pair.house, "Fix more.").expect(0, "completed");
    assert_eq!(
        endings(&pair.house.log(Pid(1))).len(),
        1,
        "it has no planner any more"
    );
    let set = json!({"session": "1", "planner_model": "nosuch"});
    let refused = raw.call("session.set", &set).expect_err("there is none");
    assert!(refused.message.contains("nosuch"), "{refused:?}");
    let line = ["run", "--planner-model", "nosuch", "Fix it."];
    let refused = pair.house.reasonix(&line);
    assert!(
        refused.code() != Some(0) && refused.err.contains("nosuch"),
        "{refused:?}"
    );
}

#[test]
fn interrupt_ends_the_planning_and_the_turn() {
    let gate = Gate::new();
    let held = gate.clone();
    let planner = Script::by(move |_: &Request| Answer::text(PLAN).held(Place::Before, &held));
    let pair = Pair::new(planner, "");
    let mut raw = interactive(&pair, "Fix it.");
    pair.reached(&gate);
    let _ = pair
        .house
        .reasonix(&["kill", "-s", "INT", "1"])
        .expect_code(0);
    let _ = pair.house.reasonix(&["wait", "1"]);
    let log = pair.house.log(Pid(1));
    assert_eq!(
        endings(log.check()),
        [(PlanningOutcome::Stopped, String::new())]
    );
    until("the planner to exit", || {
        let planners = pair.planners(Pid(1));
        (planners[0].count("session.exited") == 1).then_some(())
    });
    until("its cost", || {
        (pair.house.log(Pid(1)).count("agent.finished") == 1).then_some(())
    });
    assert_eq!(pair.executor.count(), 0, "the executor was not asked");
    // The next turn is planned by the same planner.
    gate.open();
    let prompt = json!({"session": "1", "text": "Fix the other."});
    raw.call("session.prompt", &prompt).expect("prompt");
    let _ = pair.house.reasonix(&["wait", "1"]).expect_code(0);
    assert_eq!(endings(&pair.house.log(Pid(1))).last(), Some(&planned()));
    assert_eq!((pair.planners(Pid(1)).len(), pair.executor.count()), (1, 1));
}

/// A headless run whose planner and executor wait before each answer, until their gates are open.
fn detached(at: usize) -> (Pair, Gate, Gate) {
    let (first, second) = (Gate::new(), Gate::new());
    let (held, later) = (first.clone(), second.clone());
    let planner = Script::by(move |request: &Request| match request.results().len() {
        number if number == at => plans(request).held(Place::Before, &held),
        _ => plans(request),
    });
    let executor = Script::by(move |request: &Request| done(request).held(Place::Before, &later));
    let pair = Pair::with(executor, planner, "");
    let _ = pair
        .house
        .reasonix(&["run", "--detach", "Fix it."])
        .expect_code(0);
    (pair, first, second)
}

#[test]
fn kill_during_planning_loses_nothing_and_asks_nothing_twice() {
    // Killed in the first request of the planner, and in the second.
    for at in [0, 1] {
        let (pair, gate, executor) = detached(at);
        pair.reached(&gate);
        // A request need not wait until the results that it carries are written.
        until("the results so far in the log", || {
            let planners = pair.planners(Pid(1));
            (planners.first()?.results().len() == at).then_some(())
        });
        pair.house.kill_daemon();
        pair.house.wait_for_daemon();
        gate.open();
        executor.open();
        let _ = pair.house.reasonix(&["wait", "1"]).expect_code(0);
        let log = pair.house.log(Pid(1));
        assert_eq!(endings(log.check()), [planned()], "at {at}");
        assert_eq!(log.count("planner.started"), 1, "at {at}");
        let [planner] = &pair.planners(Pid(1))[..] else {
            panic!("one planner, at {at}")
        };
        assert_eq!(planner.check().count("prompt.queued"), 1, "at {at}");
        assert_eq!(planner.count("turn.started"), 1, "at {at}");
        // Only the request that was cut off is sent again.
        assert_eq!(
            (pair.planner.count(), pair.executor.count()),
            (3, 1),
            "at {at}"
        );
    }
}

#[test]
fn kill_after_planning_keeps_the_plan() {
    let (pair, _gate, executor) = detached(9);
    until("the executor to be asked", || {
        executor.is_reached().then_some(())
    });
    assert_eq!(pair.planner.count(), 2);
    pair.house.kill_daemon();
    pair.house.wait_for_daemon();
    executor.open();
    let _ = pair.house.reasonix(&["wait", "1"]).expect_code(0);
    assert_eq!((pair.planner.count(), pair.executor.count()), (2, 2));
    let requests = pair.executor.requests();
    assert_eq!(
        requests[0].body, requests[1].body,
        "the same request, with the plan"
    );
    assert!(said(&requests[1], "user").join("\n").contains(PLAN));
    assert_eq!(endings(pair.house.log(Pid(1)).check()), [planned()]);
}

#[test]
fn interactive_session_that_waits_after_a_kill_leaves_no_planner_behind() {
    let gate = Gate::new();
    let held = gate.clone();
    let planner = Script::by(move |_: &Request| Answer::text(PLAN).held(Place::Before, &held));
    let pair = Pair::new(planner, "");
    drop(interactive(&pair, "Fix it."));
    pair.reached(&gate);
    pair.house.kill_daemon();
    pair.house.wait_for_daemon();
    let _ = pair.house.reasonix(&["wait", "1"]);
    let log = pair.house.log(Pid(1));
    assert_eq!(
        endings(log.check()),
        [(PlanningOutcome::Stopped, String::new())]
    );
    until("the planner to exit", || {
        let planners = pair.planners(Pid(1));
        (planners[0].count("session.exited") == 1).then_some(())
    });
    assert_eq!(pair.executor.count(), 0);
}

#[test]
fn planner_skips_short_remarks_plan_mode_and_sub_agents() {
    let executor = Script::by(|request: &Request| {
        let first = said(request, "user").join("\n");
        match (first.contains("PARENT"), request.results().len()) {
            (true, 0) => {
                let task = json!({"agent": "general", "prompt": "CHILD", "description": "x"});
                Answer::call("task", task)
            }
            _ => Answer::text("Done."),
        }
    });
    let pair = Pair::with(executor, Script::by(plans), "");
    run(&pair.house, &[], "Go on!").expect(0, "completed");
    run(&pair.house, &["--plan"], "Fix it.").expect(0, "completed");
    run(&pair.house, &["--planner-model", ""], "PARENT, fix it.").expect(0, "completed");
    assert_eq!(pair.planner.count(), 0);
    // Of a session with a planner, only the session itself is planned.
    run(&pair.house, &[], "PARENT, fix it.").expect(0, "completed");
    assert_eq!(pair.planner.count(), 2);
    let logs = pair.house.logs();
    let started: Vec<_> = logs
        .iter()
        .map(|log| log.count("planner.started"))
        .collect();
    assert_eq!(started.iter().sum::<usize>(), 1, "{started:?}");
}

#[test]
fn limit_of_steps_makes_the_planner_sum_up_and_a_rewind_begins_another() {
    let planner = Script::by(
        |request: &Request| match request.json["tool_choice"] == "none" {
            true => Answer::text(PLAN),
            false => Answer::call("glob", json!({"pattern": format!("{}*", request.number)})),
        },
    );
    let pair = Pair::new(planner, "planner_max_steps = 2");
    run(&pair.house, &[], "Fix it.").expect(0, "completed");
    let steps = pair.planner.count();
    assert_eq!(endings(&pair.house.log(Pid(1))), [planned()]);
    assert_eq!(steps, 3, "two steps, and the sum");
    let _ = pair.house.reasonix(&["rewind", "1", "0"]).expect_code(0);
    next(&pair.house, "Fix the other.").expect(0, "completed");
    let planners = pair.planners(Pid(1));
    assert_eq!(planners.len(), 2, "the first knows a prompt that is gone");
    let last = &pair.planner.requests()[steps];
    assert!(!said(last, "user").join("\n").contains("Fix it."));
    let state = pair
        .house
        .reasonix(&["ps", "-a", "--json"])
        .expect_code(0)
        .json();
    let rows = state["processes"].as_array().expect("processes");
    let exited = serde_json::to_value(State::Exited).expect("JSON");
    let planners = rows.iter().filter(|row| row["agent"] == "planner");
    assert!(
        planners.into_iter().all(|row| row["state"] == exited),
        "{state}"
    );
}

/// A planner that begins in the middle of a conversation is told of what stands of it, once.
#[test]
fn new_planner_is_told_what_stands_of_the_conversation() {
    let pair = Pair::new(Script::by(plans), "");
    let other = Model::start(Script::by(plans));
    run(&pair.house, &[], "Fix part 1.").expect(0, "completed");
    for turn in 2..=3 {
        next(&pair.house, &format!("Fix part {turn}.")).expect(0, "completed");
    }
    let first = said(&pair.planner.requests()[0], "user").join("\n");
    assert!(!first.contains("<conversation>"), "{first}");
    let _ = pair.house.reasonix(&["rewind", "1", "2"]).expect_code(0);
    let before = pair.planner.count();
    next(&pair.house, "Fix part 4.").expect(0, "completed");
    next(&pair.house, "Fix part 5.").expect(0, "completed");
    let requests = pair.planner.requests();
    let told = said(&requests[before], "user").join("\n");
    let shown = "<conversation>\nuser: Fix part 1.\nexecutor: Done 1.\nuser: Fix part 2.\nexecutor: Done 2.\n</conversation>";
    assert!(told.contains(shown), "{told}");
    assert!(!told.contains("part 3"), "{told}");
    let later = said(&requests[before + 2], "user").join("\n");
    assert_eq!(later.matches("<conversation>").count(), 1, "{later}");
    assert!(later.contains(&told), "its prefix stays");
    // Another model is another planner.
    pair.house.provider(&other.entry("other", None));
    let set = json!({"session": "1", "planner_model": "other"});
    let mut raw = pair.house.raw_as(Role::Drive);
    raw.call("session.set", &set).expect("set");
    next(&pair.house, "Fix part 6.").expect(0, "completed");
    let told = said(&other.requests()[0], "user").join("\n");
    assert!(
        told.contains("user: Fix part 1.\n") && told.contains("user: Fix part 5.\n"),
        "{told}"
    );
    assert!(!told.contains("part 3"), "{told}");
    assert_eq!(pair.planners(Pid(1)).len(), 3);
}
