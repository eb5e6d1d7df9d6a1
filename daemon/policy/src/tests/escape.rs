//! What may be let out of the sandbox: a table.

use super::*;

/// `rules`, posture, stance → what becomes of a command that was stopped.
const TABLE: &[(&str, Posture, &str, &str)] = &[
    ("", Posture::Ask, "", "ask"),
    ("", Posture::Auto, "", "ask"),
    ("", Posture::Ask, "window", "ask"),
    ("allow Bash(make:*)", Posture::Ask, "", "ask"),
    ("allow Bash", Posture::Auto, "", "ask"),
    ("ask Bash(make:*)", Posture::Ask, "", "ask"),
    ("", Posture::Yolo, "", "posture `yolo`"),
    ("allow Bash", Posture::Yolo, "window", "posture `yolo`"),
    ("", Posture::Ask, "plan", "plan mode"),
    ("", Posture::Yolo, "plan", "plan mode"),
    ("", Posture::Ask, "read-only", "read-only session"),
    (
        "deny Read(secret/**)",
        Posture::Ask,
        "",
        "a rule denies reading",
    ),
    ("deny Read", Posture::Auto, "", "a rule denies `Read`"),
    (
        "deny Edit(docs/**)",
        Posture::Ask,
        "",
        "a rule denies changing",
    ),
    ("deny Edit", Posture::Ask, "", "a rule denies `Edit`"),
    ("deny Bash(make:*)", Posture::Ask, "", "Bash(make:*)"),
    ("deny Bash(rm:*)", Posture::Ask, "", "ask"),
    ("ask Read(secret/**)", Posture::Ask, "", "ask"),
];

fn stance(name: &str) -> Stance {
    let mut stance = Stance::default();
    match name {
        "plan" => stance.mode = proto::state::Mode::Plan,
        "read-only" => stance.read_only = true,
        "window" => stance.window = true,
        _ => {}
    }
    stance
}

#[test]
fn only_a_person_lets_a_command_out_and_only_where_nothing_forbids_it() {
    for (rules, posture, named, wanted) in TABLE {
        let stance = stance(named);
        let scene = scene(rules).posture(*posture).stance(stance);
        let set = scene.rule_set();
        let decision = scene.bash("make install");
        let outside = escape(&set, (*posture, stance), decision, "it writes outside");
        let what = format!("{rules:?} {posture:?} {named:?}: {outside:?}");
        assert!(outside.scopes.is_empty(), "{what}");
        assert!(!outside.read_only, "{what}");
        assert_eq!(outside.confinement, Confinement::None, "{what}");
        match *wanted {
            "ask" => {
                assert_eq!(outside.verdict, Verdict::Ask, "{what}");
                // No `on_ask` says yes in a person's place.
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
                assert_eq!(stays_inside(&set, *posture, stance), None, "{what}");
            }
            why => {
                assert_eq!(outside.verdict, Verdict::Deny, "{what}");
                assert!(outside.rule.contains(why), "{what}");
            }
        }
    }
}
