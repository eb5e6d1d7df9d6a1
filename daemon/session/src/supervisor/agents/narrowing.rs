//! A session that may do less from now on: the sub-agents that work for it may do no more than it.
//!
//! They are never widened again: what a sub-agent may do is what it started with, or less.

use futures::FutureExt;
use futures::future::BoxFuture;
use proto::record::SessionSet;
use proto::state::ApprovalMode;
use proto::{SessionId, SessionOptions};

use super::client_of;
use crate::actor::Actor;
use crate::assembly::options::rank;
use crate::supervisor::Supervisor;

/// What a session may do, as far as its sub-agents have to follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Latitude {
    refuses_changes: bool,
    approval_mode: ApprovalMode,
}

impl Latitude {
    fn of(actor: &Actor) -> Self {
        let facts = actor.machine.facts();
        Self {
            refuses_changes: facts.effective_permissions().refuses().is_some(),
            approval_mode: facts.approval_mode(),
        }
    }

    /// What must change in a sub-agent of a session with this latitude. `None`: nothing.
    fn narrowed(self, agent: Self) -> Option<SessionOptions> {
        let options = SessionOptions {
            read_only: (self.refuses_changes && !agent.refuses_changes).then_some(true),
            approval_mode: (rank(self.approval_mode) < rank(agent.approval_mode))
                .then_some(self.approval_mode),
            ..SessionOptions::default()
        };
        (options != SessionOptions::default()).then_some(options)
    }
}

impl Supervisor {
    /// Has all sub-agents of a session follow what it may do now, those that are being created too.
    pub async fn narrow_all_agents(&self, session: SessionId) {
        self.places.wait_for_creations().await;
        self.narrow_agents(session).await;
    }

    /// The same for those that are there. One that cannot be reached does not go on either.
    pub(super) fn narrow_agents(&self, session: SessionId) -> BoxFuture<'_, ()> {
        async move {
            let Ok(parent) = self.load(session).await else {
                return;
            };
            let Ok(latitude) = parent.read(|actor| Latitude::of(actor)).await else {
                return;
            };
            for handle in self.handles() {
                let seen = handle
                    .read(move |actor| {
                        let is_agent = actor.parent() == Some(session);
                        let works = actor.machine.facts().exited.is_none();
                        (is_agent && works).then(|| Latitude::of(actor))
                    })
                    .await;
                let Ok(Some(agent)) = seen else {
                    continue;
                };
                if let Some(options) = latitude.narrowed(agent) {
                    let set = SessionSet {
                        options,
                        by: Some(client_of(parent.pid()).name),
                        ..SessionSet::default()
                    };
                    if let Err(failure) = handle.set(set).await {
                        tracing::warn!(agent = %handle.id(), %failure, "a sub-agent was not narrowed");
                    }
                }
                self.narrow_agents(handle.id()).await;
            }
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_are_narrowed_and_never_widened() {
        let latitude = |refuses_changes, approval_mode| Latitude {
            refuses_changes,
            approval_mode,
        };
        let wide = latitude(false, ApprovalMode::Yolo);
        let narrow = latitude(true, ApprovalMode::Ask);
        let options = narrow.narrowed(wide).expect("a change");
        assert_eq!(options.read_only, Some(true));
        assert_eq!(options.approval_mode, Some(ApprovalMode::Ask));
        assert_eq!(wide.narrowed(narrow), None);
        assert_eq!(narrow.narrowed(narrow), None);
    }
}
