//! The states of a server, and what to do next. Pure: the caller passes the time that a server ran.
//!
//! ```text
//!     Starting ─▶ Ready ◀─▶ Unreachable
//!     Starting ─▶ Ready ─▶ BackingOff ─▶ Starting …
//!        ├──────────────────▶ BackingOff ─▶ … ─▶ Failed ─(wanted)─▶ Starting
//!        └──────────────────▶ NeedsLogin ─(wanted, or logged in)─▶ Starting
//!     Starting, Ready, Unreachable, BackingOff ─(the one session that it is for exits)─▶ Resting ─(wanted)─▶ Starting
//!     any state but Disabled ─(its configuration counts no more)─▶ Withdrawn ─(wanted, and it counts again)─▶ Starting
//! ```

use std::time::{Duration, Instant};

/// The first wait. It doubles with each failure in a row.
const FIRST_WAIT: Duration = Duration::from_millis(500);
/// The longest wait.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// Failures in a row after which it is only started again when somebody wants it.
const FAILURES_MAX: u32 = 6;
/// A server that ran for so long has worked: what ends it later is its first failure.
const WORKED: Duration = Duration::from_secs(30);

/// The state of a server, as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerState {
    /// It is being started, or connected to, since then.
    Starting { since: Instant },
    /// It answers.
    Ready,
    /// It answered once, and does not now: it is asked again and again.
    Unreachable { reason: String },
    /// It failed, and is started again after this wait.
    BackingOff { reason: String, wait: Duration },
    /// It failed too often: it is started again when a call or a user wants it.
    Failed { reason: String },
    /// The user must log in. It is tried again when a call wants it, and after the login.
    NeedsLogin { reason: String },
    /// It is not configured any more, or its project is not trusted. It is started again when a call wants it and that has
    /// changed.
    Withdrawn { reason: String },
    /// The session that it is for has exited. It is started again when a call wants it.
    Resting,
    /// It is not to be used, for this reason.
    Disabled { reason: String },
}

impl ServerState {
    /// One word.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Starting { .. } => "starting",
            Self::Ready => "ready",
            Self::Unreachable { .. } => "unreachable",
            Self::BackingOff { .. } => "backing off",
            Self::Failed { .. } => "failed",
            Self::NeedsLogin { .. } => "needs login",
            Self::Withdrawn { .. } | Self::Resting => "stopped",
            Self::Disabled { .. } => "disabled",
        }
    }

    /// Whether the server runs, starts, or is started again by itself.
    #[must_use]
    pub fn is_running_or_restarting(&self) -> bool {
        match self {
            Self::Starting { .. } | Self::Ready | Self::BackingOff { .. } => true,
            // A server at an address may stay away for ever.
            Self::Unreachable { .. }
            | Self::Failed { .. }
            | Self::NeedsLogin { .. }
            | Self::Withdrawn { .. }
            | Self::Resting
            | Self::Disabled { .. } => false,
        }
    }

    /// Why it does not work.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Starting { .. } | Self::Ready | Self::Resting => None,
            Self::BackingOff { reason, .. }
            | Self::Unreachable { reason }
            | Self::Failed { reason }
            | Self::NeedsLogin { reason }
            | Self::Withdrawn { reason }
            | Self::Disabled { reason } => Some(reason),
        }
    }
}

/// What the owner of a server does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextStep {
    /// Start it after this wait, or at once if somebody asks for a restart.
    StartAfter(Duration),
    /// Start it when it is wanted.
    WaitUntilWanted,
}

/// The wait after this one, between two tries of the same kind.
#[must_use]
pub fn next_wait(wait: Option<Duration>) -> Duration {
    wait.map_or(FIRST_WAIT, |wait| wait.saturating_mul(2).min(WAIT_MAX))
}

/// Counts failures.
#[derive(Clone, Debug, Default)]
pub struct Restarts {
    failures: u32,
}

impl Restarts {
    /// It has ended, or did not start. `ran`: how long it was ready.
    pub fn failed(&mut self, reason: String, ran: Option<Duration>) -> (ServerState, NextStep) {
        if ran.is_some_and(|ran| ran >= WORKED) {
            self.failures = 0;
        }
        self.failures = self.failures.saturating_add(1);
        if self.failures >= FAILURES_MAX {
            return (ServerState::Failed { reason }, NextStep::WaitUntilWanted);
        }
        let wait = FIRST_WAIT
            .saturating_mul(1 << (self.failures - 1).min(16))
            .min(WAIT_MAX);
        (
            ServerState::BackingOff { reason, wait },
            NextStep::StartAfter(wait),
        )
    }

    /// A user asked for a restart.
    pub fn forget(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn restart_delays_double_up_to_8_s_then_the_server_starts_on_demand() {
        let mut restarts = Restarts::default();
        let mut waits = Vec::new();
        for _ in 0..6 {
            match restarts.failed("it died".to_owned(), Some(Duration::from_secs(1))) {
                (ServerState::BackingOff { .. }, NextStep::StartAfter(wait)) => {
                    waits.push(wait.as_millis());
                }
                (ServerState::Failed { reason }, NextStep::WaitUntilWanted) => {
                    assert_eq!(reason, "it died");
                }
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(waits, [500, 1000, 2000, 4000, 8000]);
    }

    #[test]
    fn a_server_that_worked_starts_with_the_shortest_wait_again() {
        let mut restarts = Restarts::default();
        for _ in 0..5 {
            restarts.failed(String::new(), None);
        }
        let (_, next) = restarts.failed(String::new(), Some(WORKED));
        assert_eq!(next, NextStep::StartAfter(FIRST_WAIT));
    }

    proptest! {
        #[test]
        fn no_wait_is_longer_than_the_longest_and_an_end_comes(
            runs in proptest::collection::vec(proptest::option::of(0_u64..29), 1..40),
        ) {
            let mut restarts = Restarts::default();
            for (at, ran) in runs.iter().enumerate() {
                let (state, next) = restarts.failed(String::new(), ran.map(Duration::from_secs));
                match next {
                    NextStep::StartAfter(wait) => prop_assert!(wait <= WAIT_MAX && wait >= FIRST_WAIT),
                    NextStep::WaitUntilWanted => prop_assert_eq!(state.word(), "failed"),
                }
                prop_assert_eq!(next == NextStep::WaitUntilWanted, at + 1 >= 6);
            }
        }
    }
}
