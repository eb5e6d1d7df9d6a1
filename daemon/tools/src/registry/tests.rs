//! The tools as the model sees them.

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
            "glob",
            "grep",
            "kill_shell",
            "ls",
            "make_dir",
            "move_file",
            "multi_edit",
            "read_file",
            "todo_write",
            "tool_call",
            "tool_search",
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
    assert!(bytes <= 7 * 1024, "{bytes} bytes");
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
