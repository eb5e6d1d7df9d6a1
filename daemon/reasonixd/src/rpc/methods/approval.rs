//! `approval.*`.

use std::sync::Arc;

use proto::params::Empty;
use proto::params::approval::{AnswerParams, ListOutput, ListParams};
use proto::{ErrorName, Failure};

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ListOutput, Failure> {
    let approvals = match params.session {
        Some(session) => daemon.supervisor.find(&session).await?.pending(),
        None => daemon.supervisor.approvals(),
    };
    Ok(ListOutput { approvals })
}

pub async fn answer(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: AnswerParams,
) -> Result<Empty, Failure> {
    if peer.descends {
        let text = "A process that a tool has started cannot answer for a person.";
        return Err(Failure::new(
            ErrorName::NotAllowed,
            text,
            "Answer from your own terminal.",
        ));
    }
    let handle = daemon.supervisor.of_approval(&params.approval_id).await?;
    handle.answer(params, peer.name()).await
}
