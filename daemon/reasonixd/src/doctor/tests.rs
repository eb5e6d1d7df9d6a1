//! What the checks advise.

use super::*;

#[test]
fn the_hint_on_trust_can_be_pasted_into_a_shell() {
    let hint = trust_hint(Path::new("/it's here"));
    assert!(
        hint.contains(r#"`reasonix rpc trust.get '{"cwd":"/it'\''s here"}'`"#),
        "{hint}"
    );
    assert!(hint.contains("trust.set"), "{hint}");
}

#[test]
fn abstract_sockets_that_the_network_opens_are_told() {
    let check = |demand, strength, open| held(demand, strength, "text".into(), open);
    let told = check(SandboxDemand::Enforce, Strength::Full, true);
    assert_eq!(told.level, CheckLevel::Warning);
    assert!(told.text.contains("abstract") && told.hint.contains("`sandbox.network`"));
    let held = check(SandboxDemand::Enforce, Strength::Full, false);
    assert_eq!((held.level, held.text.as_str()), (CheckLevel::Ok, "text"));
    let off = check(SandboxDemand::Off, Strength::Full, true);
    assert!(off.text.contains("`off`"));
}
