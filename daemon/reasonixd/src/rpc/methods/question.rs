//! `question.*`.

use std::sync::Arc;

use proto::Failure;
use proto::params::Empty;
use proto::params::question::{AnswerParams, ListOutput, ListParams};

use super::approval::refuse_tools;
use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ListOutput, Failure> {
    let questions = match params.session {
        Some(session) => daemon.supervisor.find(&session).await?.asked(),
        None => daemon.supervisor.questions(),
    };
    Ok(ListOutput { questions })
}

pub async fn answer(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: AnswerParams,
) -> Result<Empty, Failure> {
    refuse_tools(&peer)?;
    let handle = daemon.supervisor.of_question(&params.question_id.0).await?;
    handle.replies(params, peer.name()).await
}
