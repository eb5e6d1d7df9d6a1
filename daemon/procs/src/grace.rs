//! The end of a grace period, as a point in time.

use std::time::Duration;

use tokio::time::{Instant, sleep_until};

/// A time from now. At most a year, because the clock cannot represent a much later time.
pub(crate) fn later(after: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    Instant::now() + after.min(YEAR)
}

/// Waits until then. `None`: forever.
pub(crate) async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
