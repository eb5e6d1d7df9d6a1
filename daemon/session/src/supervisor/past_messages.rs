//! The past messages that a session's tools may look at.

use std::sync::Weak;

use contract::history::PastMessages;
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::params::history::{AroundOutput, AroundParams, SearchOutput, SearchParams};
use proto::{Failure, SessionId};

use crate::supervisor::Supervisor;
use crate::tasks::shutting_down;

/// Answers as the supervisor does, for one session.
pub(crate) struct SessionHistory {
    pub(crate) supervisor: Weak<Supervisor>,
    pub(crate) session: SessionId,
    /// Its workspace root.
    pub(crate) root: String,
}

impl PastMessages for SessionHistory {
    fn search(&self, params: SearchParams) -> BoxFuture<'static, Result<SearchOutput, Failure>> {
        let (supervisor, session, root) =
            (self.supervisor.clone(), self.session, self.root.clone());
        async move {
            let supervisor = supervisor.upgrade().ok_or_else(shutting_down)?;
            supervisor.search_for(session, root, params).await
        }
        .boxed()
    }

    fn around(&self, params: AroundParams) -> BoxFuture<'static, Result<AroundOutput, Failure>> {
        let supervisor = self.supervisor.clone();
        async move {
            let supervisor = supervisor.upgrade().ok_or_else(shutting_down)?;
            supervisor.around(params).await
        }
        .boxed()
    }
}
