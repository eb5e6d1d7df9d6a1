//! `mcp.*`: the MCP servers of a directory, and the user's own list.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use mcp::{ConfigScope, Server, ServerConfig, ServerState, Servers};
use proto::params::Empty;
use proto::params::mcp::{
    AddParams, ListOutput, ListParams, LogsOutput, McpResource, McpServer, RemoveParams,
    ResourcesOutput, RestartParams, ServerParams,
};
use proto::{ErrorName, Failure, Pid};
use serde_json::{Map, Value, json};

use crate::daemon::Daemon;
use crate::rpc::peer::Peer;
use crate::settings::{Project, read, write};
use session::tasks::blocking;

/// Lines of a log.
const LINES: usize = 400;

pub async fn list(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ListOutput, Failure> {
    blocking(move || listed(&daemon, params.cwd.as_deref())).await
}

fn listed(daemon: &Daemon, cwd: Option<&str>) -> ListOutput {
    let configured = configured(daemon, cwd);
    let untrusted = untrusted_problems(daemon, &configured);
    let Configured { servers, cwd, .. } = configured;
    let shown = servers.servers.iter().map(|config| {
        let server = daemon.mcp.find(config, &cwd);
        shown(daemon, config, server.as_deref())
    });
    ListOutput {
        servers: shown.collect(),
        problems: untrusted
            .into_iter()
            .chain(servers.problems.clone())
            .collect(),
    }
}

/// Names of servers in a sentence.
const NAMES_MAX: usize = 10;

/// That the servers of a project are not used: a sentence for each file.
fn untrusted_problems(daemon: &Daemon, configured: &Configured) -> Vec<String> {
    let untrusted = &configured.untrusted;
    let mut files: Vec<_> = untrusted.iter().map(|server| &server.origin).collect();
    files.dedup();
    let sentence = |file: &&PathBuf| {
        let of_file = untrusted.iter().filter(|server| server.origin == **file);
        let names: Vec<_> = of_file.map(|server| &*server.name).collect();
        let mut shown = names
            .iter()
            .take(NAMES_MAX)
            .copied()
            .collect::<Vec<_>>()
            .join(", ");
        if names.len() > NAMES_MAX {
            shown.push_str(", …");
        }
        let (origin, file, count) = (file, file.display(), names.len());
        match configured.has_changed(daemon, origin) {
            true => format!(
                "{file}: it has changed since it was trusted, so its MCP servers are not used ({count}): {shown}. `reasonix trust` shows what they run, and trusts them."
            ),
            false => format!(
                "{file}: not trusted yet, so its MCP servers are not used ({count}): {shown}. `reasonix trust` shows what they run, and trusts them."
            ),
        }
    };
    files.iter().map(sentence).collect()
}

/// How long servers may take to list their resources.
const RESOURCES_WAIT: Duration = Duration::from_secs(3);
/// Resources of one server.
const RESOURCES_MAX: usize = 500;

pub async fn resources(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ListParams,
) -> Result<ResourcesOutput, Failure> {
    let asked = Arc::clone(&daemon);
    let ready = blocking(move || {
        let Configured { servers, cwd, .. } = configured(&asked, params.cwd.as_deref());
        let enabled = servers.servers.iter().filter(|config| config.enabled);
        let found = enabled.filter_map(|config| asked.mcp.find(config, &cwd));
        let ready = found.filter(|server| server.state().word() == "ready");
        ready.collect::<Vec<_>>()
    })
    .await?;
    let listing = ready.iter().map(|server| async move {
        let listed = tokio::time::timeout(RESOURCES_WAIT, async {
            let connection = server.connection().await.ok()?;
            match connection.has_resources() {
                true => connection.list_resources().await.ok(),
                false => None,
            }
        });
        // One that does not answer has none to offer.
        let mut resources = listed.await.ok().flatten().unwrap_or_default();
        resources.truncate(RESOURCES_MAX);
        let of_server = resources.into_iter().map(|resource| McpResource {
            server: server.config.name.clone(),
            uri: resource.uri,
            name: resource.name,
        });
        of_server.collect::<Vec<_>>()
    });
    let mut resources = futures::future::join_all(listing).await.concat();
    resources.sort();
    Ok(ResourcesOutput { resources })
}

/// The servers of a directory.
struct Configured {
    servers: Servers,
    /// Those that do not count, because their project is not trusted.
    untrusted: Vec<ServerConfig>,
    project: Option<Project>,
    /// Where they work.
    cwd: PathBuf,
}

impl Configured {
    /// Whether the user has trusted another content of this file of the project than that of now.
    fn has_changed(&self, daemon: &Daemon, file: &Path) -> bool {
        let project = self.project.as_ref();
        project.is_some_and(|project| project.servers_changed(daemon.home.root(), file))
    }
}

fn configured(daemon: &Daemon, cwd: Option<&str>) -> Configured {
    let cwd = cwd.map(PathBuf::from);
    let loaded = daemon.settings(cwd.as_deref());
    Configured {
        servers: loaded.servers,
        untrusted: loaded.untrusted_servers,
        project: loaded.project,
        cwd: cwd.unwrap_or_else(|| daemon.user_home.clone()),
    }
}

pub(super) fn shown(daemon: &Daemon, config: &ServerConfig, server: Option<&Server>) -> McpServer {
    let state = server.map(Server::state);
    let word = match (&state, config.enabled) {
        (_, false) => "disabled",
        (Some(state), true) => state.word(),
        (None, true) => "stopped",
    };
    let listing = match server {
        Some(server) => server.listing(),
        None => daemon.mcp.kept_listing(config).map(Arc::new),
    };
    let tools = listing.iter().flat_map(|listing| &listing.tools);
    McpServer {
        name: config.name.clone(),
        scope: match config.scope {
            ConfigScope::User => "user",
            ConfigScope::Project => "project",
        }
        .to_owned(),
        source: config.origin.display().to_string(),
        target: config.shown_target(),
        sandbox: config.sandbox,
        state: word.to_owned(),
        reason: state.and_then(|state| reason(&state, config)),
        callback_port: config.oauth.as_ref().and_then(|oauth| oauth.callback_port),
        tools: tools.map(|tool| tool.name.clone()).collect(),
        problems: listing
            .iter()
            .flat_map(|listing| listing.problems.clone())
            .collect(),
    }
}

/// A start that takes longer is reported.
const SLOW_START: Duration = Duration::from_secs(2);

/// Why a server does not work.
fn reason(state: &ServerState, config: &ServerConfig) -> Option<String> {
    if let ServerState::Starting { since } = state {
        let (waited, limit) = (since.elapsed(), config.startup_timeout.as_secs());
        let words = || format!("no answer for {} s (limit {limit} s)", waited.as_secs());
        return (waited >= SLOW_START).then(words);
    }
    Some(contract::scrub(state.reason()?))
}

/// The server of this name.
pub(super) fn find(
    daemon: &Daemon,
    params: &ServerParams,
) -> Result<(ServerConfig, PathBuf), Failure> {
    let configured = configured(daemon, params.cwd.as_deref());
    let (servers, untrusted) = (&configured.servers, &configured.untrusted);
    let known: Vec<_> = servers.servers.iter().map(|server| &*server.name).collect();
    let hint = match (known.as_slice(), servers.problems.first()) {
        // The file cannot be read: it may be there.
        ([], Some(problem)) => problem.clone(),
        ([], None) => "No server is configured here; `reasonix mcp add` adds one.".to_owned(),
        (known, _) => format!("The servers are: {}.", known.join(", ")),
    };
    let found = servers
        .servers
        .iter()
        .find(|server| server.name == params.name);
    let found = found.cloned().ok_or_else(|| {
        if let Some(server) = untrusted.iter().find(|server| server.name == params.name) {
            let file = server.origin.display();
            let name = &server.name;
            let text = match configured.has_changed(daemon, &server.origin) {
                true => format!(
                    "The MCP server `{name}` is not started: {file} has changed since it was trusted."
                ),
                false => {
                    format!("The MCP server `{name}` is not started: {file} is not trusted yet.")
                }
            };
            let hint = "`reasonix trust` shows what it runs, and trusts it.";
            return Failure::new(ErrorName::NotAllowed, text, hint);
        }
        if let Some(problem) = servers.ignored.get(&params.name) {
            let text = format!("The entry of the MCP server `{}` is not valid.", params.name);
            return Failure::new(ErrorName::InvalidParams, text, problem.clone());
        }
        let text = format!("No MCP server is named `{}`.", params.name);
        Failure::new(ErrorName::NotFound, text, hint)
    });
    Ok((found?, configured.cwd))
}

pub async fn test(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: ServerParams,
) -> Result<McpServer, Failure> {
    not_from_tools(&peer)?;
    let asked = Arc::clone(&daemon);
    let (config, cwd) = blocking(move || find(&asked, &params)).await??;
    let server = daemon.mcp.server(&config, &cwd);
    let checked = server.check().await;
    let mut shown = blocking(move || shown(&daemon, &config, Some(&server))).await?;
    if let (Err(reason), "ready") = (checked, &*shown.state) {
        shown.state = "unreachable".to_owned();
        shown.reason = Some(contract::scrub(&reason));
    }
    Ok(shown)
}

pub async fn restart(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: RestartParams,
) -> Result<Empty, Failure> {
    not_from_tools(&peer)?;
    let (asked, session) = (Arc::clone(&daemon), params.session);
    let RestartParams { name, cwd, .. } = params;
    let wanted = ServerParams { name, cwd };
    let (config, cwd) = blocking(move || find(&asked, &wanted)).await??;
    let own = daemon.mcp.of_single_sessions(&config, session);
    own.iter().for_each(|server| server.ask_restart());
    match (daemon.mcp.find(&config, &cwd), session) {
        // That session has a process of its own, or nobody shares one.
        (_, Some(_)) if !own.is_empty() => {}
        _ if !config.shared && own.is_empty() => return Err(no_process(&config.name, session)),
        _ if !config.shared => {}
        (Some(server), _) => server.ask_restart(),
        (None, _) => drop(daemon.mcp.server(&config, &cwd)),
    }
    Ok(Empty {})
}

/// The failure of a restart of a server that is not shared, and has no process.
fn no_process(name: &str, session: Option<Pid>) -> Failure {
    match session {
        Some(session) => Failure::new(
            ErrorName::NotFound,
            format!("Session {session} has no process of the MCP server `{name}`."),
            "It is configured since: `/reload` takes it up.",
        ),
        None => Failure::new(
            ErrorName::NotFound,
            format!("No session has a process of the MCP server `{name}`."),
            "It is not shared (`shared = false`): each session starts it for itself.",
        ),
    }
}

pub async fn logs(
    daemon: Arc<Daemon>,
    _peer: Arc<Peer>,
    params: ServerParams,
) -> Result<LogsOutput, Failure> {
    blocking(move || {
        let (config, cwd) = find(&daemon, &params)?;
        let server = daemon.mcp.find(&config, &cwd);
        let lines = server
            .map(|server| server.log.tail(LINES))
            .unwrap_or_default();
        Ok(LogsOutput {
            lines: lines.iter().map(|line| contract::scrub(line)).collect(),
        })
    })
    .await?
}

pub async fn add(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: AddParams,
) -> Result<ListOutput, Failure> {
    not_from_tools(&peer)?;
    blocking(move || {
        let file = daemon.home.root().join("mcp.json");
        let entry = json!({"mcpServers": {&*params.name: params.entry.clone()}});
        let checked = Servers::from_json(&entry.to_string(), &file, ConfigScope::User);
        if let Some(problem) = checked.problems.first() {
            return Err(Failure::new(
                ErrorName::InvalidParams,
                problem.clone(),
                "Nothing was changed.",
            ));
        }
        change(&file, |servers| {
            if servers.contains_key(&params.name) {
                return Err(Failure::new(
                    ErrorName::InvalidParams,
                    format!(
                        "The MCP server `{}` already exists in {}.",
                        params.name,
                        file.display()
                    ),
                    format!("Remove it first: `reasonix mcp remove {}`.", params.name),
                ));
            }
            servers.insert(params.name.clone(), Value::Object(params.entry.clone()));
            Ok(())
        })?;
        Ok(listed(&daemon, None))
    })
    .await?
}

pub async fn remove(
    daemon: Arc<Daemon>,
    peer: Arc<Peer>,
    params: RemoveParams,
) -> Result<ListOutput, Failure> {
    not_from_tools(&peer)?;
    let from = Arc::clone(&daemon);
    let removed = blocking(move || {
        let file = from.home.root().join("mcp.json");
        let mut servers = configured(&from, None).servers.servers.into_iter();
        let removed = servers.find(|server| server.name == params.name && server.origin == file);
        change(&file, |servers| match servers.shift_remove(&params.name) {
            Some(_) => Ok(()),
            None => Err(Failure::new(
                ErrorName::NotFound,
                format!("{} has no MCP server `{}`.", file.display(), params.name),
                "Servers of `[[plugins]]` and of projects are removed in their files.",
            )),
        })?;
        Ok::<_, Failure>(removed)
    })
    .await??;
    if let Some(removed) = removed {
        super::mcp_login::forget(&daemon, &removed).await;
    }
    blocking(move || {
        daemon.mcp.withdraw_refused();
        listed(&daemon, None)
    })
    .await
}

/// Changes the servers of the user's file. All else in it stays.
fn change(
    file: &Path,
    change: impl FnOnce(&mut Map<String, Value>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let unusable = |what: String| {
        let hint = "Nothing was changed. Correct the file, or move it away.";
        Failure::new(ErrorName::InvalidConfig, what, hint)
    };
    let text = match read::following(file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => "{}".to_owned(),
        Err(error) => {
            return Err(unusable(format!(
                "{} cannot be read: {error}",
                file.display()
            )));
        }
    };
    let mut whole: Map<String, Value> = serde_json::from_str(&text)
        .map_err(|error| unusable(format!("{} is not valid: {error}", file.display())))?;
    let servers = whole.entry("mcpServers").or_insert_with(|| json!({}));
    let Value::Object(servers) = servers else {
        return Err(unusable(format!(
            "`mcpServers` of {} is not an object",
            file.display()
        )));
    };
    change(servers)?;
    let text = serde_json::to_string_pretty(&whole).unwrap_or_default();
    write::replace_own(file, &format!("{text}\n")).map_err(|error| {
        let text = format!("{} cannot be written: {error}", file.display());
        Failure::new(
            ErrorName::Storage,
            text,
            "Check the disk and the file's permissions.",
        )
    })
}

/// What a tool has started changes no list of servers, and starts none (I28).
pub(super) fn not_from_tools(peer: &Peer) -> Result<(), Failure> {
    if !peer.descends() {
        return Ok(());
    }
    Err(Failure::new(
        ErrorName::NotAllowed,
        "A process started by a tool cannot start or change MCP servers.",
        "Do this in your own terminal.",
    ))
}
