//! One server: its state, its listing, its connection, and the task that starts it again when it fails.
//!
//! Owned by the pool; the tools of sessions hold it. When the last holder lets go, the task and the process end.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, watch};
use tokio::time::{sleep, timeout};

use crate::admission::Admission;
use crate::client::{Connect, ConnectError, ConnectRequest, Connection};
use crate::config::ServerConfig;
use crate::listing::Listing;
use crate::listing_pause::ListingPause;
use crate::log::ServerLog;
use crate::state::{NextStep, Restarts, ServerState};

/// How long a listing may take once the server has answered.
const LISTING: Duration = Duration::from_secs(30);

/// A configured server in one directory.
pub struct Server {
    /// As it is configured, variables included.
    pub config: ServerConfig,
    pub cwd: PathBuf,
    /// Of the configuration: what its listing is kept by.
    pub config_hash: String,
    pub log: Arc<ServerLog>,
    inner: Mutex<Inner>,
    /// A listing came, or it is clear that none comes now.
    listed: Condvar,
    /// Counts changes of the state.
    changed: watch::Sender<u64>,
    /// Start it now.
    wake: Arc<Notify>,
    /// Restart it.
    restart: Arc<Notify>,
    /// Ends the task.
    end: watch::Sender<bool>,
    admission: Arc<dyn Admission>,
}

struct Inner {
    state: ServerState,
    listing: Option<Arc<Listing>>,
    connection: Option<Arc<dyn Connection>>,
    /// Failures since it was last ready.
    failed_once: bool,
    used: Instant,
}

/// How to start a server.
pub struct StartPlan {
    pub connect: Arc<dyn Connect>,
    /// With its variables replaced, or why they cannot be.
    pub expanded: Result<ServerConfig, String>,
    /// Where listings are kept.
    pub listings: PathBuf,
    pub admission: Arc<dyn Admission>,
}

impl Server {
    /// A server that is being started in the background.
    #[must_use]
    pub fn start(
        config: ServerConfig,
        cwd: &Path,
        plan: StartPlan,
        runtime: &tokio::runtime::Handle,
    ) -> Arc<Self> {
        let config_hash = config.hash();
        let listing = Listing::load(&plan.listings, &config_hash).map(Arc::new);
        let state = match &plan.expanded {
            Ok(_) => ServerState::Starting,
            Err(reason) => ServerState::Disabled {
                reason: reason.clone(),
            },
        };
        let server = Arc::new(Self {
            config,
            cwd: cwd.to_path_buf(),
            config_hash,
            log: Arc::default(),
            inner: Mutex::new(Inner {
                state,
                listing,
                connection: None,
                failed_once: false,
                used: Instant::now(),
            }),
            listed: Condvar::new(),
            changed: watch::Sender::new(0),
            wake: Arc::default(),
            restart: Arc::default(),
            end: watch::Sender::new(false),
            admission: plan.admission,
        });
        if let Ok(expanded) = plan.expanded {
            let request = ConnectRequest {
                config: expanded,
                cwd: cwd.to_path_buf(),
                log: Arc::clone(&server.log),
            };
            let ended = server.end.subscribe();
            let owner = Owner {
                server: Arc::downgrade(&server),
                wake: Arc::clone(&server.wake),
                restart: Arc::clone(&server.restart),
                connect: plan.connect,
                request,
                listings: plan.listings,
            };
            runtime.spawn(owner.run(ended));
        }
        server
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Inner)) {
        change(&mut self.lock());
        self.listed.notify_all();
        self.changed.send_modify(|count| *count += 1);
    }

    /// Its state now.
    #[must_use]
    pub fn state(&self) -> ServerState {
        self.lock().state.clone()
    }

    /// Its tools, as it listed them last, now or in an earlier life.
    #[must_use]
    pub fn listing(&self) -> Option<Arc<Listing>> {
        self.lock().listing.clone()
    }

    /// When it was last used.
    #[must_use]
    pub fn used(&self) -> Instant {
        self.lock().used
    }

    /// Somebody uses it.
    pub fn touch(&self) {
        self.lock().used = Instant::now();
    }

    /// Somebody needs it whose configuration counts: if it was withdrawn, it is started again.
    pub fn readmit(&self) {
        let is_withdrawn = matches!(self.lock().state, ServerState::Withdrawn { .. });
        if is_withdrawn {
            self.wake.notify_one();
        }
    }

    /// Its tools. Blocks until there is a listing, it has failed, or `due`.
    #[must_use]
    pub fn listing_until(&self, due: Instant) -> Option<Arc<Listing>> {
        let mut inner = self.lock();
        loop {
            let hopeless = inner.failed_once || matches!(inner.state, ServerState::Disabled { .. });
            let left = due.saturating_duration_since(Instant::now());
            if inner.listing.is_some() || hopeless || left.is_zero() {
                return inner.listing.clone();
            }
            inner = self
                .listed
                .wait_timeout(inner, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }

    /// The connection, once it is ready. A server that waits to be wanted is started.
    ///
    /// # Errors
    /// It is not ready in time: why, as a text for the user.
    pub async fn connection(self: &Arc<Self>) -> Result<Arc<dyn Connection>, String> {
        if let Some(reason) = self.refusal().await {
            self.withdraw(reason.clone());
            return Err(reason);
        }
        let mut changed = self.changed.subscribe();
        let waiting = async {
            let mut woken = false;
            loop {
                changed.mark_unchanged();
                {
                    let mut inner = self.lock();
                    inner.used = Instant::now();
                    if let Some(connection) = &inner.connection {
                        return Ok(Arc::clone(connection));
                    }
                    match &inner.state {
                        ServerState::Disabled { reason } => return Err(reason.clone()),
                        ServerState::Failed { reason }
                        | ServerState::NeedsLogin { reason }
                        | ServerState::Withdrawn { reason }
                            if woken =>
                        {
                            return Err(reason.clone());
                        }
                        ServerState::Failed { .. }
                        | ServerState::NeedsLogin { .. }
                        | ServerState::Withdrawn { .. } => {
                            woken = true;
                            self.wake.notify_one();
                        }
                        ServerState::Starting
                        | ServerState::Ready
                        | ServerState::BackingOff { .. } => {}
                    }
                }
                if changed.changed().await.is_err() {
                    return Err("it was stopped".to_owned());
                }
            }
        };
        let limit = self.config.startup_timeout;
        match timeout(limit, waiting).await {
            Ok(connection) => connection,
            Err(_) => {
                let state = self.state();
                let reason = state.reason().map(|reason| format!(": {reason}"));
                Err(format!(
                    "it was not ready within {} s (state: {}{})",
                    limit.as_secs(),
                    state.word(),
                    reason.unwrap_or_default()
                ))
            }
        }
    }

    /// The outcome of its start: ready, or why its first try failed.
    ///
    /// # Errors
    /// It failed, or is not ready in time: why, as a text for the user.
    pub async fn started(&self) -> Result<(), String> {
        let mut changed = self.changed.subscribe();
        let waiting = async {
            loop {
                changed.mark_unchanged();
                match self.state() {
                    ServerState::Ready => return Ok(()),
                    ServerState::Starting => {}
                    ServerState::BackingOff { reason, .. }
                    | ServerState::Failed { reason }
                    | ServerState::NeedsLogin { reason }
                    | ServerState::Withdrawn { reason }
                    | ServerState::Disabled { reason } => return Err(reason),
                }
                if changed.changed().await.is_err() {
                    return Err("it was stopped".to_owned());
                }
            }
        };
        let limit = self.config.startup_timeout;
        let late = || Err(format!("it was not ready within {} s", limit.as_secs()));
        timeout(limit, waiting).await.unwrap_or_else(|_| late())
    }

    /// Ends its process, if there is one, and starts another.
    pub fn ask_restart(&self) {
        {
            let mut inner = self.lock();
            // Nobody gets the old connection from now on.
            if !matches!(inner.state, ServerState::Disabled { .. }) {
                inner.state = ServerState::Starting;
                inner.connection = None;
            }
        }
        self.changed.send_modify(|count| *count += 1);
        self.restart.notify_one();
    }

    /// Why it may not run any more.
    async fn refusal(self: &Arc<Self>) -> Option<String> {
        let server = Arc::clone(self);
        let asked = tokio::task::spawn_blocking(move || server.refusal_now());
        asked
            .await
            .unwrap_or_else(|_| Some("its configuration cannot be read".to_owned()))
    }

    /// Why it may not run any more. Blocks.
    #[must_use]
    pub fn refusal_now(&self) -> Option<String> {
        self.admission.refusal(&self.config, &self.cwd)
    }

    /// Stops it: it may not run any more. Its calls in flight fail.
    pub fn withdraw(&self, reason: String) {
        {
            let mut inner = self.lock();
            if let ServerState::Withdrawn { .. } | ServerState::Disabled { .. } = inner.state {
                return;
            }
            inner.state = ServerState::Withdrawn { reason };
            inner.connection = None;
        }
        self.listed.notify_all();
        self.changed.send_modify(|count| *count += 1);
        // Its task ends the process, and asks before it starts another one.
        self.restart.notify_one();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end.send_replace(true);
    }
}

/// The task of a server. Holds it weakly: when nobody else does, it ends.
struct Owner {
    server: Weak<Server>,
    wake: Arc<Notify>,
    restart: Arc<Notify>,
    connect: Arc<dyn Connect>,
    request: ConnectRequest,
    listings: PathBuf,
}

/// A life of a server. Its end closes the connection, which calls in flight hold too.
struct Life(Arc<dyn Connection>);

impl Drop for Life {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Why a life of a server is over.
enum LifeEnd {
    Failed(String),
    NeedsLogin,
    /// Its sandbox cannot be made.
    NoSandbox(String),
    /// A user asked for a restart, or has logged in or out.
    Restart,
    /// It may not run any more: why.
    Withdrawn(String),
}

impl Owner {
    async fn run(self, mut ended: watch::Receiver<bool>) {
        let lives = async {
            let mut restarts = Restarts::default();
            loop {
                let Some(refusal) = self.refusal().await else {
                    return;
                };
                let mut ready_since = None;
                let end = match refusal {
                    Some(reason) => Some(LifeEnd::Withdrawn(reason)),
                    None => {
                        self.note_admitted();
                        self.live(&mut ready_since).await
                    }
                };
                let Some(end) = end else { return };
                let ran = ready_since.map(|since: Instant| since.elapsed());
                let Some(server) = self.server.upgrade() else {
                    return;
                };
                let (state, next) = match end {
                    LifeEnd::Restart => {
                        restarts.forget();
                        server.change(|inner| {
                            inner.connection = None;
                            // One that was withdrawn is not known to start.
                            if !matches!(inner.state, ServerState::Withdrawn { .. }) {
                                inner.state = ServerState::Starting;
                            }
                        });
                        continue;
                    }
                    LifeEnd::Failed(reason) => restarts.failed(reason, ran),
                    LifeEnd::NeedsLogin => {
                        let name = &server.config.name;
                        let reason = format!("it needs a login: run `reasonix mcp login {name}`");
                        let state = ServerState::NeedsLogin { reason };
                        (state, NextStep::WaitUntilWanted)
                    }
                    // Another try would find the same machine and settings.
                    LifeEnd::NoSandbox(reason) => {
                        (ServerState::Failed { reason }, NextStep::WaitUntilWanted)
                    }
                    LifeEnd::Withdrawn(reason) => {
                        server.log.note(&format!("stopped: {reason}"));
                        let state = ServerState::Withdrawn { reason };
                        (state, NextStep::WaitUntilWanted)
                    }
                };
                tracing::info!(server = %server.config.name, state = state.word(), reason = ?state.reason(), "an MCP server does not run");
                server.change(|inner| {
                    inner.connection = None;
                    inner.state = state;
                    inner.failed_once = true;
                });
                drop(server);
                if self.wait(next).await {
                    restarts.forget();
                }
                let Some(server) = self.server.upgrade() else {
                    return;
                };
                server.change(|inner| inner.state = ServerState::Starting);
            }
        };
        // Both arms may be dropped at any point: what lives holds its process, which ends with it.
        tokio::select! {
            () = lives => {}
            _ = ended.wait_for(|ended| *ended) => {}
        }
        if let Some(server) = self.server.upgrade() {
            server.change(|inner| {
                inner.connection = None;
                inner.state = ServerState::Disabled {
                    reason: "it was stopped".to_owned(),
                };
            });
        }
    }

    /// Why it may not run. `None`: nobody holds the server any more.
    async fn refusal(&self) -> Option<Option<String>> {
        Some(self.server.upgrade()?.refusal().await)
    }

    /// It may run: one that was withdrawn starts again.
    fn note_admitted(&self) {
        if let Some(server) = self.server.upgrade()
            && matches!(server.state(), ServerState::Withdrawn { .. })
        {
            server.change(|inner| inner.state = ServerState::Starting);
        }
    }

    /// Waits before the next start. Returns whether a user asked for it.
    async fn wait(&self, next: NextStep) -> bool {
        let waited = async {
            match next {
                NextStep::StartAfter(wait) => sleep(wait).await,
                NextStep::WaitUntilWanted => self.wake.notified().await,
            }
        };
        tokio::select! {
            () = waited => false,
            () = self.restart.notified() => true,
        }
    }

    /// One life, from its start to its end. `None`: nobody holds the server any more.
    async fn live(&self, ready_since: &mut Option<Instant>) -> Option<LifeEnd> {
        let limit = self.request.config.startup_timeout;
        let connecting = timeout(limit, self.connect.connect(self.request.clone()));
        let connected = tokio::select! {
            connected = connecting => connected,
            () = self.restart.notified() => return Some(LifeEnd::Restart),
        };
        let late = || format!("it did not answer within {} s", limit.as_secs());
        let connection = match connected {
            Ok(Ok(connection)) => connection,
            Ok(Err(ConnectError::NeedsLogin)) => return Some(LifeEnd::NeedsLogin),
            Ok(Err(ConnectError::NoSandbox(reason))) => return Some(LifeEnd::NoSandbox(reason)),
            Ok(Err(ConnectError::Failed(reason))) => return Some(LifeEnd::Failed(reason)),
            Err(_) => return Some(LifeEnd::Failed(late())),
        };
        let _life = Life(Arc::clone(&connection));
        if let Err(reason) = self.list(&connection).await? {
            return Some(LifeEnd::Failed(reason));
        }
        *ready_since = Some(Instant::now());
        self.server.upgrade()?.change(|inner| {
            inner.state = ServerState::Ready;
            inner.failed_once = false;
            inner.connection = Some(Arc::clone(&connection));
        });
        let mut pause = ListingPause::default();
        loop {
            // Each arm is cancel-safe: a notification that is not taken stays.
            tokio::select! {
                reason = connection.closed() => return Some(LifeEnd::Failed(reason)),
                () = self.restart.notified() => return Some(LifeEnd::Restart),
                () = connection.list_changed() => {
                    tokio::select! {
                        () = sleep(pause.wait(Instant::now())) => {}
                        reason = connection.closed() => return Some(LifeEnd::Failed(reason)),
                        () = self.restart.notified() => return Some(LifeEnd::Restart),
                    }
                    if let Err(reason) = self.list(&connection).await? {
                        tracing::info!(%reason, "the tools of an MCP server cannot be listed again");
                    }
                }
            }
        }
    }

    /// Lists the tools and keeps them. `None`: nobody holds the server any more.
    async fn list(&self, connection: &Arc<dyn Connection>) -> Option<Result<(), String>> {
        let listed = tokio::select! {
            listed = timeout(LISTING, connection.list_tools()) => listed,
            reason = connection.closed() => return Some(Err(reason)),
        };
        let raw = match listed {
            Ok(Ok(raw)) => raw,
            Ok(Err(reason)) => return Some(Err(format!("it does not list its tools: {reason}"))),
            Err(_) => return Some(Err("it does not list its tools in time".to_owned())),
        };
        let prompts = tokio::select! {
            listed = timeout(LISTING, connection.list_prompts()) => listed,
            reason = connection.closed() => return Some(Err(reason)),
        };
        let late = || Err("it does not answer in time".to_owned());
        let prompts = prompts.unwrap_or_else(|_| late());
        let server = self.server.upgrade()?;
        let name = &server.config.name;
        // Its tools are of use all the same.
        let prompts = prompts.unwrap_or_else(|reason| {
            server
                .log
                .note(&format!("its prompts are not listed: {reason}"));
            Vec::new()
        });
        let hash = &server.config_hash;
        let listing = Listing::new(name, hash, &raw.tools)
            .with_malformed(name, &raw.malformed)
            .with_prompts(name, &prompts)
            .with_bounded_problems(name);
        let listing = match connection.has_resources() {
            true => listing.with_resources(name, hash),
            false => listing,
        };
        for problem in &listing.problems {
            server.log.note(problem);
        }
        if server.listing().as_deref() != Some(&listing)
            && let Err(error) = listing.store(&self.listings, &server.config_hash)
        {
            tracing::warn!(%error, "the listing of an MCP server is not kept");
        }
        server.change(|inner| inner.listing = Some(Arc::new(listing)));
        Some(Ok(()))
    }
}
