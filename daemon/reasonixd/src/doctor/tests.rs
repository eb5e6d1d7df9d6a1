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
