//! One connection by the official SDK: the calls of its tools, and the rest of what the pool needs of it.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, pending};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, InputRequest, InputRequests,
    InputResponses, PingRequest, ServerResult,
};
use rmcp::service::{PeerRequestOptions, RunningService, ServiceError};
use rmcp::{ErrorData, RoleClient};
use serde_json::{Map, Value};
use tokio::time::Instant;

use super::asker::Asker;
use super::changes::{self, ChangeListener};
use super::handler::{Handler, HandlerState, InFlightGuard, ProgressGuard, roots};
use super::http_session::HttpSession;
use super::oauth::Logins;
use super::{
    CallError, ConnectError, Connection, RawResource, ToolRequest, ToolResult, content, http, stdio,
};
use crate::config::ServerConfig;
use crate::listing::RawTools;
use crate::prompt::RawPrompt;
use crate::text::clean;

/// How often a server may ask for more input in one call.
const ROUNDS_MAX: usize = 10;
/// A call whose server reports progress may take so many times its limit.
const PROGRESS_FACTOR: u32 = 10;

/// The error of a call whose user must open links first.
const NEEDS_LINKS: ErrorCode = ErrorCode(-32042);

/// What the SDK's own errors begin with for calls whose answers cannot come any more.
const ANSWER_LOST: [&str; 2] = [
    "streamable HTTP session was re-initialized",
    "streamable HTTP response stream closed",
];

/// Why a round of a call gave no result.
enum Broken {
    Failed(CallError),
    NeedsLinks(ErrorData),
}

impl From<CallError> for Broken {
    fn from(error: CallError) -> Self {
        Self::Failed(error)
    }
}

pub(super) struct SdkConnection {
    /// Hears when its lists change.
    _changes: Option<ChangeListener>,
    /// Its name.
    server: String,
    service: RunningService<RoleClient, Handler>,
    route: Route,
    shared: Arc<HandlerState>,
}

/// How a server is reached.
pub(super) enum Route {
    /// By its process.
    Program(stdio::Program),
    Http {
        session: Arc<HttpSession>,
        /// Where a login for more rights is noted. `None`: it has no login.
        login: Option<(Arc<Logins>, ServerConfig)>,
    },
}

impl SdkConnection {
    pub async fn new(
        server: String,
        service: RunningService<RoleClient, Handler>,
        route: Route,
        shared: Arc<HandlerState>,
    ) -> Self {
        let changed = Arc::clone(&shared);
        let report = move || changed.list_changed.notify_one();
        Self {
            _changes: changes::listen(service.peer(), report).await,
            server,
            service,
            route,
            shared,
        }
    }
}

impl Connection for SdkConnection {
    fn list_tools(&self) -> BoxFuture<'_, Result<RawTools, ConnectError>> {
        content::list_tools(self.service.peer()).boxed()
    }

    fn call(&self, request: ToolRequest) -> BoxFuture<'_, Result<ToolResult, CallError>> {
        async move {
            let asker = Asker::new(self.server.clone(), Arc::clone(&request.questions));
            let asker = Arc::new(asker);
            let asking = InFlightGuard::begin(&self.shared, request.session, &asker);
            let mut params = CallToolRequestParams::new(request.tool.clone());
            params.arguments = Some(request.arguments.clone());
            for _ in 0..ROUNDS_MAX {
                let round = match self
                    .round(params.clone(), &request, (&asker, &asking))
                    .await
                {
                    Ok(round) => round,
                    Err(Broken::Failed(error)) => return Err(error),
                    Err(Broken::NeedsLinks(wanted)) => {
                        return Err(tokio::select! {
                            shown = asker.show_links(&wanted) => {
                                shown.unwrap_or_else(CallError::Refused)
                            }
                            () = request.cancel.cancelled() => CallError::Cancelled,
                        });
                    }
                };
                match round {
                    ServerResult::CallToolResult(result) => {
                        return Ok(content::tool_result(result));
                    }
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

    fn reach_changed<'a>(&'a self, known: Option<&'a str>) -> BoxFuture<'a, Option<String>> {
        match &self.route {
            Route::Program(_) => pending().boxed(),
            Route::Http { session, .. } => session.reach.changed(known).boxed(),
        }
    }

    fn ping(&self) -> BoxFuture<'_, Result<(), ConnectError>> {
        async {
            let ping = ClientRequest::PingRequest(PingRequest::default());
            match self.service.send_request(ping).await {
                // Any answer counts, also that it does not know the method.
                Ok(_) | Err(ServiceError::McpError(_)) => Ok(()),
                Err(error) => Err(self.ping_error(&error)),
            }
        }
        .boxed()
    }

    fn os_pid(&self) -> Option<u32> {
        match &self.route {
            Route::Program(program) => Some(program.os_pid),
            Route::Http { .. } => None,
        }
    }

    fn is_outdated(&self) -> bool {
        match &self.route {
            Route::Program(program) => program.is_outdated(),
            Route::Http { .. } => false,
        }
    }

    fn close(&self) {
        match &self.route {
            Route::Program(program) => program.stop(),
            // Without a session the requests have failed already, each with its own error, which is on its way.
            Route::Http { session, .. } if session.reason().is_some() => {}
            Route::Http { .. } => self.service.cancellation_token().cancel(),
        }
    }

    fn closed(&self) -> BoxFuture<'_, String> {
        async move {
            match &self.route {
                Route::Program(program) => program.ended().await,
                Route::Http { session, .. } => {
                    // A transport has no end to wait for.
                    let closed = async {
                        while !self.service.is_transport_closed() {
                            tokio::time::sleep(Duration::from_millis(500)).await;
                        }
                    };
                    tokio::select! {
                        reason = session.lost() => reason,
                        () = closed => "the connection has ended".to_owned(),
                    }
                }
            }
        }
        .boxed()
    }
}

impl SdkConnection {
    fn ping_error(&self, error: &ServiceError) -> ConnectError {
        let is_refused = match error {
            ServiceError::TransportSend(sent) => http::wants_login(&*sent.error),
            _ => false,
        };
        match &self.route {
            Route::Http { login: Some(_), .. } if is_refused => ConnectError::NeedsLogin,
            Route::Http { .. } if is_refused => http::OWN_AUTHORIZATION_REFUSED.to_owned().into(),
            Route::Http { .. } | Route::Program(_) => {
                let reason = "its connection broke when it was asked whether it is there";
                reason.to_owned().into()
            }
        }
    }

    fn call_error(&self, error: &ServiceError) -> CallError {
        let (ServiceError::TransportSend(sent), Route::Http { session, login }) =
            (error, &self.route)
        else {
            return call_error(error);
        };
        if let (Some(challenge), Some((logins, server))) =
            (http::missing_rights(&*sent.error), login)
        {
            logins.note_challenge(server, challenge);
            return CallError::NeedsLogin;
        }
        // Some servers let anybody in, and want a login for what comes next.
        if login.is_some() && http::wants_login(&*sent.error) {
            return CallError::NeedsLogin;
        }
        match (session.reason(), session.reach.cause()) {
            (Some(reason), _) if http::did_nothing(&*sent.error) => CallError::Refused(reason),
            (None, Some(reason)) => CallError::Unreachable {
                reason,
                arrived: !http::never_arrived(&*sent.error),
            },
            (Some(_) | None, _) => call_error(error),
        }
    }
}

impl SdkConnection {
    /// Sends a call once, and waits for what comes of it. Its limit does not count while the user is asked.
    async fn round(
        &self,
        params: CallToolRequestParams,
        request: &ToolRequest,
        (asker, asking): (&Asker, &InFlightGuard<'_>),
    ) -> Result<ServerResult, Broken> {
        let message = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let sent = self
            .service
            .send_cancellable_request(message, options)
            .await;
        let mut handle = sent.map_err(|error| self.call_error(&error))?;
        asking.sent(handle.id.clone());
        let _listening = ProgressGuard(&self.shared, handle.progress_token.clone());
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
        // One that is on its way out may close its port first, and give the result yet: so it is waited for.
        let mut refused = std::pin::pin!(self.refused());
        let stopped = loop {
            // Cancel-safe: a receiver that is polled again, flags, a timer.
            tokio::select! {
                answer = &mut handle.rx => {
                    asking.answered();
                    return match answer {
                        Ok(Ok(result)) => Ok(result),
                        Ok(Err(ServiceError::McpError(error))) if error.code == NEEDS_LINKS => {
                            Err(Broken::NeedsLinks(error))
                        }
                        Ok(Err(error)) => Err(self.call_error(&error).into()),
                        Err(_) => Err(CallError::Lost.into()),
                    };
                }
                () = request.cancel.cancelled() => break CallError::Cancelled,
                reason = &mut refused => break CallError::Unreachable { reason, arrived: true },
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
        // Nobody waits for a server that takes nothing. If this cannot be sent, it is gone, which is noticed elsewhere.
        tokio::spawn(async move {
            let _ = handle.cancel(Some("no longer wanted".to_owned())).await;
        });
        Err(stopped.into())
    }

    /// Resolves when nobody listens at its address any more, with the reason. Never for a program, whose end is noticed.
    async fn refused(&self) -> String {
        match &self.route {
            Route::Program(_) => pending().await,
            Route::Http { session, .. } => session.reach.refused().await,
        }
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
                InputRequest::CreateMessage(request) => {
                    let answer = asker.sample(request.params).await;
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

fn call_error(error: &ServiceError) -> CallError {
    match error {
        ServiceError::McpError(error)
            if ANSWER_LOST
                .iter()
                .any(|begins| error.message.starts_with(begins)) =>
        {
            CallError::Lost
        }
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
