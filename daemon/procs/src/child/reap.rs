//! Reaps children: the command, and all adopted processes.

use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, wait};

/// How the command ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CommandEnd {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

pub(super) struct Reaper {
    command: Pid,
    end: Option<CommandEnd>,
}

impl Reaper {
    pub fn new(command: Pid) -> Self {
        Self { command, end: None }
    }

    /// How the command ended. `None` while it runs.
    pub fn end(&self) -> Option<CommandEnd> {
        self.end
    }

    /// Reaps all ended children. Returns whether any child is left. Every living descendant is a
    /// child or below one, so `false` proves that no process is left.
    pub fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => self.take(pid, status),
                Ok(None) => return true,
                Err(Errno::INTR) => {}
                // No children. There is no other error.
                Err(_) => return false,
            }
        }
    }

    fn take(&mut self, pid: Pid, status: WaitStatus) {
        if pid == self.command {
            self.end = Some(CommandEnd {
                code: status.exit_status(),
                signal: status.terminating_signal(),
            });
        }
    }
}
