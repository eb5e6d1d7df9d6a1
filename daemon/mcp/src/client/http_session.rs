//! The session with a server over HTTP: whether the server still knows it, and what to do when it does not.
//!
//! A server that was restarted has forgotten its sessions. By the protocol it answers 404 then; many answer 400, 410 or an
//! error of JSON-RPC. All of these mean that it has done nothing. They are passed to the SDK as an expired session: it
//! starts another one and sends the request again, once. If that fails, the connection is lost.

use std::collections::HashMap;
use std::sync::Arc;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, RequestId, ServerJsonRpcMessage};
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use tokio::sync::watch;

use super::http::{EVENT_MAX, causes, never_arrived};
use super::reach::Reachability;
use crate::text::{clean, cut};

/// Bytes of a cause.
const CAUSE_MAX: usize = 300;
/// The code of an error that the official SDKs answer for a session that they do not know.
const SERVER_ERRORS: std::ops::RangeInclusive<i32> = -32_001..=-32_000;

/// What the messages of such errors begin with, in small letters.
const BEGINNINGS: [&str; 9] = [
    "session",
    "no valid session",
    "invalid session",
    "unknown session",
    "invalid or missing session",
    "no session",
    "mcp session",
    "mcp-session-id",
    "server not initialized",
];

/// What is known of the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The server knows it, or there is none.
    #[default]
    Known,
    /// The server does not know it any more: another one is to be started.
    Expired,
    /// Another one was started; no request has succeeded in it yet.
    Renewed,
    /// None can be started: why.
    Lost(String),
}

/// The state of the session, shared by the client and its connection.
#[derive(Debug, Default)]
pub(super) struct HttpSession {
    phase: watch::Sender<Phase>,
    /// Whether the server answers at all.
    pub(super) reach: Reachability,
}

impl HttpSession {
    /// Resolves when there is no session any more and none can be started, with the reason.
    pub(super) async fn lost(&self) -> String {
        let mut phase = self.phase.subscribe();
        let found = phase
            .wait_for(|phase| matches!(phase, Phase::Lost(_)))
            .await;
        match found.as_deref() {
            Ok(Phase::Lost(reason)) => reason.clone(),
            Ok(_) | Err(_) => "the session is gone".to_owned(),
        }
    }

    /// Why there is no session any more.
    pub(super) fn reason(&self) -> Option<String> {
        match &*self.phase.borrow() {
            Phase::Lost(reason) => Some(reason.clone()),
            Phase::Known | Phase::Expired | Phase::Renewed => None,
        }
    }

    fn change(&self, next: impl FnOnce(&Phase) -> Option<Phase>) {
        self.phase.send_if_modified(|phase| match next(phase) {
            Some(next) => {
                *phase = next;
                true
            }
            None => false,
        });
    }

    /// The server does not know the session of a request.
    fn expire(&self) {
        self.change(|phase| match phase {
            Phase::Known => Some(Phase::Expired),
            Phase::Renewed => Some(Phase::Lost(
                "it does not know the session that it has just started".to_owned(),
            )),
            Phase::Expired | Phase::Lost(_) => None,
        });
    }

    /// A request with a session was answered.
    fn confirm(&self) {
        self.change(|phase| (*phase == Phase::Renewed).then_some(Phase::Known));
    }

    /// Another session was started, or could not be: why.
    fn renew(&self, started: Result<(), &str>) {
        self.change(|phase| match (phase, started) {
            (Phase::Expired, Ok(())) => Some(Phase::Renewed),
            (Phase::Expired, Err(cause)) => {
                let cause = clean(cut(cause, CAUSE_MAX).0);
                Some(Phase::Lost(format!(
                    "its session ended, and no other one could be started: {cause}"
                )))
            }
            (Phase::Known | Phase::Renewed | Phase::Lost(_), _) => None,
        });
    }
}

/// Reports a handshake that was given up before its answer came.
struct Handshake<'a>(Option<&'a HttpSession>);

impl Handshake<'_> {
    fn finish(mut self, started: Result<(), &str>) {
        if let Some(session) = self.0.take() {
            session.renew(started);
        }
    }
}

impl Drop for Handshake<'_> {
    fn drop(&mut self) {
        if let Some(session) = self.0 {
            session.renew(Err("it did not answer in time"));
        }
    }
}

/// A client that recognizes the answers of servers that do not know the session.
#[derive(Clone)]
pub(super) struct SessionClient<C> {
    client: C,
    session: Arc<HttpSession>,
}

impl<C> SessionClient<C> {
    pub(super) fn new(client: C, session: Arc<HttpSession>) -> Self {
        Self { client, session }
    }
}

impl<C: StreamableHttpClient + Sync> StreamableHttpClient for SessionClient<C> {
    type Error = C::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<C::Error>> {
        self.post_message_with_max_sse_event_size(
            uri,
            message,
            session_id,
            auth_header,
            custom_headers,
            EVENT_MAX,
        )
        .await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max_sse_event_size: usize,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<C::Error>> {
        let id = request_id(&message);
        let (has_session, starts) = (session_id.is_some(), is_handshake(&message));
        let handshake = Handshake(starts.then_some(&*self.session));
        let posted = self
            .client
            .post_message_with_max_sse_event_size(
                uri,
                message,
                session_id,
                auth_header,
                custom_headers,
                max_sse_event_size,
            )
            .await;
        self.judged(posted, id, has_session, handshake)
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), StreamableHttpError<C::Error>> {
        self.client
            .delete_session(uri, session_id, auth_header, custom_headers)
            .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxedSseResponse, StreamableHttpError<C::Error>> {
        self.get_stream_with_max_sse_event_size(
            uri,
            session_id,
            last_event_id,
            auth_header,
            custom_headers,
            EVENT_MAX,
        )
        .await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
        max_sse_event_size: usize,
    ) -> Result<BoxedSseResponse, StreamableHttpError<C::Error>> {
        let has_session = session_id.is_some();
        let opened = self
            .client
            .get_stream_with_max_sse_event_size(
                uri,
                session_id,
                last_event_id,
                auth_header,
                custom_headers,
                max_sse_event_size,
            )
            .await;
        // A proxy may refuse a stream, and let requests through.
        if opened
            .as_ref()
            .err()
            .is_none_or(|error| never_arrived(error))
        {
            self.session.reach.note(&opened);
        }
        opened.map_err(|error| ended(error, has_session))
    }
}

impl<C: StreamableHttpClient> SessionClient<C> {
    /// The answer to a message, as the SDK gets it. `id`: of a request.
    fn judged(
        &self,
        posted: Result<StreamableHttpPostResponse, StreamableHttpError<C::Error>>,
        id: Option<RequestId>,
        has_session: bool,
        handshake: Handshake<'_>,
    ) -> Result<StreamableHttpPostResponse, StreamableHttpError<C::Error>> {
        self.session.reach.note(&posted);
        if has_session && is_unknown_session(&posted, id.as_ref()) {
            self.session.expire();
            return Err(StreamableHttpError::SessionExpired);
        }
        match &posted {
            Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), _)) => {
                handshake.finish(Err(&error.error.message));
            }
            Ok(_) => handshake.finish(Ok(())),
            Err(error) => handshake.finish(Err(&causes(error))),
        }
        if has_session && id.is_some() && posted.is_ok() {
            self.session.confirm();
        }
        posted
    }
}

/// The error of a stream that cannot be opened. The SDK would try it again and again: one that the server does not know any
/// more ends instead, and with it the call that waits for its answer there.
fn ended<E: std::error::Error + Send + Sync + 'static>(
    error: StreamableHttpError<E>,
    has_session: bool,
) -> StreamableHttpError<E> {
    let status = match &error {
        StreamableHttpError::Client(error) => (error as &dyn std::error::Error)
            .downcast_ref::<reqwest::Error>()
            .and_then(reqwest::Error::status),
        _ => None,
    };
    match status.map(|status| status.as_u16()) {
        Some(400 | 404 | 410) if has_session => StreamableHttpError::ServerDoesNotSupportSse,
        Some(_) | None => error,
    }
}

fn request_id(message: &ClientJsonRpcMessage) -> Option<RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) => Some(request.id.clone()),
        ClientJsonRpcMessage::Response(_)
        | ClientJsonRpcMessage::Notification(_)
        | ClientJsonRpcMessage::Error(_) => None,
    }
}

/// Whether a message starts a session.
fn is_handshake(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Request(request)
        if matches!(request.request, ClientRequest::InitializeRequest(_)))
}

/// Whether an answer says that the server does not know the session. It has done nothing then.
fn is_unknown_session<E: std::error::Error + Send + Sync + 'static>(
    posted: &Result<StreamableHttpPostResponse, StreamableHttpError<E>>,
    id: Option<&RequestId>,
) -> bool {
    match posted {
        Err(StreamableHttpError::SessionExpired) => true,
        Err(StreamableHttpError::UnexpectedServerResponse(text)) => is_refusal(text),
        Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), _)) => {
            let answers_request = error.id.is_some() && error.id.as_ref() == id;
            is_session_error(error.error.code.0, &error.error.message, answers_request)
        }
        Ok(_) | Err(_) => false,
    }
}

/// Whether a status and body without an error of JSON-RPC say so: `HTTP 400 Bad Request: no session`.
fn is_refusal(text: &str) -> bool {
    if text.starts_with("HTTP 410") {
        return true;
    }
    let body = text.strip_prefix("HTTP 400 Bad Request");
    body.is_some_and(speaks_of_session)
}

/// Whether an error of JSON-RPC says so. `answers_request`: it has the id of the request. The SDKs' refusals have none, as
/// they do not read the request; the errors of tools, which may speak of sessions of their own, always have it.
fn is_session_error(code: i32, message: &str, answers_request: bool) -> bool {
    if !answers_request {
        return speaks_of_session(message);
    }
    let message = message.to_lowercase();
    let message = ["bad request:", "not found:", "invalid request:"]
        .iter()
        .find_map(|status| message.strip_prefix(status))
        .unwrap_or(&message)
        .trim_start();
    let begins = BEGINNINGS.iter().any(|begins| message.starts_with(begins));
    SERVER_ERRORS.contains(&code) && begins
}

fn speaks_of_session(text: &str) -> bool {
    let text = text.to_lowercase();
    text.contains("session") || text.contains("not initialized")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_of_unknown_sessions_are_recognized_and_other_errors_are_not() {
        for (text, wanted) in [
            (
                "HTTP 400 Bad Request: Bad Request: No valid session ID provided",
                true,
            ),
            ("HTTP 400 Bad Request: Server not initialized", true),
            ("HTTP 410 Gone: ", true),
            ("HTTP 400 Bad Request: missing field `name`", false),
            ("HTTP 401 Unauthorized: no session", false),
            ("HTTP 422 Unprocessable Entity: session", false),
        ] {
            assert_eq!(is_refusal(text), wanted, "{text}");
        }
        for (code, message, answers_request, wanted) in [
            (
                -32_000,
                "Bad Request: No valid session ID provided",
                false,
                true,
            ),
            (-32_600, "Session not found", false, true),
            (-32_001, "Session not found", true, true),
            (-32_000, "Bad Request: Server not initialized", true, true),
            (-32_001, "the browser session was not found", true, false),
            (-32_602, "Session not found", true, false),
            (-32_700, "Parse error", false, false),
        ] {
            let found = is_session_error(code, message, answers_request);
            assert_eq!(found, wanted, "{code} {message} {answers_request}");
        }
    }

    #[tokio::test]
    async fn session_is_renewed_once_and_lost_when_the_next_one_is_unknown_too() {
        let session = HttpSession::default();
        session.renew(Err("a first handshake is reported elsewhere"));
        assert_eq!(session.reason(), None);
        for _ in 0..2 {
            session.expire();
            session.renew(Ok(()));
            session.confirm();
            assert_eq!(session.reason(), None);
        }
        session.expire();
        session.renew(Ok(()));
        session.expire();
        assert!(session.lost().await.contains("just started"));
        let session = HttpSession::default();
        session.expire();
        drop(Handshake(Some(&session)));
        assert!(session.lost().await.contains("did not answer in time"));
    }
}
