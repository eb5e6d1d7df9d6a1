//! Scenes for the arguments of a run.

use super::*;

#[test]
fn command_line_definition_passes_the_checks_of_clap() {
    use clap::CommandFactory;
    crate::args::Cli::command().debug_assert();
}

#[test]
fn only_harmless_names_reach_the_tools() {
    let hello = serde_json::from_value(serde_json::json!({
        "daemon": {"version": "1", "build": "", "pid": 1, "started_at": "2026-01-01T00:00:00Z", "instance": "i"},
        "protocol": 1, "capabilities": [], "role": "drive", "home": "/h", "key_variables": ["PATH"],
    }))
    .unwrap();
    let own = client::environment::own(&hello);
    assert!(
        !own.shared.contains_key("PATH") && own.held.contains(&"PATH".to_owned()),
        "a variable that holds a key by the daemon's word is none for tools"
    );
    assert!(
        own.shared
            .keys()
            .all(|name| !name.to_uppercase().contains("TOKEN"))
    );
}

#[test]
fn invalid_exit_code_becomes_1() {
    assert_eq!((code(0), code(137), code(-1), code(256)), (0, 137, 1, 1));
}
