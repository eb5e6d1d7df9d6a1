//! Tools outside the prefix: found by `tool_search`, called through `tool_call`, judged as themselves. And
//! what the prefix costs.

use serde_json::{Value, json};
use testkit::model::{Answer, Model, Request, Script};

use crate::scripted::{house, run};

/// Bytes that the frozen prefix may have (contract, chapter 95).
const PREFIX_MAX: usize = 14 * 1024;

fn names(request: &Request) -> Vec<String> {
    let body = &request.json;
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let name = |tool: &Value| tool["function"]["name"].as_str().map(str::to_owned);
    tools.iter().filter_map(name).collect()
}

#[test]
fn a_deferred_tool_is_found_and_called_and_judged_as_itself() {
    let model = Model::start(Script::by(|request: &Request| match request.answered() {
        0 => Answer::call("tool_search", json!({"query": "make a directory"})),
        1 => {
            assert!(
                request.last_text().contains("make_dir"),
                "{}",
                request.last_text()
            );
            Answer::call(
                "tool_call",
                json!({"tool": "make_dir", "arguments": {"path": "one/two"}}),
            )
        }
        _ => Answer::text("It is there."),
    }));
    let house = house(&model);
    let ran = run(&house, &["--allow", "Edit"], "Make it.").expect(0, "completed");
    assert!(house.project().join("one/two").is_dir());
    model.assert_strict();
    model.assert_prefix();
    house.logs()[0].check();
    assert_eq!(ran.all("tool.started")[1]["tool"], "make_dir");
    assert_eq!(ran.all("policy.decided")[1]["rule"], "Edit");
}

#[test]
fn a_rule_about_the_tool_itself_applies_through_tool_call() {
    let model = Model::start(Script::by(|request: &Request| match request.answered() {
        0 => Answer::call(
            "tool_call",
            json!({"tool": "make_dir", "arguments": {"path": "one"}}),
        ),
        _ => Answer::text("Then not."),
    }));
    let house = house(&model);
    run(
        &house,
        &["--on-ask", "allow", "--deny", "make_dir"],
        "Make it.",
    );
    assert!(!house.project().join("one").exists());
}

#[test]
fn the_prefix_of_a_default_session_is_small_and_has_the_everyday_tools() {
    let model = Model::start(Script::by(|_: &Request| Answer::text("Hello.")));
    let house = house(&model);
    run(&house, &[], "Hello.").expect(0, "completed");
    let request = &model.requests()[0];
    let names = names(request);
    for name in [
        "ask",
        "bash",
        "bash_output",
        "edit_file",
        "glob",
        "grep",
        "ls",
        "multi_edit",
        "read_file",
        "todo_write",
        "tool_call",
        "tool_search",
        "update_goal",
        "write_file",
    ] {
        assert!(names.iter().any(|found| found == name), "{name}: {names:?}");
    }
    for name in [
        "apply_patch",
        "copy_file",
        "delete_file",
        "kill_shell",
        "make_dir",
        "move_file",
    ] {
        assert!(
            !names.iter().any(|found| found == name),
            "{name}: {names:?}"
        );
    }
    let body = &request.json;
    let system = body["messages"][0].to_string().len();
    let bytes = system + body["tools"].to_string().len();
    assert!(bytes <= PREFIX_MAX, "{bytes} bytes");
}

#[test]
fn the_shipped_prompt_is_short_and_says_what_the_contract_wants_of_it() {
    let model = Model::start(Script::by(|_: &Request| Answer::text("Hello.")));
    let house = house(&model);
    run(&house, &[], "Hello.").expect(0, "completed");
    let prompt = model.requests()[0].messages()[0]["content"].to_string();
    for words in [
        "Be concise",
        "No emoji unless asked",
        "`path:line`",
        "read a file before editing it",
        "Use the file and search tools for files",
        "belong in one answer",
        "Keep the todo list",
        "verify it",
        "Refuse to write or improve malicious code",
        "Git: never change its configuration",
        "nothing destructive",
        "commit only when asked",
        "no interactive flags",
    ] {
        assert!(prompt.contains(words), "`{words}`: {prompt}");
    }
    assert!(prompt.len() < 3_000, "{} bytes", prompt.len());
}
