//! `command.list`: the custom commands that a prompt can run.

use std::path::PathBuf;
use std::sync::Arc;

use proto::params::command::{ListOutput, ListParams};
use proto::{ErrorName, Failure};
use session::PermissionScope;

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ListOutput, Failure> {
    let scope = match (params.session, params.cwd) {
        (Some(session), None) => PermissionScope::Session(session),
        (None, Some(cwd)) => PermissionScope::Directory(PathBuf::from(cwd)),
        (Some(_), Some(_)) | (None, None) => {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                "Give either a session or a directory.",
                "",
            ));
        }
    };
    daemon.supervisor.commands(&scope).await
}
