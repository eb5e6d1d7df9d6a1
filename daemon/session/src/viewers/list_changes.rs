//! A count of what changes lists of sessions, so that a client that shows one asks again only when something has
//! changed. One for the daemon; each session's actor adds to it.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

/// The changes so far. Cheap to clone.
#[derive(Clone, Default)]
pub(crate) struct ListChanges(Arc<watch::Sender<u64>>);

impl ListChanges {
    /// A session is to be listed otherwise than before.
    pub fn note(&self) {
        self.0.send_modify(|count| *count = count.wrapping_add(1));
    }

    /// The number of the newest change.
    pub fn newest(&self) -> u64 {
        *self.0.borrow()
    }

    /// Waits for another newest change than this one, at most so long. After a restart of the daemon any number may be
    /// another one.
    pub async fn after(&self, since: u64, wait: Duration) {
        let mut changes = self.0.subscribe();
        let changed = changes.wait_for(|newest| *newest != since);
        // It is over, or nobody is left to change anything: the list is what it is.
        let _ = tokio::time::timeout(wait, changed).await;
    }
}
