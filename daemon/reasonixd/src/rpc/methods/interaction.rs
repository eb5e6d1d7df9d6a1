//! `interaction.*`.

use std::sync::Arc;

use proto::params::Empty;
use proto::params::interaction::{AnswerParams, ListOutput, ListParams};
use proto::{ErrorName, Failure};

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ListOutput, Failure> {
    let interactions = match params.session {
        Some(session) => daemon.session(&session).await?.interactions(),
        None => daemon.supervisor.interactions(),
    };
    Ok(ListOutput { interactions })
}

/// Only the user answers (I23).
pub(super) fn refuse_tools(peer: &Peer) -> Result<(), Failure> {
    if !peer.descends() {
        return Ok(());
    }
    Err(Failure::new(
        ErrorName::NotAllowed,
        "A process started by a tool cannot answer for the user.",
        "Answer in your own terminal.",
    ))
}

pub async fn answer(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: AnswerParams,
) -> Result<Empty, Failure> {
    refuse_tools(&peer)?;
    let session = daemon.supervisor.of_interaction(&params.interaction_id);
    session.await?.answer(params, peer.name()).await
}
