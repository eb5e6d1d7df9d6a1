//! `session.*`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proto::hello::Role;
use proto::params::Empty;
use proto::params::session as p;
use proto::record::SessionSet;
use proto::{ErrorName, Failure, SessionOptions};
use session::{Attach, Follow, Following};

use super::{model_list, oversized};
use crate::daemon::Daemon;
use crate::rpc::peer::{NoSubscription, Peer, SUBSCRIPTIONS_MAX};

pub async fn attach(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: p::AttachParams,
) -> Result<p::AttachOutput, Failure> {
    let handle = daemon.session(&params.session).await?;
    let subscription = params.subscription.clone();
    if subscription.is_empty() || subscription.len() > 128 {
        return Err(Failure::new(
            ErrorName::InvalidParams,
            "A subscription needs a name of 1 to 128 bytes.",
            "Choose any name; every event carries it.",
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
            format!("The subscription `{subscription}` already exists."),
            "Use another name, or end that subscription first.",
        )),
        Err(NoSubscription::TooMany) => Err(Failure::new(
            ErrorName::Limit,
            format!("This connection already has {SUBSCRIPTIONS_MAX} subscriptions."),
            "End one first, or use another connection.",
        )),
    }
}

/// Passes a session's events on, at the pace at which the connection takes them.
async fn pump(mut follow: Follow, peer: std::sync::Weak<Peer>, subscription: String) {
    let name = serde_json::Value::from(subscription.as_str());
    let Some(drain) = peer.upgrade().map(|peer| peer.drain()) else {
        return;
    };
    // While it has a page of its log in memory.
    let mut page = None;
    loop {
        if !follow.has_page() {
            page = None;
        }
        if page.is_none() && follow.reads_log() {
            let Some(waiting) = peer.upgrade().map(|peer| peer.log_pages()) else {
                return;
            };
            page = waiting.acquire_owned().await.ok();
            if page.is_none() {
                return;
            }
        }
        let (seq, text) = match follow.next_or_drained(&drain).await {
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
        "It may have ended already.",
    ))
}

pub async fn wait(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: p::WaitParams,
) -> Result<p::WaitOutput, Failure> {
    let handle = daemon.session(&params.session).await?;
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
    let handle = daemon.session(&params.session).await?;
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
    let model = set.options.model.clone();
    let permits = set.options.mode.is_some()
        || set.options.read_only.is_some()
        || set.options.approval_mode.is_some();
    let summary = handle.set_with_notice(set, chosen.notice).await?;
    if permits {
        daemon.supervisor.narrow_all_agents(handle.id()).await;
    }
    if model.is_some() {
        let cwd = summary.cwd.clone();
        model_list::refresh(daemon, cwd, &summary.model, BTreeMap::new());
    }
    Ok(summary)
}

#[cfg(test)]
mod tests;
