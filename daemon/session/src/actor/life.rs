//! The state of a session's life in memory: how it ends, and who waits for that.

use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::actor::departure::UnloadedState;
use crate::actor::handle::Activity;
use crate::calls::call::Stop;

/// See the module.
pub(crate) struct Life {
    pub(super) started: Instant,
    pub(super) activity: Arc<Activity>,
    /// Cancelled when the actor has ended.
    pub(super) ended: CancellationToken,
    /// Wait for the end that the daemon has asked for. Empty: it has not.
    pub(super) closing: Vec<oneshot::Sender<()>>,
    /// Wait for the session to be suspended.
    pub(super) suspending: Vec<oneshot::Sender<()>>,
    /// The session is handed over: it takes no more work.
    pub(super) handed_over: bool,
    /// The session leaves memory; gets what the next life needs.
    pub(super) parting: Option<oneshot::Sender<Box<UnloadedState>>>,
    /// Stops the planner of the open turn.
    pub(super) planning: Option<Arc<Stop>>,
    /// A warning for the first turn of this life.
    pub(super) warning: Option<String>,
}

impl Life {
    pub fn new(activity: Arc<Activity>, warning: Option<String>) -> Self {
        Self {
            started: Instant::now(),
            activity,
            ended: CancellationToken::new(),
            closing: Vec::new(),
            suspending: Vec::new(),
            handed_over: false,
            parting: None,
            planning: None,
            warning,
        }
    }

    /// Cancelled when the actor has ended.
    pub fn ended(&self) -> &CancellationToken {
        &self.ended
    }
}
