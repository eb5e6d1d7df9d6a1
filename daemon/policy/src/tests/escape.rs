//! Which blocked commands may run unsandboxed: a table.

use super::*;

/// `rules`, approval mode, effective permissions → the decision about a blocked command.
const TABLE: &[(&str, ApprovalMode, &str, &str)] = &[
    ("", ApprovalMode::Ask, "", "ask"),
    ("", ApprovalMode::Auto, "", "ask"),
    ("", ApprovalMode::Ask, "window", "ask"),
    ("allow Bash(make:*)", ApprovalMode::Ask, "", "ask"),
    ("allow Bash", ApprovalMode::Auto, "", "ask"),
    ("ask Bash(make:*)", ApprovalMode::Ask, "", "ask"),
    ("", ApprovalMode::Yolo, "", "approval mode `yolo`"),
    (
        "allow Bash",
        ApprovalMode::Yolo,
        "window",
        "approval mode `yolo`",
    ),
    ("", ApprovalMode::Ask, "plan", "plan mode"),
    ("", ApprovalMode::Yolo, "plan", "plan mode"),
    ("", ApprovalMode::Ask, "read-only", "read-only session"),
    (
        "deny Read(secret/**)",
        ApprovalMode::Ask,
        "",
        "a rule denies reading",
    ),
    ("deny Read", ApprovalMode::Auto, "", "a rule denies `Read`"),
    (
        "deny Edit(docs/**)",
        ApprovalMode::Ask,
        "",
        "a rule denies changing",
    ),
    ("deny Edit", ApprovalMode::Ask, "", "a rule denies `Edit`"),
    ("deny Bash(make:*)", ApprovalMode::Ask, "", "Bash(make:*)"),
    ("deny Bash(rm:*)", ApprovalMode::Ask, "", "ask"),
    ("ask Read(secret/**)", ApprovalMode::Ask, "", "ask"),
];

fn effective_permissions(name: &str) -> EffectivePermissions {
    let mut effective_permissions = EffectivePermissions::default();
    match name {
        "plan" => effective_permissions.mode = proto::state::Mode::Plan,
        "read-only" => effective_permissions.read_only = true,
        "window" => effective_permissions.plan_approved = true,
        _ => {}
    }
    effective_permissions
}

#[test]
fn running_unsandboxed_needs_a_user_and_is_denied_if_a_rule_forbids_it() {
    for (rules, approval_mode, named, wanted) in TABLE {
        let effective_permissions = effective_permissions(named);
        let scene = scene(rules)
            .approval_mode(*approval_mode)
            .effective_permissions(effective_permissions);
        let set = scene.rule_set();
        let decision = scene.bash("make install");
        let outside = escape(
            &set,
            (*approval_mode, effective_permissions),
            decision,
            "it writes outside",
        );
        let what = format!("{rules:?} {approval_mode:?} {named:?}: {outside:?}");
        assert!(outside.scopes.is_empty(), "{what}");
        assert!(!outside.read_only, "{what}");
        assert_eq!(outside.confinement, Confinement::None, "{what}");
        match *wanted {
            "ask" => {
                assert_eq!(outside.verdict, Verdict::Ask, "{what}");
                // No `on_ask` replaces a user's approval.
                for on_ask in [
                    OnAsk::Sandboxed,
                    OnAsk::Allow,
                    OnAsk::Deny,
                    OnAsk::Wait,
                    OnAsk::Park,
                ] {
                    let left = unattended(&outside, on_ask, false, true);
                    assert_ne!(left, Unattended::Allow, "{what}");
                }
                assert_eq!(
                    stays_inside(&set, *approval_mode, effective_permissions),
                    None,
                    "{what}"
                );
            }
            why => {
                assert_eq!(outside.verdict, Verdict::Deny, "{what}");
                assert!(outside.rule.contains(why), "{what}");
            }
        }
    }
}
