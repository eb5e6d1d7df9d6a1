//! The client's side of a connection: what a server reports, and its own requests.
#![expect(deprecated, reason = "servers of today ask for roots and samples")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use contract::tool::Progress;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    FormElicitationCapability, Implementation, ListRootsResult, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, Root, UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use tokio::sync::{Notify, watch};

use super::elicitation::Asker;
use super::{file_uri, sampling};
use crate::text::clean;

/// What the handler hears and the connection waits for.
pub(super) struct Shared {
    pub list_changed: Notify,
    /// Calls that want to hear of their progress.
    pub progress: Mutex<HashMap<ProgressToken, Arc<dyn Progress>>>,
    /// Calls in flight, through which the server may ask the user.
    askers: Mutex<Vec<Arc<Asker>>>,
    /// Counts progress notifications: each gives its call more time.
    pub progressed: watch::Sender<u64>,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            list_changed: Notify::new(),
            progress: Mutex::default(),
            askers: Mutex::default(),
            progressed: watch::Sender::new(0),
        }
    }
}

/// Answers the server's own requests.
#[derive(Clone)]
pub(super) struct Handler {
    /// Its name.
    pub server: String,
    pub cwd: PathBuf,
    pub shared: Arc<Shared>,
}

impl Handler {
    /// The one call in flight. The protocol does not say which call a question belongs to, and another session must not be
    /// asked.
    fn only_asker(&self) -> Result<Arc<Asker>, ErrorData> {
        let askers = self.shared.askers.lock();
        let askers = askers.unwrap_or_else(PoisonError::into_inner);
        if let [only] = askers.as_slice() {
            return Ok(Arc::clone(only));
        }
        let count = askers.len();
        let reason = format!(
            "the question cannot be assigned to a call: {count} calls are in flight, not 1"
        );
        tracing::info!(server = %self.server, reason, "a question of an MCP server was refused");
        Err(ErrorData::invalid_request(reason, None))
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(Default::default());
        capabilities.elicitation = Some(
            ElicitationCapability::new()
                .with_form(FormElicitationCapability::new())
                .with_url(UrlElicitationCapability::new()),
        );
        capabilities.sampling = Some(Default::default());
        ClientConfig::new(
            capabilities,
            Implementation::new("reasonix", env!("CARGO_PKG_VERSION")),
        )
        // For servers with the older handshake: the newest version has none.
        .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(roots(&self.cwd))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asker = self.only_asker()?;
        // Cancel-safe: a question that is dropped is withdrawn.
        tokio::select! {
            answer = asker.ask(params) => answer,
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let asker = self.only_asker()?;
        // Cancel-safe: a question that is dropped is withdrawn, and so is the request to the model.
        tokio::select! {
            answer = asker.sample(params) => answer,
            () = context.ct.cancelled() => Err(sampling::declined()),
        }
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.shared.list_changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.shared.list_changed.notify_one();
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let listener = {
            let progress = self.shared.progress.lock();
            let progress = progress.unwrap_or_else(PoisonError::into_inner);
            progress.get(&params.progress_token).cloned()
        };
        let Some(listener) = listener else { return };
        self.shared.progressed.send_modify(|count| *count += 1);
        let total = params.total.map(|total| format!("/{total}"));
        let message = params.message.as_deref().map(clean).unwrap_or_default();
        let line = format!(
            "[{}{}] {message}",
            params.progress,
            total.unwrap_or_default()
        );
        listener.output(&format!("{}\n", line.trim_end()));
    }
}

/// A call in flight through which the server may ask the user, until it is over.
pub(super) struct Asking<'a>(&'a Shared, Arc<Asker>);

impl<'a> Asking<'a> {
    pub fn begin(shared: &'a Shared, asker: &Arc<Asker>) -> Self {
        let askers = shared.askers.lock();
        askers
            .unwrap_or_else(PoisonError::into_inner)
            .push(Arc::clone(asker));
        Self(shared, Arc::clone(asker))
    }
}

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        let askers = self.0.askers.lock();
        askers
            .unwrap_or_else(PoisonError::into_inner)
            .retain(|asker| !Arc::ptr_eq(asker, &self.1));
    }
}

/// Forgets who hears of a call's progress when the call is over.
pub(super) struct Listening<'a>(pub &'a Shared, pub ProgressToken);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        let progress = self.0.progress.lock();
        progress
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.1);
    }
}

pub(super) fn roots(cwd: &Path) -> ListRootsResult {
    ListRootsResult::new(vec![Root::new(file_uri(cwd))])
}
