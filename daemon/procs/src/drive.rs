//! One child from the daemon's side: hands the helper its work, passes output on, passes stops down.
//!
//! Runs as one task from before the start until nothing is left. Never decides that a child must end,
//! except when nobody listens to it any more. Called only by `procs`.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use contract::{Child, ChildEvent, ChildExit, SpawnError, Walls};
use futures::StreamExt;
use proto::Pid;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::process::{ChildStderr, ChildStdout};
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::found::Findings;
use crate::grip::{GIVE_UP, Grip, NUDGE};
use crate::prepare::{Prepared, prepare};
use crate::spawner::{Launched, Launcher};
use crate::table::Entry;
use crate::warden::Warden;
use crate::wire::{self, Ended, Order, Spec, Status};

/// Pieces of output that may wait for the reader; when there are so many, the pipes are left alone and
/// the command waits in its `write`.
const QUEUE: usize = 8;
/// The largest piece.
const PIECE: usize = 32 * 1024;
/// How long a pipe may stay silent, after all is gone, before we believe that somebody outside holds it.
const SILENCE: Duration = Duration::from_millis(500);
/// The most that is repeated of what a helper complains that could not start.
const COMPLAINT: u64 = 1000;

/// One start.
pub(crate) struct Job {
    pub wanted: Wanted,
    pub entry: Entry,
    pub reply: oneshot::Sender<Result<Child, SpawnError>>,
}

/// What is to be started, and by what.
pub(crate) struct Wanted {
    pub launcher: Launcher,
    pub findings: Findings,
    pub session: Pid,
    pub walls: Option<Arc<Walls>>,
    pub spec: Spec,
    pub warden: Option<Warden>,
    /// For messages.
    pub program: String,
}

/// Starts a command and stays with it.
pub(crate) async fn run(job: Job) {
    let Job {
        wanted,
        entry,
        mut reply,
    } = job;
    match start(wanted, &entry, &mut reply).await {
        Ok(started) => stay(started, entry, reply).await,
        Err(error) => {
            drop(entry);
            let _ = reply.send(Err(error));
        }
    }
}

/// A command that runs.
struct Started {
    os_pid: u32,
    orders: OwnedWriteHalf,
    status: StatusLines,
    grip: Grip,
    stdout: ChildStdout,
    stderr: ChildStderr,
    /// What must be kept for as long as it is there.
    held: sandbox::Stubs,
}

/// Starts it. Where it does not run, nothing is left of it.
async fn start(
    wanted: Wanted,
    entry: &Entry,
    reply: &mut oneshot::Sender<Result<Child, SpawnError>>,
) -> Result<Started, SpawnError> {
    let Wanted {
        launcher,
        findings,
        session,
        walls,
        mut spec,
        warden,
        program,
    } = wanted;
    let failed = |reason: String| SpawnError::Start {
        program: program.clone(),
        reason,
    };
    // The thread must be able to end while we run: the way to it is gone when this has been done.
    let launched = launch(launcher, &findings, (session, walls), &mut spec).await;
    let (mut launched, held) = launched.map_err(failed)?;
    if launched.namespace {
        spec.limits = spec.limits.in_namespace();
    }
    let mut grip = Grip::new(launched.helper, launched.namespace, warden);
    let (from_helper, mut orders) = launched.control.into_split();
    let mut status = BufReader::new(from_helper).lines();
    let mut wishes = entry.wish().watch();
    let begun = tokio::select! {
        begun = nudged(&grip, begin(&mut orders, &mut status, &spec)) => begun,
        () = reply.closed() => Err(NotBegun::Stopped),
        _ = wishes.wait_for(Option::is_some) => Err(NotBegun::Stopped),
    };
    let os_pid = match begun {
        Ok(told) => grip.started(told),
        Err(why) => {
            // The end of the channel tells the helper to kill what there may be.
            drop((orders, status));
            grip.ended().await;
            return Err(match why {
                NotBegun::Stopped => entry.stopped(&program),
                NotBegun::Told(reason) => failed(reason),
                NotBegun::Lost(reason) => failed(complained(reason, &mut launched.stderr).await),
            });
        }
    };
    entry.started(os_pid);
    Ok(Started {
        os_pid,
        orders,
        status,
        grip,
        stdout: launched.stdout,
        stderr: launched.stderr,
        held,
    })
}

/// Passes on what it prints and what it is told, until nothing is left of it.
async fn stay(started: Started, entry: Entry, reply: oneshot::Sender<Result<Child, SpawnError>>) {
    let (sender, mut receiver) = mpsc::channel(QUEUE);
    let child = Child {
        os_pid: started.os_pid,
        events: futures::stream::poll_fn(move |context| receiver.poll_recv(context)).boxed(),
        control: Box::new(entry.wish().clone()),
    };
    // Nobody waits for it any more: it is dropped here, and what follows sees that and kills.
    let _ = reply.send(Ok(child));
    let (gone, is_gone) = watch::channel(false);
    let (stdout, stderr, held) = (started.stdout, started.stderr, started.held);
    let watch = Watch {
        os_pid: started.os_pid,
        orders: started.orders,
        status: started.status,
        wishes: entry.wish().watch(),
        grip: started.grip,
    };
    let watched = async {
        let exit = watch.run_out(&sender).await;
        // In this order: who waits for the row to go finds nothing of the command on the disk either.
        drop(held);
        drop(entry);
        gone.send_replace(true);
        exit
    };
    let ((), (), exit) = tokio::join!(
        pump(stdout, &sender, ChildEvent::Stdout, is_gone.clone()),
        pump(stderr, &sender, ChildEvent::Stderr, is_gone.clone()),
        watched,
    );
    // A reader that went away does not want to know.
    let _ = sender.send(ChildEvent::Exited(exit)).await;
}

/// Has the helper started, within what the walls need, and says what must be kept for as long as it is there.
async fn launch(
    launcher: Launcher,
    findings: &Findings,
    (session, walls): (Pid, Option<Arc<Walls>>),
    spec: &mut Spec,
) -> Result<(Launched, sandbox::Stubs), String> {
    let ended = || "the thread that starts processes has ended".to_owned();
    let found = findings.settled().await.ok_or_else(ended)?;
    let Prepared {
        opening,
        inner,
        before,
        held,
    } = prepare(session, walls, found.walls).await?;
    spec.inner = inner;
    spec.argv.splice(0..0, before);
    let launched = launcher.launch(opening).await;
    let launched = launched.map_err(|error| format!("its helper did not start: {error}"))?;
    Ok((launched, held))
}

type StatusLines = Lines<BufReader<OwnedReadHalf>>;

/// Waits for the helper's answer. A command may stop its helper before that has said that it runs.
async fn nudged<T>(grip: &Grip, answer: impl Future<Output = T>) -> T {
    tokio::pin!(answer);
    loop {
        match timeout(NUDGE, &mut answer).await {
            Ok(answer) => return answer,
            Err(_) => grip.wake(),
        }
    }
}

/// Why a command does not run.
enum NotBegun {
    /// Nobody wants it any more.
    Stopped,
    /// The helper says why.
    Told(String),
    /// The helper said nothing, and is gone.
    Lost(String),
}

/// Gives the helper its work; the command's process id where the helper is, or why there is none.
async fn begin(
    orders: &mut OwnedWriteHalf,
    status: &mut StatusLines,
    spec: &Spec,
) -> Result<u32, NotBegun> {
    let told = |error: serde_json::Error| format!("it cannot be written down: {error}");
    let line = wire::line(spec).map_err(|error| NotBegun::Told(told(error)))?;
    let lost = |error: io::Error| NotBegun::Lost(format!("its helper went away: {error}"));
    orders.write_all(&line).await.map_err(lost)?;
    match next(status).await.map_err(lost)? {
        Some(Status::Started(os_pid)) => Ok(os_pid),
        Some(Status::Failed(reason)) => Err(NotBegun::Told(reason)),
        Some(Status::Exited(_)) | None => Err(NotBegun::Lost("its helper ended early".to_owned())),
    }
}

/// A helper that ended without a word to us may have left one where the command's words would stand: what
/// opens the namespace does so.
async fn complained(reason: String, stderr: &mut ChildStderr) -> String {
    let mut complaint = Vec::new();
    // Somebody else may hold the pipe still: then there is nothing to wait for.
    let _ = timeout(SILENCE, stderr.take(COMPLAINT).read_to_end(&mut complaint)).await;
    match String::from_utf8_lossy(&complaint).trim() {
        "" => reason,
        complaint => format!("{reason}: {complaint}"),
    }
}

async fn next(status: &mut StatusLines) -> io::Result<Option<Status>> {
    let Some(line) = status.next_line().await? else {
        return Ok(None);
    };
    Ok(Some(serde_json::from_str(&line)?))
}

/// Passes one pipe on until it ends.
async fn pump<R: AsyncRead + Unpin>(
    mut pipe: R,
    events: &mpsc::Sender<ChildEvent>,
    event: fn(Vec<u8>) -> ChildEvent,
    gone: watch::Receiver<bool>,
) {
    let mut piece = vec![0; PIECE];
    loop {
        // Cancel-safe: a read that loses the race has read nothing; what is there is always read first.
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
    // An error means that the sender went with our own task.
    let _ = gone.wait_for(|gone| *gone).await;
    sleep(SILENCE).await;
}

/// The way down to the helper, while the command runs.
struct Watch {
    os_pid: u32,
    orders: OwnedWriteHalf,
    status: StatusLines,
    wishes: watch::Receiver<Option<u64>>,
    grip: Grip,
}

impl Watch {
    /// Passes stops down, and returns when the helper and all that it held are gone.
    async fn run_out(mut self, events: &mpsc::Sender<ChildEvent>) -> ChildExit {
        let ended = self.until_status_ends(events).await;
        let Self {
            os_pid,
            orders,
            status,
            grip,
            ..
        } = self;
        drop((orders, status));
        let found = match ended {
            Some(_) => grip.ended().await,
            // Given up, or killed by somebody.
            None => grip.abandon().await,
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
                }
            }
            // The kernel has killed the command with its helper.
            None => {
                tracing::warn!(os_pid, swept = found, "the helper of a command was killed");
                ChildExit {
                    code: None,
                    signal: Some(rustix::process::Signal::KILL.as_raw()),
                    swept: found,
                }
            }
        }
    }

    async fn until_status_ends(&mut self, events: &mpsc::Sender<ChildEvent>) -> Option<Ended> {
        if self.wishes.borrow().is_some() {
            // Asked for before we looked.
            self.wishes.mark_changed();
        }
        let mut heard = true;
        // When the grace is over, and the helper owes us an end.
        let mut due: Option<Instant> = None;
        let mut nudge: Option<Instant> = None;
        let mut woken = false;
        loop {
            // Every arm is cancel-safe: whole lines, the newest wish, a closed channel, a moment.
            tokio::select! {
                status = next(&mut self.status) => match status {
                    Ok(Some(Status::Exited(ended))) => return Some(ended),
                    Ok(Some(Status::Started(_) | Status::Failed(_))) => {}
                    Ok(None) | Err(_) => return None,
                },
                // Never an error: our row of the table holds the other end.
                Ok(()) = self.wishes.changed() => {
                    let grace_ms = self.wishes.borrow_and_update().unwrap_or(0);
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
                    self.grip.nudge(&mut woken).await;
                    nudge = Some(Instant::now() + NUDGE);
                }
            }
        }
    }

    /// Tells the helper to stop; when the grace is over.
    async fn order(&mut self, grace_ms: u64) -> Instant {
        if let Ok(line) = wire::line(&Order::Stop(grace_ms)) {
            // A helper that is gone has ended its side too, and that is seen there.
            let _ = self.orders.write_all(&line).await;
        }
        later(Duration::from_millis(grace_ms))
    }
}

fn earlier(before: Option<Instant>, now: Instant) -> Instant {
    before.map_or(now, |before| before.min(now))
}

/// A moment from now; a grace beyond all measure ends in a year.
fn later(after: Duration) -> Instant {
    const YEAR: Duration = Duration::from_secs(365 * 24 * 3600);
    Instant::now() + after.min(YEAR)
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
