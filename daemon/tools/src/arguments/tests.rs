//! Scenarios: arguments as models write them, and how they are parsed.

use serde_json::json;

use crate::scene::{object, tool_named};

/// The canonical arguments, or the words of the refusal.
fn parsed(tool: &str, arguments: serde_json::Value) -> String {
    match tool_named(tool).parse(&object(arguments)) {
        Ok(arguments) => serde_json::Value::Object(arguments).to_string(),
        Err(outcome) => outcome.text,
    }
}

#[test]
fn argument_aliases_map_to_the_canonical_names() {
    for name in ["path", "file_path", "filename", "source_path"] {
        assert_eq!(parsed("read_file", json!({ name: "a" })), r#"{"path":"a"}"#);
    }
    let wanted = r#"{"path":"f","old_string":"a","new_string":"b"}"#;
    assert_eq!(
        parsed("edit_file", json!({"path": "f", "old": "a", "new": "b"})),
        wanted
    );
    assert_eq!(
        parsed("write_file", json!({"path": "f", "text": "x"})),
        r#"{"path":"f","content":"x"}"#
    );
    assert_eq!(
        parsed("bash", json!({"cmd": "ls", "timeout": 5})),
        r#"{"command":"ls","timeout_ms":5}"#
    );
    assert_eq!(
        parsed("bash", json!({"command": "ls", "background": "true"})),
        r#"{"command":"ls","run_in_background":true}"#
    );
    for id in [json!(7), json!("7"), json!(7.0)] {
        assert_eq!(parsed("kill_shell", json!({"shell_id": id})), r#"{"id":7}"#);
        assert_eq!(parsed("bash_output", json!({ "id": id })), r#"{"id":7}"#);
    }
    assert_eq!(
        parsed("grep", json!({"pattern": "x", "-i": true})),
        r#"{"pattern":"x","case_insensitive":true}"#
    );
}

#[test]
fn an_unknown_name_is_refused_with_the_known_ones() {
    let text = parsed("read_file", json!({"path": "a", "colour": 1}));
    assert_eq!(
        text,
        "unknown argument `colour`; known are `limit`, `offset`, `path`"
    );
    // An alias of another tool's argument is unknown here.
    assert!(
        parsed("bash", json!({"command": "ls", "file_path": "x"}))
            .starts_with("unknown argument `file_path`")
    );
    for tool in ["bash_output", "kill_shell"] {
        let text = parsed(tool, json!({"id": 1, "signal": "HUP"}));
        assert!(text.starts_with("unknown argument `signal`"), "{text}");
    }
}

#[test]
fn missing_and_duplicate_arguments_are_reported() {
    assert_eq!(
        parsed("read_file", json!({})),
        "argument `path` is missing; known are `limit`, `offset`, `path`"
    );
    assert!(parsed("read_file", json!({"path": "a", "file_path": "b"})).contains("given twice"));
    assert_eq!(
        parsed("read_file", json!({"path": "a", "file_path": "a"})),
        r#"{"path":"a"}"#
    );
}

#[test]
fn types_are_converted_if_unambiguous() {
    let wanted = r#"{"path":"a","offset":5}"#;
    for offset in [json!(5), json!("5"), json!(5.0)] {
        assert_eq!(
            parsed(
                "read_file",
                json!({"path": "a", "offset": offset, "limit": null})
            ),
            wanted
        );
    }
    for offset in [
        json!(-1),
        json!(1.5),
        json!("five"),
        json!([1]),
        json!(1e300),
    ] {
        let text = parsed("read_file", json!({"path": "a", "offset": offset}));
        assert!(
            text.starts_with("argument `offset` must be a whole number"),
            "{text}"
        );
    }
    assert!(parsed("write_file", json!({"path": "a", "content": 5})).contains("must be a text"));
    assert_eq!(
        parsed(
            "write_file",
            json!({"path": "a", "content": "", "append": "true"})
        ),
        r#"{"path":"a","content":"","append":true}"#
    );
    let text = parsed("grep", json!({"pattern": "a", "output_mode": "lines"}));
    assert_eq!(
        text,
        r#"argument `output_mode` must be one of "content", "files_with_matches", "count", not `"lines"`"#
    );
}

#[test]
fn parsing_twice_changes_nothing() {
    let once = tool_named("grep")
        .parse(&object(json!({"query": "x", "-C": "2", "limit": 3})))
        .unwrap();
    assert_eq!(tool_named("grep").parse(&once).unwrap(), once);
}
