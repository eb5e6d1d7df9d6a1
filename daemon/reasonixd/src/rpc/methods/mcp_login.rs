//! `mcp.login`, `mcp.login_finish` and `mcp.logout`: the logins to MCP servers.
//!
//! The client opens the browser and listens for its redirect: it is with the user, and the daemon opens no port. The daemon
//! keeps the login's secrets and gets the tokens, so no client ever has them.

use std::path::PathBuf;
use std::sync::Arc;

use contract::Secret;
use mcp::{LoginError, Logout, ServerConfig, Transport};
use proto::params::mcp::{
    LoginFinishParams, LoginOutput, LoginParams, LogoutOutput, McpServer, Revocation, ServerParams,
};
use proto::{ErrorName, Failure};

use super::mcp::{find, not_from_tools, shown};
use crate::daemon::Daemon;
use crate::rpc::peer::Peer;
use session::tasks::blocking;

/// A server, and the same with its variables replaced: that is where a login goes.
struct Target {
    config: ServerConfig,
    expanded: ServerConfig,
    cwd: PathBuf,
}

async fn target(
    daemon: &Arc<Daemon>,
    name: String,
    cwd: Option<String>,
) -> Result<Target, Failure> {
    let daemon = Arc::clone(daemon);
    blocking(move || {
        let (config, cwd) = find(&daemon, &ServerParams { name, cwd })?;
        if let Transport::Stdio { .. } = config.transport {
            return Err(Failure::new(
                ErrorName::NotAllowed,
                format!(
                    "The MCP server `{}` is a program, and programs have no login.",
                    config.name
                ),
                "Give it its keys with `env` in its entry, or log in with the program itself.",
            ));
        }
        let expanded = expanded(&config).map_err(|reason| failed(&config.name, &reason))?;
        Ok(Target {
            config,
            expanded,
            cwd,
        })
    })
    .await?
}

fn expanded(config: &ServerConfig) -> Result<ServerConfig, String> {
    config.expanded(&|name| std::env::var(name).ok())
}

fn failed(name: &str, reason: &str) -> Failure {
    Failure::new(
        ErrorName::NotAllowed,
        format!(
            "The login to the MCP server `{name}` failed: {}.",
            contract::scrub(reason).trim_end_matches('.')
        ),
        format!("Fix this first, then run `reasonix mcp login {name}` again."),
    )
}

pub async fn begin(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: LoginParams,
) -> Result<LoginOutput, Failure> {
    not_from_tools(&peer)?;
    let name = params.name.clone();
    let target = target(&daemon, params.name, params.cwd).await?;
    let begun = daemon
        .mcp_logins
        .begin(&target.expanded, &params.redirect_uri)
        .await;
    let begun = begun.map_err(|reason| failed(&name, &reason))?;
    Ok(LoginOutput {
        authorization_url: begun.authorization_url,
        seconds: begun.limit.as_secs(),
    })
}

pub async fn finish(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: LoginFinishParams,
) -> Result<McpServer, Failure> {
    not_from_tools(&peer)?;
    let name = params.name.clone();
    let redirected = Secret::new(params.redirected);
    let target = target(&daemon, params.name, params.cwd).await?;
    let finished = daemon
        .mcp_logins
        .finish(&target.expanded, redirected.expose())
        .await;
    match finished {
        Ok(()) => {}
        Err(LoginError::Failed(reason)) => return Err(failed(&name, &reason)),
        Err(LoginError::OtherLogin) => {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                "That address does not belong to a login that waits.",
                format!(
                    "Give the whole address that the browser ended at, with its `code` and `state`; or begin again with `reasonix mcp login {name}`."
                ),
            ));
        }
    }
    let Target { config, cwd, .. } = target;
    daemon.mcp.restart_all(&config);
    let server = daemon.mcp.server(&config, &cwd);
    // Why it is not ready is part of its state.
    let _ = server.connection().await;
    blocking(move || shown(&daemon, &config, Some(&server))).await
}

pub async fn logout(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: ServerParams,
) -> Result<LogoutOutput, Failure> {
    not_from_tools(&peer)?;
    let Target {
        config, expanded, ..
    } = target(&daemon, params.name, params.cwd).await?;
    let done = daemon.mcp_logins.log_out(&expanded).await;
    let revocation = match done.map_err(|reason| failed(&config.name, &reason))? {
        Logout::NoLogin => return Ok(LogoutOutput::default()),
        Logout::Deleted(revocation) => revocation,
    };
    daemon.mcp.restart_all(&config);
    let (revocation, reason) = match revocation {
        mcp::Revocation::Done => (Revocation::Done, None),
        mcp::Revocation::Unsupported => (Revocation::Unsupported, None),
        mcp::Revocation::Failed(reason) => (Revocation::Failed, Some(contract::scrub(&reason))),
    };
    Ok(LogoutOutput {
        removed: true,
        revocation: Some(revocation),
        reason,
    })
}

/// Deletes the login of a server that is not configured any more.
pub(super) async fn forget(daemon: &Daemon, config: &ServerConfig) {
    let has_login = matches!(config.transport, Transport::Http { .. });
    if let (true, Ok(expanded)) = (has_login, expanded(config)) {
        // One that brings its own authorization has none.
        let _ = daemon.mcp_logins.log_out(&expanded).await;
        daemon.mcp.restart_all(config);
    }
}
