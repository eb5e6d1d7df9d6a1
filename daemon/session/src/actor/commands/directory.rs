//! A session whose working directory is gone starts no work: it can be read until the directory is back.

use std::path::Path;
use std::time::Duration;

use proto::{Failure, RequestId};

use crate::actor::Actor;
use crate::actor::handle::SessionHandle;
use crate::journal::{Cause, Closed};
use crate::tasks::blocking;

/// How long a request waits for a look at the directory. A disk that hangs says nothing.
const LOOK_MAX: Duration = Duration::from_millis(500);

impl SessionHandle {
    /// Looks whether the session's directory is there, before a request that starts work.
    ///
    /// # Errors
    /// `storage`: it is gone, and a turn runs. Where none runs the session is closed, and refuses the request itself.
    pub(crate) async fn check_directory(
        &self,
        request_id: Option<RequestId>,
    ) -> Result<(), Failure> {
        let cwd = self.summary().cwd;
        let look = blocking(move || Path::new(&cwd).is_dir());
        if !matches!(tokio::time::timeout(LOOK_MAX, look).await, Ok(Ok(false))) {
            return Ok(());
        }
        let refusal = self.read(move |actor| actor.directory_is_gone(request_id));
        refusal.await?.map_or(Ok(()), Err)
    }
}

impl Actor {
    /// Closes a session that rests: nothing is lost, and it is opened again when its directory is back. The refusal if it
    /// cannot be closed now.
    fn directory_is_gone(&mut self, request_id: Option<RequestId>) -> Option<Failure> {
        let facts = self.machine.facts();
        // A request that was taken gets the same answer again.
        let is_repeat = request_id.is_some_and(|id| facts.requests.contains_key(&id));
        if is_repeat || self.journal.is_closed() {
            return None;
        }
        let cwd = facts.created.as_ref().map(|created| created.cwd.as_str());
        let reason = missing(cwd.unwrap_or_default());
        let closed = Closed::new(Cause::Directory, reason);
        let rests = self.machine.is_idle()
            && facts.children.is_empty()
            && self.journal.is_settled()
            && self.calls.running().is_empty()
            && self.replies.held.is_empty()
            && !self.has_gated();
        if !rests {
            return Some(closed.refusal());
        }
        self.journal.set_closed(Some(closed));
        self.tell_seen();
        None
    }
}

/// Why a session cannot be worked in whose directory is gone.
pub(crate) fn missing(cwd: &str) -> String {
    format!("The directory `{cwd}` does not exist.")
}
