//! Variables that earlier commands have changed.

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
