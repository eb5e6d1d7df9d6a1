//! Bytes of events that wait for subscribers: bounded for each, and for all sessions together.
//!
//! Who is over a bound is fed from the log: nothing is lost, and nobody waits.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that one subscriber may lag before it is fed from the log: 8 MiB.
const ONE: usize = 8 * 1024 * 1024;
/// Bytes that all may lag together: 32 MiB. A subscriber that lags by less than `LEAST` is not concerned.
const ALL: usize = 32 * 1024 * 1024;
const LEAST: usize = 256 * 1024;

/// The bytes that wait for all subscribers of a daemon.
#[derive(Clone, Debug, Default)]
pub struct AllQueues(Arc<AtomicUsize>);

/// The bytes that wait for one subscriber. The rest is given back when both sides of its queue are gone.
#[derive(Debug)]
pub struct QueueBytes {
    own: AtomicUsize,
    all: AllQueues,
}

impl QueueBytes {
    /// None yet.
    pub fn new(all: AllQueues) -> Self {
        Self {
            own: AtomicUsize::new(0),
            all,
        }
    }

    /// Counts so many more. False: there are too many, and they are not counted.
    pub fn take(&self, bytes: usize) -> bool {
        let own = self.own.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let all = self.all.0.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let fits = own <= ONE && (own <= LEAST || all <= ALL);
        if !fits {
            self.release(bytes);
        }
        fits
    }

    /// So many wait no longer.
    pub fn release(&self, bytes: usize) {
        self.own.fetch_sub(bytes, Ordering::Relaxed);
        self.all.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

impl Drop for QueueBytes {
    fn drop(&mut self) {
        let left = *self.own.get_mut();
        self.all.0.fetch_sub(left, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    #[test]
    fn each_queue_is_bounded_and_releases_its_bytes_on_drop() {
        let all = AllQueues::default();
        let one = QueueBytes::new(all.clone());
        let taken = std::iter::from_fn(|| one.take(MIB).then_some(())).count();
        assert_eq!(taken, ONE / MIB);
        one.release(MIB);
        assert!(one.take(MIB));
        drop(one);
        assert_eq!(all.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn total_limit_leaves_each_queue_a_minimum() {
        let all = AllQueues::default();
        let many: Vec<QueueBytes> = (0..8).map(|_| QueueBytes::new(all.clone())).collect();
        let fill =
            |queue: &QueueBytes| std::iter::from_fn(|| queue.take(MIB).then_some(())).count();
        assert_eq!(many.iter().map(fill).sum::<usize>(), ALL / MIB);
        let quick = QueueBytes::new(all);
        assert!(quick.take(LEAST));
        assert!(!quick.take(1));
        drop(many);
        assert!(quick.take(1));
    }
}
