//! The tools as the model sees them.

use std::path::{Path, PathBuf};

use super::*;

#[test]
fn the_tools_are_sorted_and_cost_little_prefix() {
    let tools = BuiltIn::default().set(Options::default());
    let names: Vec<&str> = tools.names().collect();
    assert_eq!(
        names,
        [
            "apply_patch",
            "ask",
            "bash",
            "bash_output",
            "copy_file",
            "delete_file",
            "edit_file",
            "exit_plan_mode",
            "forget",
            "glob",
            "grep",
            "history",
            "kill_shell",
            "ls",
            "make_dir",
            "memory",
            "move_file",
            "multi_edit",
            "read_file",
            "remember",
            "session_send",
            "skill",
            "task",
            "todo_write",
            "tool_call",
            "tool_search",
            "update_goal",
            "write_file"
        ]
    );
    let bytes: usize = tools
        .iter()
        .filter(|tool| !tool.spec().deferred)
        .map(|tool| {
            tool.spec().name.len()
                + tool.spec().description.len()
                + tool.spec().schema.to_string().len()
        })
        .sum();
    assert!(bytes <= 8 * 1024, "{bytes} bytes");
}

#[test]
fn schemas_are_plain_and_sorted() {
    for tool in BuiltIn::default().set(Options::default()).iter() {
        let text = tool.spec().schema.to_string();
        for noise in [
            "$ref",
            "$schema",
            "$defs",
            "\"title\"",
            "\"format\"",
            "null",
            "anyOf",
            "\"default\"",
            "\"minimum\"",
        ] {
            assert!(
                !text.contains(noise),
                "{}: {noise} in {text}",
                tool.spec().name
            );
        }
        let sorted = sorted(&tool.spec().schema);
        assert_eq!(sorted, text, "{}", tool.spec().name);
    }
}

/// The same with all keys in order.
fn sorted(value: &serde_json::Value) -> String {
    match value {
        serde_json::Value::Object(object) => {
            let ordered: std::collections::BTreeMap<_, _> = object.iter().collect();
            let members: Vec<String> = ordered
                .iter()
                .map(|(key, value)| format!("{}:{}", serde_json::json!(key), sorted(value)))
                .collect();
            format!("{{{}}}", members.join(","))
        }
        other => other.to_string(),
    }
}

#[test]
fn a_schema_as_the_model_reads_it() {
    let tool = crate::scene::tool_named("read_file");
    let schema = &tool.spec().schema;
    let wanted = r#"{"additionalProperties":false,"properties":{"limit":{"description":"Lines; default 2000","type":"integer"},"offset":{"description":"First line, from 1","type":"integer"},"path":{"type":"string"}},"required":["path"],"type":"object"}"#;
    assert_eq!(schema.to_string(), wanted);
}

#[test]
fn no_tool_costs_much_alone() {
    for tool in BuiltIn::default().set(Options::default()).iter() {
        let spec = tool.spec();
        let bytes = spec.name.len() + spec.description.len() + spec.schema.to_string().len();
        assert!(bytes <= 1400, "{}: {bytes} bytes", spec.name);
    }
}

#[test]
fn sessions_with_the_same_options_share_all_tools() {
    let built_in = BuiltIn::default();
    let shared = |one: &ToolSet, two: &ToolSet| {
        let pairs = one.iter().zip(two.iter());
        pairs.filter(|(one, two)| Arc::ptr_eq(one, two)).count()
    };
    let first = built_in.set(Options::default());
    let all = first.iter().count();
    assert_eq!(shared(&first, &built_in.set(Options::default())), all);
    let other = built_in.set(Options { bash_timeout_ms: 7 });
    // `bash` has the options; `tool_search` and `tool_call` belong to one set.
    assert_eq!(shared(&first, &other), all - 3);
    assert!(first.names().eq(other.names()));
}

/// Directories in which a tool's name also has another meaning.
const OTHER_MEANINGS: [(&str, &str); 2] = [
    // A list of rules, and an approval mode.
    ("", "ask"),
    ("daemon/providers/src/command", "tool_call"),
];

#[test]
fn no_code_outside_this_crate_names_a_tool() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let tools = BuiltIn::default().set(Options::default());
    let mut found = Vec::new();
    let mut directories: Vec<_> = ["daemon", "proto", "client-cli", "client-tui"]
        .map(PathBuf::from)
        .into();
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(root.join(&directory)).unwrap() {
            let entry = entry.unwrap();
            let path = directory.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                let other = ["tests", "examples", "target", "testkit", "conformance"];
                let skip = path == Path::new("daemon/tools")
                    || other.iter().any(|name| path.ends_with(name));
                directories.extend((!skip).then_some(path));
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !["tests.rs", "scene.rs", "fuzz.rs"]
                    .iter()
                    .any(|name| path.ends_with(name))
            {
                let text = std::fs::read_to_string(root.join(&path)).unwrap();
                found.extend(tools.names().flat_map(|name| named(&path, &text, name)));
            }
        }
    }
    assert!(
        found.is_empty(),
        "the spec of a tool says what others need to know:\n{}",
        found.join("\n")
    );
}

/// Lines of code that have this name of a tool: as a text, or in backticks in a longer one. A name without `_` is also a
/// program or a word, so only its backticks count.
fn named(path: &Path, text: &str, name: &str) -> Vec<String> {
    let mut others = OTHER_MEANINGS.iter();
    if others.any(|(directory, word)| path.starts_with(directory) && *word == name) {
        return Vec::new();
    }
    let (quoted, code_span) = (format!("\"{name}\""), format!("`{name}`"));
    let names_it = |line: &str| {
        !line.trim_start().starts_with("//")
            && (line.contains(&code_span) || (name.contains('_') && line.contains(&quoted)))
    };
    let lines = text.lines().enumerate().filter(|(_, line)| names_it(line));
    lines
        .map(|(index, line)| format!("{}:{}: {}", path.display(), index + 1, line.trim()))
        .collect()
}
