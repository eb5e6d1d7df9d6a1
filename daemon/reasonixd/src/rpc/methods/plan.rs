//! `plan.*`.

use std::sync::Arc;

use proto::Failure;
use proto::params::Empty;
use proto::params::plan::{AnswerParams, ListOutput, ListParams};

use super::approval::refuse_tools;
use crate::daemon::Daemon;
use crate::rpc::peer::Peer;

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ListOutput, Failure> {
    let plans = match params.session {
        Some(session) => daemon.supervisor.find(&session).await?.plans(),
        None => daemon.supervisor.plans(),
    };
    Ok(ListOutput { plans })
}

pub async fn answer(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: AnswerParams,
) -> Result<Empty, Failure> {
    refuse_tools(&peer)?;
    let handle = daemon.supervisor.of_question(&params.plan_id.0).await?;
    handle.answer_plan(params, peer.name()).await
}
