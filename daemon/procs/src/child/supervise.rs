//! The first stage: starts the command through the second stage, and stays until all its processes
//! are gone.
//!
//! ```text
//!     Waiting for work ─▶ Starting (second stage runs) ─▶ Supervising (command runs, or TERM was sent) ─▶ Sweeping ─▶ gone
//! ```
//! The end of the control channel, and TERM to this process, both mean: kill everything now. Prints
//! nothing. The daemon is informed through the control channel.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, getpid, getppid, setsid};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::{Instant, timeout};

use super::memory::MemoryWatch;
use super::reap::{CommandEnd, Reaper};
use super::signals::{SignalEvent, Signals};
use super::{exec, nothing, sockets};
use crate::grace::{later, until};
use crate::tree::{self, Tree};
use crate::wire::{self, CommandExit, HeldCommand, HelperOrder, HelperStatus};

/// Maximum duration of a sweep against processes that do not die.
const SWEEP: Duration = Duration::from_secs(5);
/// Pause between two rounds of a sweep, unless all processes end earlier.
const BLOW: Duration = Duration::from_millis(50);

/// The position of this process.
#[derive(Clone, Copy, Debug)]
pub(super) enum Placement {
    /// Among all processes of the system: it adopts orphans as a subreaper.
    Outside,
    /// The first process of a namespace, which adopts orphans automatically. `numbers` limits the
    /// namespace's process ids.
    Inside { numbers: u32 },
}

pub(super) fn main(place: Placement) -> i32 {
    let held = prepare(place).and_then(|(runtime, control)| runtime.block_on(hold(control, place)));
    match held {
        Ok(()) => 0,
        // The daemon notices that we ended without a status.
        Err(_) => 1,
    }
}

/// Makes this process adopt orphans, detached from the daemon's session and inaccessible to the
/// command.
fn prepare(place: Placement) -> io::Result<(tokio::runtime::Runtime, StdStream)> {
    // Fails only for the leader of a process group. Then a user started us directly.
    let _ = setsid();
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Signal, set_child_subreaper, set_parent_process_death_signal};
        match place {
            // The opener's death signal was set when the process was started.
            Placement::Inside { numbers } => {
                super::inside::enter(numbers)?;
            }
            Placement::Outside => {
                set_child_subreaper(Some(getpid()))?;
                // CONT and not TERM: a helper stopped by its command would not receive a TERM.
                // After CONT it sees that the channel has closed, or that its parent has changed.
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

async fn hold(control: StdStream, place: Placement) -> io::Result<()> {
    let parent = getppid();
    let signals = Signals::take()?;
    let (orders, mut status) = UnixStream::from_std(control)?.into_split();
    let mut control_input = ControlInput {
        orders: BufReader::new(orders).lines(),
        signals,
        parent,
    };
    let Some(work) = control_input.orders.next_line().await? else {
        return Ok(());
    };
    let (command, link) = match launch() {
        Ok(launched) => launched,
        Err(error) => {
            let reason = format!("its second stage did not start: {error}");
            return say(&mut status, &HelperStatus::Failed(reason)).await;
        }
    };
    let mut holder = Supervisor {
        control_input,
        reaper: Reaper::new(command),
        tree: match place {
            Placement::Outside => Tree::new(getpid(), command),
            Placement::Inside { .. } => Tree::of_namespace(command),
        },
        due: None,
        memory: MemoryWatch::new(None),
    };
    let begun = holder.begin(link, work).await;
    if let Err(reason) = begun {
        // Its processes may be anywhere.
        holder.sweep().await;
        return say(&mut status, &HelperStatus::Failed(reason)).await;
    }
    // If the daemon is gone, this fails, but the rest must still be done.
    let _ = say(&mut status, &HelperStatus::Started(tree::raw(command))).await;
    holder.until_due().await;
    let (swept, left) = holder.sweep().await;
    let CommandEnd { code, signal } = holder.reaper.end().unwrap_or_default();
    let exit = CommandExit {
        code,
        signal,
        swept,
        left,
        memory: holder.memory.exceeded(),
    };
    let _ = say(&mut status, &HelperStatus::Exited(exit)).await;
    Ok(())
}

async fn say(status: &mut OwnedWriteHalf, what: &HelperStatus) -> io::Result<()> {
    status.write_all(&wire::line(what)?).await
}

/// Starts the second stage with our output as its output, and closes our copy: the pipes must end
/// with the command's last process, not with us.
fn launch() -> io::Result<(Pid, UnixStream)> {
    let (ours, theirs) = StdStream::pair()?;
    ours.set_nonblocking(true)?;
    let mut second = Command::new("reasonixd");
    second.stdin(Stdio::from(OwnedFd::from(theirs)));
    let holder = getpid();
    // Forked: to load a binary of this size takes longer than all that the stage does.
    let second = sandbox::fork(second, move || exec::main(holder))?;
    let nothing = nothing()?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    let pid = i32::try_from(second.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| io::Error::other("it has no process id"))?;
    Ok((pid, UnixStream::from_std(ours)?))
}

/// Input of the first stage.
struct ControlInput {
    orders: Lines<BufReader<OwnedReadHalf>>,
    signals: Signals,
    /// The daemon's process id when we started.
    parent: Option<Pid>,
}

enum ControlMessage {
    /// A child may have ended, or nothing happened.
    Child,
    /// End everything after this grace period.
    Stop(Duration),
}

impl ControlInput {
    /// The next message. Cancel-safe.
    async fn listen(&mut self) -> ControlMessage {
        tokio::select! {
            line = self.orders.next_line() => ControlMessage::Stop(match line {
                Ok(Some(line)) => match serde_json::from_str(&line) {
                    Ok(HelperOrder::Stop(grace_ms)) => Duration::from_millis(grace_ms),
                    // The daemon writes only whole orders. Anything else is not from the daemon.
                    Err(_) => Duration::ZERO,
                },
                Ok(None) | Err(_) => Duration::ZERO,
            }),
            heard = self.signals.any() => match heard {
                SignalEvent::GoOn if getppid() != self.parent => ControlMessage::Stop(Duration::ZERO),
                SignalEvent::Child | SignalEvent::GoOn => ControlMessage::Child,
                SignalEvent::End => ControlMessage::Stop(Duration::ZERO),
            },
        }
    }
}

struct Supervisor {
    control_input: ControlInput,
    reaper: Reaper,
    tree: Tree,
    /// Set by the first stop: the end of the grace period.
    due: Option<Instant>,
    memory: MemoryWatch,
}

impl Supervisor {
    /// Passes the command to the second stage. Returns when that has become the command.
    async fn begin(&mut self, mut link: UnixStream, mut work: String) -> Result<(), String> {
        let mut held: HeldCommand =
            serde_json::from_str(&work).map_err(|error| error.to_string())?;
        self.memory = MemoryWatch::new(held.limits.memory);
        work.push('\n');
        let talk = async {
            // If writing fails, the other side is gone. Its earlier message can still be read.
            let _ = link.write_all(work.as_bytes()).await;
            sockets::hear(&mut link).await
        };
        tokio::pin!(talk);
        loop {
            tokio::select! {
                said = &mut talk => return sockets::serve(said?, held.sockets()),
                message = self.control_input.listen() => match message {
                    // `until_due` sees it again: the reaper asks the kernel, not the signal.
                    ControlMessage::Child => {}
                    ControlMessage::Stop(_) => return Err("it was stopped before it ran".to_owned()),
                },
            }
        }
    }

    /// Returns when it is time to sweep: the command has ended, the grace period is over, or no
    /// process is left.
    async fn until_due(&mut self) {
        loop {
            if !self.reaper.reap() || (self.reaper.end().is_some() && self.due.is_none()) {
                return;
            }
            let message = tokio::select! {
                message = self.control_input.listen() => message,
                () = until(self.due) => return,
                () = self.memory.due() => {
                    if self.memory.look(&self.tree) {
                        return;
                    }
                    continue;
                }
            };
            let ControlMessage::Stop(grace) = message else {
                continue;
            };
            if grace.is_zero() {
                return;
            }
            let due = later(grace);
            match self.due {
                Some(before) => self.due = Some(before.min(due)),
                None => {
                    self.tree.terminate();
                    self.due = Some(due);
                }
            }
        }
    }

    /// Kills until no process is left. Returns how many were killed besides the command, and how
    /// many could not be.
    async fn sweep(&mut self) -> (u32, u32) {
        let end = Instant::now() + SWEEP;
        while self.reaper.reap() {
            if Instant::now() >= end {
                return (self.tree.killed(), self.tree.living());
            }
            self.tree.kill();
            let next = Instant::now() + BLOW;
            while self.reaper.reap() && Instant::now() < next {
                // The loop treats an ended child and the timeout the same way.
                let _ = timeout(next - Instant::now(), self.control_input.signals.child()).await;
            }
        }
        (self.tree.killed(), 0)
    }
}
