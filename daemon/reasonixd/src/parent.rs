//! The parent: starts the daemon proper and starts it again after a crash, so that detached work goes on with nobody
//! there. Does nothing else, so that nothing else can go wrong in it.

use std::collections::VecDeque;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, setsid};

/// Restarts within `WINDOW`; after that it gives up.
const RESTARTS_MAX: usize = 3;
const WINDOW: Duration = Duration::from_secs(60);

/// Lives as long as the daemon is wanted.
pub fn run() -> ExitCode {
    // Away from the terminal of whoever started it. Fails only where it leads a group already: then it is a shell's
    // own job, and stays one.
    let _ = setsid();
    let wanted = Arc::new(AtomicBool::new(true));
    let child = Arc::new(AtomicI32::new(0));
    if let Err(error) = forward_signals(&wanted, &child) {
        return crate::say(
            &format!("reasonixd: signals cannot be taken: {error}"),
            false,
        );
    }
    let mut crashes: VecDeque<Instant> = VecDeque::new();
    loop {
        let started = match start() {
            Ok(started) => started,
            Err(error) => {
                return crate::say(
                    &format!("reasonixd: the daemon cannot be started: {error}"),
                    false,
                );
            }
        };
        let mut started = started;
        child.store(i32::try_from(started.id()).unwrap_or(0), Ordering::SeqCst);
        if !wanted.load(Ordering::SeqCst) {
            stop(&child);
        }
        let status = match started.wait() {
            Ok(status) => status,
            Err(_) => return ExitCode::FAILURE,
        };
        child.store(0, Ordering::SeqCst);
        let crashed = status.signal().is_some() || status.code() == Some(PANICKED);
        if !crashed || !wanted.load(Ordering::SeqCst) {
            return crate::exit(status.code().unwrap_or(1));
        }
        let now = Instant::now();
        crashes.push_back(now);
        crashes.retain(|crash| now.duration_since(*crash) < WINDOW);
        if crashes.len() > RESTARTS_MAX {
            return ExitCode::FAILURE;
        }
    }
}

/// What a Rust program exits with after a panic of its main thread.
const PANICKED: i32 = 101;

fn start() -> std::io::Result<std::process::Child> {
    let mut command = Command::new(procs::options::this_binary()?);
    command.arg0("reasonixd").arg("serve");
    command.stdin(Stdio::null()).spawn()
}

fn stop(child: &AtomicI32) {
    if let Some(pid) = Pid::from_raw(child.load(Ordering::SeqCst)) {
        // It may be gone already: then there is nothing to stop.
        let _ = kill_process(pid, Signal::TERM);
    }
}

/// TERM and INT end the daemon, and then the parent.
fn forward_signals(wanted: &Arc<AtomicBool>, child: &Arc<AtomicI32>) -> std::io::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (wanted, child) = (Arc::clone(wanted), Arc::clone(child));
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
                    stop(&child);
                }
            });
        })?;
    armed
        .recv()
        .map_err(|_| std::io::Error::other("no signal handler could be set"))
}
