//! What a sandbox replaces when nobody is asked: approval mode `auto`, and runs with `--on-ask sandboxed`.

use super::*;
use proto::state::Mode;

/// Commands whose effect is unknown before they run, without a built-in question.
const NOT_ANALYSED: &[&str] = &[
    "python3 -c 'open(\"made\", \"w\").write(\"x\")'",
    "python3 - <<'X'\nprint(1)\nX",
    "python3 <<X\nprint($HOME)\nX",
    "node -e 'console.log(1)'",
    "perl -pe 's/a/b/' x",
    "touch \"made-$(date +%s)\"",
    "ls | xargs touch",
    "find . -name '*.c' -exec touch {} +",
    "find . -name '*.c' -exec sh -c 'touch \"$1\"' _ {} \\;",
    "touch $HOME/made",
    "$MAKE all",
    "eval \"$(cat env.sh)\"",
    ". ./env.sh",
    "sh < x.sh",
    "alias ll='ls -l'",
    "make $(",
    "cat <<A <<B\na\nA\nb\nB",
];

/// Commands whose effect is known, in lines without unknown parts.
const KNOWN: &[&str] = &[
    "make",
    "sh x.sh",
    "x=$(date)",
    "x=$(date); echo $x",
    "cat > made <<X\n$(date)\nX",
    "for f in *.c; do touch \"$f.o\"; done",
    "set -e; make",
];

fn alone(decision: &Decision, accept_partial: bool) -> bool {
    let answer = unattended(decision, OnAsk::Sandboxed, false, accept_partial);
    answer == Unattended::Allow
}

#[test]
fn full_sandbox_suffices_for_commands_that_are_not_analysed() {
    for line in NOT_ANALYSED.iter().chain(KNOWN) {
        let asked = scene("").sandbox(SandboxStrength::Full).bash(line);
        assert_eq!(asked.verdict, Verdict::Ask, "`{line}`: {}", asked.rule);
        assert!(alone(&asked, false), "`{line}`: {}", asked.rule);
        assert!(!asked.read_only, "{line}");
        let auto = scene("")
            .sandbox(SandboxStrength::Full)
            .approval_mode(ApprovalMode::Auto);
        let auto = auto.bash(line);
        assert_eq!(auto.verdict, Verdict::Allow, "`{line}`: {}", auto.rule);
        assert!(auto.rule.contains("approval mode `auto`"), "{}", auto.rule);
        assert_eq!(
            auto.confinement,
            Confinement::Sandbox(SandboxStrength::Full)
        );
    }
}

#[test]
fn partial_sandbox_replaces_no_approval() {
    let full = || scene("").sandbox(SandboxStrength::Full);
    let leaking = || {
        let mut scene = full();
        scene.leaks = true;
        scene
    };
    let weak: [(&str, &dyn Fn() -> Scene); 3] = [
        ("no walls", &|| scene("")),
        ("partial walls", &|| {
            scene("").sandbox(SandboxStrength::Partial)
        }),
        ("walls that leak", &leaking),
    ];
    for (name, scene) in weak {
        for line in NOT_ANALYSED.iter().chain(KNOWN) {
            let auto = scene().approval_mode(ApprovalMode::Auto).bash(line);
            assert_eq!(auto.verdict, Verdict::Ask, "{name} `{line}`: {}", auto.rule);
            assert!(!alone(&scene().bash(line), false), "{name} `{line}`");
        }
    }
    // Accepting a partial sandbox applies to both.
    for line in NOT_ANALYSED.iter().chain(KNOWN) {
        assert!(alone(
            &scene("").sandbox(SandboxStrength::Partial).bash(line),
            true
        ));
        assert!(!alone(&scene("").bash(line), true), "{line}");
        assert!(!alone(&leaking().bash(line), true), "{line}");
    }
}

#[test]
fn rule_that_a_sandbox_cannot_enforce_is_not_left_to_it() {
    for rules in ["deny Edit", "deny Read", "deny Edit(**/*.lock)"] {
        let leaking = || {
            let mut scene = scene(rules).sandbox(SandboxStrength::Full);
            scene.leaks = true;
            scene
        };
        for line in ["make", "touch x", "python3 -c 'print(1)'"] {
            let auto = leaking().approval_mode(ApprovalMode::Auto).bash(line);
            assert_eq!(auto.verdict, Verdict::Ask, "{rules}: {line}");
            assert!(!alone(&leaking().bash(line), false), "{rules}: {line}");
        }
    }
}

#[test]
fn rule_about_commands_is_not_left_to_the_sandbox() {
    for rules in [
        "deny Bash(git push:*)",
        "ask Bash(git push:*)",
        "allow Bash(make:*) / deny Bash(rm -rf*)",
        "ask Bash",
    ] {
        for line in NOT_ANALYSED {
            let scene = || scene(rules).sandbox(SandboxStrength::Full);
            let auto = scene().approval_mode(ApprovalMode::Auto).bash(line);
            assert_eq!(auto.verdict, Verdict::Ask, "{rules} `{line}`");
            assert!(!alone(&scene().bash(line), true), "{rules} `{line}`");
        }
    }
    // Known commands are checked against the rules.
    for line in KNOWN {
        let known = scene("deny Bash(git push:*)").sandbox(SandboxStrength::Full);
        assert!(alone(&known.bash(line), false), "{line}");
        let denied =
            scene("deny Bash(make:*) / deny Bash(sh:*) / deny Bash(date) / deny Bash(touch:*)");
        let denied = denied
            .sandbox(SandboxStrength::Full)
            .approval_mode(ApprovalMode::Auto);
        assert_eq!(denied.bash(line).verdict, Verdict::Deny, "{line}");
    }
    // Rules over other tools are not rules over commands, and the sandbox enforces closed paths.
    for rules in ["deny WebFetch", "deny Read(keys/**)", "allow Edit(docs/**)"] {
        let other = scene(rules).sandbox(SandboxStrength::Full);
        let decision = other.bash("python3 -c 'print(1)'");
        assert!(alone(&decision, false), "{rules}");
    }
}

/// A sandbox closes a path or leaves it open: it cannot ask.
#[test]
fn rule_that_asks_about_paths_is_not_left_to_the_sandbox() {
    for rules in ["ask Edit(deploy/**)", "ask Read(secrets/**)", "ask Read"] {
        for line in NOT_ANALYSED {
            let scene = || scene(rules).sandbox(SandboxStrength::Full);
            let auto = scene().approval_mode(ApprovalMode::Auto).bash(line);
            assert_eq!(auto.verdict, Verdict::Ask, "{rules} `{line}`");
            assert!(!alone(&scene().bash(line), true), "{rules} `{line}`");
        }
    }
}

#[test]
fn findings_firm_for_another_reason_stay_firm_in_a_sandbox() {
    let lines = [
        "python3 -c 'open(\"reasonix.toml\", \"w\")'",
        "python3 - <<'X'\nopen('.git/config', 'a')\nX",
        "echo $(date) > .mcp.json",
        "find . -exec cp {} .git/hooks/pre-commit \\;",
        "ls | xargs -I{} cp {} /agent/home/config.toml",
        "python3 -c 'print(1)' \u{202e}",
        "",
    ];
    for line in lines {
        let scene = || scene("").sandbox(SandboxStrength::Full);
        let auto = scene().approval_mode(ApprovalMode::Auto).bash(line);
        assert_eq!(auto.verdict, Verdict::Ask, "`{line}`: {}", auto.rule);
        assert!(!alone(&scene().bash(line), true), "`{line}`");
    }
    let mut bare = scene("").sandbox(SandboxStrength::Full);
    bare.unconfined = Some("the temporary directory cannot be made".to_owned());
    assert!(!alone(&bare.bash("python3 -c 'print(1)'"), true));
}

#[test]
fn sandbox_replaces_no_approval_if_nothing_may_be_changed() {
    let plan = EffectivePermissions {
        mode: Mode::Plan,
        ..EffectivePermissions::default()
    };
    let read_only = EffectivePermissions {
        read_only: true,
        ..EffectivePermissions::default()
    };
    for effective_permissions in [plan, read_only] {
        for line in NOT_ANALYSED.iter().chain(KNOWN) {
            let scene = scene("")
                .sandbox(SandboxStrength::Full)
                .effective_permissions(effective_permissions);
            let decision = scene.approval_mode(ApprovalMode::Auto).bash(line);
            assert_eq!(decision.verdict, Verdict::Deny, "`{line}`");
            assert_eq!(decision.basis, Basis::EffectivePermissions, "`{line}`");
        }
    }
}
