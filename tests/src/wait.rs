//! Waiting for conditions, with a bound and a good message. The only place of the tests that sleeps.

use std::future::Future;
use std::time::{Duration, Instant};

/// Longer than anything may take here, on a busy machine.
pub const BOUND: Duration = Duration::from_secs(60);

/// How often a condition is looked at.
const STEP: Duration = Duration::from_millis(5);

/// Waits until `look` finds something, and returns it.
///
/// # Panics
/// It did not within [`BOUND`].
pub fn until<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    within(BOUND, &mut look).unwrap_or_else(|| panic!("waited {BOUND:?} in vain for: {what}"))
}

/// What `look` finds within `bound`, if anything.
pub fn within<T>(bound: Duration, look: &mut impl FnMut() -> Option<T>) -> Option<T> {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return Some(found);
        }
        if begun.elapsed() >= bound {
            return None;
        }
        std::thread::sleep(STEP);
    }
}

/// The pause between two looks at a condition, for loops that do the looking themselves. Bound them.
pub async fn step() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

/// Waits for a moment, for who plays somebody that keeps a pace. No condition is ever waited for so.
pub fn pace(due: Instant) {
    let left = due.saturating_duration_since(Instant::now());
    if !left.is_zero() {
        std::thread::sleep(left);
    }
}

/// Waits for something that ends by itself.
///
/// # Panics
/// It did not within [`BOUND`].
pub async fn soon<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(BOUND, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {BOUND:?} in vain for: {what}"),
    }
}
