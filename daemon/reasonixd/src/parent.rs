//! The parent: starts the daemon proper and starts it again after a crash, so that detached work goes on with nobody
//! there. It is also the one to whom all fall that lost their parents below the daemon: it takes in their ends, and
//! kills what a daemon that has ended left. Does nothing else, so that nothing else can go wrong in it.

use std::collections::VecDeque;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use procs::supervisor::DaemonSupervisor;
use proto::paths::Paths;
use rustix::process::{Signal, setsid};
use store::lock::ParentLock;

use crate::key_keeper::{self, ParentKeyStore};
use crate::lifecycle;

/// Restarts within `WINDOW`; after that it gives up.
const RESTARTS_MAX: usize = 3;
const WINDOW: Duration = Duration::from_secs(60);

/// Lives as long as the daemon is wanted.
pub fn run() -> ExitCode {
    // Away from the terminal of whoever started it. Fails only if it leads a group already: then it is a shell's
    // own job, and stays one.
    let _ = setsid();
    // Where the system does not close it, keys are as safe as in the environment of whoever brought them.
    let _ = procs::harden::daemon();
    let wanted = Arc::new(AtomicBool::new(true));
    let ward = Arc::new(DaemonSupervisor::begin());
    if let Err(error) = forward_signals(&wanted, &ward) {
        return crate::say(
            &format!("reasonixd: signals cannot be taken: {error}"),
            false,
        );
    }
    let _lock = match lock_home() {
        HomeParent::This(lock) => lock,
        HomeParent::Another => return ExitCode::SUCCESS,
    };
    let mut crashes: VecDeque<Instant> = VecDeque::new();
    let mut kept = ParentKeyStore::default();
    loop {
        let keeping = match start(&ward, kept) {
            Ok(keeping) => keeping,
            Err(error) => {
                return crate::say(
                    &format!("reasonixd: the daemon cannot be started: {error}"),
                    false,
                );
            }
        };
        if !wanted.load(Ordering::SeqCst) {
            ward.signal(Signal::TERM);
        }
        let Ok(status) = ward.wait() else {
            return ExitCode::FAILURE;
        };
        // Before another daemon begins: what the last one left would be nobody's. What cannot be killed, because it
        // runs with other rights or hangs in the kernel, keeps nobody from going on.
        let _ = ward.kill_leftovers();
        let crashed = status.signal().is_some() || status.code() == Some(PANICKED);
        if !crashed || !wanted.load(Ordering::SeqCst) {
            return crate::exit(status.code().unwrap_or(1));
        }
        kept = keeping.join().unwrap_or_default();
        let now = Instant::now();
        crashes.push_back(now);
        crashes.retain(|crash| now.duration_since(*crash) < WINDOW);
        if crashes.len() > RESTARTS_MAX {
            return ExitCode::FAILURE;
        }
    }
}

/// Which parent starts the daemons of this home.
enum HomeParent {
    /// This one, with the lock; `None`: the lock cannot be had, and a daemon is needed all the same.
    This(Option<ParentLock>),
    /// Another one, whose daemon answers.
    Another,
}

/// How long another parent is given to have its daemon answer, or to end.
const OTHER_MAX: Duration = Duration::from_secs(10);
/// How often it is looked at meanwhile.
const LOOK: Duration = Duration::from_millis(10);

/// Takes the lock of the only parent of this home, or waits for the daemon of the one that has it. A parent that a client
/// starts while the first one is about to start its daemon again would have none of the keys that the first one keeps.
fn lock_home() -> HomeParent {
    let uid = rustix::process::getuid().as_raw();
    let cwd = std::env::current_dir().unwrap_or_default();
    // The daemon reports problems with them.
    let Ok(paths) = Paths::from_lookup(&|name| std::env::var_os(name), &cwd, uid) else {
        return HomeParent::This(None);
    };
    let due = Instant::now() + OTHER_MAX;
    loop {
        match ParentLock::try_acquire(&paths.home) {
            Ok(Some(lock)) => return HomeParent::This(Some(lock)),
            Ok(None) if lifecycle::answers(&paths.socket) => return HomeParent::Another,
            Ok(None) if Instant::now() < due => std::thread::sleep(LOOK),
            // A disk without locks, or a parent that hangs, keeps nobody from having a daemon.
            Ok(None) | Err(_) => return HomeParent::This(None),
        }
    }
}

/// What a Rust program exits with after a panic of its main thread.
const PANICKED: i32 = 101;

/// How many heaps the C library keeps for the threads of a program (`mallopt(3)`). In each stays what its threads once
/// needed: with one instead of eight a core a session that leaves memory leaves less than half as much, and the figures that
/// `docs/performance.md` lists are not slower. Commands do not get it, like the rest of the daemon's environment.
const ARENAS: &str = "MALLOC_ARENA_MAX";

/// From how many bytes on a piece of memory is the system's own, and is given back to it when it is freed. Left alone, the
/// C library raises this with the largest piece that was freed, and what many large answers needed once stays for good.
const LARGE: (&str, &str) = ("MALLOC_MMAP_THRESHOLD_", "131072");

/// Starts a daemon that gets the keys which are kept, and has new ones kept until it ends.
fn start(
    ward: &DaemonSupervisor,
    kept: ParentKeyStore,
) -> std::io::Result<JoinHandle<ParentKeyStore>> {
    let (stdin, keeping) = kept.serve()?;
    ward.start(daemon(stdin.into())?)?;
    Ok(keeping)
}

/// The daemon proper, as it is to be started.
fn daemon(stdin: Stdio) -> std::io::Result<Command> {
    let mut command = Command::new(procs::options::this_binary()?);
    let arguments = ["serve", key_keeper::ARGUMENT];
    command.arg0("reasonixd").args(arguments).stdin(stdin);
    for (name, value) in [(ARENAS, "1"), LARGE] {
        if std::env::var_os(name).is_none() {
            command.env(name, value);
        }
    }
    Ok(command)
}

/// TERM and INT end the daemon, and then the parent.
fn forward_signals(wanted: &Arc<AtomicBool>, ward: &Arc<DaemonSupervisor>) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (wanted, ward) = (Arc::clone(wanted), Arc::clone(ward));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let (ready, armed) = std::sync::mpsc::channel();
    std::thread::Builder::new()
        .name("signals".into())
        .stack_size(256 * 1024)
        .spawn(move || {
            runtime.block_on(async {
                let signals = (
                    signal(SignalKind::terminate()),
                    signal(SignalKind::interrupt()),
                    signal(SignalKind::hangup()),
                );
                let (Ok(mut term), Ok(mut int), Ok(mut hup)) = signals else {
                    return;
                };
                let _ = ready.send(());
                loop {
                    tokio::select! {
                        _ = term.recv() => {}
                        _ = int.recv() => {}
                        // A terminal that closes is nothing to the daemon.
                        _ = hup.recv() => continue,
                    }
                    wanted.store(false, Ordering::SeqCst);
                    ward.signal(Signal::TERM);
                }
            });
        })?;
    armed
        .recv()
        .map_err(|_| std::io::Error::other("no signal handler could be set"))
}
