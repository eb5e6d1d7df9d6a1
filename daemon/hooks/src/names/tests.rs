use super::*;

/// A built-in tool; one that does not exist has no other names.
pub(crate) fn tool(name: &str) -> ToolSpec {
    let tools = tools::BuiltIn::default().set(tools::Options::default());
    let known = tools.get(name).map(|tool| tool.spec().clone());
    known.unwrap_or_else(|| {
        ToolSpec::new(name, "", serde_json::Value::Null, contract::Family::Memory)
    })
}

fn fits(written: &str, name: &str) -> bool {
    Match::read(Some(written)).unwrap().fits(&tool(name))
}

#[test]
fn a_pattern_is_anchored_and_tried_on_every_name() {
    let table = [
        ("shell", "bash", true),
        ("run_command", "bash", true),
        ("Bash", "bash", true),
        ("bash", "bash", true),
        ("bas", "bash", false),
        ("ash", "bash", false),
        ("bash|x", "bash", true),
        ("x|bas", "bash", false),
        ("bash", "bash_output", false),
        ("file", "read_file", false),
        (".*file", "read_file", true),
        ("edit_file|write_file", "write_file", true),
        ("edit_file|write_file", "multi_edit", false),
        ("Edit|Write|MultiEdit", "multi_edit", true),
        ("Edit", "apply_patch", true),
        ("Read", "read_file", true),
        ("", "grep", true),
        ("*", "grep", true),
        ("mcp__.*", "mcp__files__read", true),
        ("mcp__.*", "read_file", false),
        ("bash\n", "bash", false),
        ("(?i)BASH", "bash", true),
    ];
    for (written, tool, wanted) in table {
        assert_eq!(fits(written, tool), wanted, "{written} on {tool}");
    }
    assert!(Match::read(None).unwrap().fits(&tool("anything")));
}

#[test]
fn what_does_not_compile_is_told_in_one_line() {
    let huge = format!("({}){{1000}}", ".{1000}");
    for wrong in ["[unclosed", "(", ")|(", "a{", "*x", "\\", huge.as_str()] {
        let why = Match::read(Some(wrong)).unwrap_err();
        assert!(
            why.starts_with("`match` is no regular expression: "),
            "{why}"
        );
        assert!(!why.contains('\n'), "{why}");
    }
}
