//! Rules about unknown tools.

use super::*;

fn told(list: &str, rule: &str) -> Vec<String> {
    let rules = read_rules(&format!("{list} {rule}"));
    let problems = parse(&[(Layer::Run, &rules, true)]).1;
    problems
        .iter()
        .map(|problem| problem.reason.clone())
        .collect()
}

#[test]
fn rule_about_an_unknown_tool_is_reported_with_a_suggestion() {
    for (rule, meant) in [
        ("bsh(ls)", "`Bash(ls)`"),
        ("BASH(ls:*)", "`Bash(ls:*)`"),
        ("Bsh", "`Bash`"),
        ("bahs", "`bash`"),
        ("edit(docs/**)", "`Edit(docs/**)`"),
        ("read(~/.ssh/**)", "`Read(~/.ssh/**)`"),
        ("write(a)", "`Write(a)`"),
        ("mcp(git)", "`Mcp(git)`"),
        (
            "web-fetch(domain:example.org)",
            "`WebFetch(domain:example.org)`",
        ),
        ("Todo-Write", "`todo_write`"),
        ("edit", "`Edit`"),
        ("edit_fil", "`edit_file`"),
    ] {
        for list in ["allow", "ask", "deny"] {
            let told = told(list, rule);
            assert_eq!(told.len(), 1, "{list} {rule}: {told:?}");
            assert!(
                told[0].contains(&format!("(did you mean {meant}?)")),
                "{list} {rule}: {told:?}"
            );
        }
    }
    let far = told("deny", "launch_rockets");
    assert_eq!(far.len(), 1);
    assert!(!far[0].contains("did you mean"), "{far:?}");
}

#[test]
fn known_names_are_not_reported() {
    for rule in [
        "Bash",
        "bash(ls)",
        "bash",
        "shell(ls)",
        "run_command=ls",
        "Edit",
        "Write(a)",
        "write_file=a",
        "read_file",
        "web_fetch",
        "task",
        "todo_write",
        "mcp__git",
        "mcp__git__push",
        "mcp__a_server__of_any_name",
        "Mcp(git:push)",
    ] {
        for list in ["allow", "ask", "deny"] {
            assert_eq!(told(list, rule), [""; 0], "{list} {rule}");
        }
    }
}

#[test]
fn misspelled_rule_fails_closed_over_its_probable_meaning() {
    let verdict =
        |rules: &str, tool: &str, arguments: Value| scene(rules).call(tool, arguments).verdict;
    let write = || json!({"path": "src/a", "content": ""});
    // The family is clear, although the syntax is wrong: applies to all of it.
    assert_eq!(
        verdict("allow Edit / deny edit(docs/**)", "write_file", write()),
        Verdict::Deny
    );
    assert_eq!(
        verdict("allow Edit / deny bash(ls)", "write_file", write()),
        Verdict::Allow
    );
    assert_eq!(
        verdict("deny bash(ls)", "bash", json!({"command": "ls"})),
        Verdict::Deny
    );
    assert_eq!(
        verdict("deny BASH(ls)", "bash", json!({"command": "make"})),
        Verdict::Deny
    );
    assert_eq!(verdict("allow edit", "write_file", write()), Verdict::Ask);
    // Any other text: a user is asked about every change.
    assert_eq!(
        verdict("allow Edit / deny bsh(ls)", "write_file", write()),
        Verdict::Ask
    );
    assert_eq!(
        verdict("allow bsh(make)", "bash", json!({"command": "make"})),
        Verdict::Ask
    );
}

#[test]
fn an_unknown_tool_is_denied_by_its_rules_and_not_allowed() {
    let verdict = |rules: &str| {
        scene(rules)
            .call("launch_rockets", json!({"path": "a"}))
            .verdict
    };
    assert_eq!(verdict("deny launch_rockets"), Verdict::Deny);
    // A tool that does not exist yet is not allowed.
    assert_eq!(verdict("allow launch_rockets"), Verdict::Ask);
    // And these rules delay no other call.
    for rules in ["deny launch_rockets", "ask launch_rockets"] {
        let other = scene(&format!("allow Edit / {rules}"));
        let other = other.call("write_file", json!({"path": "a", "content": ""}));
        assert_eq!(other.verdict, Verdict::Allow, "{rules}");
    }
}

#[test]
fn a_problem_says_what_is_wrong_apart_from_what_follows() {
    let fault = |rules: &str| {
        let rules = read_rules(rules);
        let problems = RuleSet::parse(&[(Layer::Run, &rules, true)], &[]).1;
        problems.into_iter().next().map(|problem| problem.fault)
    };
    for list in ["allow", "ask", "deny"] {
        assert_eq!(
            fault(&format!("{list} Bash(")).as_deref(),
            Some("the `)` at its end is missing")
        );
    }
    assert_eq!(
        fault("deny launch").as_deref(),
        Some("unknown tool `launch`")
    );
    assert_eq!(fault("deny Bash(rm:*)"), None);
}

#[test]
fn rules_follow_the_tools_that_exist() {
    let rules = read_rules("allow launch_rockets / allow LaunchRockets");
    let layers = [(Layer::User, &rules, true)];
    let spec = ToolSpec::new("launch_rockets", "", Value::Null, Family::Session)
        .with_names(Some("LaunchRockets"), &["fire"]);
    let told = |tools: &[&ToolSpec]| -> Vec<String> {
        let problems = RuleSet::parse(&layers, tools).1;
        problems.into_iter().map(|problem| problem.reason).collect()
    };
    assert_eq!(
        told(&[]),
        [
            "unknown tool `launch_rockets`; it allows nothing",
            "unknown tool `LaunchRockets`; it allows nothing",
        ]
    );
    assert_eq!(
        told(&[&spec]),
        [
            "`LaunchRockets` is another product's tool name; write `launch_rockets`; it allows nothing"
        ]
    );
    let verdict = |rule: &str| {
        let rules = read_rules(rule);
        let set = RuleSet::parse(&[(Layer::User, &rules, true)], &[&spec]).0;
        let call = Call {
            tool: &spec,
            arguments: &Map::new(),
            touches: &[],
        };
        decide(&set, &scene("").context(&call), &call).verdict
    };
    assert_eq!(verdict("allow launch_rockets"), Verdict::Allow);
    assert_eq!(verdict("allow fire"), Verdict::Allow);
    assert_eq!(verdict("allow launch_rocket"), Verdict::Ask);
}

#[test]
fn word_with_backticks_is_quoted_with_double_quotes() {
    assert_eq!(crate::command::quoted("$X"), "`$X`");
    assert_eq!(crate::command::quoted("`date`"), "\"`date`\"");
}
