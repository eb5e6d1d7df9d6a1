//! What the checks advise.

use super::*;

#[test]
fn the_hint_on_trust_can_be_pasted_into_a_shell() {
    let hint = trust_hint(Path::new("/it's here"));
    assert!(hint.contains(r"`reasonix trust '/it'\''s here'`"), "{hint}");
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
