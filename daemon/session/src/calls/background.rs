//! The session's side of commands in the background: numbers for them, and the word that they came and went.

use std::sync::Arc;

use contract::tool::Shells;
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::Pid;
use proto::record::{ChildExited, ChildSpawned, Quarantined};
use store::pids::PidCounter;

use crate::calls::events::CallEvent;
use crate::reporter::Reporter;
use crate::tasks;

/// Of one session.
pub struct Children {
    pub pids: Arc<PidCounter>,
    pub reporter: Reporter<CallEvent>,
}

impl Shells for Children {
    fn number(&self) -> BoxFuture<'static, Result<Pid, String>> {
        let pids = Arc::clone(&self.pids);
        // Every sixteenth number takes a sync of the disk.
        let taken = tasks::blocking(move || pids.next().map_err(|fault| store::reason(&fault)));
        async move { taken.await.map_err(|failure| failure.to_string())? }.boxed()
    }

    fn spawned(&self, child: ChildSpawned) {
        self.reporter.report(CallEvent::BackgroundStarted(child));
    }

    fn exited(&self, child: ChildExited) {
        self.reporter.report(CallEvent::BackgroundExited(child));
    }

    fn quarantined(&self, items: Vec<Quarantined>) {
        self.reporter.report(CallEvent::Quarantined(items));
    }
}
