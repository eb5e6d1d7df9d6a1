//! Waiting for a vendor until a deadline, in a process that may not have run meanwhile.
//!
//! Who was stopped, frozen with its group or starved finds the deadline gone when it goes on, and what the vendor has sent
//! long ago still unread: that is no silence of the vendor's.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use tokio::time::error::Elapsed;
use tokio::time::{Instant, timeout, timeout_at};

/// A wait that ends so long after its deadline was not watched over.
const LATE: Duration = Duration::from_millis(250);
/// How long is listened once more then: what has come meanwhile is there in moments.
const AGAIN: Duration = Duration::from_secs(1);

/// What comes of `future` by `deadline`, or in a moment more where nobody was awake at the deadline.
///
/// # Errors
/// Nothing came.
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
        // The thread that runs it sleeps over the deadline; what comes is there only when others have run.
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
