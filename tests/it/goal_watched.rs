//! A goal of thirty turns with two sub-agents, watched by two programs and two interfaces, while its question is answered
//! from another terminal, the daemon is killed twice, and another build takes its place in a turn: all see the same,
//! nothing runs twice, and the bill is right.

use proto::record::GoalOutcome;
use proto::{Body, Pid};
use rustix::process::Signal;
use serde_json::{Value, json};
use testkit::model::{Answer, Gate, Model, Place, Request, Script, Usage};
use tests::house::next_daemon_program;
use tests::log::Log;
use tests::program::Running;
use tests::{House, NEXT_VERSION, Terminal, until};

use crate::scripted::house;

const TURNS: usize = 30;
/// Turns that do something else than run a command.
const AGENTS: usize = 5;
/// The turn in whose first answer another build takes over.
const REPLACED: usize = 3;
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

/// Holds answers until the test lets them go.
#[derive(Clone, Default)]
struct Gates {
    replaced: Gate,
    killed: Gate,
}

/// The first answer of a turn of the goal.
fn works(turn: usize, gates: &Gates) -> Answer {
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
        REPLACED => bash("echo turn 3 >> ran").held(Place::Middle, &gates.replaced),
        HELD => bash("echo turn 20 >> ran").held(Place::Before, &gates.killed),
        TURNS => Answer::call(
            "update_goal",
            json!({"status": "complete", "summary": "done", "evidence": "the file `ran`"}),
        ),
        turn => bash(&format!("echo turn {turn} >> ran")),
    }
}

fn answer(request: &Request, gates: &Gates) -> Answer {
    let answer = match agent_of(request) {
        Some(number) if request.results().is_empty() => {
            bash(&format!("echo child {number} >> ran"))
        }
        Some(number) => Answer::text(format!("child {number}")),
        None => {
            // Each turn has two answers: one that works, and one in words.
            let (turn, step) = (request.answered() / 2 + 1, request.answered() % 2);
            match step {
                0 => works(turn, gates),
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

/// Has another build take the daemon's place while an answer is on its way.
fn replaced(house: &House, held: &Gate) {
    until("the answer that is held", || {
        held.is_reached().then_some(())
    });
    let mut restart = house.command(&["daemon", "restart"]);
    restart.env("REASONIX_DAEMON", next_daemon_program());
    let restarting = Running::start(&mut restart);
    restarting.err_line("the hand-over", |line| line.contains("session 1"));
    held.open();
    let _ = restarting.done().expect_code(0);
    assert_eq!(version(house), NEXT_VERSION);
}

/// The version of the daemon that answers.
fn version(house: &House) -> Value {
    let status = house.reasonix(&["daemon", "status", "--json"]);
    status.expect_code(0).json()["version"].clone()
}

#[test]
fn goal_of_thirty_turns_is_the_same_for_all_watchers_through_two_kills_and_an_upgrade() {
    let gates = Gates::default();
    let script_gates = gates.clone();
    let model = Model::start(Script::by(move |request| answer(request, &script_gates)));
    let house = house(&model);
    house.turn_off_sandbox();
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
    let sizes = [(100, 40), (80, 24)];
    let terminals =
        sizes.map(|(columns, rows)| Terminal::reasonix(&house, &["attach", "1"], columns, rows));
    let question = || {
        until("the question", || {
            let listed = house.reasonix(&["inbox", "-q"]).expect_code(0).out;
            listed.lines().next().map(str::to_owned)
        })
    };
    assert_eq!(version(&house), proto::VERSION);
    replaced(&house, &gates.replaced);
    question();
    house.kill_daemon();
    house.wait_for_daemon();
    let allowed = house.reasonix(&["inbox", "allow", &question()]);
    let _ = allowed.expect_code(0);
    until("the request that is held", || {
        gates.killed.is_reached().then_some(())
    });
    house.kill_daemon();
    gates.killed.open();
    house.wait_for_daemon();
    assert_eq!(
        version(&house),
        NEXT_VERSION,
        "the parent is of that build too"
    );
    let _ = house.reasonix(&["wait", "1"]).expect_code(0);

    let log = house.log(Pid(1));
    let [one, two] = followers.map(followed);
    assert_eq!(one, two, "both followers print the same");
    let records: Vec<u64> = one.iter().map(|(seq, ..)| *seq).collect();
    let all: Vec<u64> = (1..=log.lines.len() as u64).collect();
    assert_eq!(records, all, "every record, once and in order");
    for terminal in terminals {
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
    }

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
    let made_by = logs.iter().map(|log| match log.bodies().first() {
        Some(Body::SessionCreated(created)) => created.version.clone(),
        _ => String::new(),
    });
    let made_by: Vec<_> = made_by.collect();
    let wanted = [proto::VERSION, NEXT_VERSION, NEXT_VERSION];
    assert_eq!(made_by, wanted, "the sub-agents came after the upgrade");
    assert_eq!(spent(&house), json!(billed(&logs)));
    // Two answers a turn, and two for each sub-agent. The one that was cut off was asked for again, and is not paid twice.
    let answers = 2 * TURNS as u64 + 2 * 2;
    assert_eq!(billed(&logs), answers * (USAGE.prompt + USAGE.output));
    model.assert_strict();
}
