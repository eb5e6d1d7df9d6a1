//! Waiting for a vendor until a deadline, although this process may have been suspended meanwhile.
//!
//! A process that was stopped, frozen or starved finds its deadline passed while the vendor's data
//! is still unread. That is not silence of the vendor.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout, timeout_at};

/// If a wait ends this long after its deadline, the process was not running.
const LATE: Duration = Duration::from_millis(250);
/// How long to wait again in that case. Data that arrived meanwhile is available within moments.
const AGAIN: Duration = Duration::from_secs(1);

/// Waits for `future` until `deadline`, or a moment longer if the process was not running at the
/// deadline.
///
/// # Errors
/// The future did not complete.
pub(crate) async fn until<F: Future>(deadline: Instant, future: F) -> Result<F::Output, Elapsed> {
    let mut future = pin!(future);
    match timeout_at(deadline, &mut future).await {
        Err(_) if Instant::now() >= deadline + LATE => timeout(AGAIN, future).await,
        ended => ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_late_wakeup_delivers_output_that_arrived_before_the_deadline() {
        let (say, mut heard) = tokio::sync::mpsc::channel(1);
        let deadline = Instant::now() + Duration::from_millis(20);
        let listening = async {
            let first = heard.recv();
            until(deadline, first).await
        };
        // The runtime's thread sleeps past the deadline. The data arrives only after other tasks
        // have run.
        let others = async {
            std::thread::sleep(Duration::from_millis(400));
            tokio::task::yield_now().await;
            tokio::task::yield_now().await;
            let _ = say.send("there").await;
        };
        let (heard, ()) = tokio::join!(listening, others);
        assert_eq!(heard, Ok(Some("there")));
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_at_the_deadline() {
        let begun = Instant::now();
        let nothing = until(begun + Duration::from_secs(9), std::future::pending::<()>());
        assert!(nothing.await.is_err());
        assert!(begun.elapsed() < Duration::from_secs(9) + LATE);
    }
}
