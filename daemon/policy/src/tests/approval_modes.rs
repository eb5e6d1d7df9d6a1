//! Approval modes, layers, and rules that cannot be parsed.

use super::*;

#[test]
fn approval_modes_lift_what_they_say_and_no_more() {
    let edit = json!({"path": "a", "old_string": "a", "new_string": "b"});
    let auto = |rules: &str| scene(rules).approval_mode(ApprovalMode::Auto);
    let yolo = |rules: &str| scene(rules).approval_mode(ApprovalMode::Yolo);
    assert_eq!(
        auto("").call("edit_file", edit.clone()).verdict,
        Verdict::Allow
    );
    assert_eq!(
        auto("ask Edit").call("edit_file", edit.clone()).verdict,
        Verdict::Ask
    );
    assert_eq!(auto("").bash("make").verdict, Verdict::Ask);
    assert_eq!(
        auto("")
            .sandbox(SandboxStrength::Partial)
            .bash("make")
            .verdict,
        Verdict::Ask
    );
    assert_eq!(
        auto("").sandbox(SandboxStrength::Full).bash("make").verdict,
        Verdict::Allow
    );
    assert_eq!(
        auto("ask Bash(make:*)")
            .sandbox(SandboxStrength::Full)
            .bash("make")
            .verdict,
        Verdict::Ask
    );
    assert_eq!(yolo("").bash("make && make").verdict, Verdict::Allow);
    assert_eq!(
        yolo("ask Bash(make:*)").bash("make").verdict,
        Verdict::Allow
    );
    assert_eq!(
        yolo("deny Bash(make:*)").bash("make").verdict,
        Verdict::Deny
    );
    // A line whose effect is unknown, while a rule denies something.
    assert_eq!(yolo("deny Bash(rm:*)").bash("$X y").verdict, Verdict::Ask);
    assert_eq!(
        yolo("ask Bash(rm:*)").bash("rm $X; b").verdict,
        Verdict::Ask
    );
    assert_eq!(
        yolo("ask Bash(rm:*)").bash("a; b $X").verdict,
        Verdict::Allow
    );
    assert_eq!(
        yolo("")
            .call("edit_file", json!({"path": "/etc/x", "old_string": "a"}))
            .verdict,
        Verdict::Deny
    );
}

#[test]
fn an_untrusted_layer_only_tightens() {
    let project = read_rules("allow Bash / deny Bash(make:*)");
    let (rules, problems) = parse(&[(Layer::Project, &project, false)]);
    assert_eq!(problems.len(), 1);
    assert!(
        problems[0].to_string().contains("not trusted"),
        "{}",
        problems[0]
    );
    let scene = scene("");
    let arguments = Map::from_iter([("command".to_owned(), json!("touch x"))]);
    let call = Call {
        tool: &tool("bash"),
        arguments: &arguments,
        touches: &[],
    };
    assert_eq!(
        decide(&rules, &scene.context(&call), &call).verdict,
        Verdict::Ask
    );
    let arguments = Map::from_iter([("command".to_owned(), json!("make"))]);
    let call = Call {
        arguments: &arguments,
        ..call
    };
    let decision = decide(&rules, &scene.context(&call), &call);
    assert_eq!(
        (decision.verdict, decision.layer.as_str()),
        (Verdict::Deny, "project")
    );
}

#[test]
fn unparsable_rule_is_reported_and_fails_closed() {
    let deny = |text: &str| {
        parse(&[(
            Layer::User,
            &Rules {
                deny: vec![text.to_owned()],
                ..Rules::default()
            },
            true,
        )])
        .1
        .len()
    };
    for text in [
        "Edit(../x)",
        "Bash()",
        "Foo(x)",
        "Bash(rm",
        "",
        "Grep(x)",
        "WebFetch(example.org)",
        "Task(x)",
        "Edit([)",
    ] {
        assert_eq!(deny(text), 1, "{text}");
    }
    assert_eq!(
        verdict_of_edit("allow Edit / deny Edit(../x)", "a"),
        Verdict::Deny
    );
    assert_eq!(
        verdict_of_edit("allow Edit / deny Foo(x)", "a"),
        Verdict::Ask
    );
    check("allow Bash / deny Bash(rm", "ask | make\n allow | ls");
    for text in [
        "Bash(*)",
        "Bash(a * b:*)",
        "Bash(a && b:*)",
        "Bash($X:*)",
        "Edit(../x)",
        "Foo",
        "Bash( *)",
    ] {
        let rules = Rules {
            allow: vec![text.to_owned()],
            ..Rules::default()
        };
        assert_eq!(parse(&[(Layer::User, &rules, true)]).1.len(), 1, "{text}");
    }
}

#[test]
fn rules_for_servers_name_them_exactly() {
    let verdict = |rules: &str, tool: &str| {
        let scene = scene(rules);
        let arguments = Map::new();
        let call = Call {
            tool: &ToolSpec {
                read_only: false,
                ..ToolSpec::new(tool, "", Value::Null, Family::Read)
            },
            arguments: &arguments,
            touches: &[],
        };
        decide(&scene.rule_set(), &scene.context(&call), &call).verdict
    };
    assert_eq!(verdict("allow mcp__srv", "mcp__srv__get"), Verdict::Allow);
    assert_eq!(verdict("allow Mcp(srv)", "mcp__srv__get"), Verdict::Allow);
    assert_eq!(
        verdict("allow Mcp(srv:get)", "mcp__srv__get"),
        Verdict::Allow
    );
    assert_eq!(verdict("allow mcp__srv", "mcp__srv2__get"), Verdict::Ask);
    assert_eq!(
        verdict("allow mcp__srv__get", "mcp__srv__get_all"),
        Verdict::Ask
    );
    assert_eq!(verdict("allow mcp__srv__x", "mcp__srv__x__y"), Verdict::Ask);
    assert_eq!(verdict("allow Read", "mcp__srv__get"), Verdict::Ask);
    assert_eq!(
        verdict("allow Mcp / deny mcp__srv", "mcp__srv__get"),
        Verdict::Deny
    );
}

#[test]
fn unparsable_deny_rule_is_lifted_by_nothing() {
    for text in ["Bsh(touch:*)", "Edits(docs/**)"] {
        let broken = Rules {
            deny: vec![text.to_owned()],
            ..Rules::default()
        };
        let (rules, problems) = parse(&[(Layer::Run, &broken, true)]);
        assert_eq!(problems.len(), 1, "{text}");
        for approval_mode in [ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::Yolo] {
            let arguments = serde_json::json!({"command": "touch x"});
            let Some(arguments) = arguments.as_object() else {
                panic!()
            };
            let call = Call {
                tool: &tool("bash"),
                arguments,
                touches: &[],
            };
            let context = Context {
                paths: Vec::new(),
                root: "/ws".into(),
                cwd: "/ws".into(),
                user_home: "/home/me".into(),
                altered: Vec::new(),
                git_programs: Vec::new(),
                masked: Vec::new(),
                approval_mode,
                effective_permissions: contract::EffectivePermissions::default(),
                sandbox: SandboxStrength::Full,
                leaks: false,
                unconfined: None,
                trusted: true,
            };
            let decision = decide(&rules, &context, &call);
            assert_eq!(
                decision.verdict,
                Verdict::Ask,
                "{text} {approval_mode:?}: {}",
                decision.rule
            );
            let left = unattended(&decision, OnAsk::Allow, false, true);
            assert!(
                matches!(left, Unattended::Deny(_)),
                "`--on-ask allow` lifted `{text}`"
            );
        }
    }
}

#[test]
fn companions_of_bash_ask_only_if_a_rule_says_so() {
    for tool in ["bash_output", "kill_shell"] {
        let verdict = |rules: &str| scene(rules).call(tool, json!({"id": 7})).verdict;
        for approval_mode in [ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::Yolo] {
            let decision = scene("")
                .approval_mode(approval_mode)
                .call(tool, json!({"id": 7}));
            assert_eq!(decision.verdict, Verdict::Allow, "{tool} {approval_mode:?}");
            assert!(decision.read_only, "{tool} runs beside others");
            assert!(decision.parts.is_empty());
        }
        // Rules about the text of commands do not apply to these.
        assert_eq!(
            verdict("deny Bash(rm:*) / ask Bash(git push:*)"),
            Verdict::Allow
        );
        assert_eq!(verdict("deny Bash"), Verdict::Deny);
        assert_eq!(verdict("ask Bash"), Verdict::Ask);
        assert_eq!(verdict(&format!("allow Bash / deny {tool}")), Verdict::Deny);
        let yolo = scene("deny Bash").approval_mode(ApprovalMode::Yolo);
        assert_eq!(yolo.call(tool, json!({"id": 7})).verdict, Verdict::Deny);
    }
}

#[test]
fn background_command_gets_the_verdict_of_a_foreground_one() {
    for rules in [
        "",
        "allow Bash(make:*)",
        "deny Bash(make:*)",
        "ask Bash(ls:*)",
    ] {
        for command in ["make", "ls", "ls && make", "rm -rf /", "cat <<X\nx"] {
            let scene = scene(rules);
            let background = json!({"command": command, "run_in_background": true});
            assert_eq!(
                scene.call("bash", background),
                scene.bash(command),
                "`{command}` under `{rules}`"
            );
        }
    }
}

#[test]
fn commands_that_would_run_unsandboxed_need_a_user() {
    let bare = |rules: &str, approval_mode| {
        let mut scene = scene(rules).approval_mode(approval_mode);
        scene.unconfined = Some("no layer of the sandbox works here".to_owned());
        scene
    };
    for approval_mode in [ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::Yolo] {
        for line in ["ls", "make", "cargo test"] {
            let decision =
                bare("allow Bash(cargo test:*) / allow Bash(make)", approval_mode).bash(line);
            assert_eq!(decision.verdict, Verdict::Ask, "{approval_mode:?} {line}");
            assert!(decision.scopes.is_empty(), "no grant lifts it");
        }
        let denied = bare("deny Bash(make)", approval_mode).bash("make");
        assert_eq!(denied.verdict, Verdict::Deny);
    }
}

#[test]
fn leaking_sandbox_does_not_replace_rules_over_paths() {
    let mut held = scene("deny Read(**/.env)").sandbox(SandboxStrength::Full);
    assert_eq!(held.bash("head README.md").verdict, Verdict::Allow);
    held.leaks = true;
    assert_eq!(held.bash("head README.md").verdict, Verdict::Ask);
}
