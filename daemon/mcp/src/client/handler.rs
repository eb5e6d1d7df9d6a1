//! The client's side of a connection: what a server reports, and its own requests.
#![expect(deprecated, reason = "servers of today ask for roots and samples")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::tool::Progress;
use proto::Pid;
use rmcp::model::{
    ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
    ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    FormElicitationCapability, Implementation, ListRootsResult, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, RequestId, Root, UrlElicitationCapability,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use tokio::sync::{Notify, watch};

use super::asker::Asker;
use super::in_flight::{Assignment, CallsInFlight, Origin};
use super::{file_uri, sampling};
use crate::log::ServerLog;
use crate::text::clean;

/// How long a request may wait until the call that it belongs to is known.
const ASSIGNED: Duration = Duration::from_secs(2);

/// What the handler hears and the connection waits for.
pub(super) struct HandlerState {
    pub list_changed: Notify,
    /// Calls that want to hear of their progress.
    pub progress: Mutex<HashMap<ProgressToken, Arc<dyn Progress>>>,
    /// Calls in flight, through which the server may ask the user.
    calls: watch::Sender<CallsInFlight<RequestId, Arc<Asker>>>,
    /// Counts progress notifications: each gives its call more time.
    pub progressed: watch::Sender<u64>,
}

impl Default for HandlerState {
    fn default() -> Self {
        Self {
            list_changed: Notify::new(),
            progress: Mutex::default(),
            calls: watch::Sender::new(CallsInFlight::default()),
            progressed: watch::Sender::new(0),
        }
    }
}

/// Answers the server's own requests.
#[derive(Clone)]
pub(super) struct Handler {
    pub cwd: PathBuf,
    pub log: Arc<ServerLog>,
    pub shared: Arc<HandlerState>,
}

impl Handler {
    /// The call that a request of the server belongs to: no other session is asked.
    async fn asker(&self, context: &RequestContext<RoleClient>) -> Result<Arc<Asker>, ErrorData> {
        let origin = match context.extensions.get::<InboundStreamOrigin>() {
            Some(InboundStreamOrigin::OutboundRequest(id)) => Origin::Request(id.clone()),
            Some(InboundStreamOrigin::Unassociated) | None => Origin::Unknown,
        };
        let mut calls = self.shared.calls.subscribe();
        let mut assignment = Assignment::NotYet;
        let waiting = calls.wait_for(|calls| {
            assignment = calls.assign(&origin, Instant::now());
            !matches!(assignment, Assignment::NotYet)
        });
        // Not assigned in time is as not assigned.
        let _ = tokio::time::timeout(ASSIGNED, waiting).await.is_ok();
        let reason = match assignment {
            Assignment::Call(asker) => return Ok(asker),
            Assignment::None(reason) => reason,
            Assignment::NotYet => "the question cannot be assigned to a call".to_owned(),
        };
        Err(self.refused(ErrorData::invalid_request(reason, None)))
    }

    /// Notes that a request of the server was refused. The error goes to the server, which may not show it.
    fn refused(&self, error: ErrorData) -> ErrorData {
        let reason = clean(&error.message);
        self.log.note(&format!("a request was refused: {reason}"));
        error
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
        let asker = self.asker(&context).await?;
        // Cancel-safe: a question that is dropped is withdrawn.
        tokio::select! {
            answer = asker.ask(params) => answer.map_err(|error| self.refused(error)),
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
        }
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let asker = self.asker(&context).await?;
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
pub(super) struct InFlightGuard<'a> {
    shared: &'a HandlerState,
    number: u64,
}

impl<'a> InFlightGuard<'a> {
    pub fn begin(shared: &'a HandlerState, session: Pid, asker: &Arc<Asker>) -> Self {
        let mut number = 0;
        shared
            .calls
            .send_modify(|calls| number = calls.begin(session, Arc::clone(asker)));
        Self { shared, number }
    }

    /// A request of the call is with the server.
    pub fn sent(&self, request: RequestId) {
        let calls = &self.shared.calls;
        calls.send_modify(|calls| calls.set_request(self.number, Some(request)));
    }

    /// The server has answered it.
    pub fn answered(&self) {
        let calls = &self.shared.calls;
        calls.send_modify(|calls| calls.set_request(self.number, None));
    }
}

impl Drop for InFlightGuard<'_> {
    fn drop(&mut self) {
        let calls = &self.shared.calls;
        calls.send_modify(|calls| calls.end(self.number, Instant::now()));
    }
}

/// Forgets who hears of a call's progress when the call is over.
pub(super) struct ProgressGuard<'a>(pub &'a HandlerState, pub ProgressToken);

impl Drop for ProgressGuard<'_> {
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
