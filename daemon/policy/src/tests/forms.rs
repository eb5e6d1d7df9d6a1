//! Every form of rule, including those of other products; and the meaning of `*`, `**` and `~`.

use contract::Family;

use super::*;

/// Judges a call of a tool that belongs to no family of files or commands.
fn verdict(rules: &str, tool: &str, arguments: Value) -> Verdict {
    let scene = scene(rules);
    let Value::Object(arguments) = arguments else {
        panic!("arguments are an object")
    };
    let known = TOOLS.iter().find(|known| *known.name == *tool);
    let other = || ToolSpec::new(tool, "", Value::Null, Family::Session);
    let call = Call {
        tool: &known.cloned().unwrap_or_else(other),
        arguments: &arguments,
        touches: &[],
    };
    decide(&scene.rule_set(), &scene.context(&call), &call).verdict
}

#[test]
fn every_form_is_read_and_matches_what_it_says() {
    let command = |text: &str| json!({ "command": text });
    let file = |text: &str| json!({"path": text, "content": ""});
    let url = |text: &str| json!({ "url": text });
    for (rule, tool, matching, other) in [
        ("Bash", "bash", command("make"), None),
        (
            "Bash(npm run build)",
            "bash",
            command("npm run build"),
            Some(command("npm run build x")),
        ),
        (
            "Bash(npm run test:*)",
            "bash",
            command("npm run test unit"),
            Some(command("npm run tests")),
        ),
        (
            "Bash(go test *)",
            "bash",
            command("go test ./..."),
            Some(command("go testing")),
        ),
        (
            "bash=make all",
            "bash",
            command("make all"),
            Some(command("make all x")),
        ),
        ("Edit", "write_file", file("a"), None),
        (
            "Edit(docs/**)",
            "write_file",
            file("docs/deep/a"),
            Some(file("src/a")),
        ),
        (
            "Write(docs/a.md)",
            "write_file",
            file("docs/a.md"),
            Some(file("docs/b.md")),
        ),
        (
            "write_file=docs/*.md",
            "write_file",
            file("docs/*.md"),
            Some(file("docs/b.md")),
        ),
        ("write_file", "write_file", file("a"), None),
        (
            "Read(~/.ssh/**)",
            "read_file",
            json!({"path": "~/.ssh/id"}),
            None,
        ),
    ] {
        let allowed = scene(&format!("allow {rule}"));
        let denied = scene(&format!("deny {rule}"));
        let is_read = tool == "read_file";
        if !is_read {
            assert_eq!(
                allowed.call(tool, matching.clone()).verdict,
                Verdict::Allow,
                "allow {rule}"
            );
        }
        assert_eq!(
            denied.call(tool, matching).verdict,
            Verdict::Deny,
            "deny {rule}"
        );
        if let Some(other) = other {
            assert_eq!(
                allowed.call(tool, other.clone()).verdict,
                Verdict::Ask,
                "allow {rule}: {other}"
            );
            // A rule that denies a command also denies it with more words.
            if tool != "bash" || rule.contains("*)") {
                assert_ne!(
                    denied.call(tool, other.clone()).verdict,
                    Verdict::Deny,
                    "deny {rule}: {other}"
                );
            }
        }
    }
    for (rule, tool, matching, other) in [
        ("WebFetch", "web_fetch", url("https://a.org"), None),
        (
            "WebFetch(domain:a.org)",
            "web_fetch",
            url("https://docs.a.org/x"),
            Some(("web_fetch", url("https://ba.org/a.org"))),
        ),
        (
            "WebSearch",
            "web_search",
            json!({}),
            Some(("web_fetch", url("https://a.org"))),
        ),
        ("Task", "task", json!({}), Some(("web_search", json!({})))),
        (
            "Mcp",
            "mcp__git__push",
            json!({}),
            Some(("later_tool", json!({}))),
        ),
        (
            "Mcp(git)",
            "mcp__git__push",
            json!({}),
            Some(("mcp__gitlab__push", json!({}))),
        ),
        (
            "Mcp(git:push)",
            "mcp__git__push",
            json!({}),
            Some(("mcp__git__pull", json!({}))),
        ),
        (
            "mcp__git",
            "mcp__git__push",
            json!({}),
            Some(("mcp__gitx__push", json!({}))),
        ),
        (
            "mcp__git__push",
            "mcp__git__push",
            json!({}),
            Some(("mcp__git__pushes", json!({}))),
        ),
        (
            "later_tool",
            "later_tool",
            json!({}),
            Some(("later_tools", json!({}))),
        ),
    ] {
        for (list, expected) in [("allow", Verdict::Allow), ("deny", Verdict::Deny)] {
            let rules = format!("{list} {rule}");
            assert_eq!(verdict(&rules, tool, matching.clone()), expected, "{rules}");
            if let Some((tool, other)) = &other {
                assert_eq!(
                    verdict(&rules, tool, other.clone()),
                    Verdict::Ask,
                    "{rules}: {tool} {other}"
                );
            }
        }
    }
    // Memory belongs to the user: no rule allows it, but a rule may deny it.
    assert_eq!(verdict("allow Memory", "remember", json!({})), Verdict::Ask);
    assert_eq!(verdict("deny Memory", "remember", json!({})), Verdict::Deny);
}

#[test]
fn parsed_rule_keeps_its_text_as_written() {
    for rule in [
        "Bash(npm run test:*)",
        "Bash(go test *)",
        "Write(docs/**)",
        "Edit( docs/** )",
        "mcp__git__push",
        "Mcp(git:push)",
        "WebFetch(domain:Example.ORG.)",
        "write_file=docs/a.md",
        "Task",
        "Memory",
    ] {
        for list in [List::Allow, List::Ask, List::Deny] {
            let texts = vec![rule.to_owned()];
            let mut rules = Rules::default();
            match list {
                List::Allow => rules.allow = texts,
                List::Ask => rules.ask = texts,
                List::Deny => rules.deny = texts,
            }
            let (set, problems) = parse(&[(Layer::Persisted, &rules, true)]);
            assert!(problems.is_empty(), "{rule}: {problems:?}");
            assert_eq!(set.source(0).text, rule);
            assert_eq!(set.source(0).layer, Layer::Persisted);
        }
    }
}

#[test]
fn forms_of_other_products_are_reported_and_never_allow() {
    for rule in [
        "Grep(x)",
        "Glob(**)",
        "LS",
        "MultiEdit(a)",
        "NotebookEdit",
        "Skill(x)",
        "Bash(git * main)",
        "Bash(a",
        "Bash()",
        "WebFetch(example.org)",
        "WebFetch(domain:)",
        "Task(reviewer)",
        "Mcp(a b)",
        "mcp__",
        "mcp____x",
        "Edit(../x)",
        "Edit(~bob/x)",
        "",
        "(x)",
        "bash=",
    ] {
        let rules = Rules {
            allow: vec![rule.to_owned()],
            ..Rules::default()
        };
        let (_, problems) = parse(&[(Layer::User, &rules, true)]);
        assert_eq!(problems.len(), 1, "{rule}");
        assert!(
            problems[0].reason.contains("allows nothing"),
            "{rule}: {}",
            problems[0]
        );
    }
}

#[test]
fn globs_mean_what_they_say() {
    // A pattern, paths that an allow rule with it covers, and paths that it does not cover.
    for (pattern, covers, not) in [
        (
            "docs/*",
            vec!["docs/a.md"],
            vec!["docs/deep/a.md", "docs", "a.md"],
        ),
        (
            "docs/**",
            vec!["docs", "docs/a.md", "docs/deep/er/a.md"],
            vec!["docsx/a", "a/docs/b"],
        ),
        ("docs/", vec!["docs", "docs/a"], vec!["docsx"]),
        (
            "**/*.md",
            vec!["a.md", "docs/deep/a.md"],
            vec!["a.txt", "a.md/b"],
        ),
        ("*.md", vec!["a.md"], vec!["docs/a.md"]),
        (
            "src/**/mod.rs",
            vec!["src/mod.rs", "src/a/b/mod.rs"],
            vec!["src/a/mod.rsx", "mod.rs"],
        ),
        (
            "src/{a,b}.rs",
            vec!["src/a.rs", "src/b.rs"],
            vec!["src/c.rs"],
        ),
        ("a?.rs", vec!["ab.rs"], vec!["a.rs", "a/.rs", "abc.rs"]),
        ("[ab].rs", vec!["a.rs", "b.rs"], vec!["c.rs"]),
        (
            "./docs//a.md",
            vec!["docs/a.md", "docs/./a.md", "src/../docs/a.md"],
            vec!["docs/b.md"],
        ),
        ("Docs/a.md", vec!["Docs/a.md"], vec!["docs/a.md"]),
        (
            "~/notes/*",
            vec!["~/notes/a"],
            vec!["notes/a", "~/notes/b/c"],
        ),
        (
            "/etc/hosts",
            vec!["/etc/hosts"],
            vec!["etc/hosts", "/etc/hosts/x"],
        ),
        (".", vec!["a", "deep/er"], vec!["/etc/hosts", "~/x"]),
    ] {
        let reaches = |path: &str| {
            let decision = scene(&format!("allow Edit({pattern})")).call_with(
                "write_file",
                json!({"path": path, "content": ""}),
                |path| path.writable = true,
            );
            decision.verdict == Verdict::Allow
        };
        for path in covers {
            assert!(reaches(path), "Edit({pattern}) covers {path}");
        }
        for path in not {
            assert!(!reaches(path), "Edit({pattern}) does not cover {path}");
        }
    }
}
