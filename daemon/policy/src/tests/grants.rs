//! Scopes of approvals, and unattended sessions.

use super::*;

#[test]
fn scopes_fit_the_call_and_cover_it() {
    let rules = |decision: &Decision| {
        decision
            .scopes
            .iter()
            .map(|scope| scope.rule.clone())
            .collect::<Vec<_>>()
    };
    for (command, expected) in [
        (
            "cargo test -p x",
            vec!["Bash(cargo test -p x)", "Bash(cargo test:*)"],
        ),
        (
            "npm run lint -- --fix",
            vec!["Bash(npm run lint -- --fix)", "Bash(npm run lint:*)"],
        ),
        ("pytest tests", vec!["Bash(pytest tests)", "Bash(pytest:*)"]),
        ("rm -r build", vec!["Bash(rm -r build)"]),
        ("python x.py", vec!["Bash(python x.py)"]),
        ("sudo cargo test", vec!["Bash(sudo cargo test)"]),
        ("git push", vec!["Bash(git push)"]),
        ("make a && make b", vec!["Bash(make a && make b)"]),
        ("cargo test *", vec![]),
        ("cat <<X\nx\nX", vec![]),
        ("echo 'open", vec![]),
    ] {
        let decision = scene("").bash(command);
        assert_eq!(decision.verdict, Verdict::Ask, "{command}");
        assert_eq!(rules(&decision), expected, "{command}");
        for rule in rules(&decision) {
            assert_eq!(
                scene(&format!("allow {rule}")).bash(command).verdict,
                Verdict::Allow,
                "{command}"
            );
        }
    }
    let edit = scene("").call("write_file", json!({"path": "a", "content": ""}));
    assert_eq!(rules(&edit), ["Edit", "Edit(a)"]);
    assert!(
        scene("ask Edit")
            .call("write_file", json!({"path": "a", "content": ""}))
            .scopes
            .is_empty()
    );
}

#[test]
fn unattended_sessions_follow_on_ask() {
    let edit = scene("").call("write_file", json!({"path": "a", "content": ""}));
    assert_eq!(edit.confinement, Confinement::Files);
    let command = scene("").bash("make");
    let explicit = scene("ask Edit").call("write_file", json!({"path": "a", "content": ""}));
    let always = scene("").call(
        "write_file",
        json!({"path": "reasonix.toml", "content": ""}),
    );
    let denied = scene("deny Edit").call("write_file", json!({"path": "a", "content": ""}));
    let name = |answer: Unattended| match answer {
        Unattended::Allow => "allow",
        Unattended::Deny(_) => "deny",
        Unattended::Wait => "wait",
    };
    for (decision, on_ask, attached, expected) in [
        (&edit, OnAsk::Sandboxed, false, "allow"),
        (&command, OnAsk::Sandboxed, false, "deny"),
        (&command, OnAsk::Sandboxed, true, "wait"),
        (&explicit, OnAsk::Sandboxed, false, "deny"),
        (&explicit, OnAsk::Allow, false, "allow"),
        (&command, OnAsk::Allow, false, "allow"),
        (&always, OnAsk::Allow, false, "deny"),
        (&always, OnAsk::Allow, true, "wait"),
        (&always, OnAsk::Sandboxed, false, "deny"),
        (&denied, OnAsk::Allow, true, "deny"),
        (&edit, OnAsk::Deny, true, "deny"),
        (&edit, OnAsk::Wait, false, "wait"),
        (&edit, OnAsk::Park, false, "wait"),
    ] {
        assert_eq!(
            name(unattended(decision, on_ask, attached, false)),
            expected,
            "{} {on_ask:?} {attached}",
            decision.rule
        );
    }
    let Unattended::Deny(words) = unattended(&command, OnAsk::Sandboxed, false, false) else {
        panic!("denied")
    };
    assert!(
        words.contains("`--allow 'Bash(make)'`") && words.contains("`--on-ask allow`"),
        "{words}"
    );
}

/// The rules that an `always` answer could add.
fn lasting(decision: &Decision) -> Vec<&str> {
    let scopes = decision.scopes.iter().filter(|scope| scope.always);
    scopes.map(|scope| scope.rule.as_str()).collect()
}

#[test]
fn commands_with_changing_arguments_cannot_be_allowed_always() {
    for (command, expected) in [
        (
            "npm run lint -- --fix",
            vec!["Bash(npm run lint -- --fix)", "Bash(npm run lint:*)"],
        ),
        ("sudo make install", vec!["Bash(sudo make install)"]),
        ("sed -i 's/a/b/' x", vec!["Bash(sed -i 's/a/b/' x)"]),
        ("sed -n 10,20p /etc/hosts > out", vec![]),
        ("sed -i '3d' x", vec![]),
        ("sed -i '/x/,+3d' x", vec![]),
        ("head -n 40 x > y", vec![]),
        ("tail -40 x > y", vec![]),
        ("tail -f x > y", vec!["Bash(tail -f x > y)"]),
        ("awk 'NR>=10 && NR<=20' x > y", vec![]),
        ("kill 4711", vec![]),
        ("cat <<< text > y", vec![]),
        ("cat <<X\nx\nX", vec![]),
        ("make && sed -n 1,5p x > y", vec![]),
    ] {
        let decision = scene("").bash(command);
        assert_eq!(decision.verdict, Verdict::Ask, "{command}");
        assert_eq!(lasting(&decision), expected, "{command}");
    }
    let many = json!({"source": "a", "destination": "b"});
    assert_eq!(
        lasting(&scene("").call("move_file", many)),
        [""; 0],
        "two files"
    );
}

#[test]
fn one_file_is_allowed_always_by_a_rule_that_covers_it_and_no_other() {
    for (path, rule) in [
        ("docs/a.md", Some("Edit(docs/a.md)")),
        ("./docs//a.md", Some("Edit(docs/a.md)")),
        ("a (1).md", Some("Edit(a (1).md)")),
        ("docs/*.md", None),
        ("[a].md", None),
        ("~x", None),
        ("a\nb", None),
    ] {
        let arguments = json!({"path": path, "content": ""});
        let decision = scene("").call("write_file", arguments.clone());
        assert_eq!(
            lasting(&decision),
            rule.into_iter().collect::<Vec<_>>(),
            "{path}"
        );
        if let Some(rule) = rule {
            let kept = scene(&format!("allow {rule}"));
            assert_eq!(
                kept.call("write_file", arguments).verdict,
                Verdict::Allow,
                "{path}"
            );
            let other = json!({"path": format!("{path}x"), "content": ""});
            assert_eq!(
                kept.call("write_file", other).verdict,
                Verdict::Ask,
                "{path}"
            );
        }
    }
}

#[test]
fn other_tools_are_allowed_always_by_server_and_host() {
    let fetch = json!({"url": "https://Docs.Example.org/x?y"});
    let decision = scene("").call("web_fetch", fetch);
    // The test is about which rules are offered, not about the session family.
    assert!(lasting(&decision).iter().all(|rule| *rule != "web_fetch"));
    let decision = scene("").call("mcp__git__push", json!({}));
    assert_eq!(lasting(&decision), ["mcp__git__push", "mcp__git"]);
}
