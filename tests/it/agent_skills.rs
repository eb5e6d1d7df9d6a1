//! Skills that run as sub-agents, and the models of sub-agents by the config.

use serde_json::{Value, json};
use testkit::model::{Answer, Model, Request, Script};
use tests::House;

use crate::scripted::{FAST_RETRIES, house, run};

/// A skill that runs as a sub-agent, with limits, and one for the user alone.
const SKILLS: &str = "//- .claude/skills/survey/SKILL.md\n---\ndescription: Surveys a topic\ncontext: fork\nallowed-tools: Read, Grep\n---\nSurvey $ARGUMENTS with care.\n//- .claude/skills/mine/SKILL.md\n---\ndescription: Mine\nrun-as: subagent\nagent: explore\ndisable-model-invocation: true\n---\nLook at $ARGUMENTS.\n";

fn first_prompt(request: &Request) -> String {
    let mut messages = request.messages().iter();
    let first = messages.find(|message| message["role"] == "user");
    let first = first.and_then(|message| message["content"].as_str());
    first.unwrap_or_default().to_owned()
}

/// A parent that does this first, and a child that tries to write.
fn scripted(first: fn() -> Answer) -> Model {
    Model::start(Script::by(move |request: &Request| {
        let is_child = first_prompt(request).contains("<skill name=");
        match (is_child, request.results().len()) {
            (false, 0) => first(),
            (false, _) => Answer::text("The parent knows."),
            (true, 0) => Answer::call("write_file", json!({"path": "made", "content": "x"})),
            (true, _) => Answer::text("Surveyed."),
        }
    }))
}

fn call(name: &str, arguments: &str) -> Answer {
    Answer::call("skill", json!({"name": name, "arguments": arguments}))
}

/// The result of the parent's one call.
fn result(house: &House) -> (String, String) {
    let results = house.log(proto::Pid(1)).results();
    assert_eq!(results.len(), 1, "{results:?}");
    (
        results[0].status.as_str().to_owned(),
        results[0].text.clone(),
    )
}

#[test]
fn skill_that_runs_as_a_sub_agent_returns_its_answer_only() {
    let model = scripted(|| call("survey", "bees"));
    let house = house(&model);
    house.files(SKILLS);
    run(&house, &["--approval-mode", "yolo"], "PARENT").expect(0, "completed");
    assert_eq!(result(&house), ("ok".to_owned(), "Surveyed.".to_owned()));
    let requests = model.requests();
    assert_eq!(requests.len(), 4);
    let system = requests[0].messages()[0]["content"].to_string();
    assert!(system.contains("survey: Surveys a topic"), "{system}");
    assert!(!system.contains("mine"), "{system}");
    let told = first_prompt(&requests[1]);
    assert!(told.contains("Survey bees with care."), "{told}");
    // Nothing of the skill's text came into the parent.
    assert!(!requests[3].json.to_string().contains("with care"));
    // What the skill allows holds in the child.
    let child = requests[2].results().pop().expect("a result").1;
    assert!(child.contains("`survey` allows only Read, Grep"), "{child}");
    assert!(!house.project().join("made").exists());
    let log = house.log(proto::Pid(2));
    let created = log.created();
    assert_eq!(created.ppid, proto::Pid(1));
    assert_eq!(created.agent.expect("an agent").name, "general");
}

#[test]
fn user_runs_a_skill_as_a_sub_agent_and_the_model_alone_does_not() {
    let model = scripted(|| call("mine", "hives"));
    let house = house(&model);
    house.files("//- .claude/skills/mine/SKILL.md\n---\nrun-as: subagent\nagent: explore\ndisable-model-invocation: true\n---\nLook at $ARGUMENTS.\n");
    run(&house, &[], "PARENT").expect(0, "completed");
    let (status, text) = result(&house);
    assert_eq!(status, "refused");
    assert!(text.contains("is for the user alone"), "{text}");
    run(&house, &[], "/mine hives").expect(0, "completed");
    let requests = model.requests();
    let told = first_prompt(&requests[2]);
    assert!(told.contains("The user runs the skill `mine`"), "{told}");
    assert!(!told.contains("Look at hives"), "{told}");
    let told = first_prompt(&requests[3]);
    assert!(told.contains("Look at hives."), "{told}");
    let created = house.log(proto::Pid(3)).created();
    assert_eq!(created.agent.expect("an agent").name, "explore");
    let listed = house.reasonix(&["skills"]).expect_code(0);
    assert!(listed.out.contains("runs as a sub-agent"), "{listed:?}");
}

/// D5.22: what works for another session may have a model of its own, by its name or for all.
#[test]
fn sub_agents_have_the_models_of_the_config() {
    let parent = |request: &Request| match request.results().len() {
        0 => ["explore", "general", "fixed"]
            .iter()
            .fold(Answer::text("Go."), |answer, agent| {
                let task =
                    json!({"agent": agent, "prompt": format!("CHILD {agent}"), "description": "x"});
                answer.and_call("task", task)
            }),
        _ => Answer::text("Done."),
    };
    let by_name = |name: &'static str| {
        Script::by(move |request: &Request| {
            let told = first_prompt(request);
            let last = told.lines().last().unwrap_or_default();
            Answer::text(format!("{name} answers {last}"))
        })
    };
    let (one, two, three, four) = (
        Model::start(Script::by(parent)),
        Model::start(by_name("two")),
        Model::start(by_name("three")),
        Model::start(by_name("four")),
    );
    let house = House::new();
    house.settings(&format!(
        "default_model = \"one\"\n{FAST_RETRIES}[agent]\nsubagent_model = \"two\"\nsubagent_models = {{ explore = \"three\" }}\n"
    ));
    for (name, model) in [
        ("one", &one),
        ("two", &two),
        ("three", &three),
        ("four", &four),
    ] {
        house.provider(&model.entry(name, None));
    }
    house.files("//- .reasonix/agents/fixed.md\n---\nname: fixed\ndescription: Has a model\nmodel: four\n---\nYou answer.\n");
    house.daemon();
    let ran = run(&house, &[], "PARENT").expect(0, "completed");
    let results: Vec<_> = house
        .log(proto::Pid(1))
        .results()
        .into_iter()
        .map(|result| result.text)
        .collect();
    assert_eq!(
        results,
        [
            "three answers CHILD explore",
            "two answers CHILD general",
            "four answers CHILD fixed"
        ]
    );
    assert_eq!(
        (one.count(), two.count(), three.count(), four.count()),
        (2, 1, 1, 1)
    );
    // Visible from outside.
    let listed: Value = house
        .reasonix(&["ps", "-a", "--json"])
        .expect_code(0)
        .json();
    let text = listed.to_string();
    for model in ["one/", "two/", "three/", "four/"] {
        assert!(text.contains(model), "{model}: {text}");
    }
    drop(ran);
}
