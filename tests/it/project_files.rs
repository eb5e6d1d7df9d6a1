//! A repository with the files of other agents' users: instructions at several levels, imports, commands and skills are
//! taken over as they are, and nothing that changes later changes an earlier byte.

use std::fs;

use serde_json::{Value, json};
use testkit::model::{Answer, Model, Request, Script};
use tests::House;

use crate::scripted::{RunOutput, house, run};

/// Requests of a prompt: so many answers with a call, and one in words.
const CALLS: usize = 11;
/// Where the session works, from the root.
const DIRECTORY: &str = "services/api/v1";

const REPOSITORY: &str = "\
//- AGENTS.md
Root rules.
//- services/CLAUDE.md
Rules of all services. See @docs/style.md.
//- services/docs/style.md
Style of services. See @wording.md.
//- services/docs/wording.md
Wording.
//- services/api/AGENTS.md
Rules of the API.
//- services/api/v1/AGENTS.md
Rules of version 1.
//- services/api/v1/main.rs
fn main() {}
//- .claude/commands/git/commit.md
---
description: Commit the work
allowed-tools: Bash(git:*)
argument-hint: [subject]
---
Commit with the subject $ARGUMENTS.
//- .claude/skills/pdf/SKILL.md
---
name: pdf
description: Fill PDF forms
license: MIT
---
Use the form's field names.
//- .claude/skills/notes/SKILL.md
---
description: Write release notes
allowed-tools: Read, Grep
---
One line a change.
";

fn system(request: &Request) -> &str {
    request.messages()[0]["content"].as_str().expect("text")
}

fn last_prompt(request: &Request) -> String {
    let messages = request.messages().iter().rev();
    let mut prompts = messages.filter(|message| message["role"] == "user");
    prompts.next().expect("a prompt")["content"].to_string()
}

fn repository() -> (Model, House) {
    let model = Model::start(Script::by(|request: &Request| {
        let said = request.answered();
        match said % (CALLS + 1) == CALLS {
            true => Answer::text(format!("Part {said}.")),
            false => Answer::call(
                "grep",
                json!({"pattern": format!("word{said}"), "path": "."}),
            ),
        }
    }));
    let house = house(&model);
    house.files(REPOSITORY);
    let made = std::process::Command::new("git")
        .args(["init", "-q"])
        .current_dir(house.project())
        .status();
    assert!(made.expect("git").success());
    (model, house)
}

fn in_directory(house: &House, arguments: &[&str]) -> tests::program::Done {
    let mut command = house.command(arguments);
    command.current_dir(house.project().join(DIRECTORY));
    tests::program::run(&mut command)
}

#[test]
fn repository_of_another_agent_is_taken_over_and_its_prefix_stays_for_sixty_requests() {
    let (model, house) = repository();
    let listed = in_directory(&house, &["prompt", "--json"]).expect_code(0);
    let prefix: Value = serde_json::from_str(&listed.out).expect("JSON");
    let parts = prefix["parts"].as_array().expect("parts");
    let names: Vec<&str> = parts
        .iter()
        .filter(|part| part["kind"] == "instructions")
        .filter_map(|part| part["name"].as_str())
        .collect();
    assert_eq!(
        names,
        [
            "AGENTS.md",
            "services/CLAUDE.md",
            "services/docs/style.md",
            "services/docs/wording.md",
            "services/api/AGENTS.md",
            "services/api/v1/AGENTS.md",
        ]
    );
    assert!(
        parts.iter().any(|part| part["kind"] == "skills"),
        "{prefix:#}"
    );
    for part in parts {
        assert!(part["tokens"].as_u64() > Some(0), "{part:#}");
    }

    let first = in_directory(&house, &["run", "--output-format", "jsonl", "Look around."]);
    let session = RunOutput::of(&first).expect(0, "completed").pid();
    let prompt = |text: &str| {
        run(&house, &["-s", &session], text).expect(0, "completed");
    };
    prompt("/git:commit Fix the build");
    let fact = house.home_file("memory/later.md");
    fs::create_dir_all(fact.parent().expect("parent")).expect("directory");
    fs::write(fact, "---\ndescription: Later\ntype: user\n---\n\nLater.\n").expect("fact");
    house.files("//- .claude/skills/later/SKILL.md\nLater.\n//- .claude/commands/later.md\nDo it later.\n//- services/api/v1/CLAUDE.md\nNot read.\n");
    prompt("/later");
    house.kill_daemon_and_parent();
    house.daemon();
    house.files("//- AGENTS.md\nRoot rules have changed.\n");
    prompt("/pdf now");
    prompt("Go on.");

    let requests = model.requests();
    assert_eq!(requests.len(), 5 * (CALLS + 1));
    model.assert_prefix();
    let prefix = system(&requests[0]);
    for request in &requests {
        assert_eq!(system(request), prefix);
    }
    assert!(
        prefix.contains("- notes: Write release notes\n- pdf: Fill PDF forms"),
        "{prefix}"
    );
    assert!(
        !prefix.contains("Later") && !prefix.contains("have changed"),
        "{prefix}"
    );
    for (nth, expected) in [
        (1, "Commit with the subject Fix the build."),
        (2, "Do it later."),
        (3, "Use the form's field names."),
        (3, "Root rules have changed."),
    ] {
        let said = last_prompt(&requests[nth * (CALLS + 1)]);
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[test]
fn command_whose_file_leads_out_of_the_workspace_is_refused_and_listed() {
    let (model, house) = repository();
    let outside = house.project().parent().expect("parent").join("outside.md");
    fs::write(&outside, "The secret words.\n").expect("file");
    let link = house.project().join(".claude/commands/leak.md");
    std::os::unix::fs::symlink(&outside, link).expect("link");
    let reason = "`.claude/commands/leak.md` is left out: it leads out of the workspace";
    let refused = house.reasonix(&["run", "/leak"]);
    assert_ne!(refused.code(), Some(0), "{refused:?}");
    assert!(refused.err.contains(reason), "{refused:?}");
    let listed = house.reasonix(&["commands"]).expect_code(0);
    let all = format!("{}{}", listed.out, listed.err);
    assert!(all.contains(reason), "{listed:?}");
    assert!(!all.contains("secret words"), "{listed:?}");
    assert!(model.requests().is_empty());
}
