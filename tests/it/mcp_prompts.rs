//! Prompts of MCP servers as commands, and their resources as references in prompts.

use std::fs;

use serde_json::json;
use testkit::model::{Answer, Model, Request, Script};
use tests::house::example_server;
use tests::{House, until};

use crate::mcp::{faulty, offered, servers};
use crate::scripted::{house, run};

fn answering() -> (Model, House) {
    let model = Model::start(Script::by(|_: &Request| Answer::text("Done.")));
    let house = house(&model);
    servers(&house, &json!({"example": {"command": example_server()}}));
    (model, house)
}

/// Waits until the example has listed its prompts.
fn listed(house: &House) {
    let _ = house.reasonix(&["mcp", "test", "example"]);
    until("the prompts to be listed", || {
        let commands = house.reasonix(&["commands"]).expect_code(0).out;
        commands
            .contains("/mcp__example__greet <name> [wish]")
            .then_some(())
    });
}

/// All that the model got of the newest prompt.
fn newest(model: &Model) -> String {
    let requests = model.requests();
    requests.last().expect("a request").last_text().to_owned()
}

#[test]
fn a_prompt_of_a_server_is_a_command_and_its_text_comes_before_the_prompt() {
    let (model, house) = answering();
    run(&house, &[], "Hello.").expect(0, "completed");
    listed(&house);
    let commands = house.reasonix(&["commands"]).expect_code(0).out;
    assert!(commands.contains("Greet somebody."), "{commands}");
    let typed = "/mcp__example__greet \"Ann Lee\" much @luck.md";
    house.files("//- luck.md\nfour leaves\n");
    let ran = run(&house, &[], typed).expect(0, "completed");
    let told = newest(&model);
    let text = "Greet Ann Lee and wish them much @luck.md.";
    let place = |words: &str| {
        told.find(words)
            .unwrap_or_else(|| panic!("{words}: {told}"))
    };
    assert!(
        place("four leaves") < place(text),
        "the user's own reference is attached"
    );
    assert!(
        place(text) < place(typed),
        "the prompt is kept as it was typed"
    );
    assert!(
        told.contains("<command name=\"/mcp__example__greet\">"),
        "{told}"
    );
    run(&house, &["-s", &ran.pid()], "Go on.").expect(0, "completed");
    house.logs()[0].check();
    model.assert_strict();
}

#[test]
fn a_prompt_that_cannot_be_run_is_refused_with_the_reason_and_asks_no_model() {
    let (model, house) = answering();
    run(&house, &[], "Hello.").expect(0, "completed");
    listed(&house);
    let before = model.count();
    let refused = |prompt: &str| {
        let done = house.reasonix(&["run", prompt]);
        assert!(done.code().is_some_and(|code| code != 0), "{done:?}");
        done.err
    };
    let missing = refused("/mcp__example__greet");
    assert!(missing.contains("needs the argument `name`"), "{missing}");
    let near = refused("/mcp__example__gret Ann");
    assert!(near.contains("/mcp__example__greet"), "{near}");
    servers(&house, &json!({"example": faulty(&["crash"])}));
    let gone = refused("/mcp__example__greet Ann");
    assert!(gone.contains("no command `/mcp__example__greet`"), "{gone}");
    assert_eq!(model.count(), before);
}

#[test]
fn a_resource_of_a_server_is_attached_and_what_cannot_be_is_told() {
    let (model, house) = answering();
    run(
        &house,
        &[],
        "Read @example:example://notes, @example:example://logo and ann@example:x://y.",
    )
    .expect(0, "completed");
    let told = newest(&model);
    for wanted in [
        "<resource path=\"example:example://notes\">\nThe notes of the example.\n</resource>",
        "[binary resource, image/png, 6 bytes]",
    ] {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
    assert_eq!(
        told.matches("<resource ").count(),
        2,
        "an address of mail stays text"
    );
    let ran = run(
        &house,
        &[],
        "Read @example:example://none, and @other:x://y",
    );
    let ran = ran.expect(0, "completed");
    let notices: String = ran.all("notice").iter().map(ToString::to_string).collect();
    assert!(
        notices.contains("`@example:example://none` is not attached: the MCP server `example`"),
        "{notices}"
    );
    assert!(notices.contains("there is no resource"), "{notices}");
    assert!(!newest(&model).contains("<resource "));
}

#[test]
fn clients_complete_the_resources_of_servers_that_are_ready() {
    let (_model, house) = answering();
    let client = house.block_on(house.client("one", proto::hello::Role::Watch));
    let asked = proto::params::mcp::ListParams {
        cwd: Some(house.project().to_string_lossy().into_owned()),
    };
    let resources = || {
        let listed = client.call::<proto::methods::McpResources>(&asked);
        house.block_on(listed).expect("the resources").resources
    };
    assert_eq!(resources(), [], "none is started for it");
    listed(&house);
    let names: Vec<_> = resources()
        .into_iter()
        .map(|resource| format!("{}:{}", resource.server, resource.uri))
        .collect();
    assert_eq!(names, ["example:example://logo", "example:example://notes"]);
}

#[test]
fn a_projects_server_gives_nothing_before_it_is_trusted() {
    let model = Model::start(Script::by(|_: &Request| Answer::text("Done.")));
    let house = house(&model);
    let text = json!({"mcpServers": {"example": {"command": example_server()}}}).to_string();
    fs::write(house.project().join(".mcp.json"), text).expect("write the servers");
    run(&house, &[], "Read @example:example://notes").expect(0, "completed");
    assert!(!newest(&model).contains("The notes"));
    let commands = house.reasonix(&["commands"]).expect_code(0).out;
    assert!(!commands.contains("mcp__example"), "{commands}");
    let _ = house.reasonix(&["trust", "--yes"]).expect_code(0);
    run(&house, &[], "Read @example:example://notes").expect(0, "completed");
    assert!(newest(&model).contains("The notes"));
}

#[test]
fn a_model_lists_and_reads_the_resources_of_a_server_and_is_asked_about() {
    let model = Model::start(Script::by(|request: &Request| match request.answered() {
        0 => Answer::call("tool_search", json!({"query": "resources of example"})),
        1 => Answer::call(
            "tool_call",
            json!({"tool": "mcp__example__resources", "arguments": {}}),
        ),
        2..5 => {
            let uri = ["example://notes", "example://logo", "example://none"];
            let uri = uri[request.answered() - 2];
            Answer::call(
                "tool_call",
                json!({"tool": "mcp__example__resources", "arguments": {"uri": uri}}),
            )
        }
        _ => Answer::text("Done."),
    }));
    let house = house(&model);
    servers(&house, &json!({"example": {"command": example_server()}}));
    run(&house, &["--allow", "mcp__example"], "Read.").expect(0, "completed");
    let requests = model.requests();
    assert!(!offered(&requests[0]).contains(&"mcp__example__resources".to_owned()));
    let results = requests.last().expect("a request").results();
    let texts: Vec<_> = results.iter().map(|(_, text)| text.as_str()).collect();
    assert!(texts[0].contains("mcp__example__resources"), "{texts:#?}");
    assert_eq!(texts[1], "example://notes notes\nexample://logo logo");
    assert_eq!(texts[2], "The notes of the example.");
    assert!(texts[3].contains("image/png"), "{texts:#?}");
    assert!(texts[4].contains("there is no resource"), "{texts:#?}");
    // Nobody is there to allow it.
    run(&house, &[], "Read.");
    let log = &house.logs()[1];
    assert_eq!(log.count("tool.started"), 1, "only the search");
}
