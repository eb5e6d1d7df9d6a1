//! Sub-agents in the background: their result comes to the parent as a message, once, also after the death of the daemon.

use proto::hello::Role;
use proto::{Body, Pid};
use serde_json::json;
use testkit::model::{Answer, Gate, Model, Place, Request, Script};
use tests::{House, Raw, until};

use crate::scripted::house;

fn user_messages(request: &Request) -> Vec<String> {
    let messages = request.messages().iter();
    let messages = messages.filter(|message| message["role"] == "user");
    let texts = messages.filter_map(|message| message["content"].as_str());
    texts.map(str::to_owned).collect()
}

fn is_parent(request: &Request) -> bool {
    user_messages(request)[0].contains("PARENT")
}

fn begin(house: &House) -> Raw {
    let mut raw = house.raw_as(Role::Drive);
    let params = serde_json::to_value(house.create("PARENT")).expect("JSON");
    raw.call("session.create", &params).expect("create");
    raw
}

/// A parent that leaves an agent in the background and ends its turn; the agent answers when the gate opens.
fn scripted(gate: &Gate) -> Model {
    let held = gate.clone();
    Model::start(Script::by(move |request: &Request| {
        if !is_parent(request) {
            return Answer::text("It is blue.").held(Place::Before, &held);
        }
        match (user_messages(request).len(), request.results().len()) {
            (1, 0) => Answer::call(
                "task",
                json!({"agent": "explore", "prompt": "CHILD", "description": "x", "background": true}),
            ),
            (1, _) => Answer::text("I go on meanwhile."),
            (_, _) => Answer::text("So it is blue."),
        }
    }))
}

/// Whether the agent has asked, and its log can be read: the request does not wait for the disk.
fn is_at_work(house: &House, gate: &Gate) -> bool {
    let sessions = std::fs::read_dir(house.home().join("sessions"));
    let mut logs = sessions
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("log.jsonl"));
    gate.is_reached() && logs.all(|log| std::fs::metadata(log).is_ok_and(|log| log.len() > 0))
}

fn turns(house: &House) -> usize {
    house.log(Pid(1)).count("turn.ended")
}

/// How often the parent was brought a result.
fn brought(house: &House) -> Vec<String> {
    let bodies = house.log(Pid(1)).bodies().into_iter();
    bodies
        .filter_map(|body| match body {
            Body::PromptQueued(prompt) if prompt.text.contains("in the background") => {
                Some(format!("{}: {}", prompt.by, prompt.text))
            }
            _ => None,
        })
        .collect()
}

fn has_come_back(house: &House) {
    let results = brought(house);
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results[0].starts_with("session 2: "), "{results:?}");
    assert!(results[0].ends_with("It is blue."), "{results:?}");
    until("the end of the agent in the parent's log", || {
        (house.log(Pid(1)).count("agent.finished") == 1).then_some(())
    });
    assert_eq!(house.log(Pid(2)).count("session.exited"), 1);
}

#[test]
fn result_of_an_agent_in_the_background_starts_a_turn_of_an_idle_parent() {
    let gate = Gate::new();
    let model = scripted(&gate);
    let house = house(&model);
    let _raw = begin(&house);
    until("the agent at work", || {
        is_at_work(&house, &gate).then_some(())
    });
    until("the end of the parent's turn", || {
        (turns(&house) == 1).then_some(())
    });
    let result = &house.log(Pid(1)).results()[0];
    assert_eq!(result.status.as_str(), "ok");
    assert!(result.text.contains("as session 2"), "{result:?}");
    gate.open();
    until("the turn of its result", || {
        (turns(&house) == 2).then_some(())
    });
    has_come_back(&house);
    model.assert_strict();
    // The model is told whose words these are.
    let requests = model.requests();
    let said = user_messages(requests.last().expect("a request"));
    let last = said.last().expect("a message");
    let head = "[Message from session 2, not from the user.]\n\nThe agent `explore`";
    assert!(last.starts_with(head), "{last}");
}

#[test]
fn agent_in_the_background_survives_kills_of_the_daemon_and_reports_once() {
    let gate = Gate::new();
    let model = scripted(&gate);
    let house = house(&model);
    drop(begin(&house));
    until("the agent at work", || {
        is_at_work(&house, &gate).then_some(())
    });
    until("the end of the parent's turn", || {
        (turns(&house) == 1).then_some(())
    });
    house.kill_daemon();
    house.wait_for_daemon();
    until("the agent's request again", || {
        (model.count() >= 4).then_some(())
    });
    gate.open();
    until("the turn of its result", || {
        (turns(&house) == 2).then_some(())
    });
    has_come_back(&house);
    house.kill_daemon();
    house.wait_for_daemon();
    let _ = house.reasonix(&["ps", "-a"]).expect_code(0);
    assert_eq!(brought(&house).len(), 1, "it comes once");
}

#[test]
fn killed_parent_ends_its_agents_in_the_background() {
    let gate = Gate::new();
    let model = scripted(&gate);
    let house = house(&model);
    let mut raw = begin(&house);
    until("the agent at work", || {
        is_at_work(&house, &gate).then_some(())
    });
    until("the end of the parent's turn", || {
        (turns(&house) == 1).then_some(())
    });
    raw.call("session.signal", &json!({"session": "1", "signal": "KILL"}))
        .expect("signal");
    until("the agent's end", || {
        (house.log(Pid(2)).count("session.exited") == 1).then_some(())
    });
    assert!(brought(&house).is_empty());
    gate.open();
}
