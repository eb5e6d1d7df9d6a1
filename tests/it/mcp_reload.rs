//! Tools of MCP servers that come, change and go while a session lives: nothing before a reload, which takes them up.

use std::fs;

use serde_json::{Value, json};
use testkit::model::{Answer, Model, Request, Script};
use tests::until;

use crate::mcp::{faulty, offered, result_of, servers};
use crate::scripted::{house, run};

/// A model that calls the tool that the prompt names, and then says what came back.
fn obeying() -> Model {
    Model::start(Script::by(|request: &Request| {
        let last = request.last();
        match last["role"] == "user" {
            true => {
                let words = last["content"].as_str().unwrap_or_default();
                let tool = words.split_whitespace().last().unwrap_or_default();
                Answer::call(tool, json!({"a": 2, "b": 3}))
            }
            false => Answer::text("Done."),
        }
    }))
}

#[test]
fn a_reload_takes_up_the_tools_of_servers_and_nothing_changes_before() {
    let model = obeying();
    let house = house(&model);
    let more = house.root().join("more");
    let description = house.root().join("description");
    fs::write(&more, "change\nold\n").expect("write the tools");
    fs::write(&description, "Adds.").expect("write a description");
    let paths = [&more, &description].map(|path| path.to_string_lossy().into_owned());
    let server = faulty(&["ok", "--more", &paths[0], "--describe", &paths[1]]);
    servers(&house, &json!({"s": server}));
    let said = |session: Option<&str>, tool: &str| {
        let session = session.map(|session| ["-s", session]);
        let arguments = [
            &["--allow", "mcp__s"][..],
            session.as_ref().map_or(&[], |it| it),
        ]
        .concat();
        let prompt = format!("Call mcp__s__{tool}");
        run(
            &house,
            &arguments[if session.is_some() { 2 } else { 0 }..],
            &prompt,
        )
        .expect(0, "completed")
        .pid()
    };
    let session = said(None, "old");
    assert_eq!(result_of(&model), "done");
    fs::write(&more, "change\nnew\n").expect("write the tools");
    fs::write(&description, "Adds two numbers, exactly.").expect("write a description");
    said(Some(&session), "change");
    until("the server to be listed again", || {
        let listed = house.reasonix(&["mcp", "list", "--json"]);
        listed.out.contains("mcp__s__new").then_some(())
    });
    said(Some(&session), "new");
    assert!(
        result_of(&model).contains("mcp__s__new"),
        "{}",
        result_of(&model)
    );
    let before = model.requests();
    assert!(offered(&before[0]).contains(&"mcp__s__old".to_owned()));
    for request in &before {
        assert_eq!(request.json["tools"], before[0].json["tools"]);
    }
    model.assert_prefix();
    let refused = house.reasonix(&["reload", &session]);
    assert_ne!(refused.code(), Some(0), "the price is said first");
    assert!(
        refused.err.contains("This resets the provider's cache"),
        "{refused:?}"
    );
    let done = house
        .reasonix(&["reload", &session, "--yes"])
        .expect_code(0);
    for changed in [
        "new tool mcp__s__new",
        "removed tool mcp__s__old",
        "changed tool mcp__s__add",
    ] {
        assert!(done.err.contains(changed), "{done:?}");
    }
    let count = model.count();
    said(Some(&session), "new");
    assert_eq!(result_of(&model), "done");
    house.kill_daemon_and_parent();
    house.daemon();
    said(Some(&session), "new");
    assert_eq!(
        result_of(&model),
        "done",
        "a restart keeps the tools of the reload"
    );
    said(Some(&session), "old");
    assert_ne!(result_of(&model), "done");
    let after = model.requests().split_off(count);
    let names = offered(&after[0]);
    assert!(names.contains(&"mcp__s__new".to_owned()), "{names:?}");
    assert!(!names.contains(&"mcp__s__old".to_owned()), "{names:?}");
    assert!(
        after[0].json["tools"]
            .to_string()
            .contains("two numbers, exactly")
    );
    for request in &after {
        assert_eq!(request.json["tools"], after[0].json["tools"]);
    }
    let own = |request: &Request| {
        let tools = request.json["tools"]
            .as_array()
            .cloned()
            .unwrap_or_default();
        let own = |tool: &Value| !tool["function"]["name"].to_string().contains("mcp__");
        tools.into_iter().filter(own).collect::<Vec<_>>()
    };
    assert_eq!(
        own(&before[0]),
        own(&after[0]),
        "the other tools stay to the byte"
    );
    let again = house
        .reasonix(&["reload", &session, "--yes"])
        .expect_code(0);
    assert!(again.err.contains("nothing was reset"), "{again:?}");
}

#[test]
fn a_reload_gives_a_session_with_chosen_tools_no_more() {
    let model = Model::start([Answer::text("One."), Answer::text("Two.")]);
    let house = house(&model);
    house.settings("[tools]\nenabled = [\"read_file\"]");
    let session = run(&house, &[], "One.").expect(0, "completed").pid();
    servers(&house, &json!({"s": faulty(&["ok"])}));
    let done = house
        .reasonix(&["reload", &session, "--yes"])
        .expect_code(0);
    assert!(done.err.contains("with a choice of tools"), "{done:?}");
    run(&house, &["-s", &session], "Two.").expect(0, "completed");
    model.assert_prefix();
}

/// A tool that the prefix does not declare costs no reset.
#[test]
fn a_reload_takes_up_the_new_definition_of_a_tool_that_is_searched_for_without_a_reset() {
    let model = Model::start(Script::by(|request: &Request| {
        match request.last()["role"] == "user" {
            true => Answer::call("tool_search", json!({"query": "add"})),
            false => Answer::text("Done."),
        }
    }));
    let house = house(&model);
    house.settings("[mcp]\ndeferred_above = 0");
    let description = house.root().join("description");
    fs::write(&description, "Adds.").expect("write a description");
    let path = description.to_string_lossy().into_owned();
    servers(&house, &json!({"s": faulty(&["ok", "--describe", &path])}));
    let session = run(&house, &[], "Search.").expect(0, "completed").pid();
    assert!(result_of(&model).contains("Adds."), "{}", result_of(&model));
    fs::write(&description, "Adds two numbers, exactly.").expect("write a description");
    let _ = house.reasonix(&["mcp", "restart", "s"]).expect_code(0);
    let _ = house.reasonix(&["mcp", "test", "s"]).expect_code(0);
    let done = house.reasonix(&["reload", &session]).expect_code(0);
    let words = "reloaded without a cache reset: changed tool mcp__s__add";
    assert!(done.err.contains(words), "{done:?}");
    run(&house, &["-s", &session], "Search.").expect(0, "completed");
    assert!(
        result_of(&model).contains("exactly"),
        "{}",
        result_of(&model)
    );
    model.assert_prefix();
    let again = house.reasonix(&["reload", &session]).expect_code(0);
    assert!(again.err.contains("nothing was reset"), "{again:?}");
}
