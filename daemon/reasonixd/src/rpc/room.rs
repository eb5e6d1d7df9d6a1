//! Room for frames to be written to clients: of each connection, and of all together.
//!
//! A call takes room for its answer before it begins, and a waiting frame keeps its share until it is written. So a client
//! that reads nothing has no more calls read, and costs no more memory.

use std::sync::Arc;

use proto::frame::OUTBOUND_MAX;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, TryAcquireError};

/// Bytes that may wait for one client, what its calls may come to included: as many large answers as are made at a time.
const ONE: usize = 16 * OUTBOUND_MAX;
/// Bytes that may wait for all clients. Besides, each may have one frame: nobody waits for another client to read.
const ALL: usize = 64 * OUTBOUND_MAX;

/// The room of all connections.
#[derive(Clone, Debug)]
pub struct SharedRoom(Arc<Semaphore>);

impl Default for SharedRoom {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(ALL)))
    }
}

/// The room of one connection.
pub struct Room {
    all: SharedRoom,
    own: Arc<Semaphore>,
    /// The one frame that it may have however full it is.
    first: Arc<Semaphore>,
}

/// A frame's share of the room, given back when it is dropped.
#[derive(Debug)]
pub struct FrameShare {
    own: Option<OwnedSemaphorePermit>,
    all: Option<OwnedSemaphorePermit>,
    _first: Option<OwnedSemaphorePermit>,
}

impl Room {
    pub fn new(all: SharedRoom) -> Self {
        Self {
            all,
            own: Arc::new(Semaphore::new(ONE)),
            first: Arc::new(Semaphore::new(1)),
        }
    }

    /// Takes room for so many bytes, when there is some. `None`: the connection has ended.
    pub async fn take(&self, bytes: usize) -> Option<FrameShare> {
        let bytes = u32::try_from(bytes.min(OUTBOUND_MAX)).unwrap_or(u32::MAX);
        let first = || Arc::clone(&self.first);
        match first().try_acquire_owned() {
            Ok(first) => return Some(FrameShare::first(first)),
            Err(TryAcquireError::Closed) => return None,
            Err(TryAcquireError::NoPermits) => {}
        }
        let both = async {
            let own = Arc::clone(&self.own).acquire_many_owned(bytes).await.ok()?;
            let all = Arc::clone(&self.all.0)
                .acquire_many_owned(bytes)
                .await
                .ok()?;
            Some(FrameShare {
                own: Some(own),
                all: Some(all),
                _first: None,
            })
        };
        // Both only wait: dropping one gives back its share.
        tokio::select! {
            share = both => share,
            first = first().acquire_owned() => Some(FrameShare::first(first.ok()?)),
        }
    }

    /// Nothing is written any more: who waits for room waits no longer.
    pub fn close(&self) {
        self.own.close();
        self.first.close();
    }
}

impl FrameShare {
    fn first(first: OwnedSemaphorePermit) -> Self {
        Self {
            own: None,
            all: None,
            _first: Some(first),
        }
    }

    /// Gives back what these bytes do not need.
    pub fn shrink_to(&mut self, bytes: usize) {
        for permit in [&mut self.own, &mut self.all].into_iter().flatten() {
            let surplus = permit.num_permits().saturating_sub(bytes);
            drop(permit.split(surplus));
        }
    }
}

#[cfg(test)]
mod tests;
