//! The helper seen as a process: woken when it stands still, helped when that is not enough, seen off.
//!
//! A command runs as the same user and may stop or kill its helper, where it can see it. A stopped helper
//! hears nothing, so the daemon must be able to act without it. Used only by `drive`.

use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Child;
use tokio::time::{Instant, timeout};

use crate::inner::First;
use crate::tree::{self, Process, Tree};
use crate::warden::Warden;

/// How long a helper that owes us an answer may stay silent before it is woken, and again each time.
pub(crate) const NUDGE: Duration = Duration::from_millis(500);
/// When it is given up. Longer than its own sweep may take.
pub(crate) const GIVE_UP: Duration = Duration::from_secs(8);

/// Until it is reaped by us, the helper's number is its own: no signal can reach somebody else.
pub(crate) struct Grip {
    helper: Child,
    held: Held,
    warden: Option<Warden>,
}

/// By what a command is held, once it runs.
enum Held {
    /// The helper alone. The command, when it is known, leads the session that can be found without one.
    Helper(Option<Process>),
    /// A namespace, whose first process it is, unless it was gone before we could look.
    Namespace(Option<First>),
}

impl Grip {
    /// A helper that has just been started: as what opens a namespace, or by itself.
    pub fn new(helper: Child, namespace: bool, warden: Option<Warden>) -> Self {
        let held = if namespace {
            Held::Namespace(None)
        } else {
            Held::Helper(None)
        };
        Self {
            helper,
            held,
            warden,
        }
    }

    /// The command runs, under this number where the helper is. Its number here; of a command that has
    /// ended meanwhile, in a namespace, that of what is nearest to it.
    pub fn started(&mut self, told: u32) -> u32 {
        match &mut self.held {
            Held::Helper(command) => {
                *command = tree::pid(told).and_then(tree::read);
                told
            }
            Held::Namespace(first) => {
                *first = self.helper.id().and_then(tree::pid).and_then(First::below);
                let nearest = first
                    .as_ref()
                    .map(|first| first.child(told).unwrap_or(first.pid()));
                // A helper that was not waited for has a number.
                nearest.map_or(self.helper.id().unwrap_or(0), tree::raw)
            }
        }
    }

    /// Lets a stopped helper go on. Nothing to one that runs.
    pub fn wake(&self) {
        if let Some(pid) = self.pid() {
            // A failure means that it has ended.
            let _ = kill_process(pid, Signal::CONT);
        }
        if let Held::Namespace(Some(first)) = &self.held {
            first.wake();
        }
    }

    fn pid(&self) -> Option<Pid> {
        self.helper.id().and_then(tree::pid)
    }

    /// Kills everything below the helper, without its help.
    pub async fn sweep(&self) {
        let Some(pid) = self.pid() else {
            return;
        };
        // An error means that the runtime is going, and our end of the channel with it.
        let _ = tokio::task::spawn_blocking(move || Tree::new(pid, pid).kill()).await;
    }

    /// Returns when the helper, which has nothing left to do but clear away and end, has ended. What it
    /// left because it was killed is killed: how many those were.
    pub async fn ended(mut self) -> u32 {
        let end = Instant::now() + GIVE_UP;
        let mut woken = false;
        loop {
            match timeout(NUDGE, self.helper.wait()).await {
                Ok(Ok(status)) if status.success() => return 0,
                // By a blow, or without having been able to do its work.
                Ok(_) => return self.clear().await,
                Err(_) if Instant::now() >= end => return self.abandon().await,
                Err(_) => self.nudge(&mut woken).await,
            }
        }
    }

    /// Wakes it the first time; from the second time on somebody stops it again and again.
    pub async fn nudge(&self, woken: &mut bool) {
        if std::mem::replace(woken, true) {
            self.sweep().await;
        }
        self.wake();
    }

    /// Ends the helper itself, after all that can still be found through it. How many were killed that it
    /// had left.
    pub async fn abandon(mut self) -> u32 {
        self.sweep().await;
        // Fails only where it has ended already.
        let _ = self.helper.start_kill();
        let _ = self.helper.wait().await;
        self.clear().await
    }

    /// The helper has ended and may have left something. In a namespace the kernel kills that; else it went
    /// to the warden. Where there is none it went to somebody whose children are not ours to kill, and only
    /// those that stayed in the command's session can be told from them.
    async fn clear(self) -> u32 {
        let (held, warden) = (self.held, self.warden);
        let cleared = move || match (held, warden) {
            (Held::Namespace(first), _) => {
                // Longer than this it hangs in the kernel.
                first.iter().for_each(|first| first.ended(GIVE_UP));
                0
            }
            (Held::Helper(_), Some(warden)) => warden.kill_orphans(),
            (Held::Helper(Some(command)), None) => tree::kill_session(&command),
            (Held::Helper(None), None) => 0,
        };
        // An error means that the runtime is going.
        tokio::task::spawn_blocking(cleared).await.unwrap_or(0)
    }
}
