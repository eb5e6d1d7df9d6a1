//! Which change of earlier bytes is seen, and where.

use contract::codec::FragmentRole;
use contract::{Fragment, Prefix};
use proptest::prelude::*;

use super::Shape;

type Change = fn(&mut Prefix);

fn prefix() -> Prefix {
    Prefix {
        model: "m".into(),
        system: "be brief".into(),
        tools: "{}".into(),
        extra: String::new(),
    }
}

fn shape(resets: u64, prefix: &Prefix, messages: &[(FragmentRole, Vec<u8>)]) -> Shape {
    let fragments: Vec<_> = messages
        .iter()
        .map(|(role, bytes)| Fragment { role: *role, bytes })
        .collect();
    Shape::of(resets, prefix, &fragments)
}

fn messages() -> impl Strategy<Value = Vec<(FragmentRole, Vec<u8>)>> {
    let role = prop_oneof![
        Just(FragmentRole::User),
        Just(FragmentRole::Assistant),
        Just(FragmentRole::Tool)
    ];
    prop::collection::vec((role, prop::collection::vec(any::<u8>(), 0..40)), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_only_longer_is_no_rewrite(all in messages(), upto in any::<prop::sample::Index>()) {
        let before = shape(0, &prefix(), &all[..upto.index(all.len())]);
        prop_assert_eq!(shape(0, &prefix(), &all).rewrites(&before), None);
    }

    #[test]
    fn a_byte_that_changed_is_named_by_its_message(
        all in messages(),
        which in any::<prop::sample::Index>(),
        byte in any::<prop::sample::Index>(),
    ) {
        let before = shape(0, &prefix(), &all);
        let mut changed = all;
        let which = which.index(changed.len());
        let bytes = &mut changed[which].1;
        match bytes.len() {
            0 => bytes.push(7),
            len => bytes[byte.index(len)] ^= 1,
        }
        let now = shape(0, &prefix(), &changed);
        prop_assert_eq!(now.rewrites(&before), Some(format!("message {}", which + 1)));
        // After a reset a rewrite is intended.
        prop_assert_eq!(shape(1, &prefix(), &changed).rewrites(&before), None);
    }

    #[test]
    fn a_message_that_is_gone_is_a_rewrite(all in messages()) {
        let before = shape(0, &prefix(), &all);
        let now = shape(0, &prefix(), &all[..all.len() - 1]);
        prop_assert_eq!(now.rewrites(&before), Some(format!("message {}", all.len())));
    }
}

#[test]
fn parts_of_the_prefix_and_roles_are_looked_at_too() {
    let said = [(FragmentRole::User, b"hello".to_vec())];
    let before = shape(0, &prefix(), &said);
    let changed: [(&str, Change); 4] = [
        ("model", |prefix| prefix.model.push('x')),
        ("system", |prefix| prefix.system.push('x')),
        ("tools", |prefix| prefix.tools.push('x')),
        ("extra", |prefix| prefix.extra.push('x')),
    ];
    for (name, change) in changed {
        let mut other = prefix();
        change(&mut other);
        let now = shape(0, &other, &said);
        assert_eq!(now.rewrites(&before).as_deref(), Some(name));
    }
    let as_answer = [(FragmentRole::Assistant, b"hello".to_vec())];
    let now = shape(0, &prefix(), &as_answer);
    assert_eq!(now.rewrites(&before).as_deref(), Some("message 1"));
}
