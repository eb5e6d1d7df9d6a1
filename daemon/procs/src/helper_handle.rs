//! A handle of the helper process: resumes it if it is stopped, acts for it if that fails, and
//! waits for its end.
//!
//! A command runs as the same user and may stop or kill its helper if it can see it. A stopped
//! helper receives no order, so the daemon must be able to act without it. Used only by `drive`.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Child;
use tokio::time::{Instant, timeout};

use crate::init_process::InitProcess;
use crate::supervisor::SupervisorProcess;
use crate::tree::{self, Process, Tree};

/// How long to wait for an overdue answer before the helper is resumed, and again each time.
pub(crate) const NUDGE: Duration = Duration::from_millis(500);
/// When the daemon stops waiting. Longer than the helper's own sweep may take.
pub(crate) const GIVE_UP: Duration = Duration::from_secs(8);

/// Until we reap the helper, its process id is not reused: no signal can reach another process.
pub(crate) struct HelperHandle {
    helper: Child,
    held: CommandOwner,
    supervisor: Option<SupervisorProcess>,
}

/// What manages a running command.
enum CommandOwner {
    /// Only the helper. The command, once known, leads the Unix session that can be searched
    /// without the helper.
    Helper(Option<Process>),
    /// A namespace with this first process, unless it was gone before we could look.
    Namespace(Option<InitProcess>),
}

impl HelperHandle {
    /// A helper that was just started, either directly or by a namespace opener.
    pub fn new(helper: Child, namespace: bool, supervisor: Option<SupervisorProcess>) -> Self {
        let held = if namespace {
            CommandOwner::Namespace(None)
        } else {
            CommandOwner::Helper(None)
        };
        Self {
            helper,
            held,
            supervisor,
        }
    }

    /// Records that the command runs, with its process id as the helper sees it. Returns its
    /// process id outside. If it has already ended in a namespace, returns the id of the nearest
    /// process.
    pub fn started(&mut self, reported: u32) -> u32 {
        match &mut self.held {
            CommandOwner::Helper(command) => {
                *command = tree::pid(reported).and_then(tree::read);
                reported
            }
            CommandOwner::Namespace(first) => {
                *first = self
                    .helper
                    .id()
                    .and_then(tree::pid)
                    .and_then(InitProcess::below);
                let nearest = first
                    .as_ref()
                    .map(|first| first.child(reported).unwrap_or(first.pid()));
                // A helper that was not reaped has an id.
                nearest.map_or(self.helper.id().unwrap_or(0), tree::raw)
            }
        }
    }

    /// Resumes a stopped helper. Does nothing to a running one.
    pub fn wake(&self) {
        if let Some(pid) = self.pid() {
            // An error means that it has ended.
            let _ = kill_process(pid, Signal::CONT);
        }
        if let CommandOwner::Namespace(Some(first)) = &self.held {
            first.wake();
        }
    }

    fn pid(&self) -> Option<Pid> {
        self.helper.id().and_then(tree::pid)
    }

    /// Kills all processes below the helper, without its help.
    pub async fn sweep(&self) {
        let Some(pid) = self.pid() else {
            return;
        };
        // An error means that the runtime is shutting down, and our end of the channel closes with
        // it.
        let _ = tokio::task::spawn_blocking(move || Tree::new(pid, pid).kill()).await;
    }

    /// Waits for the end of the helper, which has only cleanup left. If it was killed, kills the
    /// processes that it left and returns their number.
    pub async fn ended(mut self) -> u32 {
        let end = Instant::now() + GIVE_UP;
        let mut woken = false;
        loop {
            match timeout(NUDGE, self.helper.wait()).await {
                Ok(Ok(status)) if status.success() => return 0,
                // It was killed, or failed before doing its work.
                Ok(_) => return self.clear().await,
                Err(_) if Instant::now() >= end => return self.abandon().await,
                Err(_) => self.nudge(&mut woken).await,
            }
        }
    }

    /// Resumes it the first time. From the second time on, some process stops it repeatedly.
    pub async fn nudge(&self, woken: &mut bool) {
        if std::mem::replace(woken, true) {
            self.sweep().await;
        }
        self.wake();
    }

    /// Kills all processes that can be found through the helper, then the helper. Returns how many
    /// remaining processes were killed.
    pub async fn abandon(mut self) -> u32 {
        self.sweep().await;
        // Fails only if it has already ended.
        let _ = self.helper.start_kill();
        let _ = self.helper.wait().await;
        self.clear().await
    }

    /// Cleans up after the helper has ended. In a namespace the kernel kills its processes.
    /// Otherwise the supervisor process adopts them. Without one, some other process adopts them,
    /// whose children are not ours to kill: only those still in the command's Unix session can be
    /// identified.
    async fn clear(self) -> u32 {
        let (held, supervisor) = (self.held, self.supervisor);
        let cleared = move || match (held, supervisor) {
            (CommandOwner::Namespace(first), _) => {
                // After this time it hangs in the kernel.
                first.iter().for_each(|first| first.ended(GIVE_UP));
                0
            }
            (CommandOwner::Helper(_), Some(supervisor)) => supervisor.kill_orphans(),
            (CommandOwner::Helper(Some(command)), None) => tree::kill_session(&command),
            (CommandOwner::Helper(None), None) => 0,
        };
        // An error means that the runtime is shutting down.
        tokio::task::spawn_blocking(cleared).await.unwrap_or(0)
    }
}
