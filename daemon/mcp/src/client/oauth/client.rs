//! The HTTP client of servers. With a login it sends that login's tokens with each request.
//!
//! It differs from the SDK's own in one point: a refresh goes on when the request that began it is dropped, as by a restart of
//! the server's entry, for a minute at most. Its answer may hold the only refresh token that is still of use.

use std::collections::HashMap;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::auth::{AuthError, AuthorizationManager};
use rmcp::transport::common::client_side_sse::BoxedSseResponse;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_util::task::TaskTracker;

use super::SERVERS_MAX;
use super::record::access_token;
use crate::client::http::EVENT_MAX;

type Answer<T> = Result<T, StreamableHttpError<reqwest::Error>>;

/// A client that sends and refreshes the tokens of a login, if it has one. It is one type with and without, since the SDK's code
/// for a connection is long, and is built for each type of client.
#[derive(Clone)]
pub(crate) struct HttpClient {
    client: reqwest::Client,
    /// `None`: the headers of the server's entry say who asks.
    login: Option<Login>,
}

#[derive(Clone)]
struct Login {
    manager: Arc<Mutex<AuthorizationManager>>,
    /// All refreshes of the daemon.
    refreshes: TaskTracker,
}

impl HttpClient {
    pub(super) fn new(
        client: reqwest::Client,
        manager: AuthorizationManager,
        refreshes: TaskTracker,
    ) -> Self {
        let manager = Arc::new(Mutex::new(manager));
        Self {
            client,
            login: Some(Login { manager, refreshes }),
        }
    }

    /// A client that sends no tokens.
    pub(crate) fn without_login(client: reqwest::Client) -> Self {
        Self {
            client,
            login: None,
        }
    }

    /// Sends a request with a token, and once more with another one if the server refuses the first. Without a login it
    /// sends the authorization of the server's entry.
    async fn sent<'a, T>(
        &'a self,
        of_entry: Option<String>,
        send: impl Fn(&'a reqwest::Client, Option<String>) -> BoxFuture<'a, Answer<T>> + Send,
    ) -> Answer<T>
    where
        T: Send,
    {
        let Some(login) = &self.login else {
            return send(&self.client, of_entry).await;
        };
        let token = login.token(None).await?;
        match (send(&self.client, token.clone()).await, token) {
            (Err(StreamableHttpError::AuthRequired(challenge)), Some(refused)) => {
                match login.token(Some(refused)).await? {
                    Some(other) => send(&self.client, Some(other)).await,
                    None => Err(StreamableHttpError::AuthRequired(challenge)),
                }
            }
            (answer, _) => answer,
        }
    }
}

impl Login {
    /// The token to send now, refreshed if it ends soon or is `refused`. `None`: there is no login, or none of use any more.
    async fn token(&self, refused: Option<String>) -> Answer<Option<String>> {
        // A request that is dropped before its turn leaves nothing behind.
        let manager = Arc::clone(&self.manager).lock_owned().await;
        if self.refreshes.is_closed() {
            return Err(AuthError::InternalError("the daemon stops".to_owned()).into());
        }
        let asking = self.refreshes.spawn(async move {
            let refreshed = async {
                let token = manager.get_access_token().await?;
                if refused.is_none_or(|refused| refused != token) {
                    return Ok(token);
                }
                let refreshed = manager.refresh_token().await?;
                access_token(&refreshed).ok_or(AuthError::AuthorizationRequired)
            };
            timeout(SERVERS_MAX, refreshed)
                .await
                .unwrap_or_else(|_| Err(late()))
        });
        let ended = |error| Err(AuthError::InternalError(format!("{error}")));
        match asking.await.unwrap_or_else(ended) {
            Ok(token) => Ok(Some(token)),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }
}

fn late() -> AuthError {
    let seconds = SERVERS_MAX.as_secs();
    AuthError::TokenRefreshFailed(format!("no answer within {seconds} s"))
}

impl StreamableHttpClient for HttpClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answer<StreamableHttpPostResponse> {
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
    ) -> Answer<StreamableHttpPostResponse> {
        self.sent(auth_header, |client, token| {
            client
                .post_message_with_max_sse_event_size(
                    Arc::clone(&uri),
                    message.clone(),
                    session_id.clone(),
                    token,
                    custom_headers.clone(),
                    max_sse_event_size,
                )
                .boxed()
        })
        .await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answer<()> {
        self.sent(auth_header, |client, token| {
            client
                .delete_session(
                    Arc::clone(&uri),
                    Arc::clone(&session_id),
                    token,
                    custom_headers.clone(),
                )
                .boxed()
        })
        .await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Answer<BoxedSseResponse> {
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
    ) -> Answer<BoxedSseResponse> {
        self.sent(auth_header, |client, token| {
            client
                .get_stream_with_max_sse_event_size(
                    Arc::clone(&uri),
                    session_id.clone(),
                    last_event_id.clone(),
                    token,
                    custom_headers.clone(),
                    max_sse_event_size,
                )
                .boxed()
        })
        .await
    }
}
