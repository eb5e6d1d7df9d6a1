//! Servers that `reasonix mcp add` knows by name.

use std::fs;

use serde_json::{Value, json};
use tests::House;

/// The entry of this server in the user's file.
fn entry(house: &House, name: &str) -> Value {
    let text = fs::read_to_string(house.home_file("mcp.json")).expect("the servers");
    let servers: Value = serde_json::from_str(&text).expect("JSON");
    servers["mcpServers"][name].clone()
}

#[test]
fn a_preset_is_added_by_its_name_and_a_command_of_ones_own_counts_before_it() {
    let house = House::new();
    let listed = house.reasonix(&["mcp", "presets"]).expect_code(0);
    assert!(listed.out.contains("playwright"), "{listed:?}");
    let all = house.reasonix(&["mcp", "presets", "--json"]).expect_code(0);
    let all = all.json();
    house.daemon();

    let added = house.reasonix(&["mcp", "add", "playwright"]).expect_code(0);
    assert!(added.err.contains("`npx`"), "{added:?}");
    let playwright = json!({
        "command": "npx",
        "args": ["-y", "@playwright/mcp@latest", "--headless", "--isolated"],
        "startup_timeout_seconds": 180,
    });
    assert_eq!(entry(&house, "playwright"), playwright);
    let listed = all.as_array().expect("a list");
    let listed = listed.iter().find(|preset| preset["name"] == "playwright");
    assert_eq!(listed.expect("it")["entry"], playwright);

    let arguments = ["mcp", "add", "github", "--header", "X-Team: blue"];
    let added = house.reasonix(&arguments).expect_code(0);
    assert!(added.err.contains("GITHUB_TOKEN"), "{added:?}");
    let headers = json!({"Authorization": "Bearer ${GITHUB_TOKEN}", "X-Team": "blue"});
    assert_eq!(entry(&house, "github")["headers"], headers);
    let arguments = ["mcp", "add", "git", "--env", "GIT_DIR=/r"];
    let _ = house.reasonix(&arguments).expect_code(0);
    let git = entry(&house, "git");
    assert_eq!(
        (&git["command"], &git["env"]),
        (&json!("uvx"), &json!({"GIT_DIR": "/r"}))
    );

    let arguments = ["mcp", "add", "memory", "--", "own", "--flag"];
    let _ = house.reasonix(&arguments).expect_code(0);
    assert_eq!(
        entry(&house, "memory"),
        json!({"command": "own", "args": ["--flag"]})
    );
    // Each is an entry that is understood.
    let listed = house
        .reasonix(&["mcp", "list", "--json"])
        .expect_code(0)
        .json();
    assert_eq!(listed["servers"].as_array().map(Vec::len), Some(4));
    assert_eq!(listed["problems"], json!([]));
}

#[test]
fn an_unknown_preset_is_refused_with_the_nearest_names() {
    let house = House::new();
    house.daemon();
    let refused = house.reasonix(&["mcp", "add", "playright"]).expect_code(64);
    assert!(refused.err.contains("`playwright`"), "{refused:?}");
    assert!(
        refused.err.contains("`reasonix mcp presets`"),
        "{refused:?}"
    );
    assert!(!house.home_file("mcp.json").exists());
}
