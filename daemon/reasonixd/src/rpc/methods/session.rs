//! `session.*`.

use std::sync::Arc;
use std::time::Duration;

use proto::hello::Role;
use proto::params::Empty;
use proto::params::compact::{CompactOutput, CompactParams, PinParams};
use proto::params::session as p;
use proto::record::SessionSet;
use proto::{ErrorName, Failure, SessionOptions};
use session::{Attach, Client, Follow, Following};

use super::oversized;
use crate::daemon::Daemon;
use crate::rpc::peer::{NoSubscription, Peer, SUBSCRIPTIONS_MAX};

pub async fn create(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::CreateParams,
) -> Result<p::CreateOutput, Failure> {
    let guest = daemon.admit()?;
    // The work goes on when the connection is gone in the middle of it: what was begun is finished.
    let client = Client { name: peer.name() };
    let work = tokio::spawn(async move {
        let _guest = guest;
        daemon.supervisor.create(params, &client).await
    });
    work.await.map_err(|error| {
        Failure::new(
            ErrorName::Internal,
            format!("the daemon has a bug: {error}"),
            "",
        )
    })?
}

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::ListParams,
) -> Result<p::ListOutput, Failure> {
    daemon.supervisor.list(params).await
}

pub async fn get(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::OneParams,
) -> Result<p::SessionSummary, Failure> {
    daemon.supervisor.summary(&params.session).await
}

pub async fn attach(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::AttachParams,
) -> Result<p::AttachOutput, Failure> {
    let handle = daemon.supervisor.find(&params.session).await?;
    let subscription = params.subscription.clone();
    if subscription.is_empty() || subscription.len() > 128 {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            "A subscription needs a name of 1 to 128 bytes.",
            "Name it as you like; the name comes back with every event.",
        ));
    }
    let role = peer.role().unwrap_or(Role::Watch);
    let attach = Attach {
        name: peer.name(),
        role,
        interactive: peer.interactive(),
        params,
    };
    let (output, follow) = handle.attach(attach).await?;
    let pump = Box::pin(pump(follow, Arc::downgrade(&peer), subscription.clone()));
    match peer.subscribe(&subscription, pump) {
        Ok(()) => Ok(output),
        Err(NoSubscription::Taken) => Err(Failure::new(
            ErrorName::InvalidParams,
            format!("There is a subscription `{subscription}` already."),
            "Name it otherwise, or end that one first.",
        )),
        Err(NoSubscription::TooMany) => Err(Failure::new(
            ErrorName::Limit,
            format!("This connection has {SUBSCRIPTIONS_MAX} subscriptions already."),
            "End one first, or attach over another connection.",
        )),
    }
}

/// Passes a session's events on, at the pace at which the connection takes them.
async fn pump(mut follow: Follow, peer: std::sync::Weak<Peer>, subscription: String) {
    let name = serde_json::Value::from(subscription.as_str());
    loop {
        let (seq, text) = match follow.next().await {
            Following::Event { seq, text } => (seq, text),
            Following::Ended(error) => {
                let Some(peer) = peer.upgrade() else { return };
                // Whether it still arrives is the same to us: this was the last word.
                let _ = peer.send(ended(subscription, error)).await;
                return;
            }
        };
        let text = oversized::fitting(seq, text);
        let frame = format!(
            r#"{{"jsonrpc":"2.0","method":"event","params":{{"subscription":{name},"event":{text}}}}}"#
        );
        let Some(peer) = peer.upgrade() else { return };
        if !peer.send(frame.into_bytes()).await {
            return;
        }
    }
}

/// The last notification of a subscription.
fn ended(subscription: String, failure: Option<Failure>) -> Vec<u8> {
    let params = p::EndedNotification {
        subscription,
        failure,
    };
    serde_json::json!({"jsonrpc": "2.0", "method": "event.ended", "params": params})
        .to_string()
        .into_bytes()
}

pub async fn detach(
    _daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::DetachParams,
) -> Result<Empty, Failure> {
    if peer.unsubscribe(&params.subscription) {
        return Ok(Empty {});
    }
    let text = format!("There is no subscription `{}`.", params.subscription);
    Err(Failure::new(
        ErrorName::NotFound,
        text,
        "It has ended already.",
    ))
}

pub async fn prompt(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::PromptParams,
) -> Result<p::PromptOutput, Failure> {
    let _guest = daemon.admit()?;
    let handle = daemon.supervisor.find(&params.session).await?;
    handle.prompt(params, peer.name()).await
}

pub async fn unqueue(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::UnqueueParams,
) -> Result<Empty, Failure> {
    daemon
        .supervisor
        .find(&params.session)
        .await?
        .unqueue(params.prompt_id)
        .await
}

pub async fn interrupt(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::OneParams,
) -> Result<p::SignalOutput, Failure> {
    daemon
        .supervisor
        .find(&params.session)
        .await?
        .signal(p::Signal::Int, None, peer.name())
        .await
}

pub async fn signal(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::SignalParams,
) -> Result<p::SignalOutput, Failure> {
    let handle = daemon.supervisor.find(&params.session).await?;
    handle
        .signal(params.signal, params.request_id, peer.name())
        .await
}

pub async fn wait(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::WaitParams,
) -> Result<p::WaitOutput, Failure> {
    let handle = daemon.supervisor.find(&params.session).await?;
    let waiting = handle.wait(params.until);
    match params.timeout_ms {
        None => waiting.await,
        Some(limit) => match tokio::time::timeout(Duration::from_millis(limit), waiting).await {
            Ok(output) => output,
            Err(_) => Ok(p::WaitOutput {
                done: false,
                attention: false,
                ended: None,
                exited: None,
                exit_code: 124,
            }),
        },
    }
}

pub async fn set(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::SetParams,
) -> Result<p::SessionSummary, Failure> {
    let handle = daemon.supervisor.find(&params.session).await?;
    let chosen = daemon.supervisor.choose(&handle, &params).await?;
    let set = SessionSet {
        options: SessionOptions {
            model: chosen.model,
            effort: chosen.effort,
            samples: chosen.samples,
            ..params.options
        },
        by: Some(peer.name()),
        request_id: params.request_id,
        ..SessionSet::default()
    };
    handle.set_and_say(set, chosen.notice).await
}

pub async fn compact(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: CompactParams,
) -> Result<CompactOutput, Failure> {
    let handle = daemon.supervisor.find(&params.session).await?;
    handle.compact(params).await
}

pub async fn pin(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: PinParams,
) -> Result<Empty, Failure> {
    let handle = daemon.supervisor.find(&params.session).await?;
    handle.pin(params, peer.name()).await
}

pub async fn edit(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::EditParams,
) -> Result<p::QueueOutput, Failure> {
    let handle = daemon.supervisor.find(&params.session).await?;
    handle.edit(params, peer.name()).await
}

pub async fn reorder(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::ReorderParams,
) -> Result<p::QueueOutput, Failure> {
    let handle = daemon.supervisor.find(&params.session).await?;
    handle.reorder(params, peer.name()).await
}

pub async fn read(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::ReadParams,
) -> Result<p::ReadOutput, Failure> {
    daemon.supervisor.read(&params).await
}

pub async fn event(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::EventParams,
) -> Result<p::PieceOutput, Failure> {
    daemon.supervisor.event(&params).await
}

pub async fn steps(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::StepsParams,
) -> Result<p::StepsOutput, Failure> {
    daemon.supervisor.steps(&params).await
}

pub async fn step(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::StepParams,
) -> Result<p::PieceOutput, Failure> {
    daemon.supervisor.step(&params).await
}

pub async fn inspect(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::InspectParams,
) -> Result<p::InspectOutput, Failure> {
    daemon.supervisor.inspect(&params).await
}

pub async fn close(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::OneParams,
) -> Result<Empty, Failure> {
    daemon.supervisor.find(&params.session).await?.close().await
}

#[cfg(test)]
mod tests;
