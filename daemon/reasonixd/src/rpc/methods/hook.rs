//! `hook.*`: the hooks, their events, and how they went.

use std::path::Path;
use std::sync::Arc;

use proto::params::hook::{ListOutput, ListParams, ReloadParams};
use proto::{ErrorName, Failure};

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;
use session::tasks::blocking;

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ListOutput, Failure> {
    match (params.session, params.cwd) {
        (Some(_), Some(_)) => Err(Failure::new(
            ErrorName::InvalidParams,
            "`session` and `cwd` were both given.",
            "Give only one of them.",
        )),
        (Some(session), None) => daemon.session(&session).await?.hooks().await,
        (None, cwd) => {
            blocking(move || {
                let loaded = daemon.settings(cwd.as_deref().map(Path::new));
                session::hooks_listed(&loaded.hooks)
            })
            .await
        }
    }
}

pub async fn reload(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: ReloadParams,
) -> Result<ListOutput, Failure> {
    if peer.descends() {
        return Err(Failure::new(
            ErrorName::NotAllowed,
            "A process started by a tool cannot reload hooks.",
            "Do this in your own terminal.",
        ));
    }
    let handle = daemon.session(&params.session).await?;
    handle.reload_hooks().await
}
