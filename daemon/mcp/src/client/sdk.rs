//! Connecting by the official SDK.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RunningService};
use rmcp::transport::StreamableHttpClientTransport;

use super::connection::{Route, SdkConnection};
use super::handler::Handler;
use super::http_session::{HttpSession, SessionClient};
use super::oauth::{HttpClient, Logins};
use super::stdio::{Program, Programs};
use super::{Connect, ConnectError, ConnectRequest, Connection, http, oauth, stdio};
use crate::config::{ServerConfig, Transport};

/// Connects by the official SDK.
pub struct SdkConnector {
    /// `None`: there is no directory for temporary files, and no program can be started.
    pub programs: Option<Programs>,
    /// The logins to servers over HTTP.
    pub logins: Arc<Logins>,
}

impl Connect for SdkConnector {
    fn connect(
        &self,
        request: ConnectRequest,
    ) -> BoxFuture<'static, Result<Arc<dyn Connection>, ConnectError>> {
        let (programs, logins) = (self.programs.clone(), Arc::clone(&self.logins));
        async move {
            let handler = Handler {
                log: Arc::clone(&request.log),
                cwd: request.cwd.clone(),
                shared: Arc::default(),
            };
            let server = request.config.name.clone();
            let shared = Arc::clone(&handler.shared);
            match &request.config.transport {
                Transport::Stdio { .. } => {
                    let no_dir = || "there is no directory for temporary files".to_owned();
                    let programs = programs.ok_or_else(no_dir)?;
                    let (program, service) = over_stdio(&handler, &programs, &request).await?;
                    let route = Route::Program(program);
                    let made = SdkConnection::new(server, service, route, shared);
                    Ok(Arc::new(made.await) as Arc<dyn Connection>)
                }
                Transport::Http { url, headers } => {
                    let address = (url.as_str(), headers);
                    let session = Arc::default();
                    let place = (&request.config, &session);
                    let service = over_http(&handler, place, address, &logins).await?;
                    let login = (!oauth::has_authorization(headers))
                        .then_some((logins, request.config.clone()));
                    let route = Route::Http { session, login };
                    let made = SdkConnection::new(server, service, route, shared);
                    Ok(Arc::new(made.await) as Arc<dyn Connection>)
                }
            }
        }
        .boxed()
    }
}

/// The handshakes in the order in which they are tried. Nearly all servers know the first one, and many of those that
/// know no other exit when something else comes first. Only servers of the newest protocol alone refuse it.
fn handshakes() -> [ClientLifecycleMode; 2] {
    [
        ClientLifecycleMode::Initialize,
        ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::LATEST],
        },
    ]
}

/// Starts a program and connects to it; once more if it refuses the first handshake.
async fn over_stdio(
    handler: &Handler,
    programs: &Programs,
    request: &ConnectRequest,
) -> Result<(Program, RunningService<RoleClient, Handler>), ConnectError> {
    let mut refusal = None;
    for handshake in handshakes() {
        let mut program = stdio::start(programs, request).await?;
        let io = program.take_io();
        let io = io.ok_or_else(|| "its pipes are gone".to_owned())?;
        let serving = handler.clone().serve_with_lifecycle(io, handshake);
        let (was_refused, reason) = tokio::select! {
            // What it said comes before that it ended.
            biased;
            served = serving => match served {
                Ok(service) => return Ok((program, service)),
                Err(error) => (http::handshake_refused(&error), http::handshake_cause(&error)),
            },
            reason = program.ended() => (false, reason),
        };
        if refusal.is_none() && was_refused {
            refusal = Some(reason);
            continue;
        }
        if refusal.is_none() {
            // That it has ended says more than that its pipe is closed.
            let ended = tokio::time::timeout(Duration::from_millis(500), program.ended());
            let reason = ended.await.unwrap_or(reason);
            refusal = Some(program.explained(reason));
        }
        break;
    }
    Err(refusal.unwrap_or_default().into())
}

/// Connects over HTTP, with the login to the server if its entry brings no authorization.
async fn over_http(
    handler: &Handler,
    (server, session): (&ServerConfig, &Arc<HttpSession>),
    (url, headers): (&str, &BTreeMap<String, String>),
    logins: &Arc<Logins>,
) -> Result<RunningService<RoleClient, Handler>, ConnectError> {
    let brings_own = oauth::has_authorization(headers);
    let mut refusal = None;
    for handshake in handshakes() {
        let (client, config) = http::transport(url, headers)?;
        let handler = handler.clone();
        let client = match brings_own {
            true => HttpClient::without_login(client),
            false => logins.authorized(server, client).await?,
        };
        let client = SessionClient::new(client, Arc::clone(session));
        let transport = StreamableHttpClientTransport::with_client(client, config);
        let served = handler.serve_with_lifecycle(transport, handshake).await;
        let error = match served {
            Ok(service) => return Ok(service),
            Err(error) if !brings_own && http::start_wants_login(&error) => {
                return Err(ConnectError::NeedsLogin);
            }
            Err(error) => error,
        };
        let is_final = refusal.is_some() || !http::handshake_refused(&error);
        // The first reason is that of the handshake that most servers know.
        refusal.get_or_insert_with(|| http::reason(url, &error));
        if is_final {
            break;
        }
    }
    Err(refusal.unwrap_or_default().into())
}
