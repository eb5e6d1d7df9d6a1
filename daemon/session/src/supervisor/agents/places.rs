//! How many sub-agents of a session run side by side, and how deep they go. A session with a parent is created by who
//! has a place, so no way to one leads around the limits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::{ErrorName, Failure, SessionId};
use tokio::sync::{Notify, watch};

/// Sub-agents of sub-agents (contract, chapter 70).
pub(crate) const DEPTH_MAX: u32 = 3;
/// Sub-agents of one session side by side (contract, chapter 70). Counted by session: one that waits for its own
/// sub-agents keeps its place.
const SIDE_BY_SIDE_MAX: usize = 10;

/// How long a change waits for sub-agents that are being created.
const CREATING_MAX: Duration = Duration::from_secs(5);

/// How many sub-agents of each session run.
#[derive(Default)]
pub(crate) struct AgentPlaces {
    running: Mutex<HashMap<SessionId, usize>>,
    freed: Notify,
    /// Sub-agents that are being created.
    creating: watch::Sender<usize>,
}

/// A sub-agent is being created, until this is dropped.
pub(crate) struct Creating(Arc<AgentPlaces>);

impl Drop for Creating {
    fn drop(&mut self) {
        let creating = &self.0.creating;
        creating.send_modify(|count| *count = count.saturating_sub(1));
    }
}

/// Leave for one sub-agent to be there. Given back when it is dropped.
pub(crate) struct Place {
    places: Arc<AgentPlaces>,
    parent: SessionId,
    depth: u32,
}

impl AgentPlaces {
    /// A place for a new sub-agent; waits until one is free. Cancel-safe: who gives up has none.
    ///
    /// # Errors
    /// `invalid_params`: it would be too deep.
    pub async fn take(self: &Arc<Self>, parent: SessionId, depth: u32) -> Result<Place, Failure> {
        if depth > DEPTH_MAX {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                format!("Agents nest at most {DEPTH_MAX} deep."),
                "Do this part of the work yourself.",
            ));
        }
        loop {
            let mut freed = std::pin::pin!(self.freed.notified());
            // Before the look: a place that is given back in between is noticed.
            freed.as_mut().enable();
            if let Some(place) = self.try_take(parent, depth) {
                return Ok(place);
            }
            freed.await;
        }
    }

    /// Notes that a sub-agent is being created.
    pub fn begin_creating(self: &Arc<Self>) -> Creating {
        self.creating.send_modify(|count| *count += 1);
        Creating(Arc::clone(self))
    }

    /// Returns when no sub-agent is half created, or after a while.
    pub async fn wait_for_creations(&self) {
        let mut creating = self.creating.subscribe();
        let none = creating.wait_for(|count| *count == 0);
        // One whose disk hangs holds nobody up for ever.
        let _ = tokio::time::timeout(CREATING_MAX, none).await;
    }

    fn try_take(self: &Arc<Self>, parent: SessionId, depth: u32) -> Option<Place> {
        let mut running = self.lock();
        let count = running.entry(parent).or_default();
        if *count >= SIDE_BY_SIDE_MAX {
            return None;
        }
        *count += 1;
        Some(self.place(parent, depth))
    }

    /// The place of a sub-agent that is there already: it had one before the daemon's end.
    pub fn take_back(self: &Arc<Self>, parent: SessionId, depth: u32) -> Place {
        *self.lock().entry(parent).or_default() += 1;
        self.place(parent, depth)
    }

    fn place(self: &Arc<Self>, parent: SessionId, depth: u32) -> Place {
        Place {
            places: Arc::clone(self),
            parent,
            depth,
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, usize>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// 1: below a session that a client started.
    pub fn depth(&self) -> u32 {
        self.depth
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut running = self.places.lock();
        let left = running.get_mut(&self.parent).map(|count| {
            *count = count.saturating_sub(1);
            *count
        });
        if left == Some(0) {
            running.remove(&self.parent);
        }
        drop(running);
        self.places.freed.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn eleventh_parallel_agent_waits_and_a_fourth_nesting_level_is_refused() {
        let (places, parent) = (Arc::new(AgentPlaces::default()), SessionId::new());
        let mut taken = Vec::new();
        for _ in 0..SIDE_BY_SIDE_MAX {
            taken.push(places.take(parent, 1).await.expect("a place"));
        }
        let mut eleventh = Box::pin(places.take(parent, 1));
        assert!((&mut eleventh).now_or_never().is_none());
        let other = places.take(SessionId::new(), 3).await.expect("another's");
        drop(other);
        assert!((&mut eleventh).now_or_never().is_none());
        taken.pop();
        assert_eq!(eleventh.await.expect("a place").depth(), 1);
        assert!(places.take(parent, DEPTH_MAX + 1).await.is_err());
        drop(taken);
        assert!(places.lock().is_empty(), "nothing is left of what ended");
    }
}
