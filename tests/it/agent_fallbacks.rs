//! Fallback agents with the real programs: one works on the task of an agent that failed, once, also after the death of
//! the daemon, and never after a denial or a stop.

use proto::hello::Role;
use proto::{Body, Pid};
use serde_json::json;
use testkit::model::{Answer, Fault, Gate, Model, Place, Request, Script};
use tests::log::Log;
use tests::{House, until};

use crate::scripted::{house, run};

/// Two definitions: the second is the fallback of the first.
const AGENTS: &str = "//- .reasonix/agents/first.md\n---\ndescription: Works\nfallback: second\n---\nYou are FIRST.\n//- .reasonix/agents/second.md\n---\ndescription: Works too\n---\nYou are SECOND.\n";

/// Who asks: by the system prompt of its session.
fn asks(request: &Request, name: &str) -> bool {
    let system = request.messages()[0]["content"].as_str();
    system.is_some_and(|system| system.contains(&format!("You are {name}.")))
}

fn task(background: bool) -> Answer {
    let task =
        json!({"agent": "first", "prompt": "CHILD", "description": "x", "background": background});
    Answer::call("task", task)
}

/// A parent that gives a task to `first`; the two agents answer so.
fn model(
    background: bool,
    first: impl Fn() -> Answer + Send + 'static,
    second: impl Fn() -> Answer + Send + 'static,
) -> Model {
    Model::start(Script::by(move |request| {
        if asks(request, "FIRST") {
            return first();
        }
        if asks(request, "SECOND") {
            return second();
        }
        match request.results().len() {
            0 => task(background),
            _ => Answer::text("The parent is done."),
        }
    }))
}

fn fails() -> Answer {
    Answer::text("never").fault(Fault::refusal(400, "no such thing", ""))
}

/// The names of the sub-agents, in the order of their pids.
fn agents(house: &House) -> Vec<String> {
    let logs = house.logs().into_iter();
    let agents = logs.filter_map(|log: Log| log.created().agent);
    agents.map(|agent| agent.name).collect()
}

fn notices(house: &House) -> Vec<String> {
    let bodies = house.log(Pid(1)).bodies().into_iter();
    let notices = bodies.filter_map(|body| match body {
        Body::Notice(notice) => Some(notice.text),
        _ => None,
    });
    notices.filter(|text| text.contains("fallback")).collect()
}

/// A request does not wait for the disk.
fn logs_can_be_read(house: &House) -> bool {
    let sessions = std::fs::read_dir(house.home().join("sessions"));
    let mut logs = sessions.into_iter().flatten().flatten();
    logs.all(|entry| {
        let log = std::fs::metadata(entry.path().join("log.jsonl"));
        log.is_ok_and(|log| log.len() > 0)
    })
}

/// How many requests came from the session of an agent.
fn count(model: &Model, name: &str) -> usize {
    let requests = model.requests();
    requests
        .iter()
        .filter(|request| asks(request, name))
        .count()
}

#[test]
fn fallback_works_on_the_same_task_and_the_parent_is_told_who_answered() {
    let model = model(false, fails, || Answer::text("It is blue."));
    let house = house(&model);
    house.files(AGENTS);
    let ran = run(&house, &[], "PARENT").expect(0, "completed");
    assert_eq!(ran.text(), "The parent is done.");
    let last = model.requests().pop().expect("the parent's last request");
    let result = last.results().remove(0).1;
    assert!(result.starts_with("The agent `first` failed: "), "{result}");
    assert!(result.contains("no such thing"), "{result}");
    let answer = "The fallback agent `second` worked on the same task:\n\nIt is blue.";
    assert!(result.ends_with(answer), "{result}");
    assert_eq!(agents(&house), ["first", "second"]);
    let notices = notices(&house);
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(
        notices[0].contains("its fallback `second` works on the task as session 3"),
        "{notices:?}"
    );
    let second = model
        .requests()
        .into_iter()
        .find(|request| asks(request, "SECOND"));
    let second = second.expect("a request of the fallback");
    assert!(
        second.last_text().contains("CHILD"),
        "{}",
        second.last_text()
    );
    assert_eq!(house.log(Pid(1)).count("agent.finished"), 2);
    model.assert_strict();
}

#[test]
fn agent_that_answers_needs_no_fallback_and_two_that_fail_are_both_named() {
    let model = model(false, || Answer::text("It is red."), fails);
    let house = house(&model);
    house.files(AGENTS);
    run(&house, &[], "PARENT").expect(0, "completed");
    assert_eq!(agents(&house), ["first"]);
    assert_eq!(notices(&house), Vec::<String>::new());

    let model = self::model(false, fails, fails);
    let house = crate::scripted::house(&model);
    house.files(AGENTS);
    run(&house, &[], "PARENT").expect(0, "completed");
    let last = model.requests().pop().expect("the parent's last request");
    let result = last.results().remove(0).1;
    assert!(result.starts_with("The agent `first` failed: "), "{result}");
    assert!(
        result.contains("The agent `second` gave no answer: "),
        "{result}"
    );
    assert_eq!((count(&model, "FIRST"), count(&model, "SECOND")), (1, 1));
}

#[test]
fn denied_agent_has_no_fallback() {
    let model = Model::start(Script::by(|request| {
        let results = request.results().len();
        match (asks(request, "FIRST"), results) {
            (true, 0) => Answer::call("bash", json!({"command": "echo no > made"})),
            (true, _) => Answer::text("I could not."),
            (false, 0) => task(false),
            (false, _) => Answer::text("The parent is done."),
        }
    }));
    let house = house(&model);
    house.files(AGENTS);
    let _ = run(&house, &["--on-ask", "deny"], "PARENT");
    assert_eq!(agents(&house), ["first"]);
    assert!(!house.project().join("made").exists());
}

#[test]
fn killed_daemon_finds_the_fallback_again_and_asks_no_agent_twice() {
    for background in [false, true] {
        let gate = Gate::new();
        let held = gate.clone();
        let model = model(background, fails, move || {
            Answer::text("It is blue.").held(Place::Before, &held)
        });
        let house = house(&model);
        house.files(AGENTS);
        let mut raw = house.raw_as(Role::Drive);
        let mut params = house.create("PARENT");
        // A headless parent ends its agents in the background with its turn.
        params.options.kind = Some(match background {
            true => proto::state::Kind::Interactive,
            false => proto::state::Kind::Headless,
        });
        let params = serde_json::to_value(params).expect("JSON");
        raw.call("session.create", &params).expect("create");
        until("the fallback at work", || {
            let at_work = gate.is_reached() && logs_can_be_read(&house);
            (at_work && notices(&house).len() == 1).then_some(())
        });
        house.kill_daemon_and_parent();
        house.daemon();
        until("the fallback to be asked again", || {
            (count(&model, "SECOND") == 2).then_some(())
        });
        gate.open();
        let result = until("the answer of the fallback", || {
            let log = house.log(Pid(1));
            let brought = log.bodies().into_iter().find_map(|body| match body {
                Body::PromptQueued(prompt) if prompt.from.is_some() => Some(prompt.text),
                Body::Tool(message) if !background => Some(message.text),
                _ => None,
            });
            brought.filter(|text| text.contains("It is blue."))
        });
        assert!(result.contains("The agent `first` failed: "), "{result}");
        assert!(result.contains("fallback agent `second`"), "{result}");
        assert_eq!(count(&model, "FIRST"), 1);
        assert_eq!(agents(&house), ["first", "second"]);
        assert_eq!(notices(&house).len(), 1);
        until("the end of both agents in the parent's log", || {
            (house.log(Pid(1)).count("agent.finished") >= 2).then_some(())
        });
    }
}
