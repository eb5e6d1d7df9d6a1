//! How a running call is asked to stop.

use std::sync::atomic::{AtomicU64, Ordering};

use contract::tool::Cancel;
use futures::future::BoxFuture;
use tokio_util::sync::CancellationToken;

/// Asks a running call to stop, and how hard.
#[derive(Default)]
pub struct Stop {
    pub(super) token: CancellationToken,
    grace_ms: AtomicU64,
}

impl Stop {
    pub fn stop(&self, grace_ms: u64) {
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
