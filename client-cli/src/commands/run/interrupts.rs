//! Signals of a run: the first Ctrl-C ends its work, a second one leaves at once.

use std::time::Duration;

use tokio::time::Instant;

use super::left;
use super::report::Report;
use crate::exit;
use crate::messages::run::Msg;
use crate::output;
use crate::signals::OsSignal;

/// A second Ctrl-C within this time leaves at once.
pub(super) const TWICE: Duration = Duration::from_secs(2);

/// What signals have asked for so far.
pub(super) struct InterruptState {
    ephemeral: bool,
    interrupted: Option<Instant>,
    /// When the run is left, whatever runs, and with which code.
    pub limit: Option<(Instant, u8)>,
}

impl InterruptState {
    pub(super) fn new(ephemeral: bool) -> Self {
        Self {
            ephemeral,
            interrupted: None,
            limit: None,
        }
    }

    /// Takes a signal: the code to leave with at once; `None`: the turn is to be interrupted.
    pub(super) fn take(&mut self, arrived: OsSignal, report: &mut Report) -> Option<u8> {
        match arrived {
            // An ephemeral session does not go on without its run.
            OsSignal::Hup if !self.ephemeral => {
                report.left("detached");
                Some(0)
            }
            OsSignal::Int if self.interrupted.is_some_and(|at| at.elapsed() < TWICE) => {
                report.left(left(exit::INTERRUPTED));
                Some(exit::INTERRUPTED)
            }
            OsSignal::Int => {
                self.interrupted = Some(Instant::now());
                output::progress(if self.ephemeral {
                    say!(Msg::InterruptingEphemeral)
                } else {
                    say!(Msg::Interrupting)
                });
                None
            }
            OsSignal::Term | OsSignal::Hup => {
                self.limit = Some((Instant::now() + TWICE, exit::TERMINATED));
                None
            }
        }
    }

    /// The code of a run whose turn ended with this one.
    pub(super) fn code(&self, code: u8) -> u8 {
        match self.limit {
            Some((_, exit::TERMINATED)) => exit::TERMINATED,
            _ => code,
        }
    }
}
