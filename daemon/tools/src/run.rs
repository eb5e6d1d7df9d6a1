//! One command from its start to its end: its time limit, its stops, and how it ended, in words.
//!
//! What becomes of its output is the caller's: `bash` in the foreground, `shells` in the background.

use std::time::Duration;

use contract::spawn::ChildControl;
use contract::tool::StoppedBy;
use contract::{Child, ChildEvent, ChildExit, Quarantined};
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio::time::Instant;

use crate::capture::OUTPUT_MAX;

/// Default milliseconds between TERM and KILL.
pub(crate) const GRACE_MS: u64 = 2000;
/// How long after KILL the end must have been reported.
const LOST_AFTER: Duration = Duration::from_secs(5);

/// A command that runs. Dropping it kills everything it started.
pub(crate) struct RunningCommand {
    events: BoxStream<'static, ChildEvent>,
    control: Box<dyn ChildControl>,
    started: Instant,
    limit: Option<Duration>,
    /// Its time limit; after a stop the moment at which it counts as lost.
    until: Option<Instant>,
    stopped: Option<StopCause>,
}

/// The next event of a running command.
pub(crate) enum RunEvent {
    Output(Vec<u8>),
    /// Protected names came, and were moved away.
    Quarantined(Vec<Quarantined>),
    Ended(CommandEnd),
}

/// Why a command was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopCause {
    Time,
    Output,
    /// The call that waits for it was stopped.
    Cancelled(StoppedBy),
    /// `kill_shell`.
    Killed,
    /// The session is not loaded any more.
    Unloaded,
    /// Whoever followed it crashed.
    Crashed,
}

/// How it ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandEnd {
    /// `None`: the spawner did not say.
    pub(crate) exit: Option<ChildExit>,
    pub(crate) stopped: Option<StopCause>,
    pub(crate) took: Duration,
    limit: Option<Duration>,
}

impl RunningCommand {
    /// `started`: when the start was asked for. `limit`: how long it may run from now on.
    pub(crate) fn new(child: Child, started: Instant, limit: Option<Duration>) -> Self {
        Self {
            events: child.events,
            control: child.control,
            started,
            limit,
            until: limit.and_then(|limit| Instant::now().checked_add(limit)),
            stopped: None,
        }
    }

    /// How long it has been running.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// Stops it. A second call may be more forceful; the first reason stays.
    pub(crate) fn stop(&mut self, why: StopCause, grace_ms: u64) {
        let lost = Instant::now() + Duration::from_millis(grace_ms) + LOST_AFTER;
        self.until = Some(match self.until {
            Some(until) if self.is_stopped() => until.min(lost),
            Some(_) | None => lost,
        });
        self.stopped.get_or_insert(why);
        self.control.stop(grace_ms);
    }

    /// Waits for the next event; stops the command at its time limit. Not called again after the end.
    ///
    /// Cancel-safe: dropping it loses nothing.
    pub(crate) async fn next(&mut self) -> RunEvent {
        loop {
            let until = self.until;
            let over = async {
                match until {
                    Some(until) => tokio::time::sleep_until(until).await,
                    None => std::future::pending().await,
                }
            };
            // Cancel-safe: one only waits, the other takes an event or none.
            let event = tokio::select! {
                biased;
                () = over => {
                    if self.is_stopped() {
                        return RunEvent::Ended(self.end(None));
                    }
                    self.stop(StopCause::Time, GRACE_MS);
                    continue;
                }
                event = self.events.next() => event,
            };
            return match event {
                Some(ChildEvent::Stdout(bytes) | ChildEvent::Stderr(bytes)) => {
                    RunEvent::Output(bytes)
                }
                Some(ChildEvent::Quarantined(items)) => RunEvent::Quarantined(items),
                Some(ChildEvent::Exited(exit)) => RunEvent::Ended(self.end(Some(exit))),
                None => RunEvent::Ended(self.end(None)),
            };
        }
    }

    /// Kills it, and does not wait for its end.
    pub(crate) fn give_up(&mut self) -> CommandEnd {
        self.stop(StopCause::Crashed, 0);
        self.end(None)
    }

    fn end(&self, exit: Option<ChildExit>) -> CommandEnd {
        CommandEnd {
            exit,
            stopped: self.stopped,
            took: self.elapsed(),
            limit: self.limit,
        }
    }
}

impl CommandEnd {
    fn is_over_memory(&self) -> bool {
        self.exit.is_some_and(|exit| exit.over_memory.is_some())
    }

    pub(crate) fn is_success(&self) -> bool {
        self.stopped.is_none() && self.exit.is_some_and(|exit| exit.code == Some(0))
    }

    /// Exit code or signal, how long it took, and why, in one line.
    pub(crate) fn report(&self) -> String {
        let how = match self.exit {
            Some(ChildExit {
                signal: Some(signal),
                ..
            }) => format!("ended by signal {signal}{}", signal_name(signal)),
            Some(ChildExit {
                code: Some(code), ..
            }) => format!("exit code {code}"),
            Some(ChildExit {
                code: None,
                signal: None,
                ..
            })
            | None => "its end was not reported".to_owned(),
        };
        let why = match self.stopped {
            Some(why) => format!("{}; ", self.stop_report(why)),
            None => String::new(),
        };
        let memory = self.memory_report();
        let memory = memory.map_or_else(String::new, |why| format!("{why}; "));
        let swept = match self.exit.map_or(0, |exit| exit.swept) {
            0 => String::new(),
            count => format!("; {count} processes it left behind were stopped"),
        };
        format!(
            "{why}{memory}{how}, {:.2} s{swept}",
            self.took.as_secs_f64()
        )
    }

    /// The limit of time, output or memory that ended it, for people.
    pub(crate) fn reached_limit(&self) -> Option<String> {
        let limit = self
            .stopped
            .filter(|why| matches!(why, StopCause::Time | StopCause::Output));
        limit
            .map(|why| self.stop_report(why))
            .or_else(|| self.memory_report())
    }

    fn memory_report(&self) -> Option<String> {
        let limit = self.exit?.over_memory? / 1024 / 1024;
        Some(format!(
            "killed for its memory: with all its processes it used more than the limit of {limit} MB (`sandbox.memory_limit_mb`)"
        ))
    }

    fn stop_report(&self, why: StopCause) -> String {
        match why {
            StopCause::Time => format!(
                "stopped at its time limit of {} s",
                self.limit.unwrap_or_default().as_secs_f64()
            ),
            StopCause::Output => format!("stopped after {} MB of output", OUTPUT_MAX / 1024 / 1024),
            StopCause::Cancelled(by) => match by {
                StoppedBy::User => "stopped by the user",
                StoppedBy::TimeLimit => "stopped at the time limit of the turn",
                StoppedBy::Session => "stopped with its session",
                StoppedBy::Daemon => "stopped because the daemon stops or restarts",
            }
            .to_owned(),
            StopCause::Killed => "stopped by `kill_shell`".to_owned(),
            StopCause::Unloaded => "stopped with its session".to_owned(),
            StopCause::Crashed => "stopped by a bug in Reasonix".to_owned(),
        }
    }

    /// The cause for the log, if it did not end by itself.
    pub(crate) fn cause(&self) -> Option<String> {
        let cause = match self.stopped {
            Some(StopCause::Time) => "its time limit",
            Some(StopCause::Output) => "too much output",
            Some(StopCause::Cancelled(StoppedBy::User)) => "the user",
            Some(StopCause::Cancelled(StoppedBy::TimeLimit)) => "the time limit of the turn",
            Some(StopCause::Cancelled(StoppedBy::Session)) => "the session ended",
            Some(StopCause::Cancelled(StoppedBy::Daemon)) => "the daemon stopped",
            Some(StopCause::Killed) => "kill_shell",
            Some(StopCause::Unloaded) => "the session ended",
            Some(StopCause::Crashed) => "a bug in Reasonix",
            None if self.is_over_memory() => "its memory limit",
            None if self.exit.is_none() => "its end was not reported",
            None => return None,
        };
        Some(cause.to_owned())
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => " (HUP)",
        2 => " (INT)",
        6 => " (ABRT)",
        9 => " (KILL)",
        11 => " (SEGV)",
        13 => " (PIPE)",
        15 => " (TERM)",
        _ => "",
    }
}
