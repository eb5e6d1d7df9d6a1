//! Work in tasks of their own, and the failures that any module may answer with.
//!
//! The runtime's code for a task is built once for each type of work, and is long. So the work is boxed here: all has one type.

use std::any::Any;
use std::future::Future;

use futures::future::BoxFuture;
use proto::{ErrorName, Failure};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

/// Where an answer goes. The caller may be gone: that changes nothing for the session.
pub type Reply<T> = oneshot::Sender<Result<T, Failure>>;

/// What some work returned.
type Output = Box<dyn Any + Send>;

/// Runs work that waits for a disk, on a thread that may.
///
/// # Errors
/// `internal`: the work panicked.
pub async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let work: Box<dyn FnOnce() -> Output + Send> = Box::new(move || Box::new(work()));
    output_of(tokio::task::spawn_blocking(work).await)
}

/// Runs work in a task of its own: it comes to its end also if the caller is dropped.
///
/// # Errors
/// `internal`: the work panicked.
pub async fn shielded<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> Result<T, Failure> {
    let work: BoxFuture<'static, Output> = Box::pin(async move { Box::new(work.await) as Output });
    output_of(tokio::spawn(work).await)
}

/// Starts work for which nobody waits.
pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    let work: BoxFuture<'static, ()> = Box::pin(work);
    tokio::spawn(work)
}

/// Starts work that waits for a disk, and for which nobody waits.
pub(crate) fn spawn_blocking(work: impl FnOnce() + Send + 'static) {
    let work: Box<dyn FnOnce() + Send> = Box::new(work);
    drop(tokio::task::spawn_blocking(work));
}

fn output_of<T: 'static>(done: Result<Output, JoinError>) -> Result<T, Failure> {
    let output = done
        .map_err(Some)
        .and_then(|output| output.downcast().map_err(|_| None));
    output.map(|output| *output).map_err(unfinished)
}

fn unfinished(error: Option<JoinError>) -> Failure {
    // What the work was given may be a key: only that it failed is logged.
    tracing::error!(
        panic = error.is_some_and(|error| error.is_panic()),
        "some work did not end"
    );
    Failure::new(
        ErrorName::Internal,
        "bug in the daemon: the work did not finish",
        "Try again; see the daemon's log for details.",
    )
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
