//! A count of what changes lists of sessions, so that a client that shows one asks again only when something has
//! changed, and only for what has. One for the daemon; each session's actor adds to it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proto::{SessionId, Stamp};
use tokio::sync::watch;

/// The changes so far. Cheap to clone.
#[derive(Clone)]
pub(crate) struct ListChanges(Arc<Changes>);

struct Changes {
    newest: watch::Sender<u64>,
    /// The newest change of each session that has changed in this life of the daemon.
    sessions: Mutex<HashMap<SessionId, u64>>,
    /// The number that this life began with.
    first: u64,
}

impl Default for ListChanges {
    /// Begins with a number that no earlier life of the daemon came to: changes are counted, and microseconds pass faster.
    fn default() -> Self {
        let first = u64::try_from(Stamp::now().0).unwrap_or_default() * 1000;
        Self(Arc::new(Changes {
            newest: watch::Sender::new(first),
            sessions: Mutex::default(),
            first,
        }))
    }
}

impl ListChanges {
    /// This session is to be listed otherwise than before.
    pub fn note(&self, session: SessionId) {
        self.0.newest.send_modify(|newest| {
            *newest += 1;
            let mut sessions = self
                .0
                .sessions
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            sessions.insert(session, *newest);
        });
    }

    /// The number of the newest change.
    pub fn newest(&self) -> u64 {
        *self.0.newest.borrow()
    }

    /// The sessions that have changed after this change; `None`: it is of another life of the daemon.
    pub fn changed_after(&self, since: u64) -> Option<HashSet<SessionId>> {
        if !(self.0.first..=self.newest()).contains(&since) {
            return None;
        }
        let sessions = self
            .0
            .sessions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let changed = sessions.iter().filter(|(_, change)| **change > since);
        Some(changed.map(|(session, _)| *session).collect())
    }

    /// Waits for another newest change than this one, at most so long. After a restart of the daemon any number is
    /// another one.
    pub async fn after(&self, since: u64, wait: Duration) {
        let mut changes = self.0.newest.subscribe();
        let changed = changes.wait_for(|newest| *newest != since);
        // It is over, or nobody is left to change anything: the list is what it is.
        let _ = tokio::time::timeout(wait, changed).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_changed_since_is_named() {
        let changes = ListChanges::default();
        let (one, two) = (SessionId::new(), SessionId::new());
        let start = changes.newest();
        changes.note(one);
        let middle = changes.newest();
        changes.note(two);
        let both = HashSet::from([one, two]);
        assert_eq!(changes.changed_after(start), Some(both));
        assert_eq!(changes.changed_after(middle), Some(HashSet::from([two])));
        assert_eq!(
            changes.changed_after(changes.newest()),
            Some(HashSet::new())
        );
        for other_life in [0, start - 1, changes.newest() + 1] {
            assert_eq!(changes.changed_after(other_life), None);
        }
    }
}
