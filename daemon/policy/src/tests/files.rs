//! Paths under rules.

use super::*;

#[test]
fn path_rules_are_anchored_at_the_root_and_hold_for_the_resolved_path() {
    for (rules, path, expected) in [
        ("allow Edit(docs/**)", "docs/a/b.md", Verdict::Allow),
        ("allow Edit(docs/**)", "./docs//a.md", Verdict::Allow),
        ("allow Edit(docs/**)", "docs", Verdict::Allow),
        ("allow Edit(docs/**)", "src/docs/a.md", Verdict::Ask),
        ("allow Edit(docs/**)", "docs-evil/a.md", Verdict::Ask),
        ("allow Edit(docs/**)", "docs/../src/a", Verdict::Ask),
        ("allow Edit(docs/*)", "docs/a/b.md", Verdict::Ask),
        ("allow Edit(*.md)", "a.md", Verdict::Allow),
        ("allow Edit(*.md)", "docs/a.md", Verdict::Ask),
        ("allow Edit(**/*.md)", "docs/a.md", Verdict::Allow),
        ("allow Edit(Docs/**)", "docs/a.md", Verdict::Ask),
        ("allow Edit(~/project/docs/**)", "docs/a.md", Verdict::Allow),
        (
            "allow Edit(/home/someone/project/docs/**)",
            "docs/a.md",
            Verdict::Allow,
        ),
        ("allow Write(docs/**)", "docs/a.md", Verdict::Allow),
        ("allow write_file=docs/a.md", "docs/a.md", Verdict::Allow),
        ("allow write_file=docs/*", "docs/a.md", Verdict::Ask),
        (
            "allow Edit / deny Edit(secrets)",
            "secrets/key",
            Verdict::Deny,
        ),
        (
            "allow Edit / deny Read(secrets/**)",
            "secrets/key",
            Verdict::Deny,
        ),
        ("allow Edit / ask Edit(**/*.lock)", "a/b.lock", Verdict::Ask),
        ("allow edit_file", "src/a", Verdict::Allow),
        ("allow write_file", "src/a", Verdict::Ask),
        ("allow Edit", "../other/a", Verdict::Deny),
        ("allow Edit", "/etc/passwd", Verdict::Deny),
    ] {
        assert_eq!(
            verdict_of_edit(rules, path),
            expected,
            "`{path}` under `{rules}`"
        );
    }
}

#[test]
fn a_link_is_judged_by_where_it_leads_and_denied_by_its_name_too() {
    let edit = json!({"path": "docs/link", "old_string": "a", "new_string": "b"});
    let leads = |rules: &str, to: &str| {
        let to = PathBuf::from(to);
        scene(rules)
            .call_with("edit_file", edit.clone(), |path| {
                path.protected = workspace::is_protected(to.strip_prefix(ROOT).unwrap_or(&to));
                path.absolute = Some(to.clone());
            })
            .verdict
    };
    assert_eq!(
        leads("allow Edit(docs/**)", "/home/someone/project/src/x"),
        Verdict::Ask
    );
    assert_eq!(
        leads(
            "allow Edit / deny Edit(src/**)",
            "/home/someone/project/src/x"
        ),
        Verdict::Deny
    );
    assert_eq!(
        leads(
            "allow Edit / deny Edit(docs/**)",
            "/home/someone/project/src/x"
        ),
        Verdict::Deny
    );
    assert_eq!(
        leads("allow Edit", "/home/someone/project/.git/config"),
        Verdict::Ask
    );
}

#[test]
fn a_move_needs_both_ends_and_a_copy_only_reads_its_source() {
    let rules = "allow Edit(a/**) / allow Edit(b/**) / deny Edit(kept/**)";
    let pair = |tool: &str, source: &str, destination: &str| {
        scene(rules)
            .call(tool, json!({"source": source, "destination": destination}))
            .verdict
    };
    assert_eq!(pair("move_file", "a/x", "b/x"), Verdict::Allow);
    assert_eq!(pair("move_file", "c/x", "b/x"), Verdict::Ask);
    assert_eq!(pair("move_file", "a/x", "kept/x"), Verdict::Deny);
    assert_eq!(pair("move_file", "kept/x", "a/x"), Verdict::Deny);
    assert_eq!(pair("copy_file", "kept/x", "a/x"), Verdict::Allow);
    assert_eq!(pair("copy_file", "c/x", "a/x"), Verdict::Allow);
}

#[test]
fn changes_of_configuration_files_are_asked_in_every_approval_mode() {
    for path in [
        "reasonix.toml",
        ".reasonix/commands/x.md",
        "sub/.git/config",
        ".GIT/hooks/x",
        ".vscode/tasks.json",
    ] {
        for approval_mode in [ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::Yolo] {
            let decision = scene("allow Edit")
                .approval_mode(approval_mode)
                .call("write_file", json!({"path": path, "content": ""}));
            assert_eq!(
                decision.verdict,
                Verdict::Ask,
                "{path} in {approval_mode:?}"
            );
            assert_eq!(decision.basis, Basis::AlwaysAsked);
            assert!(decision.scopes.is_empty());
        }
    }
    for path in [
        ".reasonix/autoresearch/notes.md",
        "docs/reasonix.toml.md",
        ".gitignore",
    ] {
        assert_eq!(
            verdict_of_edit("allow Edit", path),
            Verdict::Allow,
            "{path}"
        );
    }
    for command in [
        "cp x reasonix.toml",
        "git config core.hooksPath x",
        "sh -c 'rm -r .reasonix'",
        "mv .git x",
        "ln -s a .mcp.json",
        "echo y >> .profile",
        "tee ~/.bashrc",
    ] {
        let decision = scene("allow Bash")
            .approval_mode(ApprovalMode::Yolo)
            .bash(command);
        assert_eq!(
            (decision.verdict, decision.basis),
            (Verdict::Ask, Basis::AlwaysAsked),
            "{command}"
        );
    }
}

#[test]
fn the_reason_of_a_protected_name_says_what_it_is_and_where_it_comes_from() {
    for (command, reason) in [
        (
            "git config core.hooksPath x",
            "the command names `core.hookspath`, a git setting",
        ),
        (
            "rm reasonix.t*",
            "a pattern of the command may match `reasonix.toml`",
        ),
        (
            "cp x reasonix.toml",
            "the command names `reasonix.toml`, which is a config file",
        ),
    ] {
        let decision = scene("allow Bash").bash(command);
        assert_eq!(decision.basis, Basis::AlwaysAsked, "{command}");
        assert!(decision.rule.contains(reason), "{}", decision.rule);
    }
    // A pattern of unknown letters alone may match anything, and so says nothing.
    let variables = "echo [$LD_PRELOAD] [$LD_LIBRARY_PATH] [$NODE_OPTIONS]";
    let decision = scene("allow Bash").bash(variables);
    assert!(
        !decision.rule.contains("reasonix.toml"),
        "{}",
        decision.rule
    );
}

#[test]
fn masked_and_unresolved_paths_are_denied_or_asked_but_never_allowed() {
    let read = json!({"path": "a"});
    let masked = |path: &mut ResolvedPath| path.error = Some("tools may not access `a`".to_owned());
    let decision = scene("allow Read").call_with("read_file", read.clone(), masked);
    assert_eq!(
        (decision.verdict, decision.rule.as_str()),
        (Verdict::Deny, "tools may not access `a`")
    );
    // A list of paths that does not belong to the call.
    let other = |path: &mut ResolvedPath| path.text = "b".to_owned();
    assert_eq!(
        scene("allow Read")
            .approval_mode(ApprovalMode::Yolo)
            .call_with("read_file", read, other)
            .verdict,
        Verdict::Ask
    );
    for arguments in [json!({}), json!({"path": ["a"]}), json!({"path": 3})] {
        let decision = scene("allow Edit")
            .approval_mode(ApprovalMode::Yolo)
            .call("edit_file", arguments);
        assert_eq!(decision.verdict, Verdict::Ask);
    }
    assert_eq!(
        scene("allow Bash")
            .call("bash", json!({"command": 3}))
            .verdict,
        Verdict::Ask
    );
}

#[test]
fn search_asks_if_a_rule_closes_something_in_the_folder() {
    let search = |path: &str| {
        scene("deny Read(secrets/**) / deny Read(~/.ssh/**)")
            .call("grep", json!({"pattern": "a", "path": path}))
    };
    assert_eq!(search(".").verdict, Verdict::Ask);
    assert_eq!(search("src").verdict, Verdict::Allow);
    assert_eq!(search("secrets").verdict, Verdict::Deny);
    assert_eq!(
        scene("").call("grep", json!({"pattern": "a"})).verdict,
        Verdict::Allow
    );
}

#[test]
fn climbing_glob_is_judged_by_its_target() {
    let base = |pattern: &str| {
        let arguments = json!({ "pattern": pattern });
        let Value::Object(arguments) = arguments else {
            panic!("an object")
        };
        let call = Call {
            tool: &tool("glob"),
            arguments: &arguments,
            touches: &[],
        };
        let found = subjects(&call);
        (
            found.unclear,
            found
                .paths
                .into_iter()
                .map(|path| path.text)
                .collect::<Vec<_>>(),
        )
    };
    assert_eq!(base("src/**/*.rs"), (false, vec![".".to_owned()]));
    assert_eq!(base("/etc/*"), (false, vec!["/etc".to_owned()]));
    assert_eq!(base("../../x/*"), (false, vec!["../../x".to_owned()]));
    assert!(base("*/../../etc/*").0);
}

#[test]
fn paths_are_relative_to_the_working_directory() {
    let arguments = Map::from_iter([("path".to_owned(), json!("key"))]);
    let call = Call {
        tool: &tool("read_file"),
        arguments: &arguments,
        touches: &[],
    };
    let scene = scene("deny Read(secrets/**)");
    let mut context = scene.context(&call);
    context.cwd = context.root.join("secrets");
    // A link that leaves the closed folder; its own name is closed nevertheless.
    context.paths[0].absolute = Some(context.root.join("open/key"));
    let decision = decide(&scene.rule_set(), &context, &call);
    assert_eq!(decision.verdict, Verdict::Deny);
}

#[test]
fn moving_a_folder_asks_if_a_rule_closes_something_in_it() {
    let carry = |rules: &str, tool: &str, source: &str, directory: bool| {
        scene(&format!("allow Edit / {rules}"))
            .call_with(
                tool,
                json!({"source": source, "destination": "c2"}),
                |path| path.directory = directory && path.access == Access::Read,
            )
            .verdict
    };
    for (rules, tool, source, directory, expected) in [
        (
            "deny Read(config/secret.key)",
            "copy_file",
            "config",
            true,
            Verdict::Ask,
        ),
        (
            "deny Read(config/secret.key)",
            "move_file",
            "config",
            true,
            Verdict::Ask,
        ),
        (
            "ask Read(config/secret.key)",
            "copy_file",
            "config",
            true,
            Verdict::Ask,
        ),
        (
            "deny Read(**/*.key)",
            "copy_file",
            "config",
            true,
            Verdict::Ask,
        ),
        (
            "deny Read(config/secret.key)",
            "copy_file",
            "src",
            true,
            Verdict::Allow,
        ),
        (
            "deny Read(**/*.key)",
            "copy_file",
            "config",
            false,
            Verdict::Allow,
        ),
        (
            "deny Edit(config/kept)",
            "move_file",
            "config",
            true,
            Verdict::Ask,
        ),
        (
            "deny Edit(config/kept)",
            "copy_file",
            "config",
            true,
            Verdict::Allow,
        ),
        // The file would be moved there.
        (
            "deny Edit(c2/kept)",
            "copy_file",
            "config",
            true,
            Verdict::Ask,
        ),
        (
            "deny Edit(c2/kept)",
            "copy_file",
            "config",
            false,
            Verdict::Allow,
        ),
    ] {
        let verdict = carry(rules, tool, source, directory);
        assert_eq!(verdict, expected, "{tool} {source} under `{rules}`");
    }
    let delete = scene("allow Edit / deny Edit(config/kept)").call_with(
        "delete_file",
        json!({"path": "config"}),
        |path| path.directory = true,
    );
    assert_eq!(delete.verdict, Verdict::Ask);
    let make = scene("allow Edit / deny Read(**/*.key)").call_with(
        "make_dir",
        json!({"path": "config"}),
        |path| path.directory = true,
    );
    assert_eq!(make.verdict, Verdict::Allow);
}
