//! Keys: what a client sends for a session counts; what it offers to all only fills gaps.

use std::collections::BTreeMap;

use crate::Keys;

fn key(value: &str) -> BTreeMap<String, String> {
    BTreeMap::from([("VENDOR_KEY".to_owned(), value.to_owned())])
}

#[test]
fn an_offer_never_replaces_a_sessions_own_key() {
    let keys = Keys::default();
    keys.fill(key("offered first"));
    keys.put(key("its own"));
    keys.fill(key("offered later"));
    assert_eq!(keys.get("VENDOR_KEY").unwrap().expose(), "its own");
    keys.put(key("  "));
    assert_eq!(
        keys.get("VENDOR_KEY").unwrap().expose(),
        "its own",
        "nothing is no key"
    );
    assert_eq!(
        format!("{keys:?}").matches("own").count(),
        0,
        "a key never shows itself"
    );
}
