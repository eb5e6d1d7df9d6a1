//! Work in tasks of their own, and the failures that any module may answer with.
//!
//! The runtime's code for a task is built once for each type of work, and is long. So the work is boxed here: all has one type.

use std::any::Any;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use proto::{ErrorName, Failure};
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};

/// Where an answer goes. The caller may be gone: that changes nothing for the session.
pub type Reply<T> = oneshot::Sender<Result<T, Failure>>;

/// What some work returned.
type Output = Box<dyn Any + Send>;

/// Starts work that waits for a disk, on a thread that may.
///
/// # Errors
/// `internal`: the work panicked.
pub fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, Failure>> + Send {
    let work: Box<dyn FnOnce() -> Output + Send> = Box::new(move || Box::new(work()));
    output_of(tokio::task::spawn_blocking(work))
}

/// Starts work in a task of its own: it comes to its end also if the caller is dropped. No `async fn`, since the caller would have
/// room for the work as long as it lives itself.
///
/// # Errors
/// `internal`: the work panicked.
pub fn shielded<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = Result<T, Failure>> + Send {
    let work: BoxFuture<'static, Output> = work.map(|output| Box::new(output) as Output).boxed();
    output_of(tokio::spawn(work))
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

async fn output_of<T: Send + 'static>(task: JoinHandle<Output>) -> Result<T, Failure> {
    let done = task.await.map_err(Some);
    let output = done.and_then(|output| output.downcast().map_err(|_| None));
    output.map(|output| *output).map_err(unfinished)
}

fn unfinished(error: Option<JoinError>) -> Failure {
    if error.is_none_or(|error| error.is_panic()) {
        // What the work was given may be a key, and so may be what the panic says.
        tracing::error!("some work panicked");
    }
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
