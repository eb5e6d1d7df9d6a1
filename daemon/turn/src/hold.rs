//! Pauses and hand-overs, which keep a session from starting new work, and the clock of its turn, which stops in a pause.
//!
//! Each kind of work has one gate that checks `Step::held`: `next_after_turn` (turns), `ask_again` (requests), `resend`
//! (retries), `send_summary` (summary requests), `proceed` (judging calls) and `judged` (running calls, and asking the
//! user about them). `Step::release` starts the held work. A rewind may start during a pause; a hand-over refuses a new
//! rewind, and waits for one in progress (`rewinding`).

use contract::tool::StoppedBy;
use proto::record::{SessionSet, SessionState, SessionSuspended};
use proto::state::{State, WaitingFor};
use proto::{Body, RequestId};

use crate::compacting::CompactionEnd;
use crate::input::{Answer, Effect, StopReason};
use crate::machine::{Asking, Machine, Phase, RequestWait, Step};
use crate::next::{DecisionMoment, NextStep};
use crate::stopwatch::Stopwatch;
use crate::words;

/// State about pauses, limits and compactions that is not in the log. Lost in a crash; `recover` rebuilds it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hold {
    /// The daemon hands over. Stays set until the daemon process exits.
    pub suspending: bool,
    /// A shutdown of the daemon cut off the newest turn, so the queue waits for a user.
    pub rests: bool,
    /// When the pause started, on the monotonic clock.
    pub paused_ms: Option<u64>,
    /// Until when the session waits for a restart, on the monotonic clock.
    pub restart_due_ms: Option<u64>,
    /// The open turn's remaining time, if it has a limit.
    pub clock: Option<TurnClock>,
    /// How long the open turn has run.
    pub ran: Stopwatch,
    /// Whether `Stop` hooks are notified of each turn's end. Set by the session.
    pub notify_turn_end: bool,
    /// Number of reset jobs started.
    pub jobs: u64,
    /// Number of failed summaries in a row.
    pub failures: u32,
    /// Number of compactions for the current request because the provider found it too long.
    pub too_long: u32,
    /// The provider's newest message that the request is too long.
    pub refusal: String,
    /// With fewer context tokens than this, a compaction would not free enough.
    pub futile: u64,
    /// The provider refused to compact itself: it is not asked again.
    pub no_server_compaction: bool,
    /// The outcome of the newest compaction, until it is taken.
    pub compacted: Option<CompactionEnd>,
}

/// The remaining time of a turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TurnClock {
    turn: u64,
    /// Remaining time when the clock last started.
    left_ms: u64,
    /// When the clock last started, on the monotonic clock; `None` while it is stopped.
    runs_since: Option<u64>,
}

impl TurnClock {
    fn left(self, now_ms: u64) -> u64 {
        let ran = self.runs_since.map_or(0, |at| now_ms.saturating_sub(at));
        self.left_ms.saturating_sub(ran)
    }
}

impl Machine {
    /// Whether the session is suspended for a hand-over: nothing runs, and nothing new will start.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        self.hold.suspending && self.phase.is_quiet()
    }

    /// Whether no request is in flight, no call runs and no rewind restores files. The session may still wait for a user,
    /// an API key, a retry or the end of a pause.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.phase.is_quiet()
    }
}

impl Phase {
    fn is_quiet(&self) -> bool {
        match self {
            // The planner is a session by itself, and is suspended like the others.
            Self::Idle | Self::Held | Self::Planning => true,
            Self::Asking(asking) => !asking.waits.is_in_flight(),
            Self::Calls(calls) => calls.running.is_empty(),
            Self::Compacting(compacting) => compacting.is_quiet(),
            Self::Stopping { .. } | Self::Rewinding { .. } | Self::Ending { .. } => false,
        }
    }
}

impl Step<'_> {
    /// Whether the session is paused or handed over, so that nothing new may start.
    pub fn held(&self) -> bool {
        self.facts.paused || self.hold.suspending
    }

    /// Whether no turn is open, none waits for the time of a restart, and the session is not handed over.
    pub(crate) fn is_at_rest(&self) -> bool {
        let waits = self.hold.restart_due_ms.is_some();
        self.facts.open.is_none() && !waits && !self.hold.suspending
    }

    /// Handles `PAUSE` or `RESUME`, for the whole tree or not. Logs nothing if that changes nothing.
    pub(crate) fn pause(
        &mut self,
        phase: Phase,
        (paused, tree): (bool, bool),
        by: &str,
        request_id: Option<RequestId>,
    ) -> Phase {
        let before = self.facts.paused;
        // A pause of the session alone may become one of the tree, and not the other way round.
        let reaches_further = paused && tree && !self.facts.tree_paused;
        if self.facts.exited.is_some() || before == paused && !reaches_further {
            return phase;
        }
        self.append(Body::SessionSet(SessionSet {
            paused: Some(paused),
            tree: (paused && tree).then_some(true),
            by: Some(by.to_owned()),
            request_id,
            ..SessionSet::default()
        }));
        if before == paused {
            phase
        } else if paused {
            self.enter_pause(&format!("paused by {by}"));
            self.unsend(phase)
        } else {
            self.release(phase, &format!("resumed by {by}"))
        }
    }

    /// Sets the state and stops the clocks for a pause, when it starts or after a crash during it.
    pub(crate) fn enter_pause(&mut self, cause: &str) {
        if self.facts.state.state != State::Paused {
            self.append(Body::SessionState(SessionState {
                state: State::Paused,
                waiting_for: None,
                cause: cause.to_owned(),
                retry_in_ms: None,
            }));
        }
        let now = self.now.mono_ms;
        self.hold.restart_due_ms = None;
        self.hold.paused_ms = Some(now);
        if let Some(clock) = &mut self.hold.clock {
            clock.left_ms = clock.left(now);
            clock.runs_since = None;
        }
    }

    /// Ends a pause: restores the state that fits the phase, and starts the work that was held.
    fn release(&mut self, phase: Phase, cause: &str) -> Phase {
        let now = self.now.mono_ms;
        let paused_ms = self
            .hold
            .paused_ms
            .take()
            .map_or(0, |from| now.saturating_sub(from));
        match phase {
            Phase::Idle => {
                let next = self.next(DecisionMoment::Rest, None);
                self.follow(next, Some(cause))
            }
            Phase::Rewinding { .. } => {
                match self.next(DecisionMoment::Rest, None) {
                    NextStep::Exit(exit) => {
                        self.exit(exit, None);
                    }
                    NextStep::Wait { .. }
                    | NextStep::StartPrompt(_)
                    | NextStep::AwaitRestart { .. } => {
                        self.state(State::Idle, None, cause, None);
                    }
                }
                phase
            }
            Phase::Asking(mut asking) => {
                asking.since_ms = asking.since_ms.saturating_add(paused_ms).min(now);
                if let Some(at) = &mut asking.not_running_since_ms {
                    *at = at.saturating_add(paused_ms).min(now);
                }
                self.release_request(asking, cause)
            }
            Phase::Compacting(compacting) => {
                if let NextStep::Exit(exit) = self.next(DecisionMoment::Rest, None) {
                    self.exit(exit, None);
                    return Phase::Compacting(compacting);
                }
                let now_ms = self.now.mono_ms;
                match (self.facts.open.is_some(), compacting.retry_due_ms()) {
                    (false, _) => self.state(State::Idle, None, cause, None),
                    (true, None) => self.state(State::Running, None, cause, None),
                    (true, Some(due_ms)) => {
                        let left = due_ms.saturating_sub(now_ms);
                        self.state(State::Waiting, Some(WaitingFor::Retry), cause, Some(left));
                    }
                }
                self.run_clock();
                self.release_summary(compacting)
            }
            Phase::Calls(calls) => {
                match self.facts.waits_for_person() {
                    None => self.state(State::Running, None, cause, None),
                    person => self.state(State::Waiting, person, cause, None),
                }
                self.run_clock();
                self.proceed(calls)
            }
            Phase::Held => {
                self.state(State::Running, None, cause, None);
                self.run_clock();
                self.continue_turn()
            }
            Phase::Planning => {
                self.state(State::Running, None, cause, None);
                self.run_clock();
                phase
            }
            Phase::Stopping { .. } | Phase::Ending { .. } => {
                self.state(State::Running, None, cause, None);
                phase
            }
        }
    }

    fn release_request(&mut self, asking: Asking, cause: &str) -> Phase {
        match asking.waits {
            RequestWait::Answer | RequestWait::Resume | RequestWait::Gate { .. } => {
                self.state(State::Running, None, cause, None)
            }
            RequestWait::Retry { due_ms } => {
                let left = due_ms.saturating_sub(self.now.mono_ms);
                self.state(State::Waiting, Some(WaitingFor::Retry), cause, Some(left));
            }
            RequestWait::Credentials => {
                self.state(State::Waiting, Some(WaitingFor::Credentials), cause, None);
            }
        }
        self.run_clock();
        if asking.waits == RequestWait::Resume {
            return self.resend(asking);
        }
        Phase::Asking(asking)
    }

    /// Starts a hand-over: running work ends, and nothing new starts. `mark_suspended` checks after every step whether the
    /// session can be suspended.
    pub(crate) fn suspend(&mut self, phase: Phase) -> Phase {
        self.hold.suspending = true;
        match self.unsend(phase) {
            // They would keep their calls from ending. No other daemon could pass on the answers.
            Phase::Calls(mut calls) => {
                self.close_questions(&mut calls, words::HANDS_OVER, |_, _| true);
                Phase::Calls(calls)
            }
            Phase::Compacting(compacting) if compacting.is_quiet() => {
                self.leave_to_next_daemon(compacting)
            }
            other => other,
        }
    }

    /// Ends a hand-over whose time is up. The next daemon process sends the request again, and continues from the shown part
    /// of its answer. Stopped calls get the results of what they did.
    pub(crate) fn suspend_now(&mut self, phase: Phase, partial: Option<Answer>) -> Phase {
        self.hold.suspending = true;
        let phase = self.unsend(phase);
        match phase {
            Phase::Asking(asking) if asking.waits == RequestWait::Answer => {
                self.effects.push(Effect::CancelAsk);
                if let Some(partial) = partial.filter(|cut| cut.reported.is_some()) {
                    // The request is sent again, but the provider billed this one: the usage ledger must match (I15).
                    self.log_usage(&asking, &partial);
                }
                let waits = RequestWait::Resume;
                Phase::Asking(Asking { waits, ..asking })
            }
            Phase::Calls(mut calls) => {
                self.close_questions(&mut calls, words::HANDS_OVER, |_, _| true);
                if !calls.running.is_empty() {
                    let grace_ms = self.limits.grace_ms;
                    self.effects.push(Effect::CancelCalls {
                        grace_ms,
                        by: StoppedBy::Daemon,
                    });
                }
                Phase::Calls(calls)
            }
            Phase::Ending { .. } => {
                self.effects.push(Effect::CancelTurnEndNotification);
                phase
            }
            Phase::Compacting(compacting) => {
                let reason = StopReason::User;
                match self.stop_summary(compacting, reason, partial) {
                    Some(_) => Phase::Idle,
                    None => Phase::Held,
                }
            }
            Phase::Idle
            | Phase::Held
            | Phase::Planning
            | Phase::Rewinding { .. }
            | Phase::Asking(_)
            | Phase::Stopping { .. } => phase,
        }
    }

    /// Logs that the session is suspended, if it has work to continue. Called after each step, because an answer to a
    /// question or a pause may arrive after an earlier mark.
    pub(crate) fn mark_suspended(&mut self, phase: &Phase) {
        let left = self.facts.open.is_some() || self.wants_turn();
        if self.hold.suspending && left && phase.is_quiet() && !self.facts.suspended {
            self.append(Body::SessionSuspended(SessionSuspended::default()));
        }
    }

    /// Starts the open turn's time limit, if it has one.
    pub fn arm_timeout(&mut self) {
        let limit = self.facts.limit_of_time();
        self.hold.clock = (limit > 0).then_some(TurnClock {
            turn: self.facts.turns,
            left_ms: limit,
            runs_since: None,
        });
        if !self.facts.paused {
            self.run_clock();
        }
    }

    /// Resumes the turn's clock.
    fn run_clock(&mut self) {
        let now = self.now.mono_ms;
        if let Some(clock) = &mut self.hold.clock
            && clock.runs_since.is_none()
        {
            clock.runs_since = Some(now);
            self.effects.push(Effect::ArmTimeout {
                turn: clock.turn,
                in_ms: clock.left_ms,
            });
        }
    }

    /// Handles an expired timer: stops the turn if its time is really up.
    pub(crate) fn time_up(&mut self, phase: Phase, turn: u64, partial: Option<Answer>) -> Phase {
        let open = self.facts.open.as_ref().map(|open| open.number);
        let Some(clock) = self.hold.clock.filter(|clock| clock.turn == turn) else {
            return phase;
        };
        // In a pause the clock is stopped; it is armed again when the pause ends.
        if open != Some(turn) || clock.runs_since.is_none() {
            return phase;
        }
        let left = clock.left(self.now.mono_ms);
        if left > 0 {
            // The timer is from before a pause.
            self.effects.push(Effect::ArmTimeout { turn, in_ms: left });
            return phase;
        }
        self.stop(phase, StopReason::Timeout, partial)
    }
}
