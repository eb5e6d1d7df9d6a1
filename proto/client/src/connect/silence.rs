//! Silence of a daemon that is connected: noticed by asking it now and then, and reported to the listener.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jsonrpsee::core::client::Client as Rpc;
use proto::methods::{DaemonStatus, Method};

use super::Options;
use crate::call;
use crate::subscription::Routes;

/// How long a daemon may take to answer before the listener is notified that it does not.
pub const SILENCE: Duration = Duration::from_secs(10);

/// A notice to whoever waits for the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SilenceNotice {
    /// It was asked something, and has not answered for so long: it may be stopped. We wait on.
    NoAnswer { after: Duration },
    /// It answers again.
    Answers,
}

/// The receiver of these notices.
#[derive(Clone)]
pub struct Listener(Arc<dyn Fn(SilenceNotice) + Send + Sync>);

impl Listener {
    /// Calls this; it must not block.
    pub fn new(notify: impl Fn(SilenceNotice) + Send + Sync + 'static) -> Self {
        Self(Arc::new(notify))
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Listener")
    }
}

/// Whether the daemon answers, as last reported to the listener.
pub(crate) struct Silence {
    /// How long it may be silent.
    pub(crate) after: Duration,
    listener: Option<Listener>,
    reported: AtomicBool,
}

impl Silence {
    pub(super) fn of(options: &Options) -> Self {
        Self {
            after: options.silence,
            listener: options.listener.clone(),
            reported: AtomicBool::new(false),
        }
    }

    /// It does not answer. Reported once.
    pub(crate) fn begins(&self) {
        if !self.reported.swap(true, Ordering::Relaxed) {
            self.notify(SilenceNotice::NoAnswer { after: self.after });
        }
    }

    /// It has answered.
    pub(crate) fn ends(&self) {
        if self.reported.swap(false, Ordering::Relaxed) {
            self.notify(SilenceNotice::Answers);
        }
    }

    fn notify(&self, state: SilenceNotice) {
        if let Some(Listener(notify)) = &self.listener {
            notify(state);
        }
    }
}

/// Asks the daemon now and then whether it is there, while somebody follows a session and nothing comes: a daemon
/// that is gone closes the socket, one that is stopped does not.
pub(super) async fn pulse(rpc: Arc<Rpc>, routes: Arc<Routes>, silence: Arc<Silence>) {
    while rpc.is_connected() {
        tokio::time::sleep(silence.after).await;
        if !routes.is_quiet() {
            continue;
        }
        let asked = call::ask(&rpc, DaemonStatus::NAME);
        tokio::pin!(asked);
        if tokio::time::timeout(silence.after, &mut asked)
            .await
            .is_err()
        {
            silence.begins();
            // However long it takes: the listener is notified, and the caller may give up.
            asked.await;
            silence.ends();
        }
    }
}
