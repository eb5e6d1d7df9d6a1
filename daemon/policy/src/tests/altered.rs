//! Variables that earlier commands, or loops of the same line, have changed.

use super::*;

fn altered(rules: &str, approval_mode: ApprovalMode, names: &[&str], command: &str) -> Decision {
    within(scene(rules).approval_mode(approval_mode), names, command)
}

fn within(scene: Scene, names: &[&str], command: &str) -> Decision {
    let arguments = Map::from_iter([("command".to_owned(), json!(command))]);
    let call = Call {
        tool: &tool("bash"),
        arguments: &arguments,
        touches: &[],
    };
    let mut context = scene.context(&call);
    context.altered = names.iter().map(|name| (*name).to_owned()).collect();
    decide(&scene.rule_set(), &context, &call)
}

const RULES: &str = "allow Bash(make) / allow Bash(npm test:*) / allow Bash(git status)";

#[test]
fn the_reason_names_the_variable_that_holds_a_program() {
    let names = ["A0", "A1", "GIT_SSH_COMMAND", "Z"];
    let decision = altered(RULES, ApprovalMode::Ask, &names, "git fetch origin");
    assert!(
        decision.rule.contains("changed `GIT_SSH_COMMAND`"),
        "{}",
        decision.rule
    );
    let decision = altered(RULES, ApprovalMode::Ask, &names[..2], "git fetch origin");
    assert!(decision.rule.contains("changed `A0`"), "{}", decision.rule);
}

#[test]
fn after_a_changed_variable_no_command_is_known() {
    for name in [
        "PATH",
        "HOME",
        "GIT_EXTERNAL_DIFF",
        "GIT_CONFIG_COUNT",
        "XDG_CONFIG_HOME",
        "RIPGREP_CONFIG_PATH",
        "LESSOPEN",
        "NODE_OPTIONS",
        "JAVA_TOOL_OPTIONS",
        "LD_PRELOAD",
        "SOMETHING_NEW",
        "LANGUAGE",
        "",
    ] {
        for command in [
            "git status",
            "ls",
            "rg x",
            "make",
            "npm test",
            "node --version",
        ] {
            let decision = altered(RULES, ApprovalMode::Ask, &["LANG", name], command);
            assert_eq!(decision.verdict, Verdict::Ask, "{name}: {command}");
            assert!(!decision.read_only, "{name}: {command}");
            // The grant would not apply.
            assert!(decision.scopes.is_empty(), "{name}: {command}");
            assert!(decision.rule.contains(name), "{}", decision.rule);
            let auto = altered(RULES, ApprovalMode::Auto, &[name], command);
            assert_eq!(auto.verdict, Verdict::Ask, "{name}: {command}");
            let yolo = altered(RULES, ApprovalMode::Yolo, &[name], command);
            assert_eq!(yolo.verdict, Verdict::Allow, "{name}: {command}");
        }
    }
    let whole = altered("allow Bash", ApprovalMode::Ask, &["PATH"], "make");
    assert_eq!(whole.verdict, Verdict::Allow);
    let denied = altered("deny Bash(make:*)", ApprovalMode::Yolo, &["PATH"], "make");
    assert_eq!(denied.verdict, Verdict::Deny);
}

#[test]
fn a_harmless_variable_changes_nothing() {
    let names = [
        "LANG",
        "LC_ALL",
        "TZ",
        "NO_COLOR",
        "CI",
        "RUST_LOG",
        "RUST_BACKTRACE",
        "OLDPWD",
    ];
    for command in [
        "git status",
        "ls",
        "make",
        "npm test",
        "cargo build",
        "echo 'open",
    ] {
        let plain = altered(RULES, ApprovalMode::Ask, &[], command);
        assert_eq!(
            altered(RULES, ApprovalMode::Ask, &names, command),
            plain,
            "{command}"
        );
    }
}

#[test]
fn full_sandbox_suffices_after_a_changed_variable_if_no_rule_is_about_commands() {
    let full = |rules| {
        scene(rules)
            .sandbox(SandboxStrength::Full)
            .approval_mode(ApprovalMode::Auto)
    };
    for command in ["make", "ls", "git status"] {
        let held = within(full(""), &["PATH"], command);
        assert_eq!(held.verdict, Verdict::Allow, "{command}: {}", held.rule);
        let ruled = within(full("deny Bash(git push:*)"), &["PATH"], command);
        assert_eq!(ruled.verdict, Verdict::Ask, "{command}: {}", ruled.rule);
    }
}

#[test]
fn loop_over_a_variable_that_means_something_is_an_assignment() {
    for (rules, line) in [
        ("", "for PATH in ./evil; do ls; done"),
        ("", "for PATH in ./evil ./x; do ls; done"),
        ("", "for PATH in ./ev*; do ls; done"),
        ("", "for PATH in $PWD/evil; do ls; done"),
        ("", "for PATH in $(pwd)/evil; do ls; done"),
        ("", "for PATH; do ls; done"),
        ("", "for a in x; do for PATH in ./evil; do ls; done; done"),
        (
            "",
            "for a in x; do for b in y; do for PATH in ./evil; do ls; done; done; done",
        ),
        ("", "(for PATH in ./evil; do ls; done)"),
        ("", "if true; then for PATH in ./evil; do ls; done; fi"),
        ("", "for PATH in ./evil; do :; done; git status"),
        ("", "for HOME in ./evil; do git diff; done"),
        ("", "for HOME in x; do cat ~/f; done"),
        ("", "for XDG_CONFIG_HOME in x; do git diff; done"),
        ("", "for GIT_EXTERNAL_DIFF in ./x; do git diff; done"),
        ("", "for PWD in /x; do cat a; done"),
        ("", "for OLDPWD in /x; do cd -; done"),
        ("", "for IFS in x; do echo a; done"),
        ("", "for TMPDIR in x; do sort f; done"),
        ("", "for GREP_OPTIONS in -f/x; do grep a b; done"),
        ("", "for npm_config_x in a; do ls; done"),
        ("", "for https_proxy in h; do ls; done"),
        ("", "bash -c 'for PATH in ./evil; do ls; done'"),
        (
            "allow Bash(git status:*)",
            "for PATH in ./evil; do :; done; git status",
        ),
        (
            "allow Bash(git status:*)",
            "for HOME in ./evil; do :; done && git status",
        ),
    ] {
        for mode in [ApprovalMode::Ask, ApprovalMode::Auto] {
            let decision = scene(rules).approval_mode(mode).bash(line);
            assert_eq!(decision.verdict, Verdict::Ask, "{line}: {}", decision.rule);
            assert!(!decision.read_only, "{line}");
        }
    }
    // As after `PATH=./evil`, no deny rule can be checked.
    let yolo = scene("deny Bash(git push:*)").approval_mode(ApprovalMode::Yolo);
    for line in ["for PATH in ./evil; do ls; done", "PATH=./evil; ls"] {
        assert_eq!(yolo.bash(line).verdict, Verdict::Ask, "{line}");
    }
    check(
        "",
        "allow | for f in a b; do cat $f; done
         allow | for path in src tests; do ls $path; done
         allow | for i in 1 2 3; do echo $i; done
         allow | for F in a b; do wc -l $F; done
         allow | for home in a b; do ls $home; done
         allow | for _ in 1 2; do date; done",
    );
}
