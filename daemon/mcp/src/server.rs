//! One server, as its users see it: its state, its listing, its connection. `owner` starts it, and starts it again.
//!
//! Owned by the pool; the tools of sessions hold it. When the last holder lets go, the task and the process end.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use proto::Pid;
use tokio::sync::{Notify, watch};
use tokio::time::timeout;

use crate::admission::Admission;
use crate::client::{Connect, ConnectError, ConnectRequest, Connection};
use crate::config::ServerConfig;
use crate::listing::Listing;
use crate::log::ServerLog;
use crate::state::ServerState;

mod owner;

use owner::{Owner, PROBE, no_answer, starting};

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
    /// Look whether it answers.
    probe_wanted: Arc<Notify>,
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
    /// The session that it is for, if it is for one alone.
    owner: Option<Pid>,
    /// That session has exited, and nothing has wanted it since.
    resting: bool,
    /// A variable of its entry has no value: it has no task yet.
    lacks_variable: bool,
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
            Ok(_) => starting(),
            Err(reason) => ServerState::Disabled {
                reason: reason.clone(),
            },
        };
        let server = Arc::new(Self {
            admission: Arc::clone(&plan.admission),
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
                owner: None,
                resting: false,
                lacks_variable: plan.expanded.is_err(),
            }),
            listed: Condvar::new(),
            changed: watch::Sender::new(0),
            wake: Arc::default(),
            restart: Arc::default(),
            probe_wanted: Arc::default(),
            end: watch::Sender::new(false),
        });
        server.spawn_owner(plan, runtime);
        server
    }

    /// Starts its task, unless a variable of its entry has no value.
    fn spawn_owner(self: &Arc<Self>, plan: StartPlan, runtime: &tokio::runtime::Handle) {
        let Ok(expanded) = plan.expanded else { return };
        let request = ConnectRequest {
            config: expanded,
            cwd: self.cwd.clone(),
            log: Arc::clone(&self.log),
        };
        let owner = Owner {
            server: Arc::downgrade(self),
            wake: Arc::clone(&self.wake),
            restart: Arc::clone(&self.restart),
            probe_wanted: Arc::clone(&self.probe_wanted),
            connect: plan.connect,
            request,
            listings: plan.listings,
        };
        runtime.spawn(owner.run(self.end.subscribe()));
    }

    /// Whether it waits for the value of a variable.
    #[must_use]
    pub fn lacks_variable(&self) -> bool {
        self.lock().lacks_variable
    }

    /// Its variables have values now: it is started, if it has waited for them.
    pub fn supply(self: &Arc<Self>, plan: StartPlan, runtime: &tokio::runtime::Handle) {
        if !std::mem::take(&mut self.lock().lacks_variable) {
            return;
        }
        self.change(|inner| inner.state = starting());
        self.spawn_owner(plan, runtime);
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
        self.lock().resting = false;
        let mut changed = self.changed.subscribe();
        let waiting = async {
            let mut woken = false;
            loop {
                changed.mark_unchanged();
                let was_refused = {
                    let mut inner = self.lock();
                    inner.used = Instant::now();
                    if let Some(connection) = &inner.connection {
                        return Ok(Arc::clone(connection));
                    }
                    match &inner.state {
                        ServerState::Disabled { reason } => return Err(reason.clone()),
                        ServerState::Failed { reason } | ServerState::NeedsLogin { reason }
                            if woken =>
                        {
                            return Err(reason.clone());
                        }
                        ServerState::Withdrawn { .. } if woken => true,
                        ServerState::Failed { .. }
                        | ServerState::NeedsLogin { .. }
                        | ServerState::Withdrawn { .. }
                        | ServerState::Resting => {
                            if !std::mem::replace(&mut woken, true) {
                                self.wake.notify_one();
                            }
                            false
                        }
                        ServerState::Starting { .. }
                        | ServerState::Ready
                        | ServerState::Unreachable { .. }
                        | ServerState::BackingOff { .. } => false,
                    }
                };
                if was_refused {
                    // Its task may have asked before this call did.
                    if let Some(reason) = self.refusal().await {
                        return Err(reason);
                    }
                    self.wake.notify_one();
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
                    ServerState::Ready | ServerState::Unreachable { .. } => return Ok(()),
                    ServerState::Starting { .. } => {}
                    ServerState::Resting => return Err("its session has exited".to_owned()),
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

    /// Whether it answers now: what runs may hang all the same. One that is not ready is started, and waited for.
    ///
    /// # Errors
    /// Why it does not answer, as a text for the user.
    pub async fn check(self: &Arc<Self>) -> Result<(), String> {
        let connection = self.connection().await?;
        // Its task asks as well, and notes what it finds.
        self.request_probe();
        match timeout(PROBE, connection.ping()).await {
            Ok(Ok(())) => {
                let is_unreachable =
                    |state: &ServerState| matches!(state, ServerState::Unreachable { .. });
                self.wait_while(is_unreachable).await;
                Ok(())
            }
            Ok(Err(ConnectError::NeedsLogin)) => {
                self.wait_while(|state| *state == ServerState::Ready).await;
                Err("it does not accept the login".to_owned())
            }
            Ok(Err(ConnectError::NoSandbox(reason) | ConnectError::Failed(reason))) => Err(reason),
            Err(_) => Err(no_answer()),
        }
    }

    /// Waits until its task has noted what it found, if it does so soon.
    async fn wait_while(&self, is_outdated: impl Fn(&ServerState) -> bool) {
        let mut changed = self.changed.subscribe();
        let noted =
            async { while is_outdated(&self.state()) && changed.changed().await.is_ok() {} };
        // If it takes longer, the state says why.
        let _ = timeout(PROBE, noted).await;
    }

    /// A call got no answer in time, or one after all: its state may be another one now.
    pub fn request_probe(&self) {
        self.probe_wanted.notify_one();
    }

    /// Ends its process, if there is one, and starts another.
    pub fn ask_restart(&self) {
        {
            let mut inner = self.lock();
            // Nobody gets the old connection from now on.
            if !matches!(inner.state, ServerState::Disabled { .. }) {
                inner.state = starting();
                inner.connection = None;
                inner.resting = false;
            }
        }
        self.changed.send_modify(|count| *count += 1);
        self.restart.notify_one();
    }

    /// The session that it is for. `None`: sessions share it, or none has it yet.
    #[must_use]
    pub fn owner(&self) -> Option<Pid> {
        self.lock().owner
    }

    /// It is for this session alone. The first one counts.
    pub fn note_owner(&self, session: Pid) {
        if !self.config.shared {
            self.lock().owner.get_or_insert(session);
        }
    }

    /// Whether its session has exited, and nothing has wanted it since.
    #[must_use]
    pub fn is_resting(&self) -> bool {
        self.lock().resting
    }

    /// This session has exited: if the server is for it alone, its process ends until a call wants it.
    pub fn rest(&self, session: Pid) {
        {
            let mut inner = self.lock();
            if inner.owner != Some(session) || inner.resting {
                return;
            }
            inner.resting = true;
            match inner.state {
                ServerState::Starting { .. }
                | ServerState::Ready
                | ServerState::Unreachable { .. }
                | ServerState::BackingOff { .. } => {}
                // It has no process, and starts when it is wanted.
                ServerState::Failed { .. }
                | ServerState::NeedsLogin { .. }
                | ServerState::Withdrawn { .. }
                | ServerState::Resting
                | ServerState::Disabled { .. } => return,
            }
            inner.state = ServerState::Resting;
            inner.connection = None;
        }
        self.listed.notify_all();
        self.changed.send_modify(|count| *count += 1);
        // Its task ends the process.
        self.restart.notify_one();
    }

    /// Its process, once it answers. `None`: it has none.
    #[must_use]
    pub fn os_pid(&self) -> Option<u32> {
        let connection = self.lock().connection.clone();
        connection?.os_pid()
    }

    /// Why it may not run any more.
    async fn refusal(self: &Arc<Self>) -> Option<String> {
        let server = Arc::clone(self);
        let asked = tokio::task::spawn_blocking(move || {
            let refusal = server.refusal_now();
            if refusal.is_none() {
                server.renew_sandbox();
            }
            refusal
        });
        asked
            .await
            .unwrap_or_else(|_| Some("its configuration cannot be read".to_owned()))
    }

    /// Why it may not run any more. Blocks.
    #[must_use]
    pub fn refusal_now(&self) -> Option<String> {
        self.admission.refusal(&self.config, &self.cwd)
    }

    /// Restarts it if the settings of its sandbox have changed. Blocks.
    pub fn renew_sandbox(&self) {
        if !self.config.sandbox {
            return;
        }
        let connection = self.lock().connection.clone();
        if connection.is_some_and(|connection| connection.is_outdated()) {
            self.log
                .note("restarted: the settings of its sandbox have changed");
            self.ask_restart();
        }
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
