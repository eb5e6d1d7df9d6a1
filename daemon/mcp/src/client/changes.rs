//! News of a server's lists, in the protocol versions that have subscriptions. Servers of earlier versions send them unasked.

use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ProtocolVersion, ServerNotification, SubscriptionFilter};
use rmcp::service::{Peer, Subscription};
use tokio::task::JoinHandle;

/// How long a server may take to confirm. Its lists are read after that, so that no change is missed.
const CONFIRMED: Duration = Duration::from_secs(2);

/// Listens until it is dropped.
pub(super) struct ChangeListener(JoinHandle<()>);

impl Drop for ChangeListener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Calls `report` each time the tools or prompts of a server have changed. `None`: the server has no such news.
pub(super) async fn listen(
    peer: &Peer<RoleClient>,
    report: impl Fn() + Send + 'static,
) -> Option<ChangeListener> {
    let info = peer.peer_info()?;
    if info.protocol_version < ProtocolVersion::V_2026_07_28 {
        return None;
    }
    let wanted = SubscriptionFilter::builder()
        .tools_list_changed()
        .prompts_list_changed()
        .build()
        .supported_by(&info.capabilities);
    if wanted == SubscriptionFilter::new() {
        return None;
    }
    let subscription = tokio::time::timeout(CONFIRMED, peer.listen(wanted)).await;
    // Without it the lists are those of the server's start.
    let subscription = subscription.ok()?.ok()?;
    Some(ChangeListener(tokio::spawn(pass_on(subscription, report))))
}

async fn pass_on(mut subscription: Subscription, report: impl Fn()) {
    // After an error or the end the server says no more.
    while let Ok(Some(notification)) = subscription.next().await {
        match notification {
            ServerNotification::ToolListChangedNotification(_)
            | ServerNotification::PromptListChangedNotification(_) => report(),
            _ => {}
        }
    }
}
