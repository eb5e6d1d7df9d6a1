//! The helper seen as a process: woken when it stands still, helped when that is not enough, seen off.
//!
//! A command runs as the same user and may stop or kill its helper. A stopped helper hears nothing, so the
//! daemon must be able to act without it. Used only by `drive`.

use std::time::Duration;

use rustix::process::{Signal, kill_process};
use tokio::process::Child;
use tokio::time::{Instant, timeout};

use crate::tree::{self, Tree};

/// How long a helper that owes us an answer may stay silent before it is woken, and again each time.
pub(crate) const NUDGE: Duration = Duration::from_millis(500);
/// When it is given up. Longer than its own sweep may take.
pub(crate) const GIVE_UP: Duration = Duration::from_secs(8);

/// Until it is reaped by us, the helper's number is its own: no signal can reach somebody else.
pub(crate) struct Grip(Child);

impl Grip {
    pub fn new(helper: Child) -> Self {
        Self(helper)
    }

    /// Lets a stopped helper go on. Nothing to one that runs.
    pub fn wake(&self) {
        if let Some(pid) = self.0.id().and_then(tree::pid) {
            // A failure means that it has ended.
            let _ = kill_process(pid, Signal::CONT);
        }
    }

    /// Kills everything below the helper, without its help.
    pub async fn sweep(&self) {
        let Some(pid) = self.0.id().and_then(tree::pid) else {
            return;
        };
        // An error means that the runtime is going, and our end of the channel with it.
        let _ = tokio::task::spawn_blocking(move || Tree::new(pid, pid).kill()).await;
    }

    /// Returns when the helper, which has nothing left to do but clear away and end, has ended.
    pub async fn ended(mut self) {
        let end = Instant::now() + GIVE_UP;
        let mut woken = false;
        while timeout(NUDGE, self.0.wait()).await.is_err() {
            if Instant::now() >= end {
                return self.abandon().await;
            }
            self.nudge(&mut woken).await;
        }
    }

    /// Wakes it the first time; from the second time on somebody stops it again and again.
    pub async fn nudge(&self, woken: &mut bool) {
        if std::mem::replace(woken, true) {
            self.sweep().await;
        }
        self.wake();
    }

    /// Ends the helper itself, after all that can still be found through it.
    pub async fn abandon(mut self) {
        self.sweep().await;
        // Fails only where it has ended already.
        let _ = self.0.start_kill();
        let _ = self.0.wait().await;
    }
}
