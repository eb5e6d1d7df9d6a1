//! The gate: counts guests, admits new work, and knows whether the daemon is shutting down.
//!
//! One lock guards the shutdown reason and the count of guests. So a daemon that has just decided to stop because nobody
//! uses it admits nobody. Knows no session and no socket. Called by `rpc` and `lifecycle`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use proto::hello::Role;
use proto::params::daemon::ShutdownMode;
use proto::{ErrorName, Failure};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::idle::{Activity, Idle};

/// Why the daemon shuts down. Later variants are more urgent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShutdownReason {
    /// It was asked to, once the last turn has ended.
    WhenIdle,
    /// It was asked to suspend running sessions for the next daemon.
    HandOver,
    /// It was asked to, at once.
    Now,
    /// Nobody has needed it for as long as the settings say.
    Unused,
    /// The home that it holds is not there any more.
    HomeGone,
}

impl From<ShutdownMode> for ShutdownReason {
    fn from(mode: ShutdownMode) -> Self {
        match mode {
            ShutdownMode::Now => Self::Now,
            ShutdownMode::Idle => Self::WhenIdle,
            ShutdownMode::HandOver => Self::HandOver,
        }
    }
}

/// The gate of one daemon.
pub struct Gate {
    state: Mutex<State>,
    leave: watch::Sender<Option<ShutdownReason>>,
    hurry: CancellationToken,
    ending: CancellationToken,
}

#[derive(Default)]
struct State {
    guests: u64,
    idle: Idle,
}

/// Somebody who is in. Dropped: they have left.
pub struct AdmissionGuard(Arc<Gate>);

impl Drop for AdmissionGuard {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.guests = state.guests.saturating_sub(1);
        // The count starts when they go, not when they came.
        state.idle.mark_active();
    }
}

impl Gate {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::default(),
            leave: watch::Sender::new(None),
            hurry: CancellationToken::new(),
            ending: CancellationToken::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing below can leave it half changed.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Somebody is there: as long as the guest lives, the daemon is not unused.
    pub fn enter(self: &Arc<Self>) -> AdmissionGuard {
        let mut state = self.lock();
        state.guests += 1;
        state.idle.mark_active();
        AdmissionGuard(Arc::clone(self))
    }

    /// Lets new work in: it counts as a guest until it is done.
    ///
    /// # Errors
    /// `shutting_down` once the daemon is to go in any way: else it would never come to it. `storage`: there is no home.
    pub fn work(self: &Arc<Self>) -> Result<AdmissionGuard, Failure> {
        let mut state = self.lock();
        match *self.leave.borrow() {
            None => {
                state.guests += 1;
                state.idle.mark_active();
                Ok(AdmissionGuard(Arc::clone(self)))
            }
            Some(ShutdownReason::HomeGone) => Err(home_gone()),
            Some(_) => Err(leaving()),
        }
    }

    /// Lets a client in that says hello. One that goes when it is idle serves on until then; one that is ending serves
    /// those who only look.
    ///
    /// # Errors
    /// `shutting_down`: the client does best to wait, and to start the next daemon.
    pub fn greet(&self, role: Role) -> Result<(), Failure> {
        // Under the lock: the decision to go for want of company is either before this, or sees this guest.
        let _state = self.lock();
        match *self.leave.borrow() {
            None | Some(ShutdownReason::WhenIdle) => Ok(()),
            Some(ShutdownReason::Unused) => Err(leaving()),
            Some(ShutdownReason::HandOver | ShutdownReason::Now | ShutdownReason::HomeGone)
                if role < Role::Drive =>
            {
                Ok(())
            }
            Some(ShutdownReason::HandOver | ShutdownReason::Now | ShutdownReason::HomeGone) => {
                Err(leaving())
            }
        }
    }

    /// Lets a change pass while the home is there.
    ///
    /// # Errors
    /// `storage`: a change acknowledged now would be lost.
    pub fn change(&self) -> Result<(), Failure> {
        match *self.leave.borrow() {
            Some(ShutdownReason::HomeGone) => Err(home_gone()),
            _ => Ok(()),
        }
    }

    /// Asks the daemon to shut down. A more urgent reason replaces a less urgent one.
    pub fn ask(&self, leave: ShutdownReason) {
        let _state = self.lock();
        self.leave
            .send_if_modified(|wanted| match wanted.is_none_or(|known| known < leave) {
                true => {
                    *wanted = Some(leave);
                    true
                }
                false => false,
            });
    }

    /// Looks whether anybody needs the daemon, and if nobody has for so long, asks it to stop. `work` is asked under the
    /// lock that lets work in. `now` is on the boot clock.
    pub fn look(&self, now: Duration, limit: Option<Duration>, work: impl FnOnce() -> bool) {
        let mut state = self.lock();
        let guests = state.guests;
        let seen = Activity {
            guests,
            work: guests == 0 && work(),
        };
        if self.leave.borrow().is_none() && state.idle.look(seen, now, limit) {
            self.leave.send_replace(Some(ShutdownReason::Unused));
        }
    }

    /// The shutdown requested so far, and later requests.
    pub fn asked(&self) -> watch::Receiver<Option<ShutdownReason>> {
        self.leave.subscribe()
    }

    /// The shutdown requested so far.
    pub fn shutdown_reason(&self) -> Option<ShutdownReason> {
        *self.leave.borrow()
    }

    /// It was asked a second time: it no longer waits for anything.
    pub fn hurry(&self) {
        self.hurry.cancel();
    }

    /// Returns when it was asked a second time.
    pub async fn hurried(&self) {
        self.hurry.cancelled().await;
    }

    /// The end has begun: it cannot be revoked.
    pub fn end(&self) {
        self.ending.cancel();
    }

    /// Returns when the end has begun.
    pub async fn ended(&self) {
        self.ending.cancelled().await;
    }
}

fn leaving() -> Failure {
    let text = "The daemon is shutting down.";
    let hint = "Try again when it has stopped; a new daemon starts then.";
    Failure::new(ErrorName::ShuttingDown, text, hint).retryable()
}

fn home_gone() -> Failure {
    let text = "The home of this daemon was removed or replaced, so its sessions are read-only until it stops.";
    let hint = "Restore the home; the next daemon continues its sessions.";
    Failure::new(ErrorName::Storage, text, hint)
}

#[cfg(test)]
mod tests;
