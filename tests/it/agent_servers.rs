//! MCP servers of a sub-agent alone: started for it, ended with it, and all or none of them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use proto::Pid;
use proto::hello::Role;
use proto::state::Kind;
use serde_json::json;
use testkit::model::{Answer, Gate, Model, Place, Request, Script};
use tests::house::faulty_server;
use tests::{House, processes, until};

use crate::mcp::{faulty, offered, servers};
use crate::scripted::{house, run};

fn is_parent(request: &Request) -> bool {
    let mut messages = request.messages().iter();
    let first = messages.find(|message| message["role"] == "user");
    let first = first.and_then(|message| message["content"].as_str());
    first.is_some_and(|text| text.contains("PARENT"))
}

/// A parent with one agent, which adds two numbers by a server's tool.
fn adding(held: Option<&Gate>) -> Model {
    let held = held.cloned();
    Model::start(Script::by(move |request| {
        let done = request.results().len();
        match (is_parent(request), done) {
            (true, 0) => {
                let task = json!({"agent": "adds", "prompt": "CHILD", "description": "x"});
                Answer::call("task", task)
            }
            (true, _) => Answer::text("The parent is done."),
            (false, 0) => {
                let call = Answer::call("mcp__good__add", json!({"a": 2, "b": 3}));
                match &held {
                    Some(gate) => call.held(Place::Before, gate),
                    None => call,
                }
            }
            (false, _) => Answer::text(request.last_text().to_owned()),
        }
    }))
}

/// A house with the servers `good`, which counts its starts in a file, `other`, and `bad`; and an agent with these.
fn prepared(model: &Model, own: &str) -> (House, PathBuf) {
    let house = house(model);
    let count = house.root().join("starts");
    let file = count.to_string_lossy().into_owned();
    let mut bad = faulty(&["crash"]);
    bad["startup_timeout_seconds"] = json!(2);
    servers(
        &house,
        &json!({"good": faulty(&["ok", "--count", &file]), "other": faulty(&["ok"]), "bad": bad}),
    );
    house.files(&format!(
        "//- .reasonix/agents/adds.md\n---\ndescription: Adds\nmcp_servers: {own}\n---\nYou add.\n"
    ));
    (house, count)
}

fn starts(count: &Path) -> usize {
    let text = std::fs::read_to_string(count).unwrap_or_default();
    text.lines().count()
}

/// How many processes of the server `good` run.
fn running(count: &Path) -> usize {
    let program = faulty_server();
    let program = program.to_string_lossy();
    let found = processes::saying(&count.to_string_lossy()).into_iter();
    found
        .filter(|process| process.command.starts_with(&*program))
        .count()
}

#[test]
fn servers_of_an_agent_run_for_it_alone_and_end_with_it() {
    let model = adding(None);
    let (house, count) = prepared(&model, "[good]");
    run(&house, &["--allow", "mcp__good"], "PARENT").expect(0, "completed");
    let results = house.log(Pid(1)).results();
    assert_eq!(results[0].text, "5", "{results:?}");
    let requests = model.requests();
    let is_other = |name: &String| name.starts_with("mcp__other__");
    let child = requests.iter().find(|request| !is_parent(request));
    let child = offered(child.expect("the agent's request"));
    assert!(
        child.iter().any(|name| name == "mcp__good__add"),
        "{child:?}"
    );
    assert!(!child.iter().any(is_other), "{child:?}");
    assert!(offered(&requests[0]).iter().any(is_other));
    // One process for all sessions, and one for the agent, which is gone.
    assert_eq!(starts(&count), 2);
    until("the agent's server to end", || {
        (running(&count) == 1).then_some(())
    });
    let own = house.log(Pid(2)).created().agent.expect("an agent");
    assert_eq!(own.mcp_servers, ["good"]);
}

#[test]
fn server_that_fails_refuses_the_agent_and_releases_those_before_it() {
    let model = adding(None);
    let (house, count) = prepared(&model, "[good, bad]");
    run(&house, &["--allow", "mcp__good"], "PARENT").expect(0, "completed");
    let results = house.log(Pid(1)).results();
    assert_eq!(results[0].status.as_str(), "failed", "{results:?}");
    let words = "The agent could not start: The MCP server `bad` did not start: ";
    assert!(results[0].text.starts_with(words), "{results:?}");
    assert_eq!(house.logs().len(), 1, "there is no session of it");
    assert_eq!(starts(&count), 2);
    until("the first server to end", || {
        (running(&count) == 1).then_some(())
    });
}

#[test]
fn unknown_server_refuses_the_agent() {
    let model = adding(None);
    let (house, _) = prepared(&model, "nosuch");
    run(&house, &[], "PARENT").expect(0, "completed");
    let results = house.log(Pid(1)).results();
    let words = "No MCP server `nosuch` is configured and enabled here. `reasonix mcp list`";
    assert!(results[0].text.contains(words), "{results:?}");
    assert_eq!(house.logs().len(), 1);
}

#[test]
fn servers_of_an_agent_are_started_again_after_a_kill_of_the_daemon() {
    let gate = Gate::new();
    let model = adding(Some(&gate));
    let (house, count) = prepared(&model, "[good]");
    let line = ["run", "--detach", "--allow", "mcp__good", "PARENT"];
    let _ = house.reasonix(&line).expect_code(0);
    until("the agent's request", || gate.is_reached().then_some(()));
    // The request may be there before the log.
    until("the agent's log", || {
        (house.logs().len() == 2).then_some(())
    });
    assert_eq!((starts(&count), running(&count)), (2, 2));
    house.kill_daemon();
    house.wait_for_daemon();
    gate.open();
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    let results = house.log(Pid(1)).results();
    assert_eq!(results[0].text, "5", "{results:?}");
    let child = house.log(Pid(2));
    assert_eq!(child.check().results()[0].status.as_str(), "ok");
    // Each daemon: one for all sessions, one for the agent.
    assert_eq!(starts(&count), 4);
}

#[test]
fn interrupt_during_a_slow_start_ends_the_call_at_once_and_leaves_no_server() {
    let model = adding(None);
    let house = house(&model);
    let count = house.root().join("starts");
    let file = count.to_string_lossy().into_owned();
    let mut slow = faulty(&["hang", "--count", &file]);
    // As long as a test may take: only the interrupt ends the wait.
    slow["startup_timeout_seconds"] = json!(120);
    servers(
        &house,
        &json!({"good": faulty(&["ok", "--count", &file]), "slow": slow}),
    );
    house.files(
        "//- .reasonix/agents/adds.md\n---\ndescription: Adds\nmcp_servers: [good, slow]\n---\nYou add.\n",
    );
    let mut params = house.create("PARENT");
    params.options.kind = Some(Kind::Interactive);
    let mut raw = house.raw_as(Role::Drive);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    // For all sessions one of each, and then those of the agent alone.
    until("the agent's second server", || {
        (starts(&count) == 4).then_some(())
    });
    let since = Instant::now();
    let _ = house.reasonix(&["kill", "-s", "INT", "1"]).expect_code(0);
    let _ = house.reasonix(&["wait", "1"]);
    let took = since.elapsed();
    assert!(took < Duration::from_secs(2), "it took {took:?}");
    let log = house.log(Pid(1));
    let results = log.check().results();
    assert_eq!(results[0].status.as_str(), "interrupted", "{results:?}");
    let words = "Not run: the call was stopped while the agent's MCP servers started.";
    assert_eq!(results[0].text, words);
    assert_eq!(house.logs().len(), 1, "there is no session of it");
    until("the agent's servers to end", || {
        (running(&count) == 2).then_some(())
    });
}
