//! What the checks advise.

use super::*;

#[test]
fn the_hint_on_trust_can_be_pasted_into_a_shell() {
    let hint = trust_hint(Path::new("/it's here"));
    assert!(hint.contains(r"`reasonix trust '/it'\''s here'`"), "{hint}");
}

#[test]
fn a_home_is_private_only_if_others_cannot_look_into_it() {
    let home = Path::new("/h");
    let private = privacy(home, 0o700);
    assert_eq!(
        (private.level, private.text.as_str()),
        (CheckLevel::Ok, "/h is private")
    );
    for mode in [0o755, 0o710, 0o701] {
        let open = privacy(home, mode);
        assert_eq!(open.level, CheckLevel::Warning, "{mode:o}");
        assert!(
            open.text.contains(&format!("(mode 0{mode:o})")),
            "{}",
            open.text
        );
        assert_eq!(open.hint, "Run `chmod 700 /h`.");
    }
}

#[test]
fn reachable_abstract_sockets_are_a_warning() {
    let check = |demand, strength, open| held(demand, strength, "text".into(), open);
    let found = check(SandboxDemand::Enforce, SandboxStrength::Full, true);
    assert_eq!(found.level, CheckLevel::Warning);
    assert!(found.text.contains("abstract") && found.hint.contains("`sandbox.network`"));
    let held = check(SandboxDemand::Enforce, SandboxStrength::Full, false);
    assert_eq!((held.level, held.text.as_str()), (CheckLevel::Ok, "text"));
    let off = check(SandboxDemand::Off, SandboxStrength::Full, true);
    assert!(off.text.contains("`off`"));
}
