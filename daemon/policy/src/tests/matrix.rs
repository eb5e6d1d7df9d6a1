//! The matrix of the contract's chapter 50: the decision about each kind of call in each approval mode and mode, and
//! about each approval request under each `on_ask`.

use super::*;
use proto::state::Mode;

const NORMAL: EffectivePermissions = EffectivePermissions {
    mode: Mode::Normal,
    read_only: false,
    plan_approved: false,
};
const PLAN: EffectivePermissions = EffectivePermissions {
    mode: Mode::Plan,
    ..NORMAL
};
const WINDOW: EffectivePermissions = EffectivePermissions {
    plan_approved: true,
    ..NORMAL
};
const READ_ONLY: EffectivePermissions = EffectivePermissions {
    read_only: true,
    ..NORMAL
};

/// A kind of finding: rules that cause it, and the call.
struct Kind {
    name: &'static str,
    rules: &'static str,
    tool: &'static str,
    arguments: Value,
}

fn kinds() -> Vec<Kind> {
    let edit = |path: &str| json!({"path": path, "old_string": "a", "new_string": "b"});
    let bash = |command: &str| json!({ "command": command });
    let row = |name, rules, tool, arguments| Kind {
        name,
        rules,
        tool,
        arguments,
    };
    vec![
        row("deny rule", "deny Edit(a)", "edit_file", edit("a")),
        row("ask rule", "ask Edit(a)", "edit_file", edit("a")),
        row("allow rule", "allow Edit(a)", "edit_file", edit("a")),
        row("file writer", "", "edit_file", edit("a")),
        row("command", "", "bash", bash("make")),
        row(
            "allowed command",
            "allow Bash(make:*)",
            "bash",
            bash("make"),
        ),
        row("reader", "", "read_file", json!({"path": "a"})),
        row("reading command", "", "bash", bash("ls && git status")),
        row("always asked", "", "edit_file", edit("reasonix.toml")),
        row("not analysed", "", "bash", bash("make $(")),
        row("unknown code", "", "bash", bash("python3 -c 'x()'")),
        row(
            "and a rule",
            "ask Bash(rm:*)",
            "bash",
            bash("python3 -c 'x()'"),
        ),
        row("unknown command", "deny Bash(rm:*)", "bash", bash("$X y")),
        row("todo", "", "todo_write", json!({})),
        row("question", "", "ask", json!({})),
        row("plan", "", "exit_plan_mode", json!({})),
    ]
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}

fn decided(
    kind: &Kind,
    approval_mode: ApprovalMode,
    effective_permissions: EffectivePermissions,
    sandbox: SandboxStrength,
) -> Decision {
    let scene = scene(kind.rules)
        .approval_mode(approval_mode)
        .effective_permissions(effective_permissions);
    scene
        .sandbox(sandbox)
        .call(kind.tool, kind.arguments.clone())
}

#[test]
fn every_kind_of_call_has_its_verdict_in_every_approval_mode_and_mode() {
    // ask, auto without a sandbox, auto with a full sandbox, yolo, an approved plan; then plan mode, a read-only
    // session.
    let table = "
        deny rule       | deny  deny  deny  deny  deny  | deny  deny
        ask rule        | ask   ask   ask   allow allow | deny  deny
        allow rule      | allow allow allow allow allow | deny  deny
        file writer     | ask   allow allow allow allow | deny  deny
        command         | ask   ask   allow allow allow | deny  deny
        allowed command | allow allow allow allow allow | deny  deny
        reader          | allow allow allow allow allow | allow allow
        reading command | allow allow allow allow allow | allow allow
        always asked    | ask   ask   ask   ask   ask   | deny  deny
        not analysed    | ask   ask   allow allow allow | deny  deny
        unknown code    | ask   ask   allow allow allow | deny  deny
        and a rule      | ask   ask   ask   ask   ask   | deny  deny
        unknown command | ask   ask   ask   ask   ask   | deny  deny
        todo            | allow allow allow allow allow | allow allow
        question        | allow allow allow allow allow | allow allow
        plan            | ask   ask   ask   ask   ask   | ask   ask";
    let columns = [
        (ApprovalMode::Ask, NORMAL, SandboxStrength::None),
        (ApprovalMode::Auto, NORMAL, SandboxStrength::Partial),
        (ApprovalMode::Auto, NORMAL, SandboxStrength::Full),
        (ApprovalMode::Yolo, NORMAL, SandboxStrength::None),
        (ApprovalMode::Ask, WINDOW, SandboxStrength::None),
    ];
    let mut rows = table.lines().filter(|line| !line.trim().is_empty());
    for kind in kinds() {
        let Some((name, cells)) = rows.next().and_then(|row| row.split_once('|')) else {
            panic!("no row for {}", kind.name)
        };
        assert_eq!(name.trim(), kind.name);
        let mut found: Vec<_> = columns
            .iter()
            .map(|(approval_mode, effective_permissions, sandbox)| {
                decided(&kind, *approval_mode, *effective_permissions, *sandbox)
            })
            .map(|decision| word(decision.verdict))
            .collect();
        found.push("|");
        for effective_permissions in [PLAN, READ_ONLY] {
            // The approval mode lifts nothing, nor does an approved plan in a read-only session.
            let window = EffectivePermissions {
                plan_approved: effective_permissions.read_only,
                ..effective_permissions
            };
            let all = [ApprovalMode::Ask, ApprovalMode::Auto, ApprovalMode::Yolo]
                .map(|approval_mode| decided(&kind, approval_mode, window, SandboxStrength::Full));
            let [ask, auto, yolo] = all;
            assert_eq!(ask.verdict == Verdict::Deny, auto.verdict == Verdict::Deny);
            assert_eq!(ask.verdict == Verdict::Deny, yolo.verdict == Verdict::Deny);
            if ask.verdict == Verdict::Deny {
                assert_eq!(
                    Some(ask.rule.as_str()),
                    effective_permissions.refuses(),
                    "{}",
                    kind.name
                );
                assert_eq!(ask.layer, EffectivePermissions::LAYER);
                assert_eq!(ask.basis, Basis::EffectivePermissions);
            }
            found.push(word(ask.verdict));
        }
        let wanted: Vec<_> = cells.split_whitespace().collect();
        assert_eq!(found, wanted, "{}", kind.name);
    }
    assert!(rows.next().is_none());
}

#[test]
fn every_ask_has_its_answer_under_every_on_ask() {
    // `sandboxed` without a sandbox, with a partial one, with an accepted partial one, with a full one; allow; deny;
    // wait. No client is attached.
    let table = "
        ask rule        | deny  deny  deny  deny  | allow deny wait
        file writer     | allow allow allow allow | allow deny wait
        command         | deny  deny  allow allow | allow deny wait
        always asked    | deny  deny  deny  deny  | deny  deny wait
        not analysed    | deny  deny  allow allow | allow deny wait
        unknown code    | deny  deny  allow allow | allow deny wait
        and a rule      | deny  deny  deny  deny  | allow deny wait
        unknown command | deny  deny  deny  deny  | allow deny wait";
    let kinds = kinds();
    for row in table.lines().filter(|line| !line.trim().is_empty()) {
        let Some((name, cells)) = row.split_once('|') else {
            panic!("no row: {row}")
        };
        let kind = kinds.iter().find(|kind| kind.name == name.trim());
        let Some(kind) = kind else {
            panic!("no kind: {name}")
        };
        let under = |on_ask, sandbox, accept| {
            let decision = decided(kind, ApprovalMode::Ask, NORMAL, sandbox);
            assert_eq!(decision.verdict, Verdict::Ask, "{name}");
            let attached = unattended(&decision, on_ask, true, accept);
            let alone = unattended(&decision, on_ask, false, accept);
            // An attached client is asked instead of denying; calls that are allowed without one are not asked about.
            match (on_ask, &alone) {
                (OnAsk::Sandboxed | OnAsk::Allow, Unattended::Deny(_)) => {
                    assert_eq!(attached, Unattended::Wait, "{name}");
                }
                (OnAsk::Deny, _) => assert!(matches!(attached, Unattended::Deny(_))),
                _ => assert_eq!(attached, alone, "{name}"),
            }
            match alone {
                Unattended::Allow => "allow",
                Unattended::Deny(_) => "deny",
                Unattended::Wait => "wait",
            }
        };
        let found = [
            under(OnAsk::Sandboxed, SandboxStrength::None, true),
            under(OnAsk::Sandboxed, SandboxStrength::Partial, false),
            under(OnAsk::Sandboxed, SandboxStrength::Partial, true),
            under(OnAsk::Sandboxed, SandboxStrength::Full, false),
            "|",
            under(OnAsk::Allow, SandboxStrength::None, false),
            under(OnAsk::Deny, SandboxStrength::Full, true),
            under(OnAsk::Wait, SandboxStrength::Full, true),
        ];
        let wanted: Vec<_> = cells.split_whitespace().collect();
        assert_eq!(found.to_vec(), wanted, "{name}");
    }
    for on_ask in [
        OnAsk::Sandboxed,
        OnAsk::Allow,
        OnAsk::Deny,
        OnAsk::Wait,
        OnAsk::Park,
    ] {
        // Only a user can answer questions and plans.
        let waits = matches!(on_ask, OnAsk::Wait | OnAsk::Park);
        assert_eq!(unasked(on_ask, false), !waits, "{on_ask:?}");
        assert_eq!(unasked(on_ask, true), on_ask == OnAsk::Deny, "{on_ask:?}");
    }
}

#[test]
fn partial_sandbox_is_named_in_the_reason() {
    let command = |sandbox| scene("").sandbox(sandbox).bash("make");
    let words = |sandbox| match unattended(&command(sandbox), OnAsk::Sandboxed, false, false) {
        Unattended::Deny(words) => words,
        other => panic!("{other:?}"),
    };
    assert!(words(SandboxStrength::Partial).contains("`sandbox.accept_partial = true`"));
    assert!(!words(SandboxStrength::None).contains("accept_partial"));
    assert_eq!(
        command(SandboxStrength::None).confinement,
        Confinement::None
    );
    assert_eq!(
        command(SandboxStrength::Full).confinement,
        Confinement::Sandbox(SandboxStrength::Full)
    );
}
