//! The servers of the MCP project, from the npm registry, over both transports.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use testkit::model::{Answer, Model, Request, Script};
use tests::{House, Running};

use crate::mcp::{offered, servers};
use crate::scripted::{house, run};

/// Where the packages are: `npm install --prefix DIR @modelcontextprotocol/server-everything …`.
const PACKAGES: &str = "REASONIX_NPM_SERVERS";

const NODE: &str = ".bin/node";
const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";

/// Config names of the stdio server and of the HTTP server.
const NAMES: [&str; 2] = ["every", "web"];

fn package(path: &str) -> PathBuf {
    let place = std::env::var_os(PACKAGES).unwrap_or_else(|| panic!("{PACKAGES} is not set"));
    PathBuf::from(place).join("node_modules").join(path)
}

/// Starts `server-everything` over HTTP. Returns the process and its URL.
fn start_http_server() -> (Running, String) {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr());
    let port = port.expect("a free port").port();
    let mut command = Command::new(package(NODE));
    command.arg(package(EVERYTHING)).arg("streamableHttp");
    let server = Running::start(command.env("PORT", port.to_string()));
    let _ = server.err_line("that it listens", |line| line.contains("listening on port"));
    (server, format!("http://127.0.0.1:{port}/mcp"))
}

/// A model that makes these calls of the server that the prompt names, one after the other.
fn calling(calls: Vec<(&'static str, &'static str)>) -> Model {
    Model::start(Script::by(move |request: &Request| {
        let messages = request.json["messages"].to_string();
        let is_named = |name: &&str| messages.contains(&format!("Use {name}."));
        let server = NAMES.into_iter().find(is_named);
        match (server, calls.get(request.results().len())) {
            (Some(server), Some((tool, arguments))) => {
                let arguments: Value = serde_json::from_str(arguments).expect("JSON");
                Answer::call(&format!("mcp__{server}__{tool}"), arguments)
            }
            _ => Answer::text("Done."),
        }
    }))
}

/// Configures the server as a program and at this address.
fn configure(house: &House, address: &str) {
    let [program, web] = NAMES;
    let (node, everything) = (package(NODE), package(EVERYTHING));
    servers(
        house,
        &json!({
            program: {"command": node, "args": [everything], "read_only_policy": "read_only"},
            web: {"type": "http", "url": address},
        }),
    );
}

#[test]
#[ignore = "needs Node.js and servers from the npm registry"]
fn official_server_behaves_the_same_over_stdio_and_http() {
    let calls = [
        ("echo", r#"{"message": "four leaves"}"#, "Echo: four leaves"),
        ("get-sum", r#"{"a": 2, "b": 3}"#, "The sum of 2 and 3 is 5."),
        ("get-sum", r#"{"a": 2}"#, "missing arguments: b"),
        (
            "get-structured-content",
            r#"{"location": "Chicago"}"#,
            r#""temperature":36"#,
        ),
        (
            "trigger-long-running-operation",
            r#"{"duration": 1, "steps": 4}"#,
            "Steps: 4.",
        ),
        (
            "get-annotated-message",
            r#"{"messageType": "error"}"#,
            "Error: Operation failed",
        ),
        (
            "get-resource-links",
            r#"{"count": 2}"#,
            "demo://resource/dynamic/text/2",
        ),
        (
            "get-resource-reference",
            r#"{"resourceType": "Text", "resourceId": 1}"#,
            "This is a plaintext resource",
        ),
        ("get-tiny-image", "{}", "[image 20x20 png]"),
        ("get-roots-list", "{}", "MCP Roots (1 total)"),
        // No client is attached to answer or approve.
        ("trigger-elicitation-request", "{}", r#""action": "cancel""#),
        (
            "trigger-sampling-request",
            r#"{"prompt": "hello"}"#,
            "not approved",
        ),
        ("no-such-tool", "{}", "no-such-tool"),
    ];
    let model = calling(calls.map(|(tool, arguments, _)| (tool, arguments)).to_vec());
    let house = house(&model);
    let (_server, address) = start_http_server();
    configure(&house, &address);
    for server in NAMES {
        let allow = format!("mcp__{server}");
        run(&house, &["--allow", &allow], &format!("Use {server}.")).expect(0, "completed");
        let results = model.requests().pop().expect("requests").results();
        assert_eq!(results.len(), calls.len(), "{results:?}");
        for ((tool, _, wanted), (_, text)) in calls.iter().zip(&results) {
            assert!(text.contains(wanted), "{server}, {tool}: {text}");
        }
    }
    let requests = model.requests();
    let names = offered(&requests[0]);
    let of = |server: &str| -> Vec<String> {
        let prefix = format!("mcp__{server}__");
        let names = names.iter().filter_map(|name| name.strip_prefix(&prefix));
        names.map(str::to_owned).collect()
    };
    assert_eq!(of(NAMES[0]), of(NAMES[1]));
    assert!(names.len() > 30, "{names:?}");
    house.logs()[0].check();
    model.assert_strict();
}

#[test]
#[ignore = "needs Node.js and servers from the npm registry"]
fn official_server_prompts_resources_and_read_only_tools_work() {
    let model = calling(vec![("get-sum", r#"{"a": 2, "b": 3}"#)]);
    let house = house(&model);
    let (_server, address) = start_http_server();
    configure(&house, &address);
    // Read-only tools run without approval only if the server's entry has `read_only_policy`.
    for (server, wanted) in [(NAMES[0], "is 5."), (NAMES[1], "needs approval")] {
        run(&house, &[], &format!("Use {server}."));
        let results = model.requests().pop().expect("requests").results();
        assert!(results[0].1.contains(wanted), "{server}: {results:?}");
    }
    let newest = || {
        let last = model.requests().pop().expect("requests");
        last.json["messages"].to_string()
    };
    for server in NAMES {
        let prompt = format!("/mcp__{server}__args-prompt Bern \"the canton\"");
        run(&house, &[], &prompt).expect(0, "completed");
        let sent = newest();
        assert!(
            sent.contains("What's weather in Bern, the canton?"),
            "{sent}"
        );
        let prompt = format!("Read @{server}:demo://resource/static/document/features.md first.");
        run(&house, &[], &prompt).expect(0, "completed");
        let sent = newest();
        assert!(sent.contains("<resource path="), "{sent}");
        assert!(sent.contains("# Everything Server - Features"), "{sent}");
    }
}
