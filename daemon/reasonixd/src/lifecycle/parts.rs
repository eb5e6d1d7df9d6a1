//! What the daemon lives with: commands, MCP servers, sessions. Made once, under the home's lock; `lifecycle` calls this.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::{Pid, Stamp};
use session::{ResidencyLimits, Supervisor};
use store::catalog::{Catalog, CatalogError, CatalogState, OpenedCatalog};
use store::home::Home;
use store::pids::PidCounter;
use uuid::Uuid;

use super::Start;
use crate::credentials::StoredLogins;
use crate::daemon::{Daemon, Problems};
use crate::hold::LockedHome;
use crate::rpc::Clients;
use crate::server_admission::ConfiguredServers;
use crate::server_sandbox::ServerSandboxes;
use crate::settings;
use crate::settings::kept::PermissionFiles;
use crate::temporary::Temporary;
use crate::wire::Wire;

/// What the daemon lives with.
pub(super) struct Parts {
    pub daemon: Arc<Daemon>,
    pub catalog: CatalogState,
    /// `None`: it could not be made.
    pub temporary: Option<Temporary>,
}

impl Parts {
    /// Makes them, in the order in which they need each other. `socket`: the path that it is bound to.
    pub fn make(
        start: &Start,
        socket: &Path,
        hold: LockedHome,
        started: Instant,
    ) -> anyhow::Result<Self> {
        let home = &start.home;
        let procs = start_procs(start)?;
        let temporary = Temporary::make(home).inspect_err(|error| {
            tracing::error!(%error, "no directory for temporary files: commands cannot be held");
        });
        let temporary = temporary.ok();
        let temp = temporary.as_ref().map(Temporary::path);
        let kept = Arc::new(PermissionFiles::new(Arc::clone(home), start.tools.clone()));
        let masked: Vec<_> = [Some(home.root()), socket.parent()]
            .into_iter()
            .flatten()
            .map(Path::to_path_buf)
            .collect();
        let logins = mcp::Logins::new(Arc::new(logins_of(start)));
        let programs = temp.map(|temp| programs(start, &procs, (temp, &masked), &kept));
        let servers = servers(start, programs, &logins);
        let shared = Shared {
            procs: &procs,
            masked,
            temp,
            kept: &kept,
            mcp: &servers,
        };
        let (supervisor, catalog) = sessions(start, shared)?;
        let daemon = Daemon {
            home: Arc::clone(home),
            user_home: start.user_home.clone(),
            socket: socket.to_path_buf(),
            supervisor,
            procs,
            clients: Clients::default(),
            started,
            started_at: Stamp::now(),
            instance: Uuid::now_v7(),
            gate: Arc::clone(&start.gate),
            hold,
            life: start.loaded.settings.life,
            problems: Problems::default(),
            kept,
            mcp: servers,
            mcp_logins: logins,
            tools: start.tools.clone(),
        };
        Ok(Self {
            daemon: Arc::new(daemon),
            catalog,
            temporary,
        })
    }
}

/// What runs commands.
fn start_procs(start: &Start) -> anyhow::Result<Arc<procs::Procs>> {
    let mut limits = procs::ResourceLimits::default();
    limits.memory = start.loaded.settings.memory_limit.or(limits.memory);
    let options = procs::ProcsOptions {
        limits,
        umask: Some(start.umask),
        layers: start.layers,
        ..procs::ProcsOptions::of_this_binary(start.home.quarantine())?
    };
    Ok(procs::Procs::start(options)?)
}

/// The MCP servers of all sessions. Without `programs` none is started.
fn servers(
    start: &Start,
    programs: Option<mcp::Programs>,
    logins: &Arc<mcp::Logins>,
) -> Arc<mcp::Pool> {
    let home = &start.home;
    mcp::Pool::new(mcp::PoolOptions {
        connect: Arc::new(mcp::SdkConnector {
            programs,
            logins: Arc::clone(logins),
        }),
        dir: home.root().join("mcp"),
        runtime: tokio::runtime::Handle::current(),
        admission: Arc::new(ConfiguredServers {
            home: Arc::clone(home),
            user_home: start.user_home.clone(),
            known_tools: start.tools.clone(),
        }),
    })
}

/// The store of logins, where the setting says that it is now.
fn logins_of(start: &Start) -> StoredLogins {
    let (home, user_home) = (Arc::clone(&start.home), start.user_home.clone());
    let tools = start.tools.clone();
    StoredLogins::new(start.home.root().to_owned(), move || {
        // The user's own matter: no directory has a say.
        let loaded = settings::load(home.root(), None, &user_home, &tools);
        loaded.settings.credentials_store
    })
}

/// What MCP servers that are programs are started with. `temp`: where temporary files are; `masked`: what no tool touches.
fn programs(
    start: &Start,
    procs: &Arc<procs::Procs>,
    (temp, masked): (&Path, &[PathBuf]),
    kept: &Arc<PermissionFiles>,
) -> mcp::Programs {
    let spawn = Arc::clone(procs) as Arc<dyn contract::Spawn>;
    let after_crash = Arc::clone(&spawn);
    // Files that commands of all sessions made while the previous daemon was killed are moved away now. Those of servers
    // are reported here, the others by their sessions. It may search a tree: only a new approval waits for it.
    tokio::task::spawn_blocking(move || {
        for left in after_crash.leftovers(Pid(0)) {
            tracing::warn!(path = %left.path, kept = ?left.kept, problem = ?left.problem, "an MCP server made a protected name");
        }
    });
    mcp::Programs {
        spawn,
        dir: temp.to_path_buf(),
        sandboxes: Arc::new(ServerSandboxes {
            home: Arc::clone(&start.home),
            user_home: start.user_home.clone(),
            known_tools: start.tools.clone(),
            procs: Arc::clone(procs),
            kept: Arc::clone(kept),
            masked: [masked, &[temp.to_path_buf()]].concat(),
        }),
    }
}

/// What sessions share.
struct Shared<'a> {
    procs: &'a Arc<procs::Procs>,
    /// Directories that no tool touches: the home, and the socket's.
    masked: Vec<PathBuf>,
    temp: Option<&'a Path>,
    kept: &'a Arc<PermissionFiles>,
    mcp: &'a Arc<mcp::Pool>,
}

/// The sessions of the home, none of them loaded yet.
fn sessions(start: &Start, shared: Shared<'_>) -> anyhow::Result<(Arc<Supervisor>, CatalogState)> {
    let home = &start.home;
    let opened = open_catalog(home)?;
    let catalog = Arc::new(opened.catalog);
    let pids = Arc::new(PidCounter::open(home)?);
    match catalog.highest_pid() {
        Ok(highest) => pids.raise_above(highest),
        Err(error) => tracing::error!(%error, "the catalog cannot be read"),
    }
    let wire = Wire {
        home: Arc::clone(home),
        user_home: start.user_home.clone(),
        procs: Arc::clone(shared.procs),
        masked: shared.masked,
        temp: shared.temp.map(Path::to_path_buf),
        kept: Arc::clone(shared.kept),
        mcp: Arc::clone(shared.mcp),
        key_keeper: Arc::clone(&start.key_keeper),
        brokers: Arc::default(),
        tools: tools::BuiltIn::default(),
        known_tools: start.tools.clone(),
        bounds: settings::KnownBounds::default(),
        guards: settings::KnownGuards::default(),
    };
    let residency_limits = match start.loaded.settings.life.evict {
        Some(idle) => ResidencyLimits {
            idle,
            ..ResidencyLimits::default()
        },
        None => ResidencyLimits {
            idle: Duration::MAX,
            idle_max: usize::MAX,
        },
    };
    let supervisor = Supervisor::with(
        Arc::clone(home),
        catalog,
        pids,
        Arc::new(wire),
        residency_limits,
    )?;
    Ok((supervisor, opened.state))
}

/// The catalog only repeats what the logs say: where the disk does not want one, it lives in memory.
fn open_catalog(home: &Home) -> Result<OpenedCatalog, CatalogError> {
    Catalog::open(home).or_else(|error| {
        tracing::error!(
            error = store::reason(&error),
            "the catalog cannot be opened; it is rebuilt in memory"
        );
        Catalog::in_memory()
    })
}
