//! A connection by the official SDK.
#![expect(deprecated, reason = "servers of today ask for roots")]

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract::Spawn;
use contract::tool::Progress;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
    ClientRequest, ContentBlock, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationCapability, FormElicitationCapability, Implementation, InputRequest, InputRequests,
    InputResponses, ListRootsResult, PaginatedRequestParams, ProgressNotificationParam,
    ProgressToken, ProtocolVersion, ResourceContents, Root, ServerResult,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, NotificationContext,
    PeerRequestOptions, RequestContext, RunningService, ServiceError,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use super::changes::{self, ChangeListener};
use super::elicitation::Asker;
use super::oauth::Logins;
use super::{
    CallError, Connect, ConnectError, ConnectRequest, Connection, RawResource, ResultPart,
    ToolRequest, ToolResult, content, file_uri, http, oauth, stdio,
};
use crate::config::{ServerConfig, Transport};
use crate::listing::RawTool;
use crate::prompt::RawPrompt;
use crate::text::clean;

/// Pages of a listing.
pub(super) const PAGES_MAX: usize = 100;
/// In the place of what a later version of the protocol may bring.
pub(super) const UNKNOWN: &str = "[content of an unknown kind]";
/// Tools that are looked at.
const TOOLS_MAX: usize = 2_000;
/// How often a server may ask for more input in one call.
const ROUNDS_MAX: usize = 10;
/// A call whose server reports progress may take so many times its limit.
const PROGRESS_FACTOR: u32 = 10;

/// Connects by the official SDK.
pub struct SdkConnector {
    /// Starts the programs.
    pub spawn: Arc<dyn Spawn>,
    /// A private directory for named pipes. `None`: there is none, and no program can be started.
    pub pipes: Option<PathBuf>,
    /// The logins to servers over HTTP.
    pub logins: Arc<Logins>,
}

impl Connect for SdkConnector {
    fn connect(
        &self,
        request: ConnectRequest,
    ) -> BoxFuture<'static, Result<Arc<dyn Connection>, ConnectError>> {
        let (spawn, pipes) = (Arc::clone(&self.spawn), self.pipes.clone());
        let logins = Arc::clone(&self.logins);
        async move {
            let handler = Handler {
                server: request.config.name.clone(),
                cwd: request.cwd.clone(),
                shared: Arc::default(),
            };
            let server = handler.server.clone();
            let shared = Arc::clone(&handler.shared);
            match &request.config.transport {
                Transport::Stdio { .. } => {
                    let no_pipes = || "there is no directory for temporary files".to_owned();
                    let pipes = pipes.ok_or_else(no_pipes)?;
                    let mut program = stdio::start(&*spawn, &pipes, &request).await?;
                    let io = program.take_io();
                    let io = io.ok_or_else(|| "its pipes are gone".to_owned())?;
                    let serving = handler.serve_with_lifecycle(io, any_lifecycle());
                    let service = tokio::select! {
                        service = serving => service.map_err(|error| clean(&error.to_string())),
                        reason = program.ended() => Err(reason),
                    };
                    let service = match service {
                        Ok(service) => service,
                        // That it has ended says more than that its pipe is closed.
                        Err(error) => {
                            let ended =
                                tokio::time::timeout(Duration::from_millis(500), program.ended());
                            return Err(ended.await.unwrap_or(error).into());
                        }
                    };
                    let program = Some(program);
                    let made = SdkConnection::new(server, service, program, None, shared);
                    Ok(Arc::new(made.await) as Arc<dyn Connection>)
                }
                Transport::Http { url, headers } => {
                    let address = (url.as_str(), headers);
                    let service = over_http(&handler, &request.config, address, &logins).await?;
                    let login = (!oauth::has_authorization(headers))
                        .then_some((logins, request.config.clone()));
                    let made = SdkConnection::new(server, service, None, login, shared);
                    Ok(Arc::new(made.await) as Arc<dyn Connection>)
                }
            }
        }
        .boxed()
    }
}

/// Whichever handshake the server knows.
fn any_lifecycle() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: None,
    }
}

/// Connects over HTTP, with the login to the server if its entry brings no authorization.
async fn over_http(
    handler: &Handler,
    server: &ServerConfig,
    (url, headers): (&str, &BTreeMap<String, String>),
    logins: &Arc<Logins>,
) -> Result<RunningService<RoleClient, Handler>, ConnectError> {
    let brings_own = oauth::has_authorization(headers);
    let mut lifecycle = any_lifecycle();
    loop {
        let (client, config) = http::transport(url, headers)?;
        let (handler, tried) = (handler.clone(), lifecycle.clone());
        let served = if brings_own {
            let transport = StreamableHttpClientTransport::with_client(client, config);
            handler.serve_with_lifecycle(transport, tried).await
        } else {
            let client = logins.authorized(server, client).await?;
            let transport = StreamableHttpClientTransport::with_client(client, config);
            handler.serve_with_lifecycle(transport, tried).await
        };
        match served {
            Ok(service) => return Ok(service),
            // Some older servers answer a method that they do not know with an empty result.
            Err(ClientInitializeError::ExpectedInitResult(_))
                if !matches!(lifecycle, ClientLifecycleMode::Initialize) =>
            {
                lifecycle = ClientLifecycleMode::Initialize;
            }
            Err(error) if !brings_own && http::start_wants_login(&error) => {
                return Err(ConnectError::NeedsLogin);
            }
            Err(error) => return Err(http::reason(url, &error).into()),
        }
    }
}

/// What the handler hears and the connection waits for.
struct Shared {
    list_changed: Notify,
    /// Calls that want to hear of their progress.
    progress: Mutex<HashMap<ProgressToken, Arc<dyn Progress>>>,
    /// Calls in flight, through which the server may ask the user.
    askers: Mutex<Vec<Arc<Asker>>>,
    /// Counts progress notifications: each gives its call more time.
    progressed: watch::Sender<u64>,
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
struct Handler {
    /// Its name.
    server: String,
    cwd: PathBuf,
    shared: Arc<Shared>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(Default::default());
        capabilities.elicitation =
            Some(ElicitationCapability::new().with_form(FormElicitationCapability::new()));
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
        let asker = {
            let askers = self.shared.askers.lock();
            let askers = askers.unwrap_or_else(PoisonError::into_inner);
            match askers.as_slice() {
                [only] => Ok(Arc::clone(only)),
                all => Err(all.len()),
            }
        };
        // The protocol does not say which call a question belongs to, and another session must not be asked.
        let asker = asker.map_err(|count| {
            let reason = format!(
                "the question cannot be assigned to a call: {count} calls are in flight, not 1"
            );
            tracing::info!(server = %self.server, reason, "a question of an MCP server was refused");
            ErrorData::invalid_request(reason, None)
        })?;
        // Cancel-safe: a question that is dropped is withdrawn.
        tokio::select! {
            answer = asker.ask(params) => answer,
            () = context.ct.cancelled() => Ok(ElicitResult::new(ElicitationAction::Cancel)),
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

impl SdkConnection {
    async fn new(
        server: String,
        service: RunningService<RoleClient, Handler>,
        program: Option<stdio::Program>,
        login: Option<(Arc<Logins>, ServerConfig)>,
        shared: Arc<Shared>,
    ) -> Self {
        let changed = Arc::clone(&shared);
        let report = move || changed.list_changed.notify_one();
        Self {
            _changes: changes::listen(service.peer(), report).await,
            server,
            service,
            program,
            login,
            shared,
        }
    }
}

struct SdkConnection {
    /// Hears when its lists change.
    _changes: Option<ChangeListener>,
    /// Its name.
    server: String,
    service: RunningService<RoleClient, Handler>,
    /// The server's process. `None`: it is reached by HTTP.
    program: Option<stdio::Program>,
    /// Where a login for more rights is noted. `None`: it has no login.
    login: Option<(Arc<Logins>, ServerConfig)>,
    shared: Arc<Shared>,
}

/// A call in flight through which the server may ask the user, until it is over.
struct Asking<'a>(&'a Shared, Arc<Asker>);

impl<'a> Asking<'a> {
    fn begin(shared: &'a Shared, asker: &Arc<Asker>) -> Self {
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

impl SdkConnection {
    fn call_error(&self, error: &ServiceError) -> CallError {
        let challenge = match error {
            ServiceError::TransportSend(error) => http::missing_rights(&*error.error),
            _ => None,
        };
        match (challenge, &self.login) {
            (Some(challenge), Some((logins, server))) => {
                logins.note_challenge(server, challenge);
                CallError::NeedsLogin
            }
            (None, _) | (_, None) => call_error(error),
        }
    }
}

/// Forgets who hears of a call's progress when the call is over.
struct Listening<'a>(&'a Shared, ProgressToken);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        let progress = self.0.progress.lock();
        progress
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.1);
    }
}

impl Connection for SdkConnection {
    fn list_tools(&self) -> BoxFuture<'_, Result<Vec<RawTool>, String>> {
        async move {
            let has_tools = |info: &rmcp::model::ServerPeerInfo| info.capabilities.tools.is_some();
            if self
                .service
                .peer_info()
                .is_some_and(|info| !has_tools(&info))
            {
                return Ok(Vec::new());
            }
            let mut tools = Vec::new();
            let mut cursor = None;
            for _ in 0..PAGES_MAX {
                let mut params = PaginatedRequestParams::default();
                params.cursor = cursor.take();
                let page = self.service.list_tools(Some(params)).await;
                let page = page.map_err(|error| clean(&error.to_string()))?;
                tools.extend(page.tools.iter().map(raw));
                cursor = page.next_cursor;
                if cursor.is_none() || tools.len() > TOOLS_MAX {
                    break;
                }
            }
            Ok(tools)
        }
        .boxed()
    }

    fn call(&self, request: ToolRequest) -> BoxFuture<'_, Result<ToolResult, CallError>> {
        async move {
            let asker = Asker::new(self.server.clone(), Arc::clone(&request.questions));
            let asker = Arc::new(asker);
            let _asking = Asking::begin(&self.shared, &asker);
            let mut params = CallToolRequestParams::new(request.tool.clone());
            params.arguments = Some(request.arguments.clone());
            for _ in 0..ROUNDS_MAX {
                match self.round(params.clone(), &request, &asker).await? {
                    ServerResult::CallToolResult(result) => return Ok(converted(result)),
                    ServerResult::InputRequiredResult(wanted) => {
                        let answers = self.answers(wanted.input_requests, &asker);
                        let answers = tokio::select! {
                            answers = answers => answers.map_err(CallError::Refused)?,
                            () = request.cancel.cancelled() => return Err(CallError::Cancelled),
                        };
                        params.input_responses = (!answers.is_empty()).then_some(answers);
                        params.request_state = wanted.request_state;
                    }
                    _ => {
                        return Err(CallError::Refused(
                            "it answered with something that is no result of a tool".to_owned(),
                        ));
                    }
                }
            }
            Err(CallError::Refused(format!(
                "it asked for more input {ROUNDS_MAX} times without a result"
            )))
        }
        .boxed()
    }

    fn list_prompts(&self) -> BoxFuture<'_, Result<Vec<RawPrompt>, String>> {
        content::list_prompts(self.service.peer()).boxed()
    }

    fn prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, String>> {
        content::prompt(self.service.peer(), name, arguments).boxed()
    }

    fn has_resources(&self) -> bool {
        let info = self.service.peer_info();
        info.is_some_and(|info| info.capabilities.resources.is_some())
    }

    fn list_resources(&self) -> BoxFuture<'_, Result<Vec<RawResource>, String>> {
        content::list_resources(self.service.peer()).boxed()
    }

    fn resource<'a>(&'a self, uri: &'a str) -> BoxFuture<'a, Result<String, String>> {
        content::resource(self.service.peer(), uri).boxed()
    }

    fn list_changed(&self) -> BoxFuture<'_, ()> {
        self.shared.list_changed.notified().boxed()
    }

    fn closed(&self) -> BoxFuture<'_, String> {
        async move {
            match &self.program {
                Some(program) => program.ended().await,
                None => {
                    // A transport has no end to wait for.
                    while !self.service.is_transport_closed() {
                        tokio::time::sleep(Duration::from_millis(500)).await;
                    }
                    "the connection has ended".to_owned()
                }
            }
        }
        .boxed()
    }
}

impl SdkConnection {
    /// Sends a call once, and waits for what comes of it. Its limit does not count while the user is asked.
    async fn round(
        &self,
        params: CallToolRequestParams,
        request: &ToolRequest,
        asker: &Asker,
    ) -> Result<ServerResult, CallError> {
        let message = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let sent = self
            .service
            .send_cancellable_request(message, options)
            .await;
        let mut handle = sent.map_err(|error| self.call_error(&error))?;
        let _listening = Listening(&self.shared, handle.progress_token.clone());
        self.shared
            .progress
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(handle.progress_token.clone(), Arc::clone(&request.progress));
        let mut progressed = self.shared.progressed.subscribe();
        let mut asked = asker.watch();
        let mut last = Instant::now() + request.timeout.saturating_mul(PROGRESS_FACTOR);
        let mut due = Instant::now() + request.timeout;
        let mut asks = None;
        let stopped = loop {
            // Cancel-safe: a receiver that is polled again, flags, a timer.
            tokio::select! {
                answer = &mut handle.rx => {
                    return match answer {
                        Ok(Ok(result)) => Ok(result),
                        Ok(Err(error)) => Err(self.call_error(&error)),
                        Err(_) => Err(CallError::Lost),
                    };
                }
                () = request.cancel.cancelled() => break CallError::Cancelled,
                Ok(()) = progressed.changed() => due = (Instant::now() + request.timeout).min(last),
                Ok(()) = asked.changed() => {
                    let now = Instant::now();
                    if *asked.borrow_and_update() {
                        asks.get_or_insert(now);
                    } else if let Some(since) = asks.take() {
                        last += now - since;
                        due = (now + request.timeout).min(last);
                    }
                }
                () = tokio::time::sleep_until(due), if asks.is_none() => break CallError::TimedOut,
            }
        };
        // If this cannot be sent, the server is gone, which is noticed elsewhere.
        let _ = handle.cancel(Some("no longer wanted".to_owned())).await;
        Err(stopped)
    }

    /// Answers what a server wants to know before it can finish a call. The error is a text for the model.
    async fn answers(
        &self,
        wanted: Option<InputRequests>,
        asker: &Asker,
    ) -> Result<InputResponses, String> {
        let mut answers = InputResponses::new();
        for (key, request) in wanted.unwrap_or_default() {
            let answer = match request {
                InputRequest::Elicitation(request) => {
                    let answer = asker.ask(request.params).await;
                    let answer = answer.map_err(|error| clean(&error.message))?;
                    serde_json::to_value(answer)
                }
                InputRequest::ListRoots(_) => {
                    serde_json::to_value(roots(&self.service.service().cwd))
                }
                _ => return Err("it asks for input of a kind that is not supported".to_owned()),
            };
            answers.insert(key, answer.map_err(|error| error.to_string())?);
        }
        Ok(answers)
    }
}

fn roots(cwd: &Path) -> ListRootsResult {
    ListRootsResult::new(vec![Root::new(file_uri(cwd))])
}

fn raw(tool: &rmcp::model::Tool) -> RawTool {
    let hint = tool.annotations.as_ref();
    RawTool {
        name: tool.name.to_string(),
        description: tool.description.as_deref().unwrap_or_default().to_owned(),
        schema: (*tool.input_schema).clone(),
        read_only: hint.and_then(|hint| hint.read_only_hint) == Some(true),
    }
}

fn call_error(error: &ServiceError) -> CallError {
    match error {
        ServiceError::McpError(error) => CallError::Refused(clean(&error.to_string())),
        ServiceError::Timeout { .. } => CallError::TimedOut,
        ServiceError::Cancelled { .. } => CallError::Cancelled,
        ServiceError::TransportSend(error) if http::wants_login(&*error.error) => {
            CallError::NeedsLogin
        }
        ServiceError::TransportClosed | ServiceError::TransportSend(_) => CallError::Lost,
        error => CallError::Refused(clean(&error.to_string())),
    }
}

fn converted(result: CallToolResult) -> ToolResult {
    ToolResult {
        parts: result.content.into_iter().map(part).collect(),
        structured: result.structured_content,
        is_error: result.is_error == Some(true),
    }
}

pub(super) fn part(block: ContentBlock) -> ResultPart {
    let binary = |kind, media_type: String, data: &str| ResultPart::Binary {
        kind,
        media_type,
        // Base64.
        bytes: data.len() / 4 * 3,
    };
    match block {
        ContentBlock::Text(text) => ResultPart::Text(text.text),
        ContentBlock::Image(image) => binary("image", image.mime_type, &image.data),
        ContentBlock::Audio(audio) => binary("audio", audio.mime_type, &audio.data),
        ContentBlock::Resource(resource) => match resource.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => {
                ResultPart::Text(format!("Resource {uri}:\n{text}"))
            }
            ResourceContents::BlobResourceContents {
                mime_type, blob, ..
            } => binary("resource", mime_type.unwrap_or_default(), &blob),
            _ => ResultPart::Text(UNKNOWN.to_owned()),
        },
        ContentBlock::ResourceLink(link) => {
            ResultPart::Text(format!("Resource link: {} ({})", link.uri, link.name))
        }
        _ => ResultPart::Text(UNKNOWN.to_owned()),
    }
}
