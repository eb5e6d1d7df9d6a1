//! `daemon.*`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use proto::hello::{HelloOutput, HelloParams, Role};
use proto::params::Empty;
use proto::params::daemon::{ShutdownParams, StatusOutput};
use proto::{ErrorName, Failure, PROTOCOL};

use crate::daemon::Daemon;
use crate::rpc::peer::{Origin, Peer};
use session::tasks::blocking;

/// How long a client waits for what the entries of MCP servers want.
const SERVERS_MAX: Duration = Duration::from_secs(1);

pub async fn hello(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: HelloParams,
) -> Result<HelloOutput, Failure> {
    let protocol = common_protocol(params.protocol)?;
    if peer.origin == Origin::Sandboxed {
        return Err(Failure::new(
            ErrorName::NotAllowed,
            "The daemon refuses connections from sandboxed commands and their processes.",
            "Call it from your own terminal or from a hook.",
        ));
    }
    let role = role_of(&daemon, &peer, params.role)?;
    // Only who may drive a session may bring it a key.
    let mut credentials = if role == Role::Drive {
        params.credentials.clone()
    } else {
        Default::default()
    };
    let cwd = params.cwd.clone();
    peer.greet(params, role);
    let of_servers = variables_of_servers(&daemon, cwd, credentials.clone()).await;
    let key_variables = daemon.key_variables();
    let wanted = wanted_keys(&daemon);
    // A key is blotted out of every text. A variable that only servers need is one if its name or value says so.
    credentials.retain(|name, _| {
        !of_servers.needed.contains(name) || key_variables.contains(name) || wanted.contains(name)
    });
    daemon.supervisor.offer(credentials).await;
    Ok(HelloOutput {
        daemon: daemon.info(),
        protocol,
        capabilities: vec!["sessions".into(), "interactions".into(), "replay".into()],
        role,
        home: daemon.home.root().to_string_lossy().into_owned(),
        key_variables,
        wanted_keys: wanted_keys(&daemon)
            .into_iter()
            .chain(of_servers.wanted)
            .collect(),
        passed_variables: daemon.settings(None).settings.pass,
    })
}

/// The newest protocol version that a client with these versions and the daemon speak.
fn common_protocol([oldest, newest]: [u32; 2]) -> Result<u32, Failure> {
    let [ours_oldest, ours_newest] = PROTOCOL;
    let common = newest.min(ours_newest);
    if common >= oldest.max(ours_oldest) {
        return Ok(common);
    }
    let who = if newest < ours_oldest {
        "the client"
    } else {
        "the daemon"
    };
    Err(Failure::new(
        ErrorName::ProtocolMismatch,
        format!(
            "No protocol version in common: the client speaks {oldest} to {newest}, the daemon {ours_oldest} to {ours_newest}."
        ),
        format!("Upgrade {who}; stop a daemon that is too old with `reasonix daemon stop`."),
    )
    .with("client", vec![oldest, newest])
    .with("daemon", vec![ours_oldest, ours_newest]))
}

/// The role of a connection. A second hello changes nothing: the connection keeps its role.
fn role_of(daemon: &Daemon, peer: &Peer, wanted: Role) -> Result<Role, Failure> {
    if let Some(role) = peer.role() {
        return Ok(role);
    }
    // A hook, server or unheld tool that got hold of the socket may look, and no more (I23).
    let role = if peer.descends() { Role::Watch } else { wanted };
    daemon.gate.greet(role)?;
    Ok(role)
}

/// Variables that entries of MCP servers name.
#[derive(Default)]
struct ServerVariables {
    /// Those that a client is to bring.
    wanted: BTreeSet<String>,
    /// All of them.
    needed: BTreeSet<String>,
}

/// Brings variables to the MCP servers of a directory, and returns those that they name. None if the disk does not answer
/// soon: that keeps nobody out.
async fn variables_of_servers(
    daemon: &Arc<Daemon>,
    cwd: Option<String>,
    brought: BTreeMap<String, String>,
) -> ServerVariables {
    let daemon = Arc::clone(daemon);
    let reading = blocking(move || {
        let loaded = daemon.settings(cwd.as_deref().map(Path::new));
        let servers = loaded.servers.servers;
        daemon.mcp.bring_variables(&servers, &brought);
        let needed = servers.iter().flat_map(|server| server.needed_variables());
        ServerVariables {
            wanted: daemon.mcp.wanted_variables(&servers),
            needed: needed.collect(),
        }
    });
    let read = tokio::time::timeout(SERVERS_MAX, reading).await;
    read.ok().and_then(Result::ok).unwrap_or_default()
}

/// The keys that sessions wait for. While sessions are read after a start all that could be: they ask in a moment.
fn wanted_keys(daemon: &Daemon) -> BTreeSet<String> {
    let mut wanted = daemon.supervisor.wanted_keys();
    if daemon.supervisor.is_recovering() {
        wanted.extend(daemon.key_variables());
    }
    wanted
}

pub async fn status(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    _: Empty,
) -> Result<StatusOutput, Failure> {
    let info = daemon.info();
    let mut problems = daemon.problems.list();
    problems.extend(daemon.settings(None).problems);
    Ok(StatusOutput {
        pid: info.pid,
        version: info.version.clone(),
        daemon: info,
        uptime_s: daemon.started.elapsed().as_secs(),
        home: daemon.home.root().to_string_lossy().into_owned(),
        socket: daemon.socket.to_string_lossy().into_owned(),
        memory_bytes: crate::doctor::resident_bytes(),
        sessions: daemon.supervisor.counts().await?,
        clients: daemon.clients.list(),
        confinement: daemon.confinement(),
        problems,
    })
}

pub async fn shutdown(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ShutdownParams,
) -> Result<Empty, Failure> {
    daemon.ask_shutdown(params.mode)?;
    Ok(Empty {})
}
