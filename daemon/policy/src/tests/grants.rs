//! Scopes of answers, and sessions that nobody attends.

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
    assert_eq!(rules(&edit), ["Edit"]);
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
            name(unattended(decision, on_ask, attached)),
            expected,
            "{} {on_ask:?} {attached}",
            decision.rule
        );
    }
    let Unattended::Deny(words) = unattended(&command, OnAsk::Sandboxed, false) else {
        panic!("denied")
    };
    assert!(
        words.contains("`--allow 'Bash(make)'`") && words.contains("`--on-ask allow`"),
        "{words}"
    );
}
