//! Blocking work, and the failures that any room may answer with.

use proto::{ErrorName, Failure};
use tokio::sync::oneshot;

/// Where an answer goes. The caller may be gone: that changes nothing for the session.
pub type Reply<T> = oneshot::Sender<Result<T, Failure>>;

/// Runs blocking work on a thread that may block.
///
/// # Errors
/// The work panicked.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(panicked)
}

/// The failure of a task that panicked.
pub(crate) fn panicked(error: tokio::task::JoinError) -> Failure {
    let text = format!("bug in the daemon: {error}");
    Failure::new(ErrorName::Internal, text, "")
}

/// The refusal of work while the daemon stops.
pub(crate) fn shutting_down() -> Failure {
    Failure::new(
        ErrorName::ShuttingDown,
        "The daemon is stopping.",
        "Start it again, then retry.",
    )
    .retryable()
}
