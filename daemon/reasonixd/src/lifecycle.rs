//! The life of the daemon proper: lock, socket, sessions; and its end, in two phases.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use proto::Stamp;
use proto::params::daemon::ShutdownMode;
use proto::paths::Paths;
use session::Supervisor;
use store::catalog::{Catalog, CatalogError, Fresh, Opened};
use store::home::Home;
use store::lock::{HomeLock, LockError};
use store::pids::Pids;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::daemon::Daemon;
use crate::rpc::{self, Clients, Socket};
use crate::wire::Wire;
use crate::{logfile, settings};

/// Sessions get this long to stop what runs and to write what there is.
const SESSIONS_END: Duration = Duration::from_secs(6);
/// From TERM to KILL for processes that are left.
const CHILDREN_GRACE_MS: u64 = 1_000;
/// How long a daemon that came second waits until the first one answers.
const FIRST_ANSWERS: Duration = Duration::from_secs(5);

/// Of a daemon that holds the home and says nothing: it cannot be asked to stop either.
const NO_ANSWER: &str = "It does not answer, so it cannot be asked to stop: end its process with `kill`, then try again.";

/// Runs the daemon until it is asked to stop.
pub fn run() -> ExitCode {
    // Nothing that runs under our user may read our memory or trace us: keys are in it (I23).
    let hardened = procs::harden::daemon();
    raise_descriptors();
    let uid = rustix::process::getuid().as_raw();
    let cwd = std::env::current_dir().unwrap_or_default();
    let paths = match Paths::from_lookup(&|name| std::env::var_os(name), &cwd, uid) {
        Ok(paths) => paths,
        Err(error) => return fail(&error),
    };
    let home = match Home::open(&paths.home) {
        Ok(home) => Arc::new(home),
        Err(error) => return fail(&error),
    };
    let user_home = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
    let loaded = settings::load(home.root(), None, &user_home);
    if let Err(error) = logfile::start(&paths.log(), &loaded.settings.log) {
        return fail(&error);
    }
    if let Err(error) = hardened {
        tracing::warn!(%error, "the daemon could not be closed to other processes of the user");
    }
    let lock = match take_home(&home, &paths.socket) {
        Ok(lock) => lock,
        Err(LockError::Held { .. }) if answers(&paths.socket) => return ExitCode::SUCCESS,
        Err(error @ LockError::Held { .. }) => {
            return crate::say(&format!("reasonixd: {error}. {NO_ANSWER}"), false);
        }
        Err(error) => return fail(&error),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    let end = runtime.block_on(live(&home, &paths, user_home));
    // Work that blocks and does not end (a hung file system) must not keep the process.
    runtime.shutdown_timeout(Duration::from_secs(1));
    drop(lock);
    match end {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            fail(&*error)
        }
    }
}

/// Takes the home's lock. Another daemon that has it is given time: to answer, where it is on its way up, or to let go,
/// where it was killed and the kernel has not taken everything from it yet.
fn take_home(home: &Home, socket: &Path) -> Result<HomeLock, LockError> {
    let due = Instant::now() + FIRST_ANSWERS;
    loop {
        match HomeLock::acquire(home, socket) {
            Err(LockError::Held { .. }) if Instant::now() < due && !answers(socket) => {
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other,
        }
    }
}

/// Whether a daemon answers there. That somebody listens is not enough: a process that is being killed still does.
fn answers(socket: &Path) -> bool {
    // Said before hello, it is refused at once by every version: an answer.
    const CALL: &[u8] =
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"daemon.status\",\"params\":{}}\n";
    let ask = || -> std::io::Result<bool> {
        let mut stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(Duration::from_secs(1)))?;
        stream.set_write_timeout(Some(Duration::from_secs(1)))?;
        stream.write_all(CALL)?;
        Ok(stream.read(&mut [0])? > 0)
    };
    ask().unwrap_or(false)
}

/// Takes all the descriptors that the system allows: each loaded session has some, and each client one.
fn raise_descriptors() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    // Where it cannot be raised, what there is has to do.
    let _ = setrlimit(Resource::Nofile, raised);
}

fn fail(error: &dyn std::fmt::Display) -> ExitCode {
    crate::say(&format!("reasonixd: {error:#}"), false);
    crate::exit(1)
}

async fn live(home: &Arc<Home>, paths: &Paths, user_home: PathBuf) -> anyhow::Result<()> {
    let started = Instant::now();
    let socket = Socket::bind(&paths.socket)?;
    let procs = procs::Procs::start(procs::Options::of_this_binary()?)?;
    let opened = open_catalog(home)?;
    let catalog = Arc::new(opened.catalog);
    let pids = Arc::new(Pids::open(home)?);
    match catalog.highest_pid() {
        Ok(highest) => pids.raise_above(highest),
        Err(error) => tracing::error!(%error, "the catalog cannot be read"),
    }
    let masked = [Some(home.root()), socket.path().parent()]
        .into_iter()
        .flatten()
        .map(Path::to_path_buf)
        .collect();
    let wire = Wire {
        home: Arc::clone(home),
        user_home: user_home.clone(),
        procs: Arc::clone(&procs),
        masked,
    };
    let supervisor = Supervisor::new(Arc::clone(home), Arc::clone(&catalog), pids, Arc::new(wire))?;
    supervisor.recover().await;
    if opened.fresh != Fresh::No {
        tracing::info!(fresh = ?opened.fresh, "the catalog of sessions is made from the logs");
        supervisor.fill_later();
    }
    let (shutdown, asked) = watch::channel(None);
    let daemon = Arc::new(Daemon {
        home: Arc::clone(home),
        user_home,
        socket: socket.path().to_path_buf(),
        supervisor: Arc::clone(&supervisor),
        procs: Arc::clone(&procs),
        clients: Clients::default(),
        started,
        started_at: Stamp::now(),
        instance: Uuid::now_v7(),
        shutdown,
    });
    let methods = rpc::module(Arc::clone(&daemon)).into();
    let stop = CancellationToken::new();
    tracing::info!(version = proto::VERSION, pid = std::process::id(), home = %home.root().display(), "ready");
    let serving = tokio::spawn(rpc::serve(
        socket,
        Arc::clone(&daemon),
        methods,
        stop.clone(),
    ));
    until_asked(asked, &supervisor).await?;
    tracing::info!("stopping");
    // First no more work and what runs is ended and written; then the processes, the clients, the socket.
    if tokio::time::timeout(SESSIONS_END, supervisor.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("some sessions did not end in time; they are recovered at the next start");
    }
    procs.shutdown(CHILDREN_GRACE_MS).await;
    stop.cancel();
    let _ = tokio::time::timeout(Duration::from_secs(3), serving).await;
    tracing::info!("stopped");
    Ok(())
}

/// The catalog only repeats what the logs say: where the disk does not want one, it lives in memory.
fn open_catalog(home: &Home) -> Result<Opened, CatalogError> {
    Catalog::open(home).or_else(|error| {
        tracing::error!(
            error = store::reason(&error),
            "the catalog cannot be opened; it is made anew in memory"
        );
        Catalog::in_memory()
    })
}

/// Returns when a client or a signal wants the daemon to end, and for `idle` when nothing runs any more.
async fn until_asked(
    mut asked: watch::Receiver<Option<ShutdownMode>>,
    supervisor: &Supervisor,
) -> anyhow::Result<()> {
    let mut term = signal(SignalKind::terminate())?;
    let mut int = signal(SignalKind::interrupt())?;
    let mut hup = signal(SignalKind::hangup())?;
    let mut look = tokio::time::interval(Duration::from_millis(100));
    loop {
        let wanted = *asked.borrow_and_update();
        match wanted {
            Some(ShutdownMode::Now) => return Ok(()),
            Some(ShutdownMode::Idle) if !supervisor.is_busy() => return Ok(()),
            Some(ShutdownMode::Idle) | None => {}
        }
        tokio::select! {
            _ = term.recv() => return Ok(()),
            _ = int.recv() => return Ok(()),
            // A terminal that closes is nothing to the daemon.
            _ = hup.recv() => {}
            changed = asked.changed() => changed?,
            _ = look.tick(), if wanted == Some(ShutdownMode::Idle) => {}
        }
    }
}
