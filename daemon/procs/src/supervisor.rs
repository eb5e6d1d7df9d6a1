//! The daemon's parent as supervisor process: it adopts processes that outlive their helper.
//!
//! The parent starts the daemon, reaps adopted processes, and kills all remaining ones when the
//! daemon has ended. The daemon uses it to find orphans of a killed helper. Never use it in a
//! process that may have other children.

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

/// Gives the daemon the id and start time of its supervisor, which must match its real parent.
const VARIABLE: &str = "REASONIXD_SUPERVISOR";
/// Time limit for killing the remaining processes.
const BURIAL: Duration = Duration::from_secs(5);
/// Pause between two checks.
const PAUSE: Duration = Duration::from_millis(2);

/// The supervisor process, as the daemon knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SupervisorProcess {
    pid: Pid,
}

impl SupervisorProcess {
    /// The parent of this process, if it is a supervisor.
    #[must_use]
    pub fn of_this_process() -> Option<Self> {
        let given = std::env::var(VARIABLE).ok()?;
        let pid = getppid()?;
        (given == name(pid)?).then_some(Self { pid })
    }

    /// Its process id. Its descendants are only the daemon and the daemon's processes.
    #[must_use]
    pub fn pid(self) -> u32 {
        tree::raw(self.pid)
    }

    /// Kills adopted processes and their descendants, but not the caller and its own children.
    /// Returns how many were killed. Blocks.
    pub(crate) fn kill_orphans(self) -> u32 {
        // After its death we have another parent, whose children are not ours to kill.
        if getppid() != Some(self.pid) {
            return 0;
        }
        tree::kill_below(self.pid, Some(getpid()))
    }
}

/// A unique name of the process with this id.
fn name(pid: Pid) -> Option<String> {
    #[cfg(target_os = "linux")]
    return tree::read(pid).map(|process| format!("{pid}:{}", process.started));
    #[cfg(not(target_os = "linux"))]
    return tree::read(pid).map(|_| pid.to_string());
}

/// The parent's side: one daemon at a time.
pub struct DaemonSupervisor {
    /// All adopted processes are ours.
    adopts: bool,
    /// The daemon, until it is reaped: so long its process id is not reused.
    daemon: Mutex<Option<Pid>>,
}

impl DaemonSupervisor {
    /// Makes the calling process adopt orphans, if it may: the system's first process, or a process
    /// with other children, would adopt processes of others.
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
    /// The system's error if it cannot be started.
    pub fn start(&self, mut command: Command) -> io::Result<()> {
        command.env_remove(VARIABLE);
        if let Some(name) = Some(getpid()).filter(|_| self.adopts).and_then(name) {
            command.env(VARIABLE, name);
        }
        let mut daemon = self.lock();
        // `wait` below reaps it by its id.
        *daemon = tree::pid(command.spawn()?.id());
        Ok(())
    }

    /// Signals the daemon if it has not ended. May be called from another thread.
    pub fn signal(&self, signal: Signal) {
        if let Some(daemon) = *self.lock() {
            // It may already be a zombie.
            let _ = kill_process(daemon, signal);
        }
    }

    /// Waits for the end of the daemon. Reaps all other processes that end meanwhile.
    ///
    /// # Errors
    /// There is no child to wait for.
    pub fn wait(&self) -> io::Result<ExitStatus> {
        loop {
            // Checked first and reaped under the lock, so that no free process id is signalled.
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

    /// Kills all remaining processes of an ended daemon. Returns false if a process is left because
    /// it has other rights or hangs in the kernel.
    #[must_use]
    pub fn kill_leftovers(&self) -> bool {
        let end = Instant::now() + BURIAL;
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) | Err(Errno::INTR) => {}
                // A process lives. If it may belong to others, it is not ours to kill.
                Ok(None) if !self.adopts => return false,
                Ok(None) if Instant::now() >= end => return false,
                Ok(None) => {
                    tree::kill_below(getpid(), None);
                    // They need a moment to end, and polling would take processor time from them.
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

/// Waits until a child has ended, without reaping it.
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
