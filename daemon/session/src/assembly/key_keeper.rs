//! Where keys of sessions outlive a crash of the daemon.

use std::collections::BTreeMap;

use contract::Secret;
use proto::SessionId;

/// Keys by the name of their variable.
pub type KeysByVariable = BTreeMap<String, Secret>;

/// Keeps keys outside of the daemon's process, in memory only. Without a session: those that were offered to all.
pub trait KeyKeeper: Send + Sync {
    /// Keeps these keys, and no others, for a session. Kept when it returns; none: forgets them.
    fn keep(&self, session: Option<SessionId>, keys: &KeysByVariable);

    /// The keys kept for a session, also by the daemon before this one.
    fn restore(&self, session: Option<SessionId>) -> KeysByVariable;
}

/// Keeps nothing: keys end with the daemon.
pub(crate) struct NoKeeper;

impl KeyKeeper for NoKeeper {
    fn keep(&self, _session: Option<SessionId>, _keys: &KeysByVariable) {}

    fn restore(&self, _session: Option<SessionId>) -> KeysByVariable {
        KeysByVariable::new()
    }
}
