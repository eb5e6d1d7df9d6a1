//! A session and the sub-agents below it: `pause --tree` and `resume --tree`, also of those that come meanwhile or have left
//! memory, and what a rewind says of the agents' work.

use proto::hello::Role;
use proto::state::{ApprovalMode, Kind, State};
use proto::{Body, Pid};
use serde_json::{Value, json};
use testkit::model::{Answer, Gate, Model, Place, Request, Script};
use tests::{House, until};

use crate::scripted::house;

fn first_message(request: &Request) -> String {
    let mut messages = request.messages().iter();
    let first = messages.find(|message| message["role"] == "user");
    let text = first.and_then(|message| message["content"].as_str());
    text.unwrap_or_default().to_owned()
}

fn task(prompt: &str) -> Value {
    json!({"agent": "general", "prompt": prompt, "description": "a part"})
}

/// The state of each session, by pid.
fn states(house: &House) -> Vec<(u64, State)> {
    let all = house
        .reasonix(&["ps", "--all", "--json"])
        .expect_code(0)
        .json();
    let rows = all["processes"].as_array().expect("rows").iter();
    let mut states: Vec<_> = rows
        .map(|row| {
            let state = serde_json::from_value(row["state"].clone());
            (row["pid"].as_u64().expect("a pid"), state.expect("a state"))
        })
        .collect();
    states.sort_by_key(|(pid, _)| *pid);
    states
}

fn paused(house: &House) -> Vec<u64> {
    let states = states(house).into_iter();
    let paused = states.filter(|(_, state)| *state == State::Paused);
    paused.map(|(pid, _)| pid).collect()
}

fn exited(house: &House) -> Vec<u64> {
    let states = states(house).into_iter();
    let exited = states.filter(|(_, state)| *state == State::Exited);
    exited.map(|(pid, _)| pid).collect()
}

/// A parent with eleven agents: ten side by side, whose answers are held, and one that waits for a place.
fn eleven(held: &Gate, others: &Gate) -> Model {
    let (held, others) = (held.clone(), others.clone());
    Model::start(Script::by(move |request| {
        let first = first_message(request);
        match (first.contains("PARENT"), request.results().is_empty()) {
            (true, true) => (0..11).fold(Answer::text(""), |answer, at| {
                answer.and_call("task", task(&format!("CHILD {at:02}")))
            }),
            (true, false) => Answer::text("All is done."),
            // The first to end: its place is what the last one waits for.
            (false, _) if first.contains("CHILD 00") => {
                Answer::text("Child 00.").held(Place::Before, &held)
            }
            (false, _) => Answer::text("A child.").held(Place::Before, &others),
        }
    }))
}

/// Runs the parent until ten agents ask their model, and pauses the tree.
fn begin(house: &House, model: &Model) {
    let _ = house
        .reasonix(&["run", "--detach", "PARENT"])
        .expect_code(0);
    until("the requests of the parent and ten agents", || {
        (model.requests().len() >= 11).then_some(())
    });
    let done = house
        .reasonix(&["pause", "--tree", "--json", "1"])
        .expect_code(0);
    let sent: Value = serde_json::from_str(&done.out).expect("JSON");
    let agents: Vec<u64> = (2..=11).collect();
    assert_eq!(sent["agents"], json!(agents), "{done:?}");
    assert_eq!(paused(house), (1..=11).collect::<Vec<_>>());
}

/// Resumes the tree; all ends well, and nothing was asked twice.
fn finish(house: &House, others: &Gate) {
    others.open();
    let done = house.reasonix(&["resume", "--tree", "1"]).expect_code(0);
    assert!(done.err.contains("are resumed"), "{done:?}");
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    until("all to exit", || {
        (exited(house) == (1..=12).collect::<Vec<_>>()).then_some(())
    });
    let parent = house.log(Pid(1));
    let results = parent.check().results();
    assert_eq!(results.len(), 11, "{results:?}");
    for result in results {
        assert_eq!(result.status.as_str(), "ok", "{result:?}");
    }
    assert_eq!(parent.count("turn.started"), 1);
}

#[test]
fn agent_that_is_created_while_its_tree_is_paused_is_paused_too() {
    let (held, others) = (Gate::new(), Gate::new());
    let model = eleven(&held, &others);
    let house = house(&model);
    begin(&house, &model);
    // An answer that is on its way is let finish: its session ends, and the eleventh comes.
    held.open();
    until("the eleventh agent", || {
        states(&house)
            .iter()
            .any(|(pid, _)| *pid == 12)
            .then_some(())
    });
    until("the eleventh to be paused", || {
        paused(&house).contains(&12).then_some(())
    });
    let born = house.log(Pid(12));
    let paused_by = born.bodies().into_iter().find_map(|body| match body {
        Body::SessionSet(set) if set.paused == Some(true) => Some((set.tree, set.by)),
        _ => None,
    });
    let by = Some("session 1".to_owned());
    assert_eq!(paused_by, Some((Some(true), by)));
    // It has its prompt, and asks nothing.
    assert_eq!(
        (born.count("prompt.queued"), born.count("turn.started")),
        (1, 0)
    );
    assert_eq!(model.requests().len(), 11);
    finish(&house, &others);
    assert_eq!(model.requests().len(), 13);
}

#[test]
fn pause_of_a_tree_survives_a_killed_daemon() {
    let (held, others) = (Gate::new(), Gate::new());
    let model = eleven(&held, &others);
    let house = house(&model);
    begin(&house, &model);
    held.open();
    until("the eleventh to be paused", || {
        paused(&house).contains(&12).then_some(())
    });
    house.kill_daemon();
    house.wait_for_daemon();
    let waiting: Vec<u64> = (1..=12)
        .filter(|pid| !exited(&house).contains(pid))
        .collect();
    assert!(waiting.contains(&1) && waiting.contains(&12), "{waiting:?}");
    assert_eq!(paused(&house), waiting, "whoever has not exited is paused");
    let asked = model.requests().len();
    let born = house.log(Pid(12));
    assert_eq!(born.count("turn.started"), 0);
    // What is resumed alone goes on alone.
    let _ = house.reasonix(&["resume", "12"]).expect_code(0);
    others.open();
    until("the eleventh to end", || {
        exited(&house).contains(&12).then_some(())
    });
    assert_eq!(model.requests().len(), asked + 1);
    assert!(paused(&house).contains(&1));
    finish(&house, &others);
}

#[test]
fn only_a_pause_is_for_a_whole_tree() {
    let model = Model::start(Script::by(|_| Answer::text("Done.")));
    let house = house(&model);
    let mut raw = house.raw_as(Role::Drive);
    let params = serde_json::to_value(house.create("Hello.")).expect("JSON");
    raw.call("session.create", &params).expect("create");
    let kill = json!({"session": "1", "signal": "KILL", "tree": true});
    let refused = raw.call("session.signal", &kill).expect_err("a refusal");
    assert_eq!(refused.name, proto::ErrorName::InvalidParams);
    assert!(
        refused.message.contains("only for `PAUSE` and `RESUME`"),
        "{refused:?}"
    );
}

/// A parent whose agent writes a file and is then given more work by a person.
fn with_agent() -> Model {
    Model::start(Script::by(|request| {
        let first = first_message(request);
        match (first.contains("PARENT"), request.results().is_empty()) {
            (true, true) => Answer::call("task", task("CHILD")),
            (true, false) => Answer::text("All is done."),
            (false, true) => Answer::call(
                "write_file",
                json!({"path": "made.txt", "content": "by the agent\n"}),
            ),
            (false, false) => Answer::text("The child is done."),
        }
    }))
}

/// An interactive parent that has had an agent, by its client.
fn with_one_agent(house: &House) -> tests::Raw {
    let mut params = house.create("PARENT");
    params.options.kind = Some(Kind::Interactive);
    params.options.approval_mode = Some(ApprovalMode::Yolo);
    let mut raw = house.raw_as(Role::Drive);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    raw
}

#[test]
fn resume_of_a_tree_reaches_agents_that_have_left_memory() {
    let model = with_agent();
    let house = house(&model);
    let mut raw = with_one_agent(&house);
    let more = json!({"session": "2", "text": "CHILD, once more."});
    raw.call("session.prompt", &more).expect("prompt");
    let _ = house.reasonix(&["wait", "2"]).expect_code(0);
    drop(raw);
    let _ = house.reasonix(&["pause", "--tree", "1"]).expect_code(0);
    assert_eq!(paused(&house), [1, 2]);
    // The next daemon has neither of them in memory: nothing of them is unfinished.
    house.kill_daemon();
    house.wait_for_daemon();
    assert_eq!(paused(&house), [1, 2]);
    let done = house
        .reasonix(&["resume", "--tree", "--json", "1"])
        .expect_code(0);
    let sent: Value = serde_json::from_str(&done.out).expect("JSON");
    assert_eq!(sent["agents"], json!([2]), "{done:?}");
    assert_eq!(paused(&house), [0_u64; 0]);
}

#[test]
fn rewind_names_what_agents_have_changed_and_leaves_it() {
    let model = with_agent();
    let house = house(&model);
    let _raw = with_one_agent(&house);
    assert_eq!(house.read("made.txt"), "by the agent\n");
    let rewind = |arguments: &[&str]| {
        let line = [&["rewind", "1", "0", "--json"], arguments].concat();
        house.reasonix(&line).json()
    };
    let note = "The sub-agent `general` (session 2) changed `made.txt`, and that stays. To take it back: `reasonix rewind 2 0 --code`.";
    assert_eq!(
        rewind(&["--conversation", "--dry-run"])["notes"],
        Value::Null
    );
    assert_eq!(rewind(&["--dry-run"])["notes"], json!([note]));
    assert_eq!(rewind(&[])["notes"], json!([note]));
    assert_eq!(house.read("made.txt"), "by the agent\n", "it stays");
    let _ = house
        .reasonix(&["rewind", "2", "0", "--code"])
        .expect_code(0);
    assert!(!house.project().join("made.txt").exists());
    // Of a session that has nothing left to take back, nothing is named.
    assert_eq!(rewind(&["--dry-run"])["notes"], Value::Null);
}
