//! Sub-agents with the real programs: what they do, may do and cost, and what becomes of them with their parent.

use proto::hello::Role;
use proto::state::State;
use proto::{Body, Pid};
use serde_json::{Value, json};
use testkit::model::{Answer, Gate, Model, Place, Request, Script, Usage};
use tests::log::Log;
use tests::{House, Raw, skip, until};

use crate::mcp::{faulty, servers};
use crate::scripted::{FAST_RETRIES, RunOutput, house, run};
use crate::short_sessions::held;

/// First prompt of the session that sent the request.
fn first_prompt(request: &Request) -> String {
    let mut messages = request.messages().iter();
    let first = messages.find(|message| message["role"] == "user");
    let first = first.and_then(|message| message["content"].as_str());
    first.unwrap_or_default().to_owned()
}

/// Whether a request is of a session whose first prompt has these words.
fn is_of(request: &Request, words: &str) -> bool {
    first_prompt(request).contains(words)
}

fn task(agent: &str, prompt: &str) -> Value {
    json!({"agent": agent, "prompt": prompt, "description": "a piece of work"})
}

/// An answer that gives tasks to agents.
fn tasks<'a>(tasks: impl IntoIterator<Item = (&'a str, String)>) -> Answer {
    let mut answer = Answer::text("I have it done.");
    for (agent, prompt) in tasks {
        answer = answer.and_call("task", task(agent, &prompt));
    }
    answer
}

/// Children by their logs, in the order of their pids.
fn children(house: &House) -> Vec<Log> {
    let logs = house.logs().into_iter();
    logs.filter(|log| log.created().agent.is_some()).collect()
}

fn exited(log: &Log) -> bool {
    log.count("session.exited") == 1
}

#[test]
fn only_the_last_answer_of_an_agent_comes_back() {
    let model = Model::start(Script::by(|request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => tasks([("explore", "CHILD: what is in a.txt?".to_owned())]),
            (true, _) => Answer::text("The parent knows."),
            (false, 0) => {
                Answer::text("Let me look.").and_call("read_file", json!({"path": "a.txt"}))
            }
            (false, _) => Answer::text("It says: blue."),
        }
    }));
    let house = house(&model);
    house.files("//- a.txt\nblue\n//- AGENTS.md\nBe kind.\n");
    let ran = run(&house, &[], "PARENT").expect(0, "completed");
    model.assert_strict();
    assert_eq!(ran.text(), "The parent knows.");
    let requests = model.requests();
    assert_eq!(requests.len(), 4);
    let last = &requests[3];
    let results = last.results();
    assert_eq!(results.len(), 1, "one result: {results:?}");
    assert_eq!(results[0].1, "It says: blue.");
    assert!(!last.json.to_string().contains("Let me look"));
    // The child's own prefix: the agent's prompt, the project's instructions, its tools and no others.
    let child = &requests[1];
    let system = child.messages()[0]["content"]
        .as_str()
        .expect("a system prompt");
    assert!(system.contains("You look things up"), "{system}");
    assert!(system.contains("Be kind."), "{system}");
    let tools = child.json["tools"].as_array().expect("tools");
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert_eq!(
        names,
        [Some("glob"), Some("grep"), Some("ls"), Some("read_file")]
    );
    // Its log says whose it is, and the parent's what it used.
    let [child] = &children(&house)[..] else {
        panic!("one child")
    };
    let created = child.created();
    let agent = created.agent.clone().expect("an agent");
    assert_eq!(
        (created.ppid, agent.depth, &*agent.name),
        (Pid(1), 1, "explore")
    );
    assert!(exited(child));
    let finished = house
        .log(Pid(1))
        .bodies()
        .into_iter()
        .find_map(|body| match body {
            Body::AgentFinished(finished) => Some(finished),
            _ => None,
        });
    let finished = finished.expect("the end of the agent");
    assert_eq!((finished.pid, finished.spent.steps), (child.pid(), 2));
}

#[test]
fn ten_agents_work_side_by_side_and_the_eleventh_waits() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => tasks((0..11).map(|number| ("general", format!("CHILD {number}")))),
            (true, _) => Answer::text("All are done."),
            (false, _) => Answer::text(first_prompt(request)).held(Place::Before, &held),
        }
    }));
    let house = house(&model);
    let running = house.start(&["run", "--output-format", "jsonl", "PARENT"]);
    until("ten requests of agents", || {
        (model.count() == 11).then_some(())
    });
    let started = || house.log(Pid(1)).count("tool.started");
    until("the eleventh call", || (started() == 11).then_some(()));
    assert_eq!(children(&house).len(), 10);
    let listed = house.reasonix(&["ps", "--json"]).expect_code(0).out;
    assert_eq!(listed.matches(r#""ppid":1"#).count(), 10, "{listed}");
    assert_eq!(model.count(), 11, "the eleventh has not begun");
    let shown = house.reasonix(&["ps", "--tree"]).expect_code(0).out;
    let rows: Vec<_> = shown.lines().skip(1).take(11).collect();
    assert!(
        rows[0].starts_with("1 ") && !rows[0].contains('└'),
        "{shown}"
    );
    assert!(
        rows[1..]
            .iter()
            .all(|row| row.contains("└ a piece of work")),
        "{shown}"
    );
    gate.open();
    let ran = RunOutput::of(&running.done());
    ran.expect(0, "completed");
    assert_eq!((model.count(), children(&house).len()), (13, 11));
    let results: Vec<_> = house.log(Pid(1)).results();
    assert_eq!(results.len(), 11);
    for (number, result) in results.iter().enumerate() {
        assert!(
            result.text.contains(&format!("CHILD {number}")),
            "{result:?}"
        );
    }
}

#[test]
fn agents_nest_three_deep_and_no_deeper() {
    let model = Model::start(Script::by(|request| {
        let depth = ["PARENT", "FIRST", "SECOND"]
            .iter()
            .position(|words| is_of(request, words));
        match (depth, request.results().len()) {
            (Some(depth), 0) => {
                let next = ["FIRST", "SECOND", "THIRD"][depth];
                tasks([("general", next.to_owned())])
            }
            // It has no such tool, and calls it all the same.
            (None, 0) => tasks([("general", "FOURTH".to_owned())]),
            (_, _) => Answer::text(format!("back: {}", request.results()[0].1)),
        }
    }));
    let house = house(&model);
    run(&house, &[], "PARENT").expect(0, "completed");
    let depths: Vec<_> = children(&house)
        .iter()
        .map(|log| log.created().agent.expect("an agent").depth)
        .collect();
    assert_eq!(depths, [1, 2, 3]);
    let has_task = |request: &Request| request.json["tools"].to_string().contains("\"task\"");
    let requests = model.requests();
    assert!(has_task(&requests[2]) && !has_task(&requests[3]));
    assert!(requests.iter().all(|request| !is_of(request, "FOURTH")));
}

#[test]
fn explore_changes_nothing_by_any_way() {
    let attempts = [
        ("write_file", json!({"path": "made", "content": "x"})),
        (
            "edit_file",
            json!({"path": "a.txt", "old_string": "blue", "new_string": "red"}),
        ),
        (
            "multi_edit",
            json!({"path": "a.txt", "edits": [{"old_string": "blue", "new_string": "red"}]}),
        ),
        ("bash", json!({"command": "touch made"})),
        ("bash", json!({"command": "cat a.txt"})),
        (
            "bash",
            json!({"command": "touch made", "run_in_background": true}),
        ),
        ("tool_search", json!({"query": "delete"})),
        (
            "tool_call",
            json!({"tool": "delete_file", "arguments": {"path": "a.txt"}}),
        ),
        (
            "tool_call",
            json!({"tool": "write_file", "arguments": {"path": "made", "content": "x"}}),
        ),
        ("delete_file", json!({"path": "a.txt"})),
        ("make_dir", json!({"path": "made"})),
        (
            "move_file",
            json!({"source": "a.txt", "destination": "made"}),
        ),
        (
            "copy_file",
            json!({"source": "a.txt", "destination": "made"}),
        ),
        (
            "apply_patch",
            json!({"patch": "*** Begin Patch\n*** Add File: made\n+x\n*** End Patch"}),
        ),
        ("task", task("general", "DEEPER")),
        ("todo_write", json!({"todos": []})),
        ("Write", json!({"file_path": "made", "content": "x"})),
        (
            "Edit",
            json!({"file_path": "a.txt", "old_string": "blue", "new_string": "red"}),
        ),
        ("Bash", json!({"command": "rm a.txt"})),
        ("bash", json!({"command": "sh -c 'echo x > made'"})),
        ("bash", json!({"command": "git init made"})),
        ("Task", task("general", "DEEPER")),
        ("Agent", task("explore", "DEEPER")),
        (
            "task",
            json!({"agent": "general", "prompt": "DEEPER", "description": "x", "background": true}),
        ),
        (
            "tool_call",
            json!({"tool": "bash", "arguments": {"command": "touch made"}}),
        ),
        (
            "tool_call",
            json!({"tool": "session_send", "arguments": {"to": 1, "text": "touch made"}}),
        ),
        ("session_send", json!({"to": 1, "text": "touch made"})),
        ("skill", json!({"name": "any"})),
        ("remember", json!({"text": "made"})),
        ("exit_plan_mode", json!({"plan": "touch made"})),
        ("bash", json!({"command": "ln -s /etc/hostname made"})),
        ("bash", json!({"command": "ln a.txt made"})),
        (
            "write_file",
            json!({"path": "outside/made", "content": "x"}),
        ),
        (
            "copy_file",
            json!({"source": "outside/b.txt", "destination": "made"}),
        ),
        ("mcp__good__add", json!({"a": 2, "b": 3})),
        (
            "tool_call",
            json!({"tool": "mcp__good__add", "arguments": {"a": 2, "b": 3}}),
        ),
    ];
    assert_eq!(attempts.len(), 36);
    // Its own tools run, and what is in their arguments is no command and no file to write.
    let own = [
        ("read_file", json!({"path": "a.txt > made"})),
        ("read_file", json!({"path": "outside/made"})),
        ("ls", json!({"path": "$(touch made)"})),
        ("glob", json!({"pattern": "*; touch made"})),
        (
            "grep",
            json!({"pattern": "blue", "path": ".", "output": "made", "glob": "`touch made`"}),
        ),
    ];
    let tricks = own.clone();
    let calls = attempts.clone();
    let model = Model::start(Script::by(move |request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => tasks([("explore", "CHILD".to_owned())]),
            (true, _) => Answer::text("Done."),
            (false, 0) => {
                let mut answer = Answer::text("I try.");
                for (tool, arguments) in calls.clone() {
                    answer = answer.and_call(tool, arguments);
                }
                answer
            }
            (false, 36) => {
                let mut answer = Answer::text("I try mine.");
                for (tool, arguments) in tricks.clone() {
                    answer = answer.and_call(tool, arguments);
                }
                answer
            }
            (false, _) => Answer::text("Nothing worked."),
        }
    }));
    let house = house(&model);
    servers(&house, &json!({"good": faulty(&["ok"])}));
    house.files("//- a.txt\nblue\n");
    let outside = house.root().join("outside");
    std::fs::create_dir(&outside).expect("a directory");
    std::fs::write(outside.join("b.txt"), "blue\n").expect("a file");
    std::os::unix::fs::symlink(&outside, house.project().join("outside")).expect("a link");
    run(&house, &["--approval-mode", "yolo"], "PARENT").expect(0, "completed");
    let [child] = &children(&house)[..] else {
        panic!("one child")
    };
    let results = child.results();
    assert_eq!(results.len(), attempts.len() + own.len());
    for result in &results[..attempts.len()] {
        assert_eq!(result.status.as_str(), "refused", "{result:?}");
    }
    for directory in [house.project(), outside] {
        let made = directory.join("made");
        assert!(made.symlink_metadata().is_err(), "{}", made.display());
    }
    assert_eq!(
        std::fs::read_to_string(house.project().join("a.txt")).expect("a file"),
        "blue\n"
    );
    assert_eq!(
        model
            .requests()
            .iter()
            .filter(|request| is_of(request, "DEEPER"))
            .count(),
        0
    );
}

/// A built-in agent that only looks may run commands that only look, whatever the approval mode.
#[test]
fn agent_that_only_looks_is_refused_what_changes_anything() {
    let model = Model::start(Script::by(|request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => tasks([("review", "CHILD".to_owned())]),
            (true, _) => Answer::text("Done."),
            (false, 0) => Answer::call("bash", json!({"command": "touch made"}))
                .and_call("bash", json!({"command": "ls"}))
                .and_call("task", task("general", "GRANDCHILD")),
            (false, 1) => Answer::text("Done."),
            (false, _) => Answer::text("Done."),
        }
    }));
    let house = house(&model);
    house.turn_off_sandbox();
    run(&house, &["--approval-mode", "yolo"], "PARENT").expect(0, "completed");
    let children = children(&house);
    let statuses: Vec<_> = children[0]
        .results()
        .iter()
        .map(|result| result.status.as_str())
        .collect();
    assert_eq!(statuses[..2], ["denied", "ok"], "{statuses:?}");
    assert_eq!(
        children[1].created().options.read_only,
        Some(true),
        "it stays so below"
    );
    assert!(!house.project().join("made").exists());
}

#[test]
fn interrupt_of_the_parent_stops_its_agents() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => tasks([
                ("general", "CHILD 1".to_owned()),
                ("general", "CHILD 2".to_owned()),
            ]),
            (true, _) => Answer::text("Never said."),
            (false, _) => Answer::text("Never said.").held(Place::Before, &held),
        }
    }));
    let house = house(&model);
    let mut raw = begin(&house, "PARENT");
    until("requests of both agents", || {
        (model.count() == 3).then_some(())
    });
    raw.call("session.interrupt", &json!({"session": "1"}))
        .expect("interrupt");
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    let children = children(&house);
    assert_eq!(children.len(), 2);
    assert!(children.iter().all(exited), "both have exited");
    let statuses: Vec<_> = house
        .log(Pid(1))
        .results()
        .iter()
        .map(|it| it.status.as_str())
        .collect();
    assert_eq!(statuses, ["interrupted", "interrupted"]);
    assert_eq!(model.count(), 3);
}

/// An interactive session with this prompt.
fn begin(house: &House, prompt: &str) -> Raw {
    let mut raw = house.raw_as(Role::Drive);
    let params = serde_json::to_value(house.create(prompt)).expect("JSON");
    raw.call("session.create", &params).expect("create");
    raw
}

#[test]
fn killed_parent_leaves_no_agent() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request| match is_of(request, "CHILD") {
        false if is_of(request, "PARENT") => tasks([("general", "CHILD".to_owned())]),
        true if request.results().is_empty() => tasks([("general", "GRAND".to_owned())]),
        _ => Answer::text("Never said.").held(Place::Before, &held),
    }));
    let house = house(&model);
    let mut raw = begin(&house, "PARENT");
    until("the grandchild's request", || {
        (model.count() == 3).then_some(())
    });
    raw.call("session.signal", &json!({"session": "1", "signal": "KILL"}))
        .expect("signal");
    until("all to have exited", || {
        let logs = house.logs();
        (logs.len() == 3 && logs.iter().all(exited)).then_some(())
    });
    assert_eq!(model.count(), 3);
}

/// A headless parent goes on after the death of the daemon; each agent with it, and nothing is done twice.
#[test]
fn agents_are_found_again_after_a_kill_of_the_daemon() {
    for moment in 0..4 {
        let gate = Gate::new();
        let held = gate.clone();
        let model = Model::start(Script::by(move |request| {
            let step = request.results().len();
            if is_of(request, "PARENT") {
                return match step {
                    0 => tasks((0..3).map(|number| ("general", format!("CHILD {number}")))),
                    _ => Answer::text("All is done."),
                };
            }
            let number = (0..3).find(|number| is_of(request, &format!("CHILD {number}")));
            let number = number.expect("a child");
            match step {
                // Some are killed before their first answer, some in their second, and one is done by then.
                0 if number < moment => {
                    let command = format!("echo {number} >> made-{number}");
                    Answer::call("bash", json!({"command": command}))
                }
                0 => Answer::text(format!("child {number}")).held(Place::Before, &held),
                _ if number == 0 && moment == 3 => Answer::text("child 0"),
                _ => Answer::text(format!("child {number}")).held(Place::Middle, &held),
            }
        }));
        let house = house(&model);
        house.turn_off_sandbox();
        let mut params = house.create("PARENT");
        params.options.kind = Some(proto::state::Kind::Headless);
        params.options.on_ask = Some(proto::state::OnAsk::Allow);
        let mut raw = house.raw_as(Role::Drive);
        let params = serde_json::to_value(params).expect("JSON");
        raw.call("session.create", &params).expect("create");
        drop(raw);
        let expected = 1 + 3 + moment.min(3);
        until("all agents to be where they are killed", || {
            (model.count() >= expected).then_some(())
        });
        house.kill_daemon();
        gate.open();
        house.wait_for_daemon();
        until("the parent's end", || {
            let log = house.log(Pid(1));
            exited(&log).then_some(())
        });
        let parent = house.log(Pid(1));
        let results = parent.results();
        assert_eq!(results.len(), 3, "moment {moment}: {results:?}");
        for (number, result) in results.iter().enumerate() {
            assert_eq!(result.text, format!("child {number}"), "moment {moment}");
        }
        let children = children(&house);
        assert_eq!(children.len(), 3, "moment {moment}: none was started twice");
        assert!(children.iter().all(exited), "moment {moment}");
        for number in 0..3.min(moment) {
            let made = house.project().join(format!("made-{number}"));
            let made = std::fs::read_to_string(made).expect("a file");
            assert_eq!(made, format!("{number}\n"), "moment {moment}: it ran once");
        }
    }
}

/// An interactive parent waits for its person after a crash: its agents end, and the call says so.
#[test]
fn agents_of_a_parent_that_waits_end_with_the_daemon() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => tasks([("general", "CHILD".to_owned())]),
            (true, _) => Answer::text("Never said."),
            (false, _) => Answer::text("Never said.").held(Place::Before, &held),
        }
    }));
    let house = house(&model);
    drop(begin(&house, "PARENT"));
    until("the agent's request", || (model.count() == 2).then_some(()));
    house.kill_daemon();
    house.wait_for_daemon();
    // The parent writes the result after the agent's end.
    let results = until("the agent's end and the result", || {
        let children = children(&house);
        let results = house.log(Pid(1)).results();
        (children.iter().all(exited) && !results.is_empty()).then_some(results)
    });
    assert_eq!(results.len(), 1, "{results:?}");
    assert_eq!(results[0].status.as_str(), "interrupted");
    assert_eq!(model.count(), 2);
}

/// A kill during the creation of an agent: whatever is there of its log, the call that runs again gets its agent.
#[test]
fn agent_whose_log_was_cut_off_at_its_start_is_created_again() {
    // How much of the log is left: nothing and no directory, a directory, an empty log, half a record, the first record.
    for cut in 0..5 {
        let gate = Gate::new();
        let held = gate.clone();
        let model = Model::start(Script::by(move |request| {
            match (is_of(request, "PARENT"), request.results().len()) {
                (true, 0) => tasks([("general", "CHILD".to_owned())]),
                (true, _) => Answer::text("All is done."),
                (false, _) => Answer::text("The child's answer.").held(Place::Before, &held),
            }
        }));
        let house = house(&model);
        let mut params = house.create("PARENT");
        params.options.kind = Some(proto::state::Kind::Headless);
        let params = serde_json::to_value(params).expect("JSON");
        let mut raw = house.raw_as(Role::Drive);
        raw.call("session.create", &params).expect("create");
        drop(raw);
        until("the agent's request", || (model.count() == 2).then_some(()));
        let path = children(&house)[0].path.clone();
        let directory = path.parent().expect("a directory").to_owned();
        house.kill_daemon_and_parent();
        let bytes = std::fs::read(&path).expect("the log");
        let first = bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .expect("a line")
            + 1;
        std::fs::remove_dir_all(&directory).expect("remove");
        let left = [0, 0, 0, first / 2, first][cut];
        if cut > 0 {
            std::fs::create_dir(&directory).expect("make a directory");
        }
        if cut > 1 {
            std::fs::write(&path, &bytes[..left]).expect("write the log");
        }
        // The daemon died before lists could know of it.
        for name in ["reasonix.db", "reasonix.db-wal", "reasonix.db-shm"] {
            let _ = std::fs::remove_file(house.home_file(name));
        }
        gate.open();
        house.daemon();
        until("the parent's end", || {
            exited(&house.log(Pid(1))).then_some(())
        });
        let results = house.log(Pid(1)).results();
        assert_eq!(results.len(), 1, "cut {cut}: {results:?}");
        assert_eq!(results[0].text, "The child's answer.", "cut {cut}");
        let [child] = &children(&house)[..] else {
            panic!("cut {cut}: one child")
        };
        assert_eq!(child.path, path, "cut {cut}: its id follows from the call");
        assert!(exited(child), "cut {cut}");
    }
}

#[test]
fn budget_of_the_parent_bounds_its_agents() {
    const USAGE: Usage = Usage {
        prompt: 900,
        cached: 0,
        output: 100,
        reasoning: 0,
    };
    let model = Model::start(Script::by(|request| {
        let answer = match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => tasks([("general", "CHILD".to_owned())]),
            (true, _) => Answer::text("Never said."),
            (false, step) => Answer::call("ls", json!({"path": ".", "depth": step + 1})),
        };
        answer.usage(USAGE)
    }));
    let house = house(&model);
    let ran = run(&house, &["--budget-tokens", "3k"], "PARENT").expect(2, "budget_exceeded");
    assert_eq!(model.count(), 3, "one of the parent, two of its agent");
    let [child] = &children(&house)[..] else {
        panic!("one child")
    };
    let ended = child.bodies().into_iter().find_map(|body| match body {
        Body::TurnEnded(ended) => Some(ended.outcome.as_str()),
        _ => None,
    });
    assert_eq!(ended, Some("budget_exceeded"));
    let shown = house
        .reasonix(&["budget", &ran.pid(), "--json"])
        .expect_code(0)
        .json();
    let nodes = shown["nodes"].as_array().expect("nodes");
    let session = nodes
        .iter()
        .find(|node| node["kind"] == "session")
        .expect("a node");
    assert_eq!(session["spent"]["tokens"], 3000);
    // Another daemon knows it too.
    house.kill_daemon_and_parent();
    house.daemon();
    run(&house, &["-s", &ran.pid()], "Go on.").expect(2, "budget_exceeded");
    assert_eq!(model.count(), 3);
}

#[test]
fn question_of_an_agent_waits_in_the_inbox_and_is_answered_from_there() {
    let model = Model::start(Script::by(|request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => tasks([("general", "CHILD".to_owned())]),
            (true, _) => Answer::text("Done."),
            (false, 0) => Answer::call("write_file", json!({"path": "made", "content": "x"})),
            (false, _) => Answer::text("It is made."),
        }
    }));
    let house = house(&model);
    let mut raw = begin(&house, "PARENT");
    let id = until("the question", || {
        let listed = house.reasonix(&["inbox", "-q"]).expect_code(0).out;
        listed.lines().next().map(str::to_owned)
    });
    let child = children(&house)[0].pid();
    assert!(id.starts_with(&format!("{child}.")), "{id}");
    let state = raw
        .call("session.get", &json!({"session": child.to_string()}))
        .expect("get");
    assert_eq!(state["state"], json!(State::Waiting));
    let _ = house.reasonix(&["inbox", "allow", &id]).expect_code(0);
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    assert!(house.project().join("made").exists());
    assert_eq!(house.log(Pid(1)).results()[0].text, "It is made.");
}

#[test]
fn question_of_an_agent_does_not_hold_up_a_run_that_denies() {
    let model = Model::start(Script::by(|request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => tasks([("general", "CHILD".to_owned())]),
            (true, _) => Answer::text("Done."),
            (false, 0) => Answer::call("write_file", json!({"path": "made", "content": "x"})),
            (false, _) => Answer::text("It was denied."),
        }
    }));
    let house = house(&model);
    // As of its own: nothing went on after the denial.
    run(&house, &["--on-ask", "deny"], "PARENT").expect(3, "blocked");
    let result = &house.log(Pid(1)).results()[0];
    assert!(result.text.contains("It was denied."), "{result:?}");
    assert!(!house.project().join("made").exists());
}

#[test]
fn definition_of_a_project_is_used_and_an_unknown_agent_is_an_error() {
    let model = Model::start(Script::by(|request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => tasks([
                ("reader", "CHILD: read".to_owned()),
                ("nobody", "CHILD: no".to_owned()),
            ]),
            (true, _) => Answer::text("Done."),
            (false, _) => Answer::text("I have read."),
        }
    }));
    let house = house(&model);
    house.files("//- .claude/agents/reader.md\n---\nname: reader\ndescription: Reads aloud\ntools: Read, Grep, WebFetch\nmodel: sonnet\n---\nYou read aloud.\n");
    run(&house, &[], "PARENT").expect(0, "completed");
    let requests = model.requests();
    let declared = requests[0].json["tools"].to_string();
    assert!(declared.contains("\\nreader: Reads aloud"), "{declared}");
    let tools = requests[1].json["tools"].as_array().expect("tools");
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert_eq!(names, [Some("grep"), Some("read_file")]);
    let results = house.log(Pid(1)).results();
    assert_eq!(results[0].text, "I have read.");
    assert!(
        results[1].text.contains("There is no agent `nobody`"),
        "{:?}",
        results[1]
    );
    assert_eq!(results[1].status.as_str(), "failed");
}

/// A session that goes into plan mode takes its running agents with it.
#[test]
fn plan_mode_of_the_parent_reaches_running_agents() {
    let gate = Gate::new();
    let held = gate.clone();
    let model = Model::start(Script::by(move |request| {
        match (is_of(request, "PARENT"), request.results().len()) {
            (true, 0) => tasks([("general", "CHILD".to_owned())]),
            (true, _) => Answer::text("Done."),
            (false, 0) => Answer::call("write_file", json!({"path": "made", "content": "x"}))
                .held(Place::Before, &held),
            (false, _) => Answer::text("It was refused."),
        }
    }));
    let house = house(&model);
    let mut raw = house.raw_as(Role::Drive);
    let mut params = house.create("PARENT");
    params.options.approval_mode = Some(proto::state::ApprovalMode::Yolo);
    let params = serde_json::to_value(params).expect("JSON");
    raw.call("session.create", &params).expect("create");
    until("the agent's request", || gate.is_reached().then_some(()));
    raw.call("session.set", &json!({"session": "1", "mode": "plan"}))
        .expect("set");
    let agent = children(&house)[0].pid().to_string();
    for widened in [
        json!({"read_only": false}),
        json!({"approval_mode": "yolo", "read_only": false}),
    ] {
        let mut change = widened;
        change["session"] = agent.clone().into();
        let refused = raw
            .call("session.set", &change)
            .expect_err("it is not widened");
        assert_eq!(refused.name, proto::ErrorName::NotAllowed, "{refused:?}");
    }
    gate.open();
    raw.call("session.wait", &json!({"session": "1"}))
        .expect("wait");
    let result = &children(&house)[0].results()[0];
    assert_eq!(result.status.as_str(), "denied", "{result:?}");
    assert!(!house.project().join("made").exists());
}

/// However many agents a session has had: what they held in the daemon is given back.
#[test]
fn a_hundred_agents_of_a_session_leave_nothing() {
    if skip::unless_root("counting the daemon's descriptors") {
        return;
    }
    // Ten at once; one round, and then ten more.
    let model = Model::start(Script::by(|request| {
        let done = request.results().len();
        let rounds = match request.json.to_string().contains("ten more") {
            true => 11,
            false => 1,
        };
        match is_of(request, "PARENT") {
            true if done < rounds * 10 => {
                tasks((done..done + 10).map(|number| ("general", format!("CHILD {number}"))))
            }
            true => Answer::text("All are done."),
            false => Answer::text(first_prompt(request)),
        }
    }));
    let house = House::new();
    // An hundredth of a minute: those that have exited leave memory.
    house.settings(&format!("{FAST_RETRIES}evict_minutes = 0.01"));
    house.provider(&model.entry("model", None));
    house.daemon();
    let daemon = house.daemon_pid().expect("a daemon");
    let mut raw = house.raw_as(Role::Watch);
    let mut at_rest = |stored: u64| {
        until("all sessions to leave memory", || {
            let status = raw.call("daemon.status", &json!({})).expect("a status");
            (status["sessions"]["loaded"] == 0).then_some(())
        });
        let status = raw.call("daemon.status", &json!({})).expect("a status");
        assert_eq!(status["sessions"]["stored"], stored);
        held(daemon, 0)
    };
    run(&house, &[], "PARENT").expect(0, "completed");
    let early = at_rest(11);
    run(&house, &["-s", "1"], "PARENT, ten more").expect(0, "completed");
    // Threads for what blocks end when they were idle for some seconds.
    let _ = at_rest(111);
    let late = until("the threads of the rush to end", || {
        let late = held(daemon, 0);
        (late.threads <= early.threads).then_some(late)
    });
    assert!(
        late.descriptors <= early.descriptors + 8,
        "descriptors: {early:?} {late:?}"
    );
    assert!(
        late.children <= early.children,
        "children: {early:?} {late:?}"
    );
    let open = std::fs::read_dir(house.home_file("open")).expect("the markers");
    assert_eq!(open.count(), 0, "markers");
    assert_eq!(children(&house).len(), 110);
}
