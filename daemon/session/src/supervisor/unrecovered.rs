//! Sessions with unfinished work that could not be brought back: the disk was full, or another process had the log.
//!
//! Tried again until it succeeds. Meanwhile lists and `doctor` say why none of them runs.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use proto::params::session::SessionSummary;
use proto::{Failure, SessionId};

use crate::supervisor::Supervisor;
use crate::tasks;

/// The first pause before the next try, and the longest; each is twice the one before.
const PAUSE: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(60);

/// Why they are not there.
#[derive(Default)]
pub(crate) struct Unrecovered(Mutex<BTreeMap<SessionId, String>>);

impl Unrecovered {
    /// Notes why. True: nobody tries yet.
    fn note(&self, session: SessionId, why: String) -> bool {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.insert(session, why).is_none()
    }

    fn forget(&self, session: SessionId) {
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.remove(&session);
    }

    fn all(&self) -> BTreeMap<SessionId, String> {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.clone()
    }
}

impl Supervisor {
    /// Tries again later to bring a session back, until it is there, is gone, or has no work.
    pub(crate) fn recover_later(&self, session: SessionId, failure: &Failure) {
        let Some(me) = self.me.upgrade() else { return };
        if !self.unrecovered.note(session, failure.message.clone()) {
            return;
        }
        tasks::spawn(async move {
            let mut pause = PAUSE;
            loop {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(PAUSE_MAX);
                if me.refuse_when_closing().is_err() {
                    return;
                }
                match me.load(session).await {
                    Ok(handle) => {
                        tracing::info!(%session, pid = %handle.pid(), "recovered at last");
                        break;
                    }
                    Err(failure) => {
                        me.unrecovered.note(session, failure.message);
                        me.unmark_what_is_gone(session).await;
                        if matches!(me.is_marked(session).await, Ok(false)) {
                            break;
                        }
                    }
                }
            }
            me.unrecovered.forget(session);
        });
    }

    /// After a session that was to go has stayed: its work goes on.
    pub(crate) async fn bring_back(&self, session: SessionId) {
        if matches!(self.is_marked(session).await, Ok(false)) {
            return;
        }
        if let Err(failure) = self.load(session).await {
            self.recover_later(session, &failure);
        }
    }

    /// The sessions that have unfinished work and could not be brought back, with the reason.
    #[must_use]
    pub fn unrecovered(&self) -> BTreeMap<SessionId, String> {
        self.unrecovered.all()
    }

    /// What the catalog says of them is of the life before: nothing of them runs.
    pub(crate) fn note_unrecovered(&self, summaries: &mut [SessionSummary]) {
        let unrecovered = self.unrecovered.all();
        for summary in summaries {
            if let Some(why) = unrecovered.get(&summary.session) {
                summary.read_only = Some(format!("not brought back yet: {why}"));
            }
        }
    }
}
