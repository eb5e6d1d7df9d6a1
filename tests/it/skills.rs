//! Skills: listed in the prefix, loaded by the model or by a prompt of the form `/name arguments`, limiting tools while in
//! force.

use serde_json::{Value, json};
use testkit::model::{Answer, Gate, Model, Place, Request};
use tests::House;

use crate::scripted::{RunOutput, house, run};

fn answering(answers: impl IntoIterator<Item = Answer>) -> (Model, House) {
    let model = Model::start(answers.into_iter().collect::<Vec<_>>());
    let house = house(&model);
    (model, house)
}

/// The system prompt of a request.
fn system(request: &Request) -> &str {
    request.messages()[0]["content"].as_str().expect("text")
}

/// The user's messages of a request.
fn prompts(request: &Request) -> Vec<String> {
    let messages = request.messages().iter();
    let prompts = messages.filter(|message| message["role"] == "user");
    prompts
        .map(|message| message["content"].as_str().expect("text").to_owned())
        .collect()
}

/// Names of the tools of a request.
fn tools(request: &Request) -> Vec<String> {
    let body: Value = serde_json::from_slice(&request.body).expect("JSON");
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| tool["function"]["name"].as_str().map(str::to_owned);
    tools.iter().filter_map(name).collect()
}

fn load(name: &str) -> Answer {
    Answer::call("skill", json!({"name": name}))
}

/// The result of the newest call of a request.
fn result(request: &Request) -> String {
    request.results().pop().expect("a result").1
}

/// The bytes of the prefix: system prompt and tools.
fn prefix(request: &Request) -> (String, Value) {
    let body: Value = serde_json::from_slice(&request.body).expect("JSON");
    (system(request).to_owned(), body["tools"].clone())
}

/// A file in the user's home.
fn put(house: &House, name: &str, text: &str) -> std::path::PathBuf {
    let path = house.user_home().join(name);
    std::fs::create_dir_all(path.parent().expect("parent")).expect("directory");
    std::fs::write(&path, text).expect("file");
    path
}

const PDF: &str = "//- .claude/skills/pdf/SKILL.md\n---\nname: pdf\ndescription: Fill PDF forms\nlicense: MIT\n---\nUse the script. See forms.md.\n//- .claude/skills/pdf/forms.md\nForms have fields.\n";

#[test]
fn model_reads_of_skills_and_loads_one_with_the_files_beside_it() {
    let (model, house) = answering([
        load("pdf"),
        Answer::call("read_file", json!({"path": ".claude/skills/pdf/forms.md"})),
        load("mine"),
        Answer::text("Done."),
    ]);
    house.files(PDF);
    let mine = put(
        &house,
        ".agents/skills/mine/SKILL.md",
        "# My own\nSee more.md.\n",
    );
    run(&house, &[], "Fill it.").expect(0, "completed");
    model.assert_prefix();
    let requests = model.requests();
    let system = system(&requests[0]);
    assert!(
        system.ends_with("<skills>\n- pdf: Fill PDF forms\n- mine: My own\n</skills>"),
        "{system}"
    );
    assert!(!system.contains("Use the script"), "{system}");
    assert!(tools(&requests[0]).contains(&"skill".to_owned()));
    let loaded = result(&requests[1]);
    let directory = house.project().join(".claude/skills/pdf");
    let opening = format!("<skill name=\"pdf\" directory=\"{}\">", directory.display());
    assert!(
        loaded.contains(&opening) && loaded.contains("Use the script. See forms.md."),
        "{loaded}"
    );
    assert!(result(&requests[2]).contains("Forms have fields."));
    let directory = mine.parent().expect("parent").display().to_string();
    assert!(result(&requests[3]).contains(&directory));
}

#[test]
fn session_without_skills_has_the_same_prefix_as_ever() {
    let (model, house) = answering([Answer::text("One."), Answer::text("Two.")]);
    run(&house, &[], "One.").expect(0, "completed");
    house.files("//- .claude/skills/mine/SKILL.md\n---\ndisable-model-invocation: true\n---\nDo.\n//- .claude/skills/bad/SKILL.md\n---\n");
    run(&house, &[], "Two.").expect(0, "completed");
    let requests = model.requests();
    assert_eq!(prefix(&requests[0]), prefix(&requests[1]));
    assert!(!tools(&requests[0]).contains(&"skill".to_owned()));
    assert!(!system(&requests[0]).contains("# Skills"));
}

#[test]
fn skills_that_come_change_and_go_change_no_earlier_byte() {
    let (model, house) = answering((1..=6).map(|number| Answer::text(format!("{number}."))));
    house.files(PDF);
    let session = run(&house, &[], "One.").expect(0, "completed").pid();
    house.files("//- .claude/skills/new/SKILL.md\nNew.\n");
    run(&house, &["-s", &session], "Two.").expect(0, "completed");
    house.files("//- .claude/skills/pdf/SKILL.md\n---\ndescription: Other\n---\nOther.\n");
    house.kill_daemon_and_parent();
    house.daemon();
    run(&house, &["-s", &session], "Three.").expect(0, "completed");
    std::fs::remove_dir_all(house.project().join(".claude")).expect("remove");
    run(&house, &["-s", &session], "Four.").expect(0, "completed");
    model.assert_prefix();
    let requests = model.requests();
    let first = prefix(&requests[0]);
    assert!(requests.iter().all(|request| prefix(request) == first));
    // A priced reset takes them as they are.
    house.files("//- .claude/skills/new/SKILL.md\nNew.\n");
    let done = house
        .reasonix(&["reload", &session, "--yes"])
        .expect_code(0);
    assert!(done.err.contains("skill new, skill pdf"), "{done:?}");
    house.kill_daemon_and_parent();
    house.daemon();
    run(&house, &["-s", &session], "Five.").expect(0, "completed");
    let requests = model.requests();
    let (system, tools) = prefix(requests.last().expect("a request"));
    assert!(
        system.ends_with("<skills>\n- new: New.\n</skills>"),
        "{system}"
    );
    assert_eq!(tools, first.1);
}

#[test]
fn prompt_uses_a_skill_and_keeps_its_text() {
    let (model, house) = answering([Answer::text("One."), Answer::text("Two.")]);
    house.files("//- .agents/skills/fix/SKILL.md\n---\ndescription: Fix\ndisable-model-invocation: true\n---\nFix $ARGUMENTS with awk '{print $1}'.\n");
    let session = run(&house, &[], "/fix the bug")
        .expect(0, "completed")
        .pid();
    std::fs::remove_dir_all(house.project().join(".agents")).expect("remove");
    house.kill_daemon_and_parent();
    house.daemon();
    run(&house, &["-s", &session], "Thanks.").expect(0, "completed");
    model.assert_prefix();
    let sent = prompts(&model.requests()[1]);
    assert!(
        sent[0].contains("\nFix the bug with awk '{print $1}'.\n</skill>"),
        "{sent:#?}"
    );
    assert!(sent[0].ends_with("/fix the bug"), "{sent:#?}");
    let shown = house.reasonix(&["logs", &session]).out.clone();
    assert!(
        shown.contains("/fix the bug") && !shown.contains("<skill"),
        "{shown}"
    );
}

#[test]
fn command_of_the_same_name_comes_first_and_that_is_listed() {
    let (model, house) = answering([load("fix"), Answer::text("Done.")]);
    house.files("//- .claude/skills/fix/SKILL.md\nOf the skill.\n//- .claude/skills/init/SKILL.md\nMine.\n//- .claude/commands/fix.md\nOf the command.\n");
    run(&house, &[], "/fix").expect(0, "completed");
    let requests = model.requests();
    assert!(prompts(&requests[0])[0].contains("Of the command."));
    assert!(result(&requests[1]).contains("Of the skill."));
    let listed = house.reasonix(&["skills"]).expect_code(0);
    for name in ["fix", "init"] {
        let said = format!("`/{name}` runs the command of this name");
        assert!(listed.out.contains(&said), "{listed:?}");
    }
}

#[test]
fn skills_that_cannot_be_used_are_refused_with_the_reason() {
    let (model, house) = answering([
        load("mine"),
        load("off"),
        load("pfd"),
        Answer::text("Done."),
    ]);
    house.settings("[skills]\ndisabled = [\"off\"]\n");
    house.files(PDF);
    house.files("//- .claude/skills/mine/SKILL.md\n---\ndisable-model-invocation: true\nmodel: opus\n---\nDo.\n//- .claude/skills/off/SKILL.md\nDo.\n");
    run(&house, &[], "Go.").expect(0, "completed");
    let requests = model.requests();
    for (request, expected) in [
        (1, "is for the user alone"),
        (2, "is disabled by `skills.disabled`"),
        (3, "did you mean `pdf`?"),
    ] {
        let said = result(&requests[request]);
        assert!(said.contains(expected), "{expected}: {said}");
    }
    let index = system(&requests[0]);
    assert!(
        index.ends_with("<skills>\n- pdf: Fill PDF forms\n</skills>"),
        "{index}"
    );
    for (name, expected) in [("off", "disabled"), ("pfd", "`/pdf`")] {
        let refused = house.reasonix(&["run", &format!("/{name}")]);
        assert_ne!(refused.code(), Some(0));
        assert!(refused.err.contains(expected), "{refused:?}");
    }
    let listed = house.reasonix(&["skills"]).expect_code(0);
    for expected in ["only by you, model `opus` is ignored", "disabled"] {
        assert!(listed.out.contains(expected), "{expected}: {listed:?}");
    }
}

/// A skill that allows only to read, and one that allows commands.
const LIMITS: &str = "//- .claude/skills/look/SKILL.md\n---\nallowed-tools: Read, Grep\n---\nLook.\n//- .claude/skills/shell/SKILL.md\n---\nallowed-tools: Bash\n---\nRun it.\n//- .claude/skills/shell/notes.md\nNotes.\n";

#[test]
fn tools_that_a_skill_does_not_name_are_refused_until_the_turn_ends() {
    let touch = || Answer::call("bash", json!({"command": "touch made"}));
    let (model, house) = answering([
        load("look"),
        touch(),
        Answer::call("write_file", json!({"path": "made", "content": ""})),
        Answer::call(
            "tool_call",
            json!({"tool": "make_dir", "arguments": {"path": "made"}}),
        ),
        Answer::call("ls", json!({"path": "."})),
        Answer::text("One."),
        touch(),
        Answer::text("Two."),
    ]);
    house.files(LIMITS);
    let mode = ["--approval-mode", "yolo"];
    let session = run(&house, &mode, "Look.").expect(0, "completed").pid();
    let requests = model.requests();
    for request in [2, 3, 4] {
        let said = result(&requests[request]);
        let expected = "Denied by `allowed-tools`: the skill `look` allows only Read, Grep until the turn ends.";
        assert!(said.contains(expected), "{said}");
    }
    assert!(!result(&requests[5]).contains("Denied"));
    assert!(!house.project().join("made").exists());
    run(&house, &["-s", &session], "Now do it.").expect(0, "completed");
    assert!(house.project().join("made").exists());
}

#[test]
fn skill_that_names_tools_grants_none() {
    let (model, house) = answering([
        Answer::call("bash", json!({"command": "touch ../outside"})),
        Answer::call(
            "read_file",
            json!({"path": ".claude/skills/shell/notes.md"}),
        ),
        Answer::call("read_file", json!({"path": "other.md"})),
        Answer::text("It was denied."),
    ]);
    house.turn_off_sandbox();
    house.files(LIMITS);
    house.files("//- other.md\nOther.\n");
    run(&house, &["--on-ask", "deny"], "/shell");
    let requests = model.requests();
    let said = result(&requests[1]);
    assert!(said.contains("needs approval"), "{said}");
    let outside = house.project().parent().expect("parent").join("outside");
    assert!(!outside.exists());
    assert!(result(&requests[2]).contains("Notes."));
    assert!(result(&requests[3]).contains("the skill `shell` allows only Bash"));
}

#[test]
fn skill_stays_in_force_when_the_daemon_is_killed_in_its_turn() {
    for prompt in ["/look", "Look."] {
        let said = command_after_a_kill(prompt);
        let expected = "the skill `look` allows only Read, Grep";
        assert!(said.contains(expected), "{prompt}: {said}");
    }
}

/// Kills the daemon after a skill is in force, and returns what a command after it comes to.
fn command_after_a_kill(prompt: &str) -> String {
    let by_prompt = prompt.starts_with('/');
    let touch = Answer::call("bash", json!({"command": "touch made"}));
    let gate = Gate::new();
    let mut answers = Vec::new();
    if !by_prompt {
        answers.push(load("look"));
    }
    answers.extend([touch.held(Place::Before, &gate), Answer::text("Done.")]);
    let (model, house) = answering(answers);
    house.files(LIMITS);
    let started = house.start(&[
        "run",
        "--output-format",
        "jsonl",
        "--approval-mode",
        "yolo",
        prompt,
    ]);
    tests::until("the request after the skill", || {
        gate.is_reached().then_some(())
    });
    house.kill_daemon_and_parent();
    gate.open();
    house.daemon();
    let ran = RunOutput::of(&started.done());
    assert_eq!(ran.text(), "Done.", "{ran:#?}");
    assert!(!house.project().join("made").exists());
    result(model.requests().last().expect("a request"))
}

#[test]
fn skills_are_listed_with_source_shadow_and_faults() {
    let (_model, house) = answering([]);
    house.files(PDF);
    house.files("//- .claude/skills/bad/SKILL.md\n---\nname: x\nallowed-tools: {a: b}\n---\nBad.\n//- .claude/skills/odd/SKILL.md\n---\ndescription: \"Ship\\e[31m it\"\n---\nShip.\n");
    let mine = put(&house, ".claude/skills/pdf/SKILL.md", "Mine.\n");
    let listed = house.reasonix(&["skills"]).expect_code(0);
    let hidden = format!("{}, hidden by .claude/skills/pdf/SKILL.md", mine.display());
    for expected in ["Fill PDF forms", hidden.as_str(), "Ship"] {
        assert!(listed.out.contains(expected), "{expected}: {listed:?}");
    }
    assert!(!listed.out.contains('\u{1b}'), "{listed:?}");
    assert!(
        listed.err.contains(".claude/skills/bad/SKILL.md:3"),
        "{listed:?}"
    );
    let doctor = house.reasonix(&["doctor"]).out.clone();
    assert!(doctor.contains(".claude/skills/bad/SKILL.md:3"), "{doctor}");
    let json = house.reasonix(&["skills", "--json"]).expect_code(0);
    let list: Value = serde_json::from_str(&json.out).expect("JSON");
    let skills: Vec<_> = list["skills"]
        .as_array()
        .expect("skills")
        .iter()
        .map(|skill| (skill["name"].as_str(), skill["source"].as_str()))
        .collect();
    assert_eq!(
        skills,
        [
            (Some("odd"), Some("project")),
            (Some("pdf"), Some("project")),
            (Some("pdf"), Some("user"))
        ]
    );
    let parts = house.reasonix(&["prompt", "--json"]).expect_code(0);
    let prefix: Value = serde_json::from_str(&parts.out).expect("JSON");
    let part = prefix["parts"].as_array().expect("parts").iter();
    let part: Vec<_> = part.filter(|part| part["kind"] == "skills").collect();
    assert_eq!(part.len(), 1, "{prefix:#}");
    assert!(part[0]["tokens"].as_u64() > Some(0));
}

#[test]
fn excluded_skills_are_neither_listed_nor_loaded_and_the_old_spelling_disables() {
    let (model, house) = answering([load("far"), load("off"), Answer::text("Done.")]);
    put(&house, "kit/far/SKILL.md", "Far.\n");
    put(&house, "kit/near/SKILL.md", "Near.\n");
    put(&house, "kit/off/SKILL.md", "Off.\n");
    house.settings(
        "[skills]\npaths = [\"~/kit\"]\nexcluded_paths = [\"~/kit/far\"]\ndisabled_skills = [\"off\"]\n",
    );
    run(&house, &[], "Go.").expect(0, "completed");
    let requests = model.requests();
    let index = system(&requests[0]);
    assert!(
        index.ends_with("<skills>\n- near: Near.\n</skills>"),
        "{index}"
    );
    assert!(result(&requests[1]).contains("There is no skill `far`"));
    assert!(result(&requests[2]).contains("is disabled by `skills.disabled`"));
    let listed = house.reasonix(&["skills"]).expect_code(0);
    assert!(
        listed.out.contains("near") && !listed.out.contains("far"),
        "{listed:?}"
    );
}

#[test]
fn skills_of_an_untrusted_project_are_marked_and_paths_are_added() {
    let (model, house) = answering([load("shared"), Answer::text("Done.")]);
    let shared = put(&house, "kit/shared/SKILL.md", "Shared.\n");
    house.settings("[skills]\npaths = [\"~/kit\"]\n");
    house.files("//- reasonix.toml\n[permissions]\nallow = [\"Bash\"]\n");
    house.files(PDF);
    let listed = house.reasonix(&["skills"]).expect_code(0);
    for expected in [
        ".claude/skills/pdf/SKILL.md, not trusted".to_owned(),
        shared.display().to_string(),
    ] {
        assert!(listed.out.contains(&expected), "{expected}: {listed:?}");
    }
    run(&house, &[], "Go.").expect(0, "completed");
    assert!(result(&model.requests()[1]).contains("Shared."));
}

#[test]
fn skills_of_the_home_are_readable_and_nothing_beside_them() {
    let path = |house: &House, name: &str| {
        let path = house.home_file(name);
        std::fs::create_dir_all(path.parent().expect("parent")).expect("directory");
        std::fs::write(&path, "Content of it.\n").expect("file");
        path
    };
    let read = |path: &std::path::Path| Answer::call("read_file", json!({"path": path.to_str()}));
    let (model, house) = answering([]);
    path(&house, "skills/own/SKILL.md");
    let beside = path(&house, "skills/own/more.md");
    let closed = path(&house, "credentials.toml");
    std::os::unix::fs::symlink(&closed, house.home_file("skills/own/link.md")).expect("link");
    let link = house.home_file("skills/own/link.md");
    model.push([
        load("own"),
        read(&beside),
        read(&closed),
        read(&link),
        Answer::text("Done."),
    ]);
    run(&house, &["--on-ask", "deny"], "Go.").expect(0, "completed");
    let requests = model.requests();
    assert!(result(&requests[2]).contains("Content of it."));
    for request in [3, 4] {
        let said = result(&requests[request]);
        assert!(!said.contains("Content of it."), "{said}");
    }
}
