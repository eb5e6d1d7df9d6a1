//! Questions of sub-agents in `run` and in `attach --plain`: they are those of the session that is open there.

use proto::item::CallStatus;
use proto::{Body, Pid};
use serde_json::{Value, json};
use testkit::model::{Answer, Gate, Model, Place, Request, Script};
use tests::terminal::Terminal;
use tests::wait::pace;
use tests::{House, until};

use crate::scripted::{FAST_RETRIES, RunOutput};

/// Whether a request is of the session whose first prompt has these words.
fn is_of(request: &Request, words: &str) -> bool {
    let mut messages = request.messages().iter();
    let first = messages.find(|message| message["role"] == "user");
    let first = first.and_then(|message| message["content"].as_str());
    first.is_some_and(|text| text.contains(words))
}

/// Answers with a task for an agent, as a sub-agent of which `CHILD` works.
fn task(background: bool) -> Answer {
    Answer::text("I have it done.").and_call(
        "task",
        json!({"agent": "general", "prompt": "CHILD", "description": "a piece", "background": background}),
    )
}

/// A model whose session `PARENT` has a sub-agent do these calls, one after the other.
fn parent_of(calls: Vec<(&'static str, Value)>) -> Model {
    Model::start(Script::by(move |request| {
        let results = request.results();
        match (is_of(request, "PARENT"), results.len()) {
            (true, 0) => task(false),
            (true, _) => Answer::text("The parent is done."),
            (false, count) => match calls.get(count) {
                Some((tool, arguments)) => Answer::call(tool, arguments.clone()),
                None => Answer::text("The child is done."),
            },
        }
    }))
}

fn touching() -> Model {
    parent_of(vec![("bash", json!({"command": "touch made"}))])
}

/// A house without a sandbox, so that commands are asked about.
fn house(model: &Model) -> House {
    let house = House::new();
    house.settings(&format!("{FAST_RETRIES}[sandbox]\nbash = \"off\"\n"));
    house.provider(&model.entry("model", None));
    house.daemon();
    house
}

fn child_log(house: &House) -> tests::log::Log {
    let mut logs = house.logs().into_iter();
    logs.find(|log| log.created().agent.is_some())
        .expect("a sub-agent")
}

/// The number of the open question, once there is one.
fn question(house: &House) -> String {
    until("a question in the inbox", || {
        let listed = house.reasonix(&["inbox", "-q"]).expect_code(0).out;
        listed.lines().next().map(str::to_owned)
    })
}

#[test]
fn run_at_a_terminal_asks_what_its_sub_agent_asks() {
    let model = touching();
    let house = house(&model);
    let mut terminal = Terminal::reasonix(&house, &["run", "PARENT"], 120, 40);
    terminal.wait_text("asked by the sub-agent general (session 2)");
    terminal.wait_text("touch made");
    // Input typed before the question does not count.
    pace(std::time::Instant::now() + std::time::Duration::from_millis(50));
    terminal.type_text("y\n");
    terminal.wait_text("The parent is done.");
    assert_eq!(terminal.exit_code(), 0);
    assert!(house.project().join("made").exists());
    let log = child_log(&house);
    assert!(log.check().resolved()[0].answer.is_some());
}

#[test]
fn question_of_a_sub_agent_answered_elsewhere_leaves_the_terminal_of_the_run() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => task(false),
            (true, _) => Answer::text("The parent is done.").held(Place::Before, &held),
            (false, 0) => Answer::call("bash", json!({"command": "touch made"})),
            (false, _) => Answer::text("The child is done."),
        }
    }));
    let house = house(&model);
    let mut terminal = Terminal::reasonix(&house, &["run", "PARENT"], 120, 40);
    terminal.wait_text("asked by the sub-agent general (session 2)");
    let id = question(&house);
    let _ = house.reasonix(&["inbox", "allow", &id]).expect_code(0);
    terminal.wait_text("the question of sub-agent 2 is no longer open");
    gate.open();
    terminal.wait_text("The parent is done.");
    assert_eq!(terminal.exit_code(), 0);
}

#[test]
fn sub_agents_stop_waiting_when_the_last_user_of_the_session_above_leaves() {
    let model = touching();
    let house = house(&model);
    let mut terminal = Terminal::reasonix(&house, &["run", "PARENT"], 120, 40);
    terminal.wait_text("asked by the sub-agent general (session 2)");
    terminal.hang_up();
    let waited = house.reasonix(&["wait", "1"]);
    assert_eq!(waited.code(), Some(3), "{waited:?}");
    let log = child_log(&house);
    let resolved = &log.check().resolved()[0];
    assert_eq!((&resolved.answer, resolved.unattended), (&None, true));
    assert_eq!(log.results()[0].status, CallStatus::Denied);
    assert!(!house.project().join("made").exists());
}

#[test]
fn run_that_waits_shows_the_question_of_its_sub_agent() {
    let model = touching();
    let house = house(&model);
    let running = house.start(&["run", "--on-ask", "wait", "PARENT"]);
    running.err_line("who asks", |line| {
        line.contains("asked by the sub-agent general (session 2)")
    });
    running.err_line("the question", |line| {
        line == "? allow `bash` to run? [2.1]"
    });
    running.err_line("the command", |line| line == "? touch made");
    let _ = house.reasonix(&["inbox", "allow", "2.1"]).expect_code(0);
    let done = running.done().expect_code(0);
    assert_eq!(done.out, "The parent is done.\n");
}

#[test]
fn run_that_parks_leaves_with_the_question_of_its_sub_agent() {
    let model = touching();
    let house = house(&model);
    let parked = house.reasonix(&["run", "--on-ask", "park", "PARENT"]);
    let parked = parked.expect_code(75);
    assert_eq!(parked.out, "1\n", "the session to come back to");
    let waiting = house.start(&["wait", "1"]);
    let _ = house
        .reasonix(&["inbox", "allow", &question(&house)])
        .expect_code(0);
    let _ = waiting.done().expect_code(0);
    assert!(house.project().join("made").exists());
}

#[test]
fn lines_answer_the_question_of_a_sub_agent() {
    let model = touching();
    let house = house(&model);
    let mut running = house.start(&["run", "--input-format", "jsonl"]);
    running.say("{\"kind\":\"prompt\",\"text\":\"PARENT\"}\n");
    let line = running.line("the question", |line| {
        line.contains("\"kind\":\"interaction.opened\"")
    });
    let event: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(
        (&event["session"], &event["agent"]),
        (&json!(2), &json!("general"))
    );
    assert_eq!(
        event["seq"],
        Value::Null,
        "it is no event of the run's own log"
    );
    assert_eq!(event["data"]["request"]["subject"], "touch made");
    let id = &event["data"]["interaction_id"];
    let answer = json!({"kind": "answer", "id": id, "decision": "allow_once"});
    running.say(&format!("{answer}\n"));
    running.line("its end", |line| {
        line.contains("\"kind\":\"interaction.closed\"") && line.contains("2.1")
    });
    running.hang_up();
    let ran = RunOutput::of(&running.done()).expect(0, "completed");
    assert_eq!(ran.text(), "The parent is done.");
    assert!(house.project().join("made").exists());
}

/// The denied calls in the result of a run.
fn denied(result: &Value) -> Vec<(&str, &str, Option<u64>, &str)> {
    let denied = result["denied"].as_array().expect("a list").iter();
    let fields = denied.map(|denied| {
        let text = |name: &str| denied[name].as_str().unwrap_or_default();
        let agent = &denied["agent"];
        let session = agent["session"].as_u64();
        let name = agent["name"].as_str().unwrap_or_default();
        (text("tool"), text("subject"), session, name)
    });
    fields.collect()
}

#[test]
fn denial_that_stops_a_sub_agent_blocks_the_run_and_names_the_rule() {
    let model = touching();
    let house = house(&model);
    let done = house.reasonix(&["run", "--output-format", "json", "PARENT"]);
    let result = done.expect_code(3).json();
    assert_eq!(
        (&result["outcome"], &result["reason"]),
        (&json!("blocked"), &json!("denied"))
    );
    assert_eq!(
        denied(&result),
        [("bash", "touch made", Some(2), "general")]
    );
    let why = result["denied"][0]["why"].as_str().unwrap_or_default();
    assert!(why.contains("--allow 'Bash(touch"), "{why}");
    // A user reads the same.
    let done = house
        .reasonix(&["run", "--on-ask", "deny", "PARENT"])
        .expect_code(3);
    let said = "denied to the sub-agent general (session 4): bash touch made";
    assert!(done.err.contains(said), "{done:?}");
    // With the rule it goes through.
    let _ = house
        .reasonix(&["run", "--allow", "Bash(touch:*)", "PARENT"])
        .expect_code(0);
    assert!(house.project().join("made").exists());
}

#[test]
fn denial_that_did_not_stop_the_sub_agent_is_still_reported_by_the_run() {
    let model = parent_of(vec![
        ("bash", json!({"command": "touch made"})),
        ("write_file", json!({"path": "made", "content": "x"})),
    ]);
    let house = house(&model);
    let done = house.reasonix(&["run", "--output-format", "json", "PARENT"]);
    let result = done.expect_code(0).json();
    assert_eq!(result["outcome"], "completed");
    assert_eq!(
        denied(&result),
        [("bash", "touch made", Some(2), "general")]
    );
    assert_eq!(house.read("made"), "x");
    let finished = house.log(Pid(1)).bodies().into_iter();
    let mut finished = finished.filter_map(|body| match body {
        Body::AgentFinished(finished) => Some((finished.denied.len(), finished.blocked)),
        _ => None,
    });
    assert_eq!(finished.next(), Some((1, false)));
}

#[test]
fn plain_attach_asks_what_a_sub_agent_below_asks() {
    let model = touching();
    let house = house(&model);
    let started = house.reasonix(&["run", "--detach", "--on-ask", "wait", "PARENT"]);
    assert_eq!(started.expect_code(0).out, "1\n");
    let mut attached = house.start(&["attach", "--plain", "1"]);
    attached.line("who asks", |line| {
        line.contains("asked by the sub-agent general (session 2)")
    });
    attached.line("the question", |line| line.contains("touch made"));
    attached.line("how to answer", |line| line.contains("`y` allows it once"));
    attached.say("y\n");
    attached.line("the answer", |line| line.contains("The parent is done."));
    attached.say("/quit\n");
    let _ = attached.done().expect_code(0);
    assert!(house.project().join("made").exists());
}

/// A parent whose two agents each ask about a file of their own.
fn two_touching() -> Model {
    Model::start(Script::by(|request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => {
                let part = |words: &str| json!({"agent": "general", "prompt": words, "description": "a piece"});
                Answer::text("I have it done.")
                    .and_call("task", part("CHILD one"))
                    .and_call("task", part("CHILD two"))
            }
            (true, _) => Answer::text("The parent is done."),
            (false, 0) => {
                let name = if is_of(request, "one") { "one" } else { "two" };
                Answer::call("bash", json!({"command": format!("touch {name}")}))
            }
            (false, _) => Answer::text("The child is done."),
        }
    }))
}

/// The number of the question about a file, when it is asked.
fn question_about(house: &House, name: &str) -> String {
    let subject = format!("touch {name}");
    until("the question", || {
        let listed = house.reasonix(&["inbox", "--json"]).expect_code(0).json();
        let open = listed.as_array().expect("a list").iter();
        let mut open = open.filter(|open| open["request"]["subject"] == subject);
        let id = open.next()?["interaction_id"].as_str();
        id.map(str::to_owned)
    })
}

#[test]
fn plain_attach_asks_one_question_at_a_time_and_a_word_answers_the_shown_one() {
    let model = two_touching();
    let house = house(&model);
    let started = house.reasonix(&["run", "--detach", "--on-ask", "wait", "PARENT"]);
    let _ = started.expect_code(0);
    let mut attached = house.start(&["attach", "--plain", "1"]);
    let shown = |line: &str| line.strip_prefix("? touch ").map(str::to_owned);
    let first = attached.line("a question", |line| shown(line).is_some());
    let first = shown(&first).expect("a name");
    // Both are asked now.
    let _ = (question_about(&house, "one"), question_about(&house, "two"));
    attached.say("y\n");
    let second = attached.line("the other question", |line| {
        shown(line).is_some_and(|name| name != first)
    });
    let second = shown(&second).expect("a name");
    assert_ne!(first, second);
    until("the file", || {
        house.project().join(&first).exists().then_some(())
    });
    assert!(!house.project().join(&second).exists());
    attached.say("n\n");
    attached.line("the answer", |line| line.contains("The parent is done."));
    attached.say("/quit\n");
    let _ = attached.done().expect_code(0);
    assert!(!house.project().join(&second).exists());
}

#[test]
fn plain_attach_names_one_of_two_sub_agents_by_its_question() {
    let model = two_touching();
    let house = house(&model);
    let started = house.reasonix(&["run", "--detach", "--on-ask", "wait", "PARENT"]);
    let _ = started.expect_code(0);
    let mut attached = house.start(&["attach", "--plain", "1"]);
    let shown = |line: &str| line.strip_prefix("? touch ").map(str::to_owned);
    let first = attached.line("a question", |line| shown(line).is_some());
    let first = shown(&first).expect("a name");
    let second = if first == "one" { "two" } else { "one" };
    let (first_id, second_id) = (
        question_about(&house, &first),
        question_about(&house, second),
    );
    // One that was not shown yet is shown, and answered only then; the other is denied elsewhere.
    let approve = format!("/approve {second_id}\n");
    attached.say(&approve);
    attached.line("the other question", |line| {
        shown(line).as_deref() == Some(second)
    });
    assert!(!house.project().join(second).exists());
    attached.say(&approve);
    until("the file", || {
        house.project().join(second).exists().then_some(())
    });
    let _ = house.reasonix(&["inbox", "deny", &first_id]).expect_code(0);
    attached.line("the answer", |line| line.contains("The parent is done."));
    attached.say("/quit\n");
    let _ = attached.done().expect_code(0);
    assert!(!house.project().join(&first).exists());
}
