//! Connecting by the official SDK.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;

use super::connection::{Route, SdkConnection};
use super::handler::Handler;
use super::http_session::{HttpSession, SessionClient};
use super::oauth::Logins;
use super::stdio::Programs;
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
                    let mut program = stdio::start(&programs, &request).await?;
                    let io = program.take_io();
                    let io = io.ok_or_else(|| "its pipes are gone".to_owned())?;
                    let serving = handler.serve_with_lifecycle(io, any_lifecycle());
                    let service = tokio::select! {
                        service = serving => service.map_err(|error| http::handshake_cause(&error)),
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
    (server, session): (&ServerConfig, &Arc<HttpSession>),
    (url, headers): (&str, &BTreeMap<String, String>),
    logins: &Arc<Logins>,
) -> Result<RunningService<RoleClient, Handler>, ConnectError> {
    let brings_own = oauth::has_authorization(headers);
    let mut lifecycle = any_lifecycle();
    loop {
        let (client, config) = http::transport(url, headers)?;
        let (handler, tried) = (handler.clone(), lifecycle.clone());
        let served = if brings_own {
            let client = SessionClient::new(client, Arc::clone(session));
            let transport = StreamableHttpClientTransport::with_client(client, config);
            handler.serve_with_lifecycle(transport, tried).await
        } else {
            let client = logins.authorized(server, client).await?;
            let client = SessionClient::new(client, Arc::clone(session));
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
