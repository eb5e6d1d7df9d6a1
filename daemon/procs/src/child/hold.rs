//! The first stage: starts the command through the second stage, and stays until nothing of it is left.
//!
//! ```text
//! Waiting for work ─▶ Starting (second stage runs) ─▶ Holding (command runs, or TERM was sent) ─▶ Sweeping ─▶ gone
//! ```
//! The end of the control channel and TERM to this process both mean: sweep now. Prints nothing; the
//! daemon is told everything through the control channel.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, getpid, getppid, setsid};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, sleep_until, timeout};

use super::reap::{End, Reaper};
use super::signals::{Heard, Signals};
use super::{SECOND_STAGE, nothing};
use crate::options::this_binary;
use crate::tree::Tree;
use crate::wire::{self, Ended, Order, Status};

/// How long a sweep goes on against processes that do not die.
const SWEEP: Duration = Duration::from_secs(5);
/// Between two blows of a sweep, unless all are gone earlier.
const BLOW: Duration = Duration::from_millis(50);
/// The longest reason of a failed start that is passed on.
const REASON: u64 = 4096;

/// Where this process stands.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// Among all processes of the system: it adopts as a subreaper.
    Outside,
    /// The first process of a namespace, which adopts by nature, and may give out so many process numbers.
    Inside { numbers: u32 },
}

pub(super) fn main(arguments: Vec<OsString>, place: Place) -> i32 {
    let held = prepare(place)
        .and_then(|(runtime, control)| runtime.block_on(hold(control, arguments, place)));
    match held {
        Ok(()) => 0,
        // The daemon sees that we ended without a word, and says so.
        Err(_) => 1,
    }
}

/// Makes this process the one that adopts, apart from the daemon's session, and closed to the command.
fn prepare(place: Place) -> io::Result<(tokio::runtime::Runtime, StdStream)> {
    // Fails only for a leader of a process group: then somebody has called us by hand.
    let _ = setsid();
    // Our own are closed by exec anyway; whoever started the daemon may have left others open.
    close_fds::set_fds_cloexec(3, &[]);
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_child_subreaper, set_parent_process_death_signal};
        match place {
            // That it dies with who opened the namespace, it was given on the way in.
            Place::Inside { numbers } => {
                super::inside::enter(numbers)?;
            }
            Place::Outside => {
                set_child_subreaper(Some(getpid()))?;
                // CONT and not TERM: a helper that its command has stopped would not hear a TERM. Awake, it
                // sees the end of the channel, or that it has another parent.
                set_parent_process_death_signal(Some(Signal::CONT))?;
            }
        }
        crate::harden::daemon()?;
        let _ = rustix::thread::set_name(c"reasonix-child");
    }
    #[cfg(not(target_os = "linux"))]
    let _ = place;
    let control = StdStream::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    control.set_nonblocking(true)?;
    rustix::stdio::dup2_stdin(nothing()?)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .enable_time()
        .build()?;
    Ok((runtime, control))
}

async fn hold(control: StdStream, arguments: Vec<OsString>, place: Place) -> io::Result<()> {
    let parent = getppid();
    let signals = Signals::take()?;
    let (orders, mut status) = UnixStream::from_std(control)?.into_split();
    let mut ears = Ears {
        orders: BufReader::new(orders).lines(),
        signals,
        parent,
    };
    let Some(work) = ears.orders.next_line().await? else {
        return Ok(());
    };
    let (command, link) = match launch(arguments) {
        Ok(launched) => launched,
        Err(error) => {
            return say(
                &mut status,
                &Status::Failed(format!("its second stage did not start: {error}")),
            )
            .await;
        }
    };
    let mut holder = Holder {
        ears,
        reaper: Reaper::new(command),
        tree: match place {
            Place::Outside => Tree::new(getpid(), command),
            Place::Inside { .. } => Tree::of_namespace(command),
        },
        due: None,
    };
    let begun = holder.begin(link, work).await;
    if let Err(reason) = begun {
        // It may have got anywhere.
        holder.sweep().await;
        return say(&mut status, &Status::Failed(reason)).await;
    }
    // A daemon that is gone does not hear it, but the rest must still be done.
    let _ = say(
        &mut status,
        &Status::Started(command.as_raw_nonzero().get().unsigned_abs()),
    )
    .await;
    holder.until_due().await;
    let (swept, left) = holder.sweep().await;
    let End { code, signal } = holder.reaper.end().unwrap_or_default();
    let _ = say(
        &mut status,
        &Status::Exited(Ended {
            code,
            signal,
            swept,
            left,
        }),
    )
    .await;
    Ok(())
}

async fn say(status: &mut OwnedWriteHalf, what: &Status) -> io::Result<()> {
    status.write_all(&wire::line(what)?).await
}

/// Starts the second stage, with our output as its output, and lets go of that output: the pipes must end
/// with the last process of the command, not with us.
fn launch(arguments: Vec<OsString>) -> io::Result<(Pid, UnixStream)> {
    let (ours, theirs) = StdStream::pair()?;
    ours.set_nonblocking(true)?;
    let second = Command::new(this_binary()?)
        .args(arguments)
        .arg(SECOND_STAGE)
        .arg(getpid().as_raw_nonzero().get().to_string())
        .env_clear()
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .spawn()?;
    let nothing = nothing()?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    let pid = i32::try_from(second.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("it has no process id"))?;
    Ok((pid, UnixStream::from_std(ours)?))
}

/// Where we are told things.
struct Ears {
    orders: Lines<BufReader<OwnedReadHalf>>,
    signals: Signals,
    /// The daemon, as it was when we began.
    parent: Option<Pid>,
}

enum Told {
    /// A child may have ended, or nothing has happened.
    Child,
    /// End it all, after this grace.
    Stop(Duration),
}

impl Ears {
    /// The next thing we are told. Cancel-safe.
    async fn listen(&mut self) -> Told {
        tokio::select! {
            line = self.orders.next_line() => Told::Stop(match line {
                Ok(Some(line)) => match serde_json::from_str(&line) {
                    Ok(Order::Stop(grace_ms)) => Duration::from_millis(grace_ms),
                    // The daemon writes whole orders only; anything else is not the daemon.
                    Err(_) => Duration::ZERO,
                },
                Ok(None) | Err(_) => Duration::ZERO,
            }),
            heard = self.signals.any() => match heard {
                Heard::GoOn if getppid() != self.parent => Told::Stop(Duration::ZERO),
                Heard::Child | Heard::GoOn => Told::Child,
                Heard::End => Told::Stop(Duration::ZERO),
            },
        }
    }
}

struct Holder {
    ears: Ears,
    reaper: Reaper,
    tree: Tree,
    /// Set by the first stop: when the grace is over.
    due: Option<Instant>,
}

impl Holder {
    /// Hands the work to the second stage, and returns when that has become the command.
    async fn begin(&mut self, mut link: UnixStream, mut work: String) -> Result<(), String> {
        work.push('\n');
        let talk = async {
            // When it cannot be written, the other side is gone: what it said before can be read.
            let _ = link.write_all(work.as_bytes()).await;
            let mut reason = String::new();
            match link.take(REASON).read_to_string(&mut reason).await {
                Ok(0) => Ok(()),
                Ok(_) => Err(reason),
                Err(error) => Err(format!("its second stage was lost: {error}")),
            }
        };
        tokio::pin!(talk);
        loop {
            tokio::select! {
                said = &mut talk => return said,
                told = self.ears.listen() => match told {
                    // Seen again by `until_due`: the reaper asks the kernel, not the signal.
                    Told::Child => {}
                    Told::Stop(_) => return Err("it was stopped before it ran".to_owned()),
                },
            }
        }
    }

    /// Returns when it is time to sweep: the command has ended by itself, the grace is over, or nothing is left.
    async fn until_due(&mut self) {
        loop {
            if !self.reaper.reap() || (self.reaper.end().is_some() && self.due.is_none()) {
                return;
            }
            let told = tokio::select! {
                told = self.ears.listen() => told,
                () = until(self.due) => return,
            };
            let Told::Stop(grace) = told else { continue };
            if grace.is_zero() {
                return;
            }
            let due = Instant::now() + grace.min(FAR);
            match self.due {
                Some(before) => self.due = Some(before.min(due)),
                None => {
                    self.tree.terminate();
                    self.due = Some(due);
                }
            }
        }
    }

    /// Kills until nothing is left. How many were killed besides the command, and how many could not be.
    async fn sweep(&mut self) -> (u32, u32) {
        let end = Instant::now() + SWEEP;
        while self.reaper.reap() {
            if Instant::now() >= end {
                return (self.tree.killed(), self.tree.living());
            }
            self.tree.kill();
            let next = Instant::now() + BLOW;
            while self.reaper.reap() && Instant::now() < next {
                // Whether a child ended or the time is up is the same to the loop.
                let _ = timeout(next - Instant::now(), self.ears.signals.child()).await;
            }
        }
        (self.tree.killed(), 0)
    }
}

/// No grace is longer: a moment further away cannot be told to the clock.
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => std::future::pending().await,
    }
}
