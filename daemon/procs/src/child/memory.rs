//! The watchdog of a command's memory.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use crate::tree::Tree;

/// The fastest that a command is assumed to take memory, in bytes a second.
const RATE: u64 = 8 << 30;
/// The shortest and the longest pause between two looks.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));
/// A pause is at least this many times as long as the look before it took.
const SHARE: u32 = 20;

/// Looks at the memory of all processes of a command, the sooner the closer they are to the limit.
pub(super) struct MemoryWatch {
    limit: Option<u64>,
    next: Instant,
    exceeded: bool,
}

impl MemoryWatch {
    pub fn new(limit: Option<u64>) -> Self {
        Self {
            limit,
            next: Instant::now() + PAUSES.0,
            exceeded: false,
        }
    }

    /// The limit, if it was found to use more.
    pub fn exceeded(&self) -> Option<u64> {
        self.limit.filter(|_| self.exceeded)
    }

    /// Waits until it is time to look. Cancel-safe.
    pub async fn due(&self) {
        match self.limit {
            Some(_) => sleep_until(self.next).await,
            None => std::future::pending().await,
        }
    }

    /// Looks. Returns whether the command uses more than its limit.
    pub fn look(&mut self, tree: &Tree) -> bool {
        let Some(limit) = self.limit else {
            return false;
        };
        let begun = Instant::now();
        let mut used = tree.resident();
        if used > limit {
            // What processes share is counted once: it takes longer to ask for.
            used = tree.proportional();
        }
        self.exceeded = used > limit;
        let room = limit.saturating_sub(used);
        let pause = Duration::from_micros(room / (RATE / 1_000_000));
        let pause = pause.clamp(PAUSES.0, PAUSES.1);
        self.next = Instant::now() + pause.max(begun.elapsed() * SHARE);
        self.exceeded
    }
}
