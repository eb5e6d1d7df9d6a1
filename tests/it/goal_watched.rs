//! A goal of thirty turns with two sub-agents, watched by two programs and an interface, while its question is answered
//! from another terminal and the daemon is killed twice: all see the same, nothing runs twice, and the bill is right.

use proto::record::GoalOutcome;
use proto::{Body, Pid};
use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::model::{Answer, Gate, Model, Place, Request, Script, Usage};
use tests::log::Log;
use tests::{House, Running, Terminal, until};

use crate::scripted::house;

const TURNS: usize = 30;
/// Turns that do something else than run a command.
const AGENTS: usize = 5;
const QUESTION: usize = 12;
/// The turn whose first answer is held while the daemon is killed.
const HELD: usize = 20;
const USAGE: Usage = Usage {
    prompt: 900,
    cached: 0,
    output: 100,
    reasoning: 0,
};

/// Which sub-agent a request is of. `None`: the goal's own session.
fn agent_of(request: &Request) -> Option<usize> {
    let mut messages = request.messages().iter();
    let first = messages.find(|message| message["role"] == "user");
    let first = first.and_then(|message| message["content"].as_str());
    let first = first.unwrap_or_default();
    (0..2).find(|number| first.contains(&format!("CHILD {number}")))
}

fn bash(command: &str) -> Answer {
    Answer::call("bash", json!({"command": command}))
}

/// The first answer of a turn of the goal.
fn works(turn: usize, held: &Gate) -> Answer {
    match turn {
        AGENTS => (0..2).fold(Answer::text("Go."), |answer, number| {
            let prompt = format!("CHILD {number}");
            let task = json!({"agent": "general", "prompt": prompt, "description": "x"});
            answer.and_call("task", task)
        }),
        // What configures the agent takes a yes in every approval mode.
        QUESTION => Answer::call(
            "write_file",
            json!({"path": "reasonix.toml", "content": "# made\n"}),
        ),
        HELD => bash("echo turn 20 >> ran").held(Place::Before, held),
        TURNS => Answer::call(
            "update_goal",
            json!({"status": "complete", "summary": "done", "evidence": "the file `ran`"}),
        ),
        turn => bash(&format!("echo turn {turn} >> ran")),
    }
}

fn answer(request: &Request, held: &Gate) -> Answer {
    let answer = match agent_of(request) {
        Some(number) if request.results().is_empty() => {
            bash(&format!("echo child {number} >> ran"))
        }
        Some(number) => Answer::text(format!("child {number}")),
        None => {
            // Each turn has two answers: one that works, and one in words.
            let (turn, step) = (request.answered() / 2 + 1, request.answered() % 2);
            match step {
                0 => works(turn, held),
                _ => Answer::text(format!("End of turn {turn}.")),
            }
        }
    };
    answer.usage(USAGE)
}

/// The durable events that a follower printed, up to the exit of the session: number, kind and data.
fn followed(follower: Running) -> Vec<(u64, String, Value)> {
    follower.line("the exit of the session", |line| {
        line.contains(r#""kind":"session.exited""#)
    });
    follower.signal(Signal::INT);
    let events = follower.done().lines().into_iter();
    let event = |event: Value| {
        let kind = event["kind"].as_str().unwrap_or_default().to_owned();
        (
            event["seq"].as_u64().unwrap_or_default(),
            kind,
            event["data"].clone(),
        )
    };
    events.map(event).collect()
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

/// Tokens by the budget of the goal's session.
fn spent(house: &House) -> Value {
    let shown = house.reasonix(&["budget", "1", "--json"]).expect_code(0);
    let nodes = shown.json()["nodes"].clone();
    let mut nodes = nodes.as_array().expect("nodes").iter();
    let session = nodes.find(|node| node["kind"] == "session");
    session.expect("a node")["spent"]["tokens"].clone()
}

#[test]
fn goal_of_thirty_turns_is_the_same_for_all_watchers_although_the_daemon_is_killed_twice() {
    let held = Gate::new();
    let gate = held.clone();
    let model = Model::start(Script::by(move |request| answer(request, &gate)));
    let house = house(&model);
    house.unheld();
    let arguments = [
        "goal",
        "PARENT",
        "--detach",
        "--approval-mode",
        "yolo",
        "--on-ask",
        "wait",
    ];
    assert_eq!(house.reasonix(&arguments).expect_code(0).out, "1\n");
    let followers = [(); 2].map(|()| house.start(&["logs", "-f", "--json", "1"]));
    let terminal = Terminal::reasonix(&house, &["attach", "1"], 100, 40);
    let question = || {
        until("the question", || {
            let listed = house.reasonix(&["inbox", "-q"]).expect_code(0).out;
            listed.lines().next().map(str::to_owned)
        })
    };
    question();
    house.kill_daemon();
    house.wait_for_daemon();
    let allowed = house.reasonix(&["inbox", "allow", &question()]);
    let _ = allowed.expect_code(0);
    until("the request that is held", || {
        held.is_reached().then_some(())
    });
    house.kill_daemon();
    held.open();
    house.wait_for_daemon();
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);

    let log = house.log(Pid(1));
    let [one, two] = followers.map(followed);
    assert_eq!(one, two, "both followers print the same");
    let records: Vec<u64> = one.iter().map(|(seq, ..)| *seq).collect();
    let all: Vec<u64> = (1..=log.lines.len() as u64).collect();
    assert_eq!(records, all, "every record, once and in order");
    terminal.wait_scrolled("End of turn 30.");
    let shown = terminal.scrollback();
    let ends = (1..=TURNS).map(|turn| format!("End of turn {turn}."));
    let places: Vec<_> = ends
        .map(|end| {
            assert_eq!(shown.matches(&end).count(), 1, "{end} once in\n{shown}");
            shown.find(&end)
        })
        .collect();
    assert!(places.is_sorted(), "in order in\n{shown}");

    let ended = log.bodies().into_iter().find_map(|body| match body {
        Body::GoalEnded(ended) => Some(ended),
        _ => None,
    });
    let ended = ended.expect("the end of the goal");
    assert_eq!(
        (ended.outcome, ended.turns),
        (GoalOutcome::Complete, TURNS as u64)
    );
    let ran = std::fs::read_to_string(house.project().join("ran")).expect("it ran");
    let mut ran: Vec<&str> = ran.lines().collect();
    ran.sort_unstable();
    let turns = (1..TURNS).filter(|turn| ![AGENTS, QUESTION].contains(turn));
    let turns = turns.map(|turn| format!("turn {turn}"));
    let children = (0..2).map(|number| format!("child {number}"));
    let mut expected: Vec<String> = turns.chain(children).collect();
    expected.sort_unstable();
    assert_eq!(ran, expected, "each command ran once");
    assert!(house.project().join("reasonix.toml").exists());
    let logs = house.logs();
    assert_eq!(logs.len(), 3, "no sub-agent started twice");
    assert_eq!(spent(&house), json!(billed(&logs)));
    model.assert_strict();
}
