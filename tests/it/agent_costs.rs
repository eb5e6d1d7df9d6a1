//! The cost of sub-agents and planners, where clients show that of a session or of a run.

use serde_json::{Value, json};
use testkit::model::{Answer, Gate, Model, Place, Request, Script, Usage};
use tests::{House, Terminal, until};

use crate::scripted::FAST_RETRIES;

/// What each request takes: 1,000 tokens, and with the price of `house` $0.001.
const USAGE: Usage = Usage {
    prompt: 900,
    cached: 0,
    output: 100,
    reasoning: 0,
};

fn house(model: &Model, settings: &str) -> House {
    let house = House::new();
    let entry = model.entry("model", None);
    house.config_text(&format!(
        "{FAST_RETRIES}{settings}\n[[providers]]\n{entry}price = {{ input = 1, output = 1 }}\n"
    ));
    house.daemon();
    house
}

fn is_parent(request: &Request) -> bool {
    let mut messages = request.messages().iter();
    let first = messages.find(|message| message["role"] == "user");
    first.is_some_and(|first| first.to_string().contains("PARENT"))
}

/// A session of three requests, of which its sub-agent makes one; `held`: that one waits.
fn with_agent(held: Option<Gate>) -> Model {
    Model::start(Script::by(move |request: &Request| {
        let answer = match (is_parent(request), request.results().len()) {
            (true, 0) => Answer::call(
                "task",
                json!({"agent": "explore", "prompt": "CHILD", "description": "x"}),
            ),
            (true, _) => Answer::text("The parent is done."),
            (false, _) => Answer::text("The child is done."),
        };
        let answer = answer.usage(USAGE);
        match &held {
            Some(gate) if is_parent(request) && !request.results().is_empty() => {
                answer.held(Place::Before, gate)
            }
            _ => answer,
        }
    }))
}

/// Requests and cost, in millionths of a dollar.
fn spent(usage: &Value) -> (u64, u64) {
    let number = |name: &str| usage[name].as_u64().unwrap_or_default();
    (number("steps"), number("cost_micros"))
}

#[test]
fn result_of_a_run_and_lists_have_the_cost_of_its_sub_agents() {
    let model = with_agent(None);
    let house = house(&model, "");
    let result = house
        .reasonix(&["run", "--json", "PARENT"])
        .expect_code(0)
        .json();
    assert_eq!(result["usage"]["requests"], 2, "its own: {result}");
    assert_eq!(spent(&result["tree_usage"]), (3, 3_000), "{result}");
    assert_eq!(result["cost_usd"], 0.003, "{result}");
    let shown = house
        .reasonix(&["show", "--json", "1"])
        .expect_code(0)
        .json();
    assert_eq!(shown["usage"]["cost_micros"], 2_000, "{shown}");
    assert_eq!(spent(&shown["tree_usage"]), (3, 3_000), "{shown}");
    let shown = house.reasonix(&["show", "1"]).expect_code(0).out;
    assert!(
        shown.contains("$0.0020, $0.0030 with sub-agents"),
        "{shown}"
    );
    // The sub-agent has none below it.
    let shown = house
        .reasonix(&["show", "--json", "2"])
        .expect_code(0)
        .json();
    assert_eq!(shown["tree_usage"], Value::Null, "{shown}");
    let rows = house.reasonix(&["-v", "ps", "-a"]).expect_code(0).out;
    let row = rows.lines().find(|row| row.starts_with("1 "));
    assert!(row.is_some_and(|row| row.contains("$0.0030")), "{rows}");
    // Whoever lists them later, from the catalog, reads the same.
    house.stop_daemon();
    house.daemon();
    let shown = house
        .reasonix(&["show", "--json", "1"])
        .expect_code(0)
        .json();
    assert_eq!(spent(&shown["tree_usage"]), (3, 3_000), "{shown}");
    // A later turn without sub-agents has its own cost alone, and the session the sum.
    let result = house
        .reasonix(&["run", "--json", "-s", "1", "MORE"])
        .expect_code(0)
        .json();
    assert_eq!(
        (&result["cost_usd"], &result["tree_usage"]),
        (&json!(0.001), &Value::Null)
    );
    let shown = house
        .reasonix(&["show", "--json", "1"])
        .expect_code(0)
        .json();
    assert_eq!(spent(&shown["tree_usage"]), (4, 4_000), "{shown}");
}

#[test]
fn cost_of_a_planner_is_a_part_of_its_session() {
    let model = Model::start(Script::by(|_: &Request| {
        Answer::text("Read a.txt.").usage(USAGE)
    }));
    let house = house(&model, "[agent]\nplanner_model = \"model\"\n");
    let result = house
        .reasonix(&["run", "--json", "Explain the project to me."])
        .expect_code(0)
        .json();
    assert_eq!(result["usage"]["requests"], 1, "{result}");
    assert_eq!(spent(&result["tree_usage"]), (2, 2_000), "{result}");
    assert_eq!(result["cost_usd"], 0.002, "{result}");
}

#[test]
fn cost_on_the_screen_grows_with_what_sub_agents_use() {
    let gate = Gate::new();
    let model = with_agent(Some(gate.clone()));
    let house = house(&model, "");
    let started = house.reasonix(&["run", "--detach", "PARENT"]);
    let _ = started.expect_code(0);
    until("the last request", || gate.is_reached().then_some(()));
    // Its own request and that of its sub-agent, while the turn runs.
    let terminal = Terminal::reasonix(&house, &["attach", "1"], 140, 30);
    terminal.wait_text("$0.0020");
    let listed = house.reasonix(&["ps", "--json"]).expect_code(0).json();
    let parent = &listed["processes"][0];
    assert_eq!(spent(&parent["tree_usage"]), (2, 2_000), "{parent}");
    gate.open();
    terminal.wait_text("$0.0030");
}
