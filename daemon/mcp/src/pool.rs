//! All servers of the daemon: one process per configuration, directory and environment, shared by sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use contract::tool::Cancel;
use contract::{Secret, Tool};
use proto::Pid;
use proto::secret::{secret_name, secret_value};
use sha2::{Digest as _, Sha256};

use crate::admission::Admission;
use crate::client::Connect;
use crate::config::{ConfigScope, ReadOnlyPolicy, ServerConfig, Transport};
use crate::listing::Listing;
use crate::pins::ApprovedDefinitions;
use crate::server::{Server, StartPlan};
use crate::tool::ServerTool;

/// How long a new session waits for the tools of servers that never listed any. Once for each configuration: a server that
/// hangs delays no second session.
const FIRST_LISTING: Duration = Duration::from_secs(2);
/// How long a server that no session holds is kept.
const UNUSED: Duration = Duration::from_secs(600);
/// How often unused servers are looked for.
const LOOK: Duration = Duration::from_secs(30);
/// What the pool needs.
pub struct PoolOptions {
    pub connect: Arc<dyn Connect>,
    /// Where listings and approved definitions are kept.
    pub dir: PathBuf,
    pub runtime: tokio::runtime::Handle,
    pub admission: Arc<dyn Admission>,
}

/// All servers.
pub struct Pool {
    options: PoolOptions,
    approved: Arc<ApprovedDefinitions>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    servers: BTreeMap<String, PooledServer>,
    /// Numbers servers that are not shared.
    next: u64,
    /// Variables that clients have brought, by whose entries name them.
    brought: BTreeMap<VariableKey, Brought>,
    /// Servers that one session alone holds: they end when it lets them go.
    mounted: Vec<(Weak<Server>, Vec<Secret>)>,
}

/// A variable of the user's own entries, or of those of a project's file: one project's value is no other's.
type VariableKey = (Option<PathBuf>, String);

/// The value of a variable.
struct Brought {
    value: String,
    /// The same, blotted out of logs and messages, if the variable is called like a secret.
    _secret: Option<Secret>,
}

struct PooledServer {
    server: Arc<Server>,
    /// Texts that are blotted out of logs and messages as long as the server is there.
    _secrets: Vec<Secret>,
}

/// The tools of servers for one session.
#[derive(Default)]
pub struct SessionTools {
    pub tools: Vec<Arc<dyn Tool>>,
    /// What the user should know.
    pub notices: Vec<String>,
}

/// How a session gets its tools.
#[derive(Clone, Copy, Debug)]
pub struct ToolsChoice {
    /// What read-only sessions may call, unless a server's entry says otherwise.
    pub policy: ReadOnlyPolicy,
    /// More tools than this are found by `tool_search`.
    pub deferred_above: usize,
    pub first: FirstListing,
}

/// Whether a session waits for servers whose tools are not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstListing {
    /// For a moment: the session is new, and its user expects the tools that they have just configured.
    Wait,
    /// Not at all.
    Skip,
}

impl Pool {
    /// Without any server.
    #[must_use]
    pub fn new(options: PoolOptions) -> Arc<Self> {
        let pool = Arc::new(Self {
            approved: Arc::new(ApprovedDefinitions::open(options.dir.clone())),
            options,
            inner: Mutex::default(),
        });
        let weak = Arc::downgrade(&pool);
        pool.options.runtime.spawn(async move {
            loop {
                tokio::time::sleep(LOOK).await;
                let Some(pool) = weak.upgrade() else { return };
                pool.drop_unused();
                let withdrawing = tokio::task::spawn_blocking(move || pool.withdraw_refused());
                // A panic there is in the log.
                let _ = withdrawing.await;
            }
        });
        pool
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn drop_unused(&self) {
        let mut inner = self.lock();
        inner
            .mounted
            .retain(|(server, _)| server.strong_count() > 0);
        inner.servers.retain(|_, pooled| {
            let is_held = Arc::strong_count(&pooled.server) > 1;
            // One that is not shared is of no use to any other session.
            let is_kept = pooled.server.config.shared && pooled.server.used().elapsed() < UNUSED;
            is_held || is_kept
        });
    }

    /// The tools of these servers for a session in this directory. Starts the servers in the background. Blocks for a
    /// moment if asked to wait for first listings.
    #[must_use]
    pub fn session_tools(
        &self,
        configs: &[ServerConfig],
        cwd: &Path,
        choice: ToolsChoice,
    ) -> SessionTools {
        let mut found = SessionTools::default();
        let enabled = configs.iter().filter(|config| config.enabled);
        let servers: Vec<_> = enabled.map(|config| self.server(config, cwd)).collect();
        let due = match choice.first {
            FirstListing::Wait => Instant::now() + FIRST_LISTING,
            FirstListing::Skip => Instant::now(),
        };
        let mut listed = Vec::new();
        for server in servers {
            let name = &server.config.name;
            let due = match self.was_late(&server.config_hash) {
                true => Instant::now(),
                false => due,
            };
            match server.listing_until(due) {
                Some(listing) => listed.push((server, listing)),
                None => {
                    if choice.first == FirstListing::Wait {
                        self.note_late(&server.config_hash);
                    }
                    let state = server.state();
                    let reason = state.reason().unwrap_or("it has not answered yet");
                    found.notices.push(format!(
                        "The MCP server `{name}` gives this session no tools: {reason}. Sessions that start once it is ready have them; `reasonix mcp list` shows its state."
                    ));
                }
            }
        }
        self.add_tools(&mut found, listed, choice);
        found
    }

    /// The tools of these servers as they were listed last, to be looked at: starts nothing.
    #[must_use]
    pub fn known_tools(
        &self,
        configs: &[ServerConfig],
        cwd: &Path,
        choice: ToolsChoice,
    ) -> Vec<Arc<dyn Tool>> {
        let enabled = configs.iter().filter(|config| config.enabled);
        let listed = enabled.filter_map(|config| {
            let dormant = || {
                let reason = "it was only looked at".to_owned();
                self.start(config, cwd, Err(reason)).0
            };
            let server = self.find(config, cwd).unwrap_or_else(dormant);
            let listing = server.listing()?;
            Some((server, listing))
        });
        let mut found = SessionTools::default();
        self.add_tools(&mut found, listed.collect(), choice);
        found.tools
    }

    /// Starts servers for one session alone, one after the other, and waits until each is ready, or until it is cancelled.
    /// Blocks.
    ///
    /// # Errors
    /// One did not get ready: those before it were stopped. Why, as a text for the user.
    pub fn mount(
        &self,
        configs: &[ServerConfig],
        cwd: &Path,
        choice: ToolsChoice,
        cancel: &dyn Cancel,
    ) -> Result<SessionTools, String> {
        let mut mounted: Vec<Arc<Server>> = Vec::new();
        for config in configs {
            let config = config.for_one_session();
            let expanded = self.lock().expanded(&config);
            let (server, secrets) = self.start(&config, cwd, expanded);
            self.lock().mounted.push((Arc::downgrade(&server), secrets));
            let ready = self.block_on(async {
                tokio::select! {
                    ready = server.connection() => ready,
                    () = cancel.cancelled() => Err("it was stopped".to_owned()),
                }
            });
            // Those before it end when they are dropped here.
            ready.map_err(|reason| {
                format!("the MCP server `{}` did not start: {reason}", config.name)
            })?;
            mounted.push(server);
        }
        let mut found = SessionTools::default();
        let listed = mounted.into_iter().filter_map(|server| {
            let listing = server.listing()?;
            Some((server, listing))
        });
        let listed = listed.collect();
        self.add_tools(&mut found, listed, choice);
        Ok(found)
    }

    /// Adds the tools of servers with their listings.
    fn add_tools(
        &self,
        found: &mut SessionTools,
        listed: Vec<(Arc<Server>, Arc<Listing>)>,
        choice: ToolsChoice,
    ) {
        let count: usize = listed.iter().map(|(_, listing)| listing.tools.len()).sum();
        for (server, listing) in listed {
            found.notices.extend(listing.problems.iter().cloned());
            let policy = match server.config.scope {
                ConfigScope::User => server.config.read_only_policy.unwrap_or(choice.policy),
                ConfigScope::Project => choice.policy,
            };
            for tool in &listing.tools {
                found.tools.push(Arc::new(ServerTool::new(
                    Arc::clone(&server),
                    tool.clone(),
                    Arc::clone(&self.approved),
                    policy,
                    count > choice.deferred_above,
                )) as Arc<dyn Tool>);
            }
        }
    }

    /// Whether a session has already waited in vain for the tools of this configuration. The next ones do not wait.
    fn was_late(&self, config_hash: &str) -> bool {
        self.late_marker(config_hash).exists()
    }

    fn note_late(&self, config_hash: &str) {
        let marker = self.late_marker(config_hash);
        let (Some(dir), Some(name)) = (marker.parent(), marker.file_name()) else {
            return;
        };
        if let Err(error) = crate::disk::write_private(dir, &name.to_string_lossy(), b"") {
            tracing::warn!(%error, "sessions go on waiting for an MCP server that is slow");
        }
    }

    fn late_marker(&self, config_hash: &str) -> PathBuf {
        let listings = self.options.dir.join("listings");
        listings.join(format!("{config_hash}.late"))
    }

    /// The server of this configuration in this directory, if it was started.
    #[must_use]
    pub fn find(&self, config: &ServerConfig, cwd: &Path) -> Option<Arc<Server>> {
        let inner = self.lock();
        let servers = inner.servers.values().map(|pooled| &pooled.server);
        let is_it = |server: &&Arc<Server>| server.config == *config && server.cwd == cwd;
        // Of several that are not shared, the last one whose session has not exited.
        let found = servers.filter(is_it);
        found
            .max_by_key(|server| !server.is_resting())
            .map(Arc::clone)
    }

    /// Every server that somebody holds.
    fn all(&self) -> Vec<Arc<Server>> {
        let inner = self.lock();
        let pooled = inner.servers.values();
        let mounted = inner.mounted.iter();
        pooled
            .map(|pooled| Arc::clone(&pooled.server))
            .chain(mounted.filter_map(|(server, _)| server.upgrade()))
            .collect()
    }

    /// The servers of this entry that one session alone uses: of that session, or of all. Those whose sessions have exited
    /// are left out.
    #[must_use]
    pub fn of_single_sessions(
        &self,
        config: &ServerConfig,
        session: Option<Pid>,
    ) -> Vec<Arc<Server>> {
        let mut found = self.all();
        found.retain(|server| {
            let is_entry =
                server.config.name == config.name && server.config.origin == config.origin;
            let is_theirs = match (server.owner(), session) {
                (Some(owner), Some(session)) => owner == session,
                (owner, None) => owner.is_some(),
                (None, Some(_)) => false,
            };
            is_entry && is_theirs && !server.is_resting()
        });
        found
    }

    /// The processes of servers that answer, and the sessions of those that one session alone uses.
    #[must_use]
    pub fn processes(&self) -> BTreeMap<u32, Option<Pid>> {
        let all = self.all();
        let processes = all
            .iter()
            .filter_map(|server| Some((server.os_pid()?, server.owner())));
        processes.collect()
    }

    /// The tools of this configuration as some server listed them last.
    #[must_use]
    pub fn kept_listing(&self, config: &ServerConfig) -> Option<Listing> {
        Listing::load(&self.options.dir.join("listings"), &config.hash())
    }

    /// The server of this configuration in this directory, started if it is not there.
    #[must_use]
    pub fn server(&self, config: &ServerConfig, cwd: &Path) -> Arc<Server> {
        let mut inner = self.lock();
        let expanded = inner.expanded(config);
        let key = inner.own_key(key(config, &expanded, cwd), config);
        if let Some(pooled) = inner.servers.get(&key) {
            pooled.server.touch();
            pooled.server.readmit();
            return Arc::clone(&pooled.server);
        }
        let (server, secrets) = self.start(config, cwd, expanded);
        let pooled = PooledServer {
            server: Arc::clone(&server),
            _secrets: secrets,
        };
        inner.servers.insert(key, pooled);
        server
    }

    /// The variables that these entries need, and that have no value yet.
    #[must_use]
    pub fn wanted_variables(&self, configs: &[ServerConfig]) -> BTreeSet<String> {
        let inner = self.lock();
        let enabled = configs.iter().filter(|config| config.enabled);
        let wanted = enabled.flat_map(|config| inner.missing_variables(config));
        wanted.collect()
    }

    /// Takes the values of variables that these entries need from a client, and starts the servers of these that waited for
    /// them.
    pub fn bring_variables(&self, configs: &[ServerConfig], values: &BTreeMap<String, String>) {
        if values.is_empty() {
            return;
        }
        let mut inner = self.lock();
        for config in configs.iter().filter(|config| config.enabled) {
            for name in inner.missing_variables(config) {
                if let Some(value) = values.get(&name) {
                    let is_secret = is_secret(&name) || secret_value(value);
                    let secret = is_secret.then(|| Secret::new(value.clone()));
                    let brought = Brought {
                        value: value.clone(),
                        _secret: secret,
                    };
                    inner.brought.insert(variable_key(config, &name), brought);
                }
            }
        }
        let supplied = inner.supplied(configs);
        drop(inner);
        for (server, config) in supplied {
            server.supply(self.plan(Ok(config)), &self.options.runtime);
        }
    }

    /// Restarts the servers of this configuration, wherever they work: the user has logged in or out.
    pub fn restart_all(&self, config: &ServerConfig) {
        self.all()
            .iter()
            .filter(|server| server.config == *config && !server.is_resting())
            .for_each(|server| server.ask_restart());
    }

    /// Starts a server. Also returns its secrets, which are blotted out as long as they are kept.
    fn start(
        &self,
        config: &ServerConfig,
        cwd: &Path,
        expanded: Result<ServerConfig, String>,
    ) -> (Arc<Server>, Vec<Secret>) {
        let secrets = expanded.as_ref().map(secrets).unwrap_or_default();
        let plan = self.plan(expanded);
        let server = Server::start(config.clone(), cwd, plan, &self.options.runtime);
        (server, secrets)
    }

    fn plan(&self, expanded: Result<ServerConfig, String>) -> StartPlan {
        StartPlan {
            connect: Arc::clone(&self.options.connect),
            expanded,
            listings: self.options.dir.join("listings"),
            admission: Arc::clone(&self.options.admission),
        }
    }

    /// Waits on this thread, which may block, for what a server answers.
    pub fn block_on<F: Future>(&self, answer: F) -> F::Output {
        self.options.runtime.block_on(answer)
    }

    /// Stops the servers that may not run any more, and restarts those whose sandboxes have other settings. Called when trust ends or a server is removed, and every now and then,
    /// because users also edit files. Blocks.
    pub fn withdraw_refused(&self) {
        for server in self.all() {
            match server.refusal_now() {
                Some(reason) => server.withdraw(reason),
                None => server.renew_sandbox(),
            }
        }
    }
}

impl Inner {
    /// An entry with its variables replaced: by the daemon's own values, else by those that clients have brought.
    fn expanded(&self, config: &ServerConfig) -> Result<ServerConfig, String> {
        config.expanded(&|name| {
            let brought = || Some(self.brought.get(&variable_key(config, name))?.value.clone());
            std::env::var(name).ok().or_else(brought)
        })
    }

    /// The variables that an entry needs, and that have no value.
    fn missing_variables(&self, config: &ServerConfig) -> Vec<String> {
        let mut needed = config.needed_variables();
        needed.retain(|name| {
            let is_brought = self.brought.contains_key(&variable_key(config, name));
            std::env::var_os(name).is_none() && !is_brought
        });
        needed
    }

    /// The servers of these entries that have waited for variables, and have all of them now. From now on they are found by
    /// those who start with the same values.
    fn supplied(&mut self, configs: &[ServerConfig]) -> Vec<(Arc<Server>, ServerConfig)> {
        let waiting = self.servers.iter().filter(|(_, pooled)| {
            pooled.server.lacks_variable() && configs.contains(&pooled.server.config)
        });
        let waiting: Vec<_> = waiting
            .map(|(key, pooled)| (key.clone(), Arc::clone(&pooled.server)))
            .collect();
        let mut supplied = Vec::new();
        for (old, server) in waiting {
            let expanded = self.expanded(&server.config);
            let Ok(config) = &expanded else { continue };
            let new = key(&server.config, &expanded, &server.cwd);
            let new = self.own_key(new, &server.config);
            if !self.servers.contains_key(&new)
                && let Some(mut pooled) = self.servers.remove(&old)
            {
                pooled._secrets = secrets(config);
                self.servers.insert(new, pooled);
            }
            supplied.push((server, config.clone()));
        }
        supplied
    }

    /// The key of a server: one that is not shared gets one of its own.
    fn own_key(&mut self, key: String, config: &ServerConfig) -> String {
        if config.shared {
            return key;
        }
        self.next += 1;
        format!("{key}-{}", self.next)
    }
}

fn variable_key(config: &ServerConfig, name: &str) -> VariableKey {
    let project = match config.scope {
        ConfigScope::User => None,
        ConfigScope::Project => Some(config.origin.clone()),
    };
    (project, name.to_owned())
}

/// What servers are shared by: the configuration, before and after its variables are replaced, and the directory.
fn key(config: &ServerConfig, expanded: &Result<ServerConfig, String>, cwd: &Path) -> String {
    let text = format!("{config:?}\n{expanded:?}\n{}", cwd.display());
    hex::encode(Sha256::digest(text.as_bytes()))
}

/// The texts of a configuration that are secret by the names that they have.
fn secrets(config: &ServerConfig) -> Vec<Secret> {
    let values = match &config.transport {
        Transport::Stdio { env, .. } => env,
        Transport::Http { headers, .. } => headers,
    };
    let secret = values
        .iter()
        .filter(|(name, value)| is_secret(name) || secret_value(value));
    let client = config.oauth.iter().filter_map(|oauth| oauth.secret.clone());
    secret
        .map(|(_, value)| Secret::new(value.strip_prefix("Bearer ").unwrap_or(value).to_owned()))
        .chain(client.map(Secret::new))
        .collect()
}

/// Whether a variable or header is called like a secret, such as a personal access token (`GITHUB_PAT`).
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let is_access_token = name.split(['_', '-']).any(|part| part == "PAT");
    let is_of_request = name.contains("AUTHORIZATION") || name.contains("COOKIE");
    secret_name(&name) || is_access_token || is_of_request
}

#[cfg(test)]
mod tests;
