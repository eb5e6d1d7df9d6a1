//! A parent with four sub-agents, one in a worktree and one waiting for an approval, while the daemon is killed at twenty
//! moments: the tree comes back, every call has one result, no command runs twice, and the bill is the sum.

use proto::hello::Role;
use proto::state::{ApprovalMode, Kind, OnAsk};
use proto::{Body, Pid};
use serde_json::json;
use testkit::model::{Answer, Model, Request, Script, Usage};
use tests::log::Log;
use tests::{House, until};

use crate::agent_worktrees::{AGENT, repository, worktrees};
use crate::scripted::house;
use crate::sim::SimRng;

const AGENTS: usize = 4;
/// The one that works in a worktree.
const APART: usize = 1;
const USAGE: Usage = Usage {
    prompt: 900,
    cached: 0,
    output: 100,
    reasoning: 0,
};

/// Which agent a request is of. `None`: the parent's.
fn agent_of(request: &Request) -> Option<usize> {
    let mut messages = request.messages().iter();
    let first = messages.find(|message| message["role"] == "user");
    let first = first.and_then(|message| message["content"].as_str());
    let first = first.unwrap_or_default();
    (0..AGENTS).find(|number| first.contains(&format!("CHILD {number}")))
}

fn answer(request: &Request) -> Answer {
    let answer = match (agent_of(request), request.results().len()) {
        (None, 0) => (0..AGENTS).fold(Answer::text("Go."), |answer, number| {
            let prompt = format!("CHILD {number}");
            let agent = if number == APART { "apart" } else { "general" };
            let task = json!({"agent": agent, "prompt": prompt, "description": "x"});
            answer.and_call("task", task)
        }),
        (None, _) => Answer::text("All is done."),
        // What configures the agent takes a yes in every approval mode.
        (Some(3), 0) => Answer::call(
            "write_file",
            json!({"path": "reasonix.toml", "content": "# made\n"}),
        ),
        (Some(number), 0) => {
            let command = format!("echo {number} >> made-{number}");
            Answer::call("bash", json!({"command": command}))
        }
        (Some(number), _) => Answer::text(format!("child {number}")),
    };
    answer.usage(USAGE)
}

/// Tokens by the logs.
fn billed(logs: &[Log]) -> u64 {
    let bodies = logs.iter().flat_map(Log::bodies);
    let used = bodies.map(|body| match body {
        Body::Usage(usage) => usage.prompt_tokens + usage.output_tokens,
        _ => 0,
    });
    used.sum()
}

/// The id of the question that waits.
fn question(house: &House) -> String {
    until("the question", || {
        let listed = house.reasonix(&["inbox", "-q"]).expect_code(0).out;
        listed.lines().next().map(str::to_owned)
    })
}

/// Records of the five logs once the others are done and the question is open: the moments lie before it.
const RECORDS: usize = 84;

/// Records that are on disk: ends of lines, as a log may be in the middle of a write.
fn records(house: &House) -> usize {
    let sessions = std::fs::read_dir(house.home_file("sessions"));
    let logs = sessions.into_iter().flatten().flatten();
    let logs = logs.filter_map(|entry| std::fs::read(entry.path().join("log.jsonl")).ok());
    logs.map(|log| log.iter().filter(|byte| **byte == b'\n').count())
        .sum()
}

/// Kills the daemon at the moments of these of `MOMENTS` equal stretches, each drawn by its number.
fn kills(stretches: std::ops::Range<usize>) {
    for stretch in stretches {
        let length = RECORDS / MOMENTS;
        let seed = u64::try_from(stretch).expect("a small number");
        let moment = stretch * length + 1 + SimRng(seed).roll(length);
        killed_at(moment);
    }
}

/// Moments of a kill in all tests together.
const MOMENTS: usize = 20;

#[test]
fn tree_comes_back_after_a_kill_in_its_first_moments() {
    kills(0..5);
}

#[test]
fn tree_comes_back_after_a_kill_in_its_early_moments() {
    kills(5..10);
}

#[test]
fn tree_comes_back_after_a_kill_in_its_late_moments() {
    kills(10..15);
}

#[test]
fn tree_comes_back_after_a_kill_in_its_last_moments() {
    kills(15..MOMENTS);
}

/// Kills the daemon once so many records are on disk, and has the next one finish the work.
fn killed_at(moment: usize) {
    let model = Model::start(Script::by(answer));
    let house = house(&model);
    house.turn_off_sandbox();
    house.files(AGENT);
    repository(&house);
    let mut params = house.create("PARENT");
    params.options.kind = Some(Kind::Headless);
    params.options.on_ask = Some(OnAsk::Wait);
    params.options.approval_mode = Some(ApprovalMode::Yolo);
    let mut raw = house.raw_as(Role::Drive);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    drop(raw);
    until("the moment of the kill", || {
        (records(&house) >= moment).then_some(())
    });
    house.kill_daemon();
    house.wait_for_daemon();
    let id = question(&house);
    let _ = house.reasonix(&["inbox", "allow", &id]).expect_code(0);
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);
    let logs = house.logs();
    let results = house.log(Pid(1)).results();
    assert_eq!(
        logs.len(),
        1 + AGENTS,
        "moment {moment}: none is missing or started twice: {results:?}"
    );
    for log in &logs {
        assert_eq!(log.count("session.exited"), 1, "moment {moment}");
        let results = log.results();
        let expected = if log.pid() == Pid(1) { AGENTS } else { 1 };
        assert_eq!(results.len(), expected, "moment {moment}: {results:?}");
        if log.pid() != Pid(1) {
            let created = log.created();
            assert_eq!(created.ppid, Pid(1), "moment {moment}");
        }
    }
    for (number, result) in house.log(Pid(1)).results().iter().enumerate() {
        let text = format!("child {number}");
        // Of the one in a worktree it also says where its work is.
        let is_result = match number {
            APART => result.text.starts_with(&text),
            _ => result.text == text,
        };
        assert!(is_result, "moment {moment}: {}", result.text);
    }
    let worktrees = worktrees(&house);
    // One in which nothing was made is gone again.
    assert!(worktrees.len() <= 1, "moment {moment}: {worktrees:?}");
    let project = house.project();
    for place in worktrees.iter().chain([&project]) {
        for number in 0..3 {
            let made = std::fs::read_to_string(place.join(format!("made-{number}")));
            // One that was cut off may not have run: it never runs twice.
            let made = made.unwrap_or_default();
            assert!(made.lines().count() <= 1, "moment {moment}: {made}");
            assert!(made.is_empty() || (number == APART) == (place != &project));
        }
    }
    assert!(house.project().join("reasonix.toml").exists());
    let shown = house.reasonix(&["budget", "1", "--json"]).expect_code(0);
    let nodes = shown.json()["nodes"].clone();
    let nodes = nodes.as_array().expect("nodes").clone();
    let session = nodes.iter().find(|node| node["kind"] == "session");
    let spent = session.expect("a node")["spent"]["tokens"].clone();
    assert_eq!(spent, json!(billed(&logs)), "moment {moment}");
}
