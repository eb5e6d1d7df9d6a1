//! The daemon's side of one command: passes the command to the helper, forwards output, and sends
//! stops.
//!
//! Runs as one task from before the start until no process is left. Ends a command by itself only
//! if nobody listens anymore. Called only by `procs`.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use contract::{Child, ChildEvent, ChildExit, SandboxSpec, SpawnError};
use futures::StreamExt;
use proto::Pid;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, timeout};

use crate::arrivals::{ArrivalWatch, Arrivals};
use crate::findings::Findings;
use crate::grace::{later, until};
use crate::helper_handle::{GIVE_UP, HelperHandle, NUDGE};
use crate::memory_groups::MemoryGroup;
use crate::prepare::{PreparedCommand, prepare};
use crate::spawner::{LaunchedHelper, Launcher};
use crate::supervisor::SupervisorProcess;
use crate::table::TableEntry;
use crate::wire::{self, CommandExit, CommandSpec, HelperOrder, HelperStatus};

/// Number of output chunks that may wait for the reader. Then the pipes are not read, and the
/// command blocks in `write`.
const QUEUE: usize = 8;
/// Maximum size of a chunk.
const PIECE: usize = 32 * 1024;
/// After all processes are gone: how long a pipe may stay silent before we conclude that an outside
/// process holds it.
const SILENCE: Duration = Duration::from_millis(500);
/// Maximum bytes reported of a failed helper's standard error.
const COMPLAINT: u64 = 1000;

/// The command to start, and its settings.
pub(crate) struct StartRequest {
    pub launcher: Launcher,
    pub findings: Findings,
    pub arrivals: Arc<Arrivals>,
    pub session: Pid,
    pub in_background: bool,
    pub sandbox: Option<Arc<SandboxSpec>>,
    pub spec: CommandSpec,
    pub supervisor: Option<SupervisorProcess>,
    /// For messages.
    pub program: String,
}

/// Starts a command and runs it to the end. `reply` gets it once it runs, or why it does not.
pub(crate) async fn run(
    wanted: StartRequest,
    entry: TableEntry,
    mut reply: oneshot::Sender<Result<Child, SpawnError>>,
) {
    match start(wanted, &entry, &mut reply).await {
        Ok(started) => stay(started, entry, reply).await,
        Err(error) => {
            drop(entry);
            let _ = reply.send(Err(error));
        }
    }
}

/// A running command.
struct RunningCommand {
    os_pid: u32,
    orders: OwnedWriteHalf,
    status: StatusLines,
    helper_handle: HelperHandle,
    stdout: ChildStdout,
    stderr: ChildStderr,
    /// Finished when no process of the command is left.
    watch: Option<Arc<ArrivalWatch>>,
    group: Option<MemoryGroup>,
}

/// Starts the command. If it does not run, no process is left.
async fn start(
    wanted: StartRequest,
    entry: &TableEntry,
    reply: &mut oneshot::Sender<Result<Child, SpawnError>>,
) -> Result<RunningCommand, SpawnError> {
    let StartRequest {
        launcher,
        findings,
        arrivals,
        session,
        in_background,
        sandbox,
        mut spec,
        supervisor,
        program,
    } = wanted;
    let failed = |reason: String| SpawnError::Start {
        program: program.clone(),
        reason,
    };
    // The spawner thread must be able to end while this runs, so the launcher is dropped after this
    // call.
    let sandboxed = ((session, in_background), sandbox, arrivals);
    let launched = launch(launcher, &findings, sandboxed, &mut spec).await;
    let (mut launched, watch) = launched.map_err(failed)?;
    if launched.namespace {
        spec.limits = spec.limits.in_namespace();
    }
    let mut helper_handle = HelperHandle::new(launched.helper, launched.namespace, supervisor);
    let (from_helper, mut orders) = launched.control.into_split();
    let mut status = BufReader::new(from_helper).lines();
    let mut stop_requests = entry.stop_request().watch();
    let begun = tokio::select! {
        begun = nudged(&helper_handle, begin(&mut orders, &mut status, &spec)) => begun,
        () = reply.closed() => Err(StartFailure::Stopped),
        _ = stop_requests.wait_for(Option::is_some) => Err(StartFailure::Stopped),
    };
    let os_pid = match begun {
        Ok(reported) => helper_handle.started(reported),
        Err(why) => {
            // Closing the channel tells the helper to kill any process.
            drop((orders, status));
            helper_handle.ended().await;
            finish_unheard(watch).await;
            return Err(match why {
                StartFailure::Stopped => entry.stopped(&program),
                StartFailure::Reported(reason) => failed(reason),
                StartFailure::Lost(reason) => {
                    failed(complained(reason, &mut launched.stderr).await)
                }
            });
        }
    };
    entry.started(os_pid);
    Ok(RunningCommand {
        os_pid,
        orders,
        status,
        helper_handle,
        stdout: launched.stdout,
        stderr: launched.stderr,
        watch,
        group: launched.group,
    })
}

/// Forwards output and stops until no process is left.
async fn stay(
    started: RunningCommand,
    entry: TableEntry,
    reply: oneshot::Sender<Result<Child, SpawnError>>,
) {
    let (sender, mut receiver) = mpsc::channel(QUEUE);
    let child = Child {
        os_pid: started.os_pid,
        events: futures::stream::poll_fn(move |context| receiver.poll_recv(context)).boxed(),
        control: Box::new(entry.stop_request().clone()),
    };
    // If nobody waits for it, it is dropped here. The code below notices and kills it.
    let _ = reply.send(Ok(child));
    let (gone, is_gone) = watch::channel(false);
    let (stdout, stderr, arrivals) = (started.stdout, started.stderr, started.watch);
    let stop = entry.stop_request().clone();
    let group = started.group;
    let watch = HelperWatch {
        os_pid: started.os_pid,
        orders: started.orders,
        status: started.status,
        stop_requests: entry.stop_request().watch(),
        helper_handle: started.helper_handle,
    };
    let watched = async {
        let mut exit = {
            let come = async {
                match &arrivals {
                    Some(arrivals) => arrivals.watch(&sender, || stop.stop(0)).await,
                    None => std::future::pending().await,
                }
            };
            let run_out = watch.run_out(&sender);
            tokio::pin!(run_out);
            // Cancel-safe: a watch that is dropped loses nothing, and never ends.
            tokio::select! {
                exit = &mut run_out => exit,
                () = come => run_out.await,
            }
        };
        // In this order: a waiter for the row's removal finds nothing that came either.
        if let Some(arrivals) = arrivals {
            arrivals.finish(&sender).await;
        }
        let by_kernel = group.as_ref().and_then(MemoryGroup::exceeded);
        exit.over_memory = exit.over_memory.or(by_kernel);
        drop(group);
        drop(entry);
        gone.send_replace(true);
        exit
    };
    let ((), (), exit) = tokio::join!(
        pump(stdout, &sender, ChildEvent::Stdout, is_gone.clone()),
        pump(stderr, &sender, ChildEvent::Stderr, is_gone.clone()),
        watched,
    );
    // A reader that has gone does not need it.
    let _ = sender.send(ChildEvent::Exited(exit)).await;
}

/// Starts the helper with the requirements of the sandbox. Returns the values to keep as long as it
/// exists.
async fn launch(
    launcher: Launcher,
    findings: &Findings,
    (command, sandbox, arrivals): ((Pid, bool), Option<Arc<SandboxSpec>>, Arc<Arrivals>),
    spec: &mut CommandSpec,
) -> Result<(LaunchedHelper, Option<Arc<ArrivalWatch>>), String> {
    let ended = || "the thread that starts processes has ended".to_owned();
    let found = findings.settled().await.ok_or_else(ended)?;
    let PreparedCommand {
        setup,
        inner,
        before,
        watch,
    } = prepare(command, sandbox, found.sandbox, arrivals).await?;
    spec.inner = inner;
    spec.argv.splice(0..0, before);
    let launched = launcher.launch(setup).await;
    match launched {
        Ok(launched) => Ok((launched, watch)),
        Err(error) => {
            finish_unheard(watch).await;
            Err(format!("its helper did not start: {error}"))
        }
    }
}

/// Ends the watch of a command that did not run.
async fn finish_unheard(watch: Option<Arc<ArrivalWatch>>) {
    if let Some(watch) = watch {
        // Without a receiver, what came is kept for the next start of the session.
        let (nobody, _) = mpsc::channel(1);
        watch.finish(&nobody).await;
    }
}

type StatusLines = Lines<BufReader<OwnedReadHalf>>;

/// Waits for the helper's answer. A command may stop its helper before the helper reports the
/// start.
async fn nudged<T>(helper_handle: &HelperHandle, answer: impl Future<Output = T>) -> T {
    tokio::pin!(answer);
    loop {
        match timeout(NUDGE, &mut answer).await {
            Ok(answer) => return answer,
            Err(_) => helper_handle.wake(),
        }
    }
}

/// Why a command does not run.
enum StartFailure {
    /// It was stopped before it ran.
    Stopped,
    /// The helper's reason.
    Reported(String),
    /// The helper ended without a status.
    Lost(String),
}

/// Passes the command to the helper. Returns the command's process id as the helper sees it, or why
/// there is none.
async fn begin(
    orders: &mut OwnedWriteHalf,
    status: &mut StatusLines,
    spec: &CommandSpec,
) -> Result<u32, StartFailure> {
    let reported = |error: serde_json::Error| format!("it cannot be serialized: {error}");
    let line = wire::line(spec).map_err(|error| StartFailure::Reported(reported(error)))?;
    let lost = |error: io::Error| StartFailure::Lost(format!("its helper exited: {error}"));
    orders.write_all(&line).await.map_err(lost)?;
    match next(status).await.map_err(lost)? {
        Some(HelperStatus::Started(os_pid)) => Ok(os_pid),
        Some(HelperStatus::Failed(reason)) => Err(StartFailure::Reported(reason)),
        Some(HelperStatus::Exited(_)) | None => {
            Err(StartFailure::Lost("its helper ended early".to_owned()))
        }
    }
}

/// Adds the standard error of a helper that ended without a status: the program that opens the
/// namespace reports errors there.
async fn complained(reason: String, stderr: &mut ChildStderr) -> String {
    let mut complaint = Vec::new();
    // Another process may still hold the pipe, so this has a time limit.
    let _ = timeout(SILENCE, stderr.take(COMPLAINT).read_to_end(&mut complaint)).await;
    match String::from_utf8_lossy(&complaint).trim() {
        "" => reason,
        complaint => format!("{reason}: {complaint}"),
    }
}

async fn next(status: &mut StatusLines) -> io::Result<Option<HelperStatus>> {
    let Some(line) = status.next_line().await? else {
        return Ok(None);
    };
    Ok(Some(serde_json::from_str(&line)?))
}

/// Forwards one pipe until it ends.
async fn pump<R: AsyncRead + Unpin>(
    mut pipe: R,
    events: &mpsc::Sender<ChildEvent>,
    event: fn(Vec<u8>) -> ChildEvent,
    gone: watch::Receiver<bool>,
) {
    let mut piece = vec![0; PIECE];
    loop {
        // Cancel-safe: a read that loses the race has read nothing. Available data is read first.
        let read = tokio::select! {
            biased;
            read = pipe.read(&mut piece) => read,
            () = silence(gone.clone()) => return,
        };
        match read {
            Ok(0) | Err(_) => return,
            Ok(count) => {
                let Some(bytes) = piece.get(..count) else {
                    return;
                };
                if events.send(event(bytes.to_vec())).await.is_err() {
                    return;
                }
            }
        }
    }
}

async fn silence(mut gone: watch::Receiver<bool>) {
    // An error means that our own task has dropped the sender.
    let _ = gone.wait_for(|gone| *gone).await;
    sleep(SILENCE).await;
}

/// The connection to the helper while the command runs.
struct HelperWatch {
    os_pid: u32,
    orders: OwnedWriteHalf,
    status: StatusLines,
    stop_requests: watch::Receiver<Option<u64>>,
    helper_handle: HelperHandle,
}

impl HelperWatch {
    /// Forwards stops. Returns when the helper and all its processes are gone.
    async fn run_out(mut self, events: &mpsc::Sender<ChildEvent>) -> ChildExit {
        let ended = self.until_status_ends(events).await;
        let Self {
            os_pid,
            orders,
            status,
            helper_handle,
            ..
        } = self;
        drop((orders, status));
        let found = match ended {
            Some(_) => helper_handle.ended().await,
            // It did not answer, or was killed.
            None => helper_handle.abandon().await,
        };
        match ended {
            Some(ended) => {
                if ended.left > 0 {
                    tracing::warn!(
                        os_pid,
                        left = ended.left,
                        "processes of a command could not be killed"
                    );
                }
                ChildExit {
                    code: ended.code,
                    signal: ended.signal,
                    swept: ended.swept.saturating_add(found),
                    over_memory: ended.memory,
                }
            }
            // The kernel killed the command with its helper.
            None => {
                tracing::warn!(os_pid, swept = found, "the helper of a command was killed");
                ChildExit {
                    code: None,
                    signal: Some(rustix::process::Signal::KILL.as_raw()),
                    swept: found,
                    over_memory: None,
                }
            }
        }
    }

    async fn until_status_ends(
        &mut self,
        events: &mpsc::Sender<ChildEvent>,
    ) -> Option<CommandExit> {
        if self.stop_requests.borrow().is_some() {
            // A stop may have been requested before this.
            self.stop_requests.mark_changed();
        }
        let mut heard = true;
        // When the grace period is over and the helper must report the end.
        let mut due: Option<Instant> = None;
        let mut nudge: Option<Instant> = None;
        let mut woken = false;
        loop {
            // Every arm is cancel-safe: whole lines, the newest request, a closed channel, a timer.
            tokio::select! {
                status = next(&mut self.status) => match status {
                    Ok(Some(HelperStatus::Exited(ended))) => return Some(ended),
                    Ok(Some(HelperStatus::Started(_) | HelperStatus::Failed(_))) => {}
                    Ok(None) | Err(_) => return None,
                },
                // Never an error: our table row holds the sender.
                Ok(()) = self.stop_requests.changed() => {
                    let grace_ms = self.stop_requests.borrow_and_update().unwrap_or(0);
                    due = Some(earlier(due, self.order(grace_ms).await));
                    nudge = due.map(|due| due + NUDGE);
                }
                () = events.closed(), if heard => {
                    heard = false;
                    due = Some(earlier(due, self.order(0).await));
                    nudge = due.map(|due| due + NUDGE);
                }
                () = until(nudge) => {
                    if due.is_some_and(|due| due.elapsed() >= GIVE_UP) {
                        return None;
                    }
                    self.helper_handle.nudge(&mut woken).await;
                    nudge = Some(Instant::now() + NUDGE);
                }
            }
        }
    }

    /// Orders the helper to stop. Returns the end of the grace period.
    async fn order(&mut self, grace_ms: u64) -> Instant {
        if let Ok(line) = wire::line(&HelperOrder::Stop(grace_ms)) {
            // A helper that is gone has also closed its status channel, which is noticed there.
            let _ = self.orders.write_all(&line).await;
        }
        later(Duration::from_millis(grace_ms))
    }
}

fn earlier(before: Option<Instant>, now: Instant) -> Instant {
    before.map_or(now, |before| before.min(now))
}
