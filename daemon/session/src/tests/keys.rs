//! Keys: what a client sends for a session counts; a key offered to all only fills gaps.

use std::collections::BTreeMap;
use std::sync::Mutex;

use proto::SessionId;

use crate::{KeyKeeper, Keys, KeysByVariable};

/// Outlives the supervisors of a test, as the daemon's parent outlives daemons.
#[derive(Default)]
pub struct MemoryKeeper(Mutex<BTreeMap<Option<SessionId>, KeysByVariable>>);

impl KeyKeeper for MemoryKeeper {
    fn keep(&self, session: Option<SessionId>, keys: &KeysByVariable) {
        self.0.lock().unwrap().insert(session, keys.clone());
    }

    fn restore(&self, session: Option<SessionId>) -> KeysByVariable {
        let kept = self.0.lock().unwrap();
        kept.get(&session).cloned().unwrap_or_default()
    }
}

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
        "an empty text does not count as a key"
    );
    assert_eq!(
        format!("{keys:?}").matches("own").count(),
        0,
        "a key never shows itself"
    );
}
