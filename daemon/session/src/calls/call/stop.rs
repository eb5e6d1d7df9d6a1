//! How a running call is asked to stop.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use contract::tool::{Cancel, StoppedBy};
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

/// Asks a running call to stop, and how hard.
#[derive(Default)]
pub struct Stop {
    pub(super) token: CancellationToken,
    grace_ms: AtomicU64,
    by: OnceLock<StoppedBy>,
}

impl Stop {
    /// The first who stops it is the one who did.
    pub fn stop(&self, grace_ms: u64, by: StoppedBy) {
        let _ = self.by.set(by);
        self.grace_ms.store(grace_ms, Ordering::Relaxed);
        self.token.cancel();
    }
}

impl Cancel for Stop {
    fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'static, ()> {
        let token = self.token.clone();
        Box::pin(async move { token.cancelled().await })
    }

    fn grace_ms(&self) -> u64 {
        self.grace_ms.load(Ordering::Relaxed)
    }

    fn stopped_by(&self) -> StoppedBy {
        self.by.get().copied().unwrap_or_default()
    }
}

/// For previews: nothing is stopped.
pub(super) struct Never;

impl Cancel for Never {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn cancelled(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}
