//! A connection by the official SDK.
#![expect(deprecated, reason = "servers of today ask for roots")]

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract::Spawn;
use contract::tool::Progress;
use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig,
    ClientRequest, ContentBlock, Implementation, ListRootsResult, PaginatedRequestParams,
    ProgressNotificationParam, ProgressToken, ProtocolVersion, ResourceContents, Root,
    ServerResult,
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

use super::oauth::Logins;
use super::{
    CallError, Connect, ConnectError, ConnectRequest, Connection, ResultPart, ToolRequest,
    ToolResult, content, file_uri, http, oauth, stdio,
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
                cwd: request.cwd.clone(),
                shared: Arc::default(),
            };
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
                    Ok(Arc::new(SdkConnection {
                        service,
                        program: Some(program),
                        login: None,
                        shared,
                    }) as Arc<dyn Connection>)
                }
                Transport::Http { url, headers } => {
                    let address = (url.as_str(), headers);
                    let service = over_http(&handler, &request.config, address, &logins).await?;
                    Ok(Arc::new(SdkConnection {
                        service,
                        program: None,
                        login: (!oauth::has_authorization(headers))
                            .then_some((logins, request.config.clone())),
                        shared,
                    }) as Arc<dyn Connection>)
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
    /// Counts progress notifications: each gives its call more time.
    progressed: watch::Sender<u64>,
}

impl Default for Shared {
    fn default() -> Self {
        Self {
            list_changed: Notify::new(),
            progress: Mutex::default(),
            progressed: watch::Sender::new(0),
        }
    }
}

/// Answers the server's own requests.
#[derive(Clone)]
struct Handler {
    cwd: PathBuf,
    shared: Arc<Shared>,
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.roots = Some(Default::default());
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
        Ok(ListRootsResult::new(vec![Root::new(file_uri(&self.cwd))]))
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

struct SdkConnection {
    service: RunningService<RoleClient, Handler>,
    /// The server's process. `None`: it is reached by HTTP.
    program: Option<stdio::Program>,
    /// Where a login for more rights is noted. `None`: it has no login.
    login: Option<(Arc<Logins>, ServerConfig)>,
    shared: Arc<Shared>,
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
            let mut params = CallToolRequestParams::new(request.tool);
            params.arguments = Some(request.arguments);
            let message = ClientRequest::CallToolRequest(CallToolRequest::new(params));
            let options = PeerRequestOptions::no_options();
            let sent = self.service.send_cancellable_request(message, options).await;
            let mut handle = sent.map_err(|error| self.call_error(&error))?;
            let _listening = Listening(&self.shared, handle.progress_token.clone());
            self.shared
                .progress
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .insert(handle.progress_token.clone(), request.progress);
            let mut progressed = self.shared.progressed.subscribe();
            let started = Instant::now();
            let last = started + request.timeout.saturating_mul(PROGRESS_FACTOR);
            let mut due = started + request.timeout;
            let stopped = loop {
                // Cancel-safe: a receiver that is polled again, a flag, a timer.
                tokio::select! {
                    answer = &mut handle.rx => {
                        return match answer {
                            Ok(Ok(ServerResult::CallToolResult(result))) => Ok(converted(result)),
                            Ok(Ok(_)) => Err(CallError::Refused("it answered with something that is no result of a tool".to_owned())),
                            Ok(Err(error)) => Err(self.call_error(&error)),
                            Err(_) => Err(CallError::Lost),
                        };
                    }
                    () = request.cancel.cancelled() => break CallError::Cancelled,
                    Ok(()) = progressed.changed() => due = (Instant::now() + request.timeout).min(last),
                    () = tokio::time::sleep_until(due) => break CallError::TimedOut,
                }
            };
            // If this cannot be sent, the server is gone, which is noticed elsewhere.
            let _ = handle.cancel(Some("no longer wanted".to_owned())).await;
            Err(stopped)
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
