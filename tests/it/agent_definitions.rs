//! Definitions of sub-agents as files: new ones from templates, and those of `agent.yaml` with `instructions.md`.

use proto::Pid;
use serde_json::{Value, json};
use testkit::model::{Answer, Model, Script};
use tests::House;

use crate::scripted::{house, run};

const TEMPLATES: [&str; 5] = ["explorer", "reviewer", "tester", "writer", "worker"];

/// The agents as `reasonix agents --json` prints them.
fn listed(house: &House) -> Value {
    house.reasonix(&["agents", "--json"]).expect_code(0).json()
}

fn named<'a>(listed: &'a Value, name: &str) -> &'a Value {
    let mut agents = listed["agents"].as_array().expect("agents").iter();
    let found = agents.find(|agent| agent["name"] == name);
    found.unwrap_or_else(|| panic!("{name}: {listed:#}"))
}

/// A model whose first session gives a task to this agent.
fn model(agent: &'static str) -> Model {
    Model::start(Script::by(move |request| {
        let messages = request.messages();
        let mut first = messages.iter().filter(|message| message["role"] == "user");
        let first = first.next().and_then(|message| message["content"].as_str());
        match first.is_some_and(|text| text.contains("PARENT")) {
            true if request.results().is_empty() => {
                let task = json!({"agent": agent, "prompt": "CHILD", "description": "x"});
                Answer::call("task", task)
            }
            true => Answer::text("The parent is done."),
            false => Answer::text("The child is done."),
        }
    }))
}

#[test]
fn every_template_gives_a_definition_that_is_read_without_a_problem() {
    let model = model("mine");
    let house = house(&model);
    for name in TEMPLATES {
        let done = house.reasonix(&["agents", "new", "--template", name]);
        let done = done.expect_code(0);
        let file = house.project().join(format!(".reasonix/agents/{name}.md"));
        assert_eq!(done.out.trim(), file.to_string_lossy(), "{done:?}");
        assert_eq!(done.err, "", "{done:?}");
        // The same in YAML, under another name and for all projects.
        let other = format!("my-{name}");
        let line = [
            "agent",
            "new",
            "--yaml",
            "--user",
            "--template",
            name,
            &other,
        ];
        let done = house.reasonix(&line).expect_code(0);
        let file = house.home_file(&format!("agents/{other}/agent.yaml"));
        assert_eq!(done.out.trim(), file.to_string_lossy(), "{done:?}");
        assert_eq!(done.err, "", "{done:?}");
    }
    let listed = listed(&house);
    assert_eq!(listed["problems"], json!([]));
    for name in TEMPLATES {
        let (one, other) = (named(&listed, name), named(&listed, &format!("my-{name}")));
        assert_eq!(one["source"], "project", "{one}");
        assert_eq!(other["source"], "user", "{other}");
        for field in ["description", "tools", "model", "max_steps", "read_only"] {
            assert_eq!(one.get(field), other.get(field), "{name}: {field}");
        }
    }
    // A file that is there is never replaced.
    let again = house.reasonix(&["agents", "new", "--template", "writer"]);
    let again = again.expect_code(64);
    assert!(again.err.contains("exists already"), "{again:?}");
    let bad = house.reasonix(&["agents", "new", "--template", "writer", "a/b"]);
    assert!(
        bad.expect_code(64)
            .err
            .contains("cannot be the name of an agent")
    );
}

#[test]
fn agent_from_a_template_does_a_task() {
    let model = model("mine");
    let house = house(&model);
    let _ = house
        .reasonix(&["agents", "new", "--template", "tester", "mine"])
        .expect_code(0);
    run(&house, &[], "PARENT").expect(0, "completed");
    let results = house.log(Pid(1)).results();
    assert_eq!(results[0].text, "The child is done.");
    let tools = ["bash", "glob", "grep", "ls", "read_file"];
    assert_eq!(house.log(Pid(2)).created().tools, tools);
}

#[test]
fn definition_in_yaml_is_used_and_its_unknown_keys_are_listed() {
    let model = model("looks");
    let house = house(&model);
    house.files(
        "//- .reasonix/agents/looks/agent.yaml\nname: looks\ndescription: Looks around\ntools: [Read, Grep]\nmax_steps: 4\ncontext_budget: 9000\n//- .reasonix/agents/looks/instructions.md\nYou look around, says the file.\n",
    );
    let done = house.reasonix(&["agents"]).expect_code(0);
    let words = "`.reasonix/agents/looks/agent.yaml:5`: the key `context_budget` has no effect.";
    assert!(done.err.contains(words), "{done:?}");
    let listed = listed(&house);
    let agent = named(&listed, "looks");
    assert_eq!(
        agent["file"], ".reasonix/agents/looks/agent.yaml",
        "{agent}"
    );
    run(&house, &[], "PARENT").expect(0, "completed");
    let child = house.log(Pid(2));
    assert_eq!(child.created().tools, ["grep", "read_file"]);
    assert_eq!(child.created().options.max_steps, Some(4));
}
