//! What keeps a session from starting anything new: a pause, a hand-over. And the clock of its turn, which stands
//! still in a pause.
//!
//! There is one gate for each kind of start, and each asks `Step::held`: `next_after_turn` (turns), `ask_again` (requests),
//! `resend` (their next tries), `send_summary` (requests for summaries), `proceed` (looking at calls) and `judged` (running them, and asking people about them or
//! for them). What was held is done by `Step::release`. A rewind starts nothing that a pause holds; a hand-over does not
//! let it begin, and waits for one that has begun (`rewinding`).

use proto::record::{SessionSet, SessionState, SessionSuspended};
use proto::state::{State, WaitingFor};
use proto::{Body, RequestId};

use crate::compacting::CompactionEnd;
use crate::input::{Answer, Effect, StopReason};
use crate::machine::{Asking, Machine, Phase, RequestWait, Step};
use crate::next::{DecisionMoment, NextStep};
use crate::stopwatch::Stopwatch;

/// What the machine knows of starts beyond the log. Gone with a crash; `recover` makes it anew.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Hold {
    /// The daemon hands over. Never ends within a life.
    pub suspending: bool,
    /// The queue stands behind a turn that the daemon's end cut off, and waits for a person.
    pub rests: bool,
    /// Since when the session is paused, on the monotonic clock.
    pub paused_ms: Option<u64>,
    /// The open turn's time, where it is bounded.
    pub clock: Option<TurnClock>,
    /// How long the open turn has run.
    pub ran: Stopwatch,
    /// Somebody is to be notified of each turn's end. Set from outside.
    pub tell_ends: bool,
    /// Jobs that were begun to change earlier bytes of requests.
    pub jobs: u64,
    /// Summaries that came to nothing, in a row.
    pub failures: u32,
    /// Compactions for a request that the provider finds too long.
    pub too_long: u32,
    /// What the provider said to the newest of them.
    pub refusal: String,
    /// Below so many tokens a compaction comes to nothing.
    pub futile: u64,
    /// How the newest compaction has ended, until somebody asks.
    pub compacted: Option<CompactionEnd>,
}

/// The time that a turn has left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TurnClock {
    turn: u64,
    /// What was left when it last began to run.
    left_ms: u64,
    /// When it last began to run, on the monotonic clock; `None` while it stands still.
    runs_since: Option<u64>,
}

impl TurnClock {
    fn left(self, now_ms: u64) -> u64 {
        let ran = self.runs_since.map_or(0, |at| now_ms.saturating_sub(at));
        self.left_ms.saturating_sub(ran)
    }
}

impl Machine {
    /// Whether the session is suspended for a hand-over: nothing runs, and nothing will.
    #[must_use]
    pub fn is_suspended(&self) -> bool {
        self.hold.suspending && self.phase.is_quiet()
    }

    /// Whether no request is in flight, no call runs and no files are put back. It may wait for a person, a key, a retry or the end of a pause.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.phase.is_quiet()
    }
}

impl Phase {
    fn is_quiet(&self) -> bool {
        match self {
            Self::Idle | Self::Held => true,
            Self::Asking(asking) => !asking.waits.is_in_flight(),
            Self::Calls(calls) => calls.running.is_empty(),
            Self::Compacting(compacting) => compacting.is_quiet(),
            Self::Stopping { .. } | Self::Rewinding { .. } | Self::Ending { .. } => false,
        }
    }
}

impl Step<'_> {
    /// Whether nothing new may start.
    pub fn held(&self) -> bool {
        self.facts.paused || self.hold.suspending
    }

    /// Takes `PAUSE` or `RESUME`. What would change nothing is not logged.
    pub(crate) fn pause(
        &mut self,
        phase: Phase,
        paused: bool,
        by: &str,
        request_id: Option<RequestId>,
    ) -> Phase {
        if self.facts.exited.is_some() || self.facts.paused == paused {
            return phase;
        }
        self.append(Body::SessionSet(SessionSet {
            paused: Some(paused),
            by: Some(by.to_owned()),
            request_id,
            ..SessionSet::default()
        }));
        if paused {
            self.stand_still(&format!("paused by {by}"));
            self.unsend(phase)
        } else {
            self.release(phase, &format!("resumed by {by}"))
        }
    }

    /// The state and the clocks of a pause, at its begin or after a crash in it.
    pub(crate) fn stand_still(&mut self, cause: &str) {
        if self.facts.state.state != State::Paused {
            self.append(Body::SessionState(SessionState {
                state: State::Paused,
                waiting_for: None,
                cause: cause.to_owned(),
                retry_in_ms: None,
            }));
        }
        let now = self.now.mono_ms;
        self.hold.paused_ms = Some(now);
        if let Some(clock) = &mut self.hold.clock {
            clock.left_ms = clock.left(now);
            clock.runs_since = None;
        }
    }

    /// The pause is over: takes the state back to what it would be, and does what was held.
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
                    NextStep::Wait { .. } | NextStep::StartPrompt(_) => {
                        self.state(State::Idle, None, cause, None);
                    }
                }
                phase
            }
            Phase::Asking(mut asking) => {
                asking.since_ms = asking.since_ms.saturating_add(paused_ms).min(now);
                self.release_request(asking, cause)
            }
            Phase::Compacting(compacting) => {
                if let NextStep::Exit(exit) = self.next(DecisionMoment::Rest, None) {
                    self.exit(exit, None);
                    return Phase::Compacting(compacting);
                }
                let now_ms = self.now.mono_ms;
                match (self.facts.open.is_some(), compacting.waits_until()) {
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
                self.go_on()
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

    /// The daemon hands over: what runs ends, and nothing else begins. `mark_suspended` looks after every step.
    pub(crate) fn suspend(&mut self, phase: Phase) -> Phase {
        self.hold.suspending = true;
        match self.unsend(phase) {
            Phase::Compacting(compacting) if compacting.is_quiet() => {
                self.leave_to_next_life(compacting)
            }
            other => other,
        }
    }

    /// The time for that is up. A request is made again by the next life, which goes on from what was shown of its
    /// answer; calls get the results that they come to.
    pub(crate) fn suspend_now(&mut self, phase: Phase, partial: Option<Answer>) -> Phase {
        self.hold.suspending = true;
        let phase = self.unsend(phase);
        match phase {
            Phase::Asking(asking) if asking.waits == RequestWait::Answer => {
                self.effects.push(Effect::CancelAsk);
                if let Some(partial) = partial.filter(|cut| cut.reported.is_some()) {
                    // It is asked for again, and the vendor counted it: the books must agree (I15).
                    self.usage(&asking, &partial);
                }
                let waits = RequestWait::Resume;
                Phase::Asking(Asking { waits, ..asking })
            }
            Phase::Calls(calls) => {
                if !calls.running.is_empty() {
                    let grace_ms = self.limits.grace_ms;
                    self.effects.push(Effect::CancelCalls { grace_ms });
                }
                Phase::Calls(calls)
            }
            Phase::Ending { .. } => {
                self.effects.push(Effect::CancelTelling);
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
            | Phase::Rewinding { .. }
            | Phase::Asking(_)
            | Phase::Stopping { .. } => phase,
        }
    }

    /// Writes down that the session is suspended, where there is something to go on with. Looked at after each step:
    /// an answer to a question, or a pause, may come after the mark.
    pub(crate) fn mark_suspended(&mut self, phase: &Phase) {
        let left = self.facts.open.is_some() || self.wants_turn();
        if self.hold.suspending && left && phase.is_quiet() && !self.facts.suspended {
            self.append(Body::SessionSuspended(SessionSuspended::default()));
        }
    }

    /// Bounds the open turn's time, where there is a limit.
    pub fn arm_timeout(&mut self) {
        let limit = self.facts.options.timeout_ms.unwrap_or_default();
        self.hold.clock = (limit > 0).then_some(TurnClock {
            turn: self.facts.turns,
            left_ms: limit,
            runs_since: None,
        });
        if !self.facts.paused {
            self.run_clock();
        }
    }

    /// Lets the clock run on where it stood.
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

    /// A timer of a turn has run out: the turn is stopped, where its time has.
    pub(crate) fn time_up(&mut self, phase: Phase, turn: u64, partial: Option<Answer>) -> Phase {
        let open = self.facts.open.as_ref().map(|open| open.number);
        let Some(clock) = self.hold.clock.filter(|clock| clock.turn == turn) else {
            return phase;
        };
        // In a pause the clock stands still, and is armed again when the pause ends.
        if open != Some(turn) || clock.runs_since.is_none() {
            return phase;
        }
        let left = clock.left(self.now.mono_ms);
        if left > 0 {
            // A timer from before a pause.
            self.effects.push(Effect::ArmTimeout { turn, in_ms: left });
            return phase;
        }
        self.stop(phase, StopReason::Timeout, partial)
    }
}
