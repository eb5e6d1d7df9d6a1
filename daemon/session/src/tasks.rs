//! Work in separate tasks, and the failures that any module may answer with.
//!
//! The runtime's code for a task is long, and is built once for each type of work. So work is boxed here: then there is one type.

use std::any::Any;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use proto::{ErrorName, Failure};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Where an answer goes. The caller may be gone: that changes nothing for the session.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, Failure>>;

/// What some work returned.
type Output = Box<dyn Any + Send>;

/// Starts work that may wait for a disk, on a thread for such work. It starts at once, within a runtime.
///
/// # Errors
/// `internal`: the work panicked, or the runtime ends.
pub fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Result<T, Failure>> + Send {
    let work: Box<dyn FnOnce() -> Output + Send> = Box::new(move || Box::new(work()));
    output_of(tokio::task::spawn_blocking(work))
}

/// Starts work in a separate task: it comes to its end also if the caller is dropped. Not an `async fn`, whose future would reserve
/// space for the work in the caller's.
///
/// # Errors
/// `internal`: the work panicked, or the runtime ends.
pub fn shielded<T: Send + 'static>(
    work: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = Result<T, Failure>> + Send {
    let work: BoxFuture<'static, Output> = work.map(|output| Box::new(output) as Output).boxed();
    output_of(tokio::spawn(work))
}

/// Starts work that returns nothing.
pub fn spawn(work: impl Future<Output = ()> + Send + 'static) -> JoinHandle<()> {
    let work: BoxFuture<'static, ()> = Box::pin(work);
    tokio::spawn(work)
}

/// Starts work that may wait for a disk and returns nothing.
pub(crate) fn spawn_blocking(work: impl FnOnce() + Send + 'static) {
    let work: Box<dyn FnOnce() + Send> = Box::new(work);
    drop(tokio::task::spawn_blocking(work));
}

async fn output_of<T: Send + 'static>(task: JoinHandle<Output>) -> Result<T, Failure> {
    let output = task.await.ok().and_then(|output| output.downcast().ok());
    // What a panic says is in the daemon's log.
    output.map(|output| *output).ok_or_else(unfinished)
}

fn unfinished() -> Failure {
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
