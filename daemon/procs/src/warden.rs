//! The daemon's parent process as the one that adopts: whatever outlives its helper ends up below it.
//!
//! The parent side starts the daemon, reaps what is handed to it, and when the daemon has ended kills all
//! that is left. The daemon's side knows from it where orphans of a killed helper are to be looked for.
//! Never used by a process that may have children of its own.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpid, getppid, kill_process, wait, waitid,
};

use crate::tree;

/// How the daemon is told whose child it is: number and time of start, which must fit its real parent.
const VARIABLE: &str = "REASONIXD_WARDEN";
/// The longest time that killing what is left may take.
const BURIAL: Duration = Duration::from_secs(5);
/// Between two looks whether all of it has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// What the daemon knows of its warden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warden {
    pid: Pid,
}

impl Warden {
    /// The parent of this process, where that is one.
    #[must_use]
    pub fn of_this_process() -> Option<Self> {
        let told = std::env::var(VARIABLE).ok()?;
        let pid = getppid()?;
        (told == name(pid)?).then_some(Self { pid })
    }

    /// Its process id. What descends from it is the daemon and what the daemon has started, alone.
    #[must_use]
    pub fn pid(self) -> u32 {
        tree::raw(self.pid)
    }

    /// Kills what was handed to it, with all below; never the caller, nor what the caller has started and
    /// holds. How many those were. Blocks.
    pub(crate) fn kill_orphans(self) -> u32 {
        // After its death we have another parent, whose children are not ours to kill.
        if getppid() != Some(self.pid) {
            return 0;
        }
        tree::kill_below(self.pid, Some(getpid()))
    }
}

/// The process of this number, by a name that no other ever has.
fn name(pid: Pid) -> Option<String> {
    #[cfg(target_os = "linux")]
    return tree::read(pid).map(|process| format!("{pid}:{}", process.started));
    #[cfg(not(target_os = "linux"))]
    return tree::read(pid).map(|_| pid.to_string());
}

/// The parent's side: one daemon at a time.
pub struct Ward {
    /// All that are handed over are ours.
    adopts: bool,
    /// The daemon, until it is reaped: as long as it stands here, its number is its own.
    daemon: Mutex<Option<Pid>>,
}

impl Ward {
    /// Makes the calling process the one that adopts, if it can be one: the system's first process and a
    /// process that has children already would be handed those of others.
    #[must_use]
    pub fn begin() -> Self {
        let childless = matches!(wait_for_any(WaitIdOptions::NOHANG), Err(Errno::CHILD));
        let adopts = childless && !getpid().is_init() && adopt().is_ok();
        Self {
            adopts,
            daemon: Mutex::new(None),
        }
    }

    /// Starts the daemon.
    ///
    /// # Errors
    /// What the system says when it cannot be started.
    pub fn start(&self, mut command: Command) -> io::Result<()> {
        command.env_remove(VARIABLE);
        if let Some(name) = Some(getpid()).filter(|_| self.adopts).and_then(name) {
            command.env(VARIABLE, name);
        }
        let mut daemon = self.lock();
        // Reaped by `wait` below, by its number.
        *daemon = tree::pid(command.spawn()?.id());
        Ok(())
    }

    /// Signals the daemon, if it has not ended. May be called by another thread.
    pub fn signal(&self, signal: Signal) {
        if let Some(daemon) = *self.lock() {
            // It may be a zombie already: then there is nobody to hear it.
            let _ = kill_process(daemon, signal);
        }
    }

    /// Returns when the daemon has ended. All others that end meanwhile are taken in.
    ///
    /// # Errors
    /// Where there is no child to wait for.
    pub fn wait(&self) -> io::Result<ExitStatus> {
        loop {
            // Looked at first, and reaped behind the lock: nobody signals a number that is free.
            match wait_for_any(WaitIdOptions::empty()) {
                Ok(()) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let mut daemon = self.lock();
            while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
                if Some(pid) == *daemon {
                    *daemon = None;
                    return Ok(ExitStatus::from_raw(status.as_raw()));
                }
            }
        }
    }

    /// Kills all that the daemon has left, once it has ended. Whether nothing is left: false where
    /// something runs with other rights, or hangs in the kernel.
    #[must_use]
    pub fn bury(&self) -> bool {
        let end = Instant::now() + BURIAL;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                // Somebody lives. Where it may be anybody's child, it is not ours to kill.
                Ok(None) if !self.adopts => return false,
                Ok(None) if Instant::now() >= end => return false,
                Ok(None) => {
                    tree::kill_below(getpid(), None);
                    // They need a moment to end, and we would take the processor from them.
                    std::thread::sleep(PAUSE);
                }
                // No children.
                Err(_) => return true,
            }
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Pid>> {
        self.daemon.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns when a child has ended, and leaves it as it is.
fn wait_for_any(how: WaitIdOptions) -> Result<(), Errno> {
    waitid(
        WaitId::All,
        WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | how,
    )
    .map(|_| ())
}

fn adopt() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_child_subreaper(Some(getpid()))?;
        Ok(())
    }
    #[cfg(not(target_os = "linux"))]
    Err(io::ErrorKind::Unsupported.into())
}
