//! A sub-agent has the tools of its definition and no more, whatever way it tries.

use serde_json::{Value, json};
use testkit::model::{Answer, Model, Request, Script};

use crate::mcp::{faulty, servers};
use crate::scripted::{house, run};

/// An agent without a shell, a skill that allows commands, and one that runs as a sub-agent with commands.
const FILES: &str = "//- .reasonix/agents/bare.md\n---\ndescription: Reads\ntools: read_file, skill, task\n---\nYou read.\n//- .claude/skills/shell/SKILL.md\n---\ndescription: Runs commands\nallowed-tools: Bash, Read\n---\nRun commands.\n//- .claude/skills/apart/SKILL.md\n---\ndescription: Runs commands apart\ncontext: fork\nagent: general\nallowed-tools: Bash\n---\nDEEPER: run commands.\n";

fn first_message(request: &Request) -> String {
    let mut messages = request.messages().iter();
    let first = messages.find(|message| message["role"] == "user");
    let first = first.and_then(|message| message["content"].as_str());
    first.unwrap_or_default().to_owned()
}

fn task(agent: &str, prompt: &str) -> Value {
    json!({"agent": agent, "prompt": prompt, "description": "x"})
}

fn touch() -> Value {
    json!({"command": "touch made"})
}

/// Ways to a shell or a server that the agent was not given.
fn attempts() -> Vec<(&'static str, Value)> {
    let inside = |tool: &str, arguments: Value| json!({"tool": tool, "arguments": arguments});
    vec![
        ("bash", touch()),
        ("Bash", touch()),
        ("tool_call", inside("bash", touch())),
        ("bash_output", json!({"id": 1})),
        ("mcp__good__add", json!({"a": 2, "b": 3})),
        (
            "tool_call",
            inside("mcp__good__add", json!({"a": 2, "b": 3})),
        ),
        ("skill", json!({"name": "shell"})),
        ("skill", json!({"name": "apart"})),
        ("task", task("general", "DEEPER")),
    ]
}

#[test]
fn agent_without_a_shell_gets_none_by_servers_skills_or_other_agents() {
    let model = Model::start(Script::by(|request| {
        let (first, done) = (first_message(request), request.results().len());
        let is_deeper = first.contains("DEEPER");
        match (first.contains("PARENT"), is_deeper, done) {
            (true, _, 0) => Answer::call("task", task("bare", "CHILD")),
            (true, ..) => Answer::text("The parent is done."),
            (_, true, 0) => Answer::call("bash", touch()),
            (_, true, _) => Answer::text("Nothing worked there."),
            (_, _, 0) => attempts()
                .into_iter()
                .fold(Answer::text("I try."), |answer, (tool, arguments)| {
                    answer.and_call(tool, arguments)
                }),
            // The skill that allows commands is loaded by now.
            (_, _, done) if done == attempts().len() => {
                Answer::call("bash", json!({"command": "touch made again"}))
            }
            _ => Answer::text("Nothing worked."),
        }
    }));
    let house = house(&model);
    servers(&house, &json!({"good": faulty(&["ok"])}));
    house.files(FILES);
    run(&house, &["--approval-mode", "yolo"], "PARENT").expect(0, "completed");
    let logs = house.logs();
    let mut below: Vec<_> = logs
        .iter()
        .filter(|log| log.created().agent.is_some())
        .collect();
    below.sort_by_key(|log| log.pid());
    let results: Vec<_> = logs.iter().map(tests::log::Log::results).collect();
    assert_eq!(below.len(), 3, "the agent and two below it: {results:#?}");
    let names = |log: &tests::log::Log| log.created().tools;
    assert_eq!(names(below[0]), ["read_file", "skill", "task"]);
    for log in &below {
        let tools = names(log);
        let wider = tools.iter().find(|name| !names(below[0]).contains(name));
        assert_eq!(wider, None, "{tools:?}");
    }
    let refused: Vec<_> = below[0]
        .results()
        .into_iter()
        .map(|result| result.status.as_str().to_owned())
        .collect();
    let (tried, others) = refused.split_at(6);
    assert!(
        tried.iter().all(|status| status == "refused"),
        "{refused:?}"
    );
    assert_eq!(others, ["ok", "ok", "ok", "refused"], "{refused:?}");
    for log in &below[1..] {
        assert_eq!(log.results()[0].status.as_str(), "refused");
    }
    assert!(!house.project().join("made").exists());
}
