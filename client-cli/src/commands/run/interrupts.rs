//! Signals of a run: the first Ctrl-C ends its work, a second one leaves at once.

use std::time::Duration;

use tokio::time::Instant;

use super::left;
use super::report::Report;
use crate::exit;
use crate::messages::goal::Msg as GoalMsg;
use crate::messages::run::Msg;
use crate::output;
use crate::signals::OsSignal;

/// How long the daemon is given to answer when the run is to be left soon.
pub(super) const ANSWER_MAX: Duration = Duration::from_secs(2);

/// What the first Ctrl-C ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InterruptTarget {
    /// The turn of the run.
    Turn,
    /// A prompt that waits, perhaps behind the turn of somebody else, which goes on.
    QueuedPrompt,
    /// A goal of which no turn has started.
    WaitingGoal,
}

/// What signals have asked for so far.
pub(super) struct InterruptState {
    ephemeral: bool,
    interrupted: bool,
    /// When the run is left, whatever runs, and with which code.
    pub limit: Option<(Instant, u8)>,
}

impl InterruptState {
    pub(super) fn new(ephemeral: bool) -> Self {
        Self {
            ephemeral,
            interrupted: false,
            limit: None,
        }
    }

    /// Takes a signal: the code to leave with at once; `None`: this is to be ended.
    pub(super) fn take(
        &mut self,
        arrived: OsSignal,
        target: InterruptTarget,
        report: &mut Report,
    ) -> Option<u8> {
        match arrived {
            // An ephemeral session does not go on without its run.
            OsSignal::Hup if !self.ephemeral => {
                report.left("detached");
                Some(0)
            }
            // The first one has not been answered, however long ago it was.
            OsSignal::Int if self.interrupted => {
                self.report_unfinished(target, report);
                report.left(left(exit::INTERRUPTED));
                Some(exit::INTERRUPTED)
            }
            OsSignal::Int => {
                self.interrupted = true;
                output::progress(match (target, self.ephemeral) {
                    (_, true) => say!(Msg::InterruptingEphemeral),
                    (InterruptTarget::QueuedPrompt, false) => say!(Msg::TakingBack),
                    (InterruptTarget::WaitingGoal, false) => say!(GoalMsg::Ending),
                    (InterruptTarget::Turn, false) => say!(Msg::Interrupting),
                });
                None
            }
            OsSignal::Term | OsSignal::Hup => {
                self.limit = Some((Instant::now() + ANSWER_MAX, exit::TERMINATED));
                None
            }
        }
    }

    /// Reports what a second Ctrl-C leaves behind: nobody waits for the answer to the first. An ephemeral session is
    /// deleted in any case.
    fn report_unfinished(&self, target: InterruptTarget, report: &Report) {
        let Some(pid) = report.pid.filter(|_| !self.ephemeral) else {
            return;
        };
        output::progress(&match target {
            InterruptTarget::QueuedPrompt => say!(Msg::LeftQueued, pid),
            InterruptTarget::WaitingGoal => say!(GoalMsg::LeftWaiting, pid),
            InterruptTarget::Turn => say!(Msg::LeftRunning, pid),
        });
    }

    /// The code of a run whose turn ended with this one.
    pub(super) fn code(&self, code: u8) -> u8 {
        match self.limit {
            Some((_, exit::TERMINATED)) => exit::TERMINATED,
            _ => code,
        }
    }
}
