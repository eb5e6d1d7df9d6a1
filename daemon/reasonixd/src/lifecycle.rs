//! The life of the daemon proper: signals, lock, socket, sessions; and what brings it to its end.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract::ToolSet;
use mcp::Server;
use proto::params::daemon::ShutdownMode;
use proto::paths::Paths;
use session::{Supervisor, tasks};
use store::catalog::CatalogState;
use store::home::Home;
use store::lock::{HomeLock, LockError};
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use crate::daemon::Daemon;
use crate::ending::{self, Budget};
use crate::gate::{Gate, ShutdownReason};
use crate::hold::LockedHome;
use crate::key_keeper::ParentKeyKeeper;
use crate::rpc::{self, Socket};
use crate::settings::Loaded;
use crate::version::version;
use crate::{autostart, idle, logfile, mark, retention, settings, signals, stop_request};

mod parts;

use parts::Parts;

/// How long a thread for work that blocks is kept without any. Work goes to the one that has waited longest, so that a
/// little of it keeps as many alive as come to their turn in this time.
const IDLE_THREADS: Duration = Duration::from_secs(1);

/// How long a daemon that came second waits until the first one answers.
const FIRST_ANSWERS: Duration = Duration::from_secs(5);
/// How long sessions with unfinished work are waited for before clients are let in: they find them as they are then. One
/// whose disk hangs keeps nobody out for longer (I34); clients wait 5 s for a daemon.
const RECOVERY: Duration = Duration::from_secs(3);
/// How often it is looked whether there is anything to do.
const LOOK: Duration = Duration::from_secs(1);
/// The same, once the daemon only waits for the last turn to end.
const LOOK_LEAVING: Duration = Duration::from_millis(100);

/// A session's published state lags slightly behind its acknowledgements: one look at it is not enough.
const SETTLED: Duration = Duration::from_millis(300);
/// A prompt that was acknowledged starts its turn a few syncs later; one that has not by then waits for a person.
const QUEUE_MOVES: Duration = Duration::from_secs(2);

/// Of a daemon that holds the home and says nothing: it cannot be asked to stop either.
const NO_ANSWER: &str =
    "It does not answer, so it cannot be asked to stop: kill its process, then try again.";

/// Runs the daemon until it is asked to stop. `keys_on_stdin`: standard input is the parent's socket for keys.
pub fn run(keys_on_stdin: bool) -> ExitCode {
    // Nothing that runs under our user may read our memory or trace us: keys are in it (I23).
    let hardened = procs::harden::daemon();
    raise_descriptors();
    let umask = clean_umask();
    let uid = rustix::process::getuid().as_raw();
    let cwd = std::env::current_dir().unwrap_or_default();
    let paths = match Paths::from_lookup(&|name| std::env::var_os(name), &cwd, uid) {
        Ok(paths) => paths,
        Err(error) => return fail(&error),
    };
    let runtime = match start_runtime() {
        Ok(runtime) => runtime,
        Err(error) => return fail(&error),
    };
    let gate = Gate::new();
    if let Err(error) = runtime.block_on(async { signals::listen(&gate) }) {
        return fail(&error);
    }
    let home = match Home::open(&paths.home) {
        Ok(home) => Arc::new(home),
        Err(error) => return fail(&error),
    };
    let user_home = std::env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from);
    let tools = tools::BuiltIn::default().set(tools::Options::default());
    let loaded = settings::load(home.root(), None, &user_home, &tools);
    if let Err(error) = logfile::start(&paths.log(), &loaded.settings.log) {
        return fail(&error);
    }
    if let Err(error) = hardened {
        tracing::warn!(%error, "the daemon could not be closed to other processes of the user");
    }
    let lock = match take_home(&home, &paths.socket, &gate) {
        Ok(Some(lock)) => lock,
        // It was asked to stop before it had started.
        Ok(None) => return ExitCode::SUCCESS,
        Err(LockError::Held { .. }) if answers(&paths.socket) => return ExitCode::SUCCESS,
        Err(error @ LockError::Held { .. }) => {
            return crate::say(&format!("reasonixd: {error}. {NO_ANSWER}"), false);
        }
        Err(error) => return fail(&error),
    };
    let start = Start {
        home,
        paths,
        user_home,
        umask,
        layers: loaded.settings.layers,
        loaded,
        tools,
        gate,
        key_keeper: Arc::new(key_keeper(keys_on_stdin)),
        is_restarted: keys_on_stdin,
    };
    let end = held(&runtime, &start);
    // Work that blocks and does not end (a hung file system) must not keep the process.
    runtime.shutdown_timeout(ending::RUNTIME_KEPT);
    drop(lock);
    match end {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!("{error:#}");
            fail(&*error)
        }
    }
}

fn start_runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .thread_keep_alive(IDLE_THREADS)
        .enable_all()
        .build()
}

/// Who keeps keys across a crash.
fn key_keeper(keys_on_stdin: bool) -> ParentKeyKeeper {
    match keys_on_stdin.then(ParentKeyKeeper::on_stdin) {
        Some(Ok(keeper)) => keeper,
        Some(Err(error)) => {
            tracing::warn!(%error, "the parent keeps no keys: a crash would lose them");
            ParentKeyKeeper::nobody()
        }
        None => ParentKeyKeeper::nobody(),
    }
}

/// What the daemon starts with.
pub struct Start {
    pub home: Arc<Home>,
    pub paths: Paths,
    pub user_home: PathBuf,
    pub loaded: Loaded,
    /// The tools that settings and rules may name.
    pub tools: ToolSet,
    /// The file mode mask of commands.
    pub umask: u32,
    /// What may hold commands. A test's own binary is not a helper, and must not be started as one.
    pub layers: procs::BackendChoice,
    pub gate: Arc<Gate>,
    pub key_keeper: Arc<ParentKeyKeeper>,
    /// Our parent is the one that starts a daemon again after a crash: only that one keeps keys.
    pub is_restarted: bool,
}

/// Everything from here on happens under the home's lock.
fn held(runtime: &Runtime, start: &Start) -> anyhow::Result<()> {
    mark::check(start.home.root())?;
    match stop_request::take(&start.home, start.is_restarted) {
        Some(mode @ (ShutdownMode::Now | ShutdownMode::HandOver)) => {
            tracing::info!(
                ?mode,
                "the daemon before this one crashed while it was stopping: this one stops now"
            );
            return Ok(());
        }
        Some(ShutdownMode::Idle) => {
            // Its turns are to end, so they are recovered; but it takes no new ones.
            if let Err(error) = stop_request::store(&start.home, ShutdownMode::Idle) {
                tracing::warn!(%error, "the request to stop could not be stored again");
            }
            start.gate.ask(ShutdownReason::WhenIdle);
        }
        None => {}
    }
    let gate = Arc::clone(&start.gate);
    runtime.spawn(async move {
        gate.ended().await;
        ending::guard();
    });
    runtime.block_on(live(start))
}

/// Takes the home's lock. Another daemon that has it is given time: to answer, if it is starting, or to release the lock,
/// if it was killed and the kernel has not taken everything from it yet.
/// `None`: asked to stop meanwhile.
fn take_home(home: &Home, socket: &Path, gate: &Gate) -> Result<Option<HomeLock>, LockError> {
    let due = Instant::now() + FIRST_ANSWERS;
    loop {
        if gate.shutdown_reason().is_some() {
            return Ok(None);
        }
        match HomeLock::acquire(home, socket) {
            Err(LockError::Held { .. }) if Instant::now() < due && !answers(socket) => {
                std::thread::sleep(Duration::from_millis(10));
            }
            other => return other.map(Some),
        }
    }
}

/// Whether a daemon answers there. That somebody listens is not enough: a process that is being killed still does.
pub fn answers(socket: &Path) -> bool {
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
    // If it cannot be raised, the present limit is used.
    let _ = setrlimit(Resource::Nofile, raised);
}

/// Takes from the inherited mask what would close our own files to ourselves. The rest is what the user's shell
/// had, and what commands and file tools get.
fn clean_umask() -> u32 {
    use rustix::fs::Mode;
    use rustix::process::umask;
    let inherited = umask(Mode::from_raw_mode(0o077));
    let clean = inherited.difference(Mode::RWXU);
    umask(clean);
    // The type is wider or narrower by system.
    #[allow(
        clippy::unnecessary_cast,
        reason = "the mode's type differs between systems"
    )]
    let raw = clean.as_raw_mode() as u32;
    raw
}

fn fail(error: &dyn std::error::Error) -> ExitCode {
    crate::say(&format!("reasonixd: {}", store::reason(error)), false);
    crate::exit(1)
}

/// The life itself, under the home's lock: from the socket to the last answer.
///
/// # Errors
/// It cannot begin: no socket, no threads, no counter of pids.
pub async fn live(start: &Start) -> anyhow::Result<()> {
    let gate = &start.gate;
    let started = Instant::now();
    let hold = LockedHome::of(&start.home, &start.paths.socket)?;
    let socket = Socket::bind(&start.paths.socket)?;
    // If the start fails, the daemon is dropped before its temporary files.
    let Parts {
        temporary,
        catalog,
        daemon,
    } = Parts::make(start, socket.path(), hold, started)?;
    autostart::check(&start.loaded, &start.user_home).map_err(anyhow::Error::msg)?;
    recover_sessions(&daemon.supervisor, gate, catalog).await;
    // As long as the daemon lives.
    let autostart_servers = match autostart::begin(&daemon, &start.loaded).await {
        Ok(kept) => kept,
        Err(problem) => {
            // What was recovered goes on with the next daemon.
            gate.end();
            let budget = Budget::new(ending::END_MAX);
            let leave = ShutdownReason::HandOver;
            ending::end(leave, gate, &daemon.supervisor, &daemon.procs, budget).await;
            anyhow::bail!(problem);
        }
    };
    let methods = rpc::module(Arc::clone(&daemon)).into();
    let stop = CancellationToken::new();
    tracing::info!(version = version(), pid = std::process::id(), home = %start.home.root().display(), "ready");
    let serving = tasks::spawn(rpc::serve(
        socket,
        Arc::clone(&daemon),
        methods,
        stop.clone(),
    ));
    let retention = tasks::spawn(retention::keep(Arc::downgrade(&daemon)));
    let leave = until_asked(&daemon, &autostart_servers).await;
    retention.abort();
    let budget = Budget::new(ending::END_MAX);
    gate.end();
    tracing::info!(?leave, "stopping");
    store_stop_request(&daemon, leave);
    ending::end(leave, gate, &daemon.supervisor, &daemon.procs, budget).await;
    ending::close(&stop, serving, budget).await;
    ending::finish_login_refreshes(&daemon.mcp_logins, budget).await;
    drop(temporary);
    tracing::info!("stopped");
    Ok(())
}

/// Recovers the sessions, and has the catalog checked or made from the logs behind that.
async fn recover_sessions(supervisor: &Arc<Supervisor>, gate: &Gate, fresh: CatalogState) {
    let recovered = recover(supervisor, gate).await;
    if recovered && fresh == CatalogState::Filled {
        supervisor.check_later();
    } else if recovered {
        tracing::info!(?fresh, "the catalog of sessions is made from the logs");
        supervisor.fill_later();
    }
}

/// Brings the sessions back that have unfinished work. False: asked to stop meanwhile, it leaves the rest to the next
/// start.
async fn recover(supervisor: &Arc<Supervisor>, gate: &Gate) -> bool {
    let (all, mut asked) = (Arc::clone(supervisor), gate.asked());
    let mut recovering = tokio::spawn(async move { all.recover().await });
    tokio::select! {
        // The outcome of each of them is in the log.
        _ = &mut recovering => true,
        () = tokio::time::sleep(RECOVERY) => {
            tracing::warn!("some sessions take their time to come back; clients are let in meanwhile");
            true
        }
        _ = asked.wait_for(|leave| *leave >= Some(ShutdownReason::HandOver)) => {
            recovering.abort();
            false
        }
    }
}

/// A stop that came by a signal is stored here; one that came by a call was, before it was acknowledged.
fn store_stop_request(daemon: &Daemon, leave: ShutdownReason) {
    let mode = match leave {
        ShutdownReason::Now | ShutdownReason::WhenIdle | ShutdownReason::Unused => {
            ShutdownMode::Now
        }
        ShutdownReason::HandOver => ShutdownMode::HandOver,
        // It cannot be stored anywhere, and without a home no restart is needed.
        ShutdownReason::HomeGone => return,
    };
    if daemon.hold.is_lost() {
        return;
    }
    if let Err(error) = stop_request::store(&daemon.home, mode) {
        tracing::warn!(%error, "the request to stop could not be stored; a crash would undo it");
    }
}

/// Returns when the daemon is to end: asked by a client or a signal, for `idle` when nothing runs any more, or because
/// nobody has needed it for so long.
async fn until_asked(daemon: &Daemon, autostart_servers: &[Arc<Server>]) -> ShutdownReason {
    let mut asked = daemon.gate.asked();
    let mut still_since = None;
    loop {
        let wanted = *asked.borrow_and_update();
        let pause = match wanted {
            Some(ShutdownReason::WhenIdle) if daemon.has_running_work() => {
                still_since = None;
                LOOK_LEAVING
            }
            Some(ShutdownReason::WhenIdle) => {
                let since = *still_since.get_or_insert_with(Instant::now);
                let settled = if daemon.has_queue() {
                    QUEUE_MOVES
                } else {
                    SETTLED
                };
                if since.elapsed() >= settled {
                    return ShutdownReason::WhenIdle;
                }
                LOOK_LEAVING
            }
            Some(leave) => return leave,
            None => LOOK,
        };
        // Both only wait: dropping one loses nothing.
        tokio::select! {
            // The gate outlives this: it cannot be closed.
            _ = asked.changed() => continue,
            () = tokio::time::sleep(pause) => {}
        }
        if wanted.is_none() {
            let is_needed = |server: &Arc<Server>| server.state().is_running_or_restarting();
            let work = || daemon.has_unfinished_work() || autostart_servers.iter().any(is_needed);
            daemon.gate.look(idle::now(), daemon.life.idle_exit, work);
        }
    }
}
