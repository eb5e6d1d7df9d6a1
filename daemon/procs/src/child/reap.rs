//! Takes in the ends of children: the command's own, and those of everything adopted.

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

/// How the command ended, once it has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct End {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

pub(super) struct Reaper {
    command: Pid,
    end: Option<End>,
}

impl Reaper {
    pub fn new(command: Pid) -> Self {
        Self { command, end: None }
    }

    /// How the command ended; `None` while it runs.
    pub fn end(&self) -> Option<End> {
        self.end
    }

    /// Takes in all that have ended. Whether any child is left: every descendant that lives is a child or
    /// below one, so `false` is the kernel's own word that nothing is left.
    pub fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => self.take(pid, status),
                Ok(None) => return true,
                Err(Errno::INTR) => {}
                // No children: the only other error there is.
                Err(_) => return false,
            }
        }
    }

    fn take(&mut self, pid: Pid, status: WaitStatus) {
        if pid == self.command {
            self.end = Some(End {
                code: status.exit_status(),
                signal: status.terminating_signal(),
            });
        }
    }
}
