//! What walls stand in for, where nobody is asked: approval mode `auto`, and runs under `--on-ask sandboxed`.

use super::*;
use proto::state::Mode;

/// Commands that are not known before they run, though nothing about them is always asked.
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

/// Commands that are known, in lines of which nothing else need be known.
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
fn full_walls_stand_in_where_a_command_is_not_analysed() {
    for line in NOT_ANALYSED.iter().chain(KNOWN) {
        let asked = scene("").sandbox(Strength::Full).bash(line);
        assert_eq!(asked.verdict, Verdict::Ask, "`{line}`: {}", asked.rule);
        assert!(alone(&asked, false), "`{line}`: {}", asked.rule);
        assert!(!asked.read_only, "{line}");
        let auto = scene("")
            .sandbox(Strength::Full)
            .approval_mode(ApprovalMode::Auto);
        let auto = auto.bash(line);
        assert_eq!(auto.verdict, Verdict::Allow, "`{line}`: {}", auto.rule);
        assert!(auto.rule.contains("approval mode `auto`"), "{}", auto.rule);
        assert_eq!(auto.confinement, Confinement::Walls(Strength::Full));
    }
}

#[test]
fn walls_that_do_not_hold_all_stand_in_for_nothing() {
    let full = || scene("").sandbox(Strength::Full);
    let leaking = || {
        let mut scene = full();
        scene.leaks = true;
        scene
    };
    let weak: [(&str, &dyn Fn() -> Scene); 3] = [
        ("no walls", &|| scene("")),
        ("partial walls", &|| scene("").sandbox(Strength::Partial)),
        ("walls that leak", &leaking),
    ];
    for (name, scene) in weak {
        for line in NOT_ANALYSED.iter().chain(KNOWN) {
            let auto = scene().approval_mode(ApprovalMode::Auto).bash(line);
            assert_eq!(auto.verdict, Verdict::Ask, "{name} `{line}`: {}", auto.rule);
            assert!(!alone(&scene().bash(line), false), "{name} `{line}`");
        }
    }
    // Whoever takes partial walls for walls takes them for both.
    for line in NOT_ANALYSED.iter().chain(KNOWN) {
        assert!(alone(
            &scene("").sandbox(Strength::Partial).bash(line),
            true
        ));
        assert!(!alone(&scene("").bash(line), true), "{line}");
        assert!(!alone(&leaking().bash(line), true), "{line}");
    }
}

#[test]
fn a_rule_that_cannot_be_held_by_walls_is_not_left_to_them() {
    for rules in ["deny Edit", "deny Read", "deny Edit(**/*.lock)"] {
        let leaking = || {
            let mut scene = scene(rules).sandbox(Strength::Full);
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
fn a_rule_about_commands_is_not_left_to_walls() {
    for rules in [
        "deny Bash(git push:*)",
        "ask Bash(git push:*)",
        "allow Bash(make:*) / deny Bash(rm -rf*)",
        "ask Bash",
    ] {
        for line in NOT_ANALYSED {
            let scene = || scene(rules).sandbox(Strength::Full);
            let auto = scene().approval_mode(ApprovalMode::Auto).bash(line);
            assert_eq!(auto.verdict, Verdict::Ask, "{rules} `{line}`");
            assert!(!alone(&scene().bash(line), true), "{rules} `{line}`");
        }
    }
    // What is known is tried against them.
    for line in KNOWN {
        let known = scene("deny Bash(git push:*)").sandbox(Strength::Full);
        assert!(alone(&known.bash(line), false), "{line}");
        let denied =
            scene("deny Bash(make:*) / deny Bash(sh:*) / deny Bash(date) / deny Bash(touch:*)");
        let denied = denied
            .sandbox(Strength::Full)
            .approval_mode(ApprovalMode::Auto);
        assert_eq!(denied.bash(line).verdict, Verdict::Deny, "{line}");
    }
    // Rules over other tools are no rules over commands, and what paths are closed to the walls hold.
    for rules in ["deny WebFetch", "deny Read(keys/**)", "allow Edit(docs/**)"] {
        let other = scene(rules).sandbox(Strength::Full);
        let decision = other.bash("python3 -c 'print(1)'");
        assert!(alone(&decision, false), "{rules}");
    }
}

/// Walls close a place or leave it open: they cannot ask.
#[test]
fn a_rule_that_asks_about_paths_is_not_left_to_walls() {
    for rules in ["ask Edit(deploy/**)", "ask Read(secrets/**)", "ask Read"] {
        for line in NOT_ANALYSED {
            let scene = || scene(rules).sandbox(Strength::Full);
            let auto = scene().approval_mode(ApprovalMode::Auto).bash(line);
            assert_eq!(auto.verdict, Verdict::Ask, "{rules} `{line}`");
            assert!(!alone(&scene().bash(line), true), "{rules} `{line}`");
        }
    }
}

#[test]
fn what_is_firm_for_another_reason_stays_firm_within_walls() {
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
        let scene = || scene("").sandbox(Strength::Full);
        let auto = scene().approval_mode(ApprovalMode::Auto).bash(line);
        assert_eq!(auto.verdict, Verdict::Ask, "`{line}`: {}", auto.rule);
        assert!(!alone(&scene().bash(line), true), "`{line}`");
    }
    let mut bare = scene("").sandbox(Strength::Full);
    bare.unconfined = Some("the temporary directory cannot be made".to_owned());
    assert!(!alone(&bare.bash("python3 -c 'print(1)'"), true));
}

#[test]
fn where_nothing_may_be_changed_walls_stand_in_for_nothing() {
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
                .sandbox(Strength::Full)
                .effective_permissions(effective_permissions);
            let decision = scene.approval_mode(ApprovalMode::Auto).bash(line);
            assert_eq!(decision.verdict, Verdict::Deny, "`{line}`");
            assert_eq!(decision.basis, Basis::EffectivePermissions, "`{line}`");
        }
    }
}
