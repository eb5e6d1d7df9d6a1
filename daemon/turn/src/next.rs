//! Decides what a session does when nothing runs: after a turn, while idle, and after a restart of the daemon.
//!
//! The decision is a pure function, [`next_after_turn`]. The first matching row decides:
//!
//! | when | stop request | newest turn, if not settled | queue | next |
//! |---|---|---|---|---|
//! | any | KILL | any | any | exit, killed |
//! | any | TERM | any | any | exit, interrupted by TERM |
//! | turn ended | shutdown | any | a prompt | wait for a user |
//! | idle | shutdown | any | any | wait for a user |
//! | idle, paused | none, user | any | any | wait |
//! | any | none, user | ended by TERM, or killed | any | exit with the turn's outcome |
//! | any | none, user | of a headless session | nothing that may start | exit with the turn's outcome |
//! | turn ended | none, user | ended by a shutdown | any | wait for a user |
//! | recovered, policy `idle` | none | settled or not; ended by a shutdown, and no prompt since; or the session has exited | any | wait for a user |
//! | recovered, policy `idle` | none | any, and no prompt since | the next turn of a goal | wait for a user |
//! | any | none, user | any | nothing that may start | wait |
//! | paused, handing over, or a user's command runs | none, user | any | a prompt | wait |
//! | any | none, user | any | that of a restart, or of a goal after one, before its time | wait for that time |
//! | any | none, user | any | a prompt | start it |
//!
//! The next turn of a goal counts as a prompt behind those in the queue, but not while its limit of time has stopped it.
//! A headless session that nobody stopped exits with the outcome of its goal, also after prompts that followed the goal.
//! A prompt may not start if a budget ended the turn before it, if the session has exited and received no prompt since, or
//! while the queue waits for a user. A turn is settled when the session's state after its end has been logged.

use proto::PromptId;
use proto::outcome::{OutcomeKind, Reason, TurnEnded, exit_code};
use proto::state::{Kind, State, WaitingFor};

use crate::facts::Goal;
use crate::input::{Effect, StopReason};
use crate::machine::{Phase, Step};
use crate::recover::RecoverPolicy;

/// What a session does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    Exit(Exit),
    /// Stay idle. `for_person`: the queue does not continue before a user sends a prompt.
    Wait {
        for_person: bool,
    },
    StartPrompt(PromptId),
    /// The next turn is a restart, whose time has not come.
    AwaitRestart {
        in_ms: u64,
    },
}

/// How a session exits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exit {
    pub outcome: OutcomeKind,
    pub reason: Option<Reason>,
    pub code: i32,
}

impl Exit {
    /// A client closes the session.
    pub(crate) fn closed() -> Self {
        Self {
            outcome: OutcomeKind::Completed,
            reason: None,
            code: 0,
        }
    }
}

impl From<&TurnEnded> for Exit {
    fn from(ended: &TurnEnded) -> Self {
        Self {
            outcome: ended.outcome,
            reason: ended.reason,
            code: ended.exit_code(),
        }
    }
}

/// When the decision is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecisionMoment {
    /// A turn has just ended.
    TurnEnded,
    /// Between turns: an obstacle to starting the next one is gone.
    Rest,
    /// The daemon was restarted.
    Recovered(RecoverPolicy),
}

/// The inputs of the decision.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    pub moment: DecisionMoment,
    /// A request to stop the session that arrived meanwhile.
    pub stop: Option<StopReason>,
    /// How the newest turn ended.
    pub ended: Option<Exit>,
    /// How the session exits by a goal that has ended, if the end of that turn does not say it.
    pub goal_ended: Option<Exit>,
    /// The session's state after that end has been logged.
    pub settled: bool,
    pub headless: bool,
    /// The first prompt in the queue, or else that of the goal's next turn.
    pub first: Option<PromptId>,
    /// That prompt is the goal's: nobody has sent it.
    pub by_goal: bool,
    /// A budget ended the newest turn, and no prompt arrived since.
    pub over_budget: bool,
    pub exited: bool,
    /// A prompt arrived after the exit.
    pub woken: bool,
    /// A prompt arrived after the end of the newest turn.
    pub asked_since: bool,
    /// The queue waits for a user, by an earlier decision.
    pub rests: bool,
    pub paused: bool,
    /// The daemon hands over.
    pub suspending: bool,
    /// A command of a user runs: its output belongs to the next prompt.
    pub user_command: bool,
    /// How long the prompt of a restart still waits.
    pub restart_in_ms: u64,
}

/// Decides what a session does when nothing runs. See the table above.
pub(crate) fn next_after_turn(now: &Situation) -> NextStep {
    let wait = NextStep::Wait { for_person: false };
    let wait_for_person = NextStep::Wait { for_person: true };
    match (now.stop, now.moment) {
        (Some(StopReason::Kill), _) => {
            return NextStep::Exit(Exit {
                outcome: OutcomeKind::Killed,
                reason: None,
                code: 137,
            });
        }
        (Some(StopReason::Term), _) => {
            return NextStep::Exit(Exit {
                outcome: OutcomeKind::Interrupted,
                reason: Some(Reason::Term),
                code: 143,
            });
        }
        // The next daemon process continues with the queue.
        (Some(StopReason::Shutdown), DecisionMoment::Rest) => return wait_for_person,
        (Some(StopReason::Shutdown), _) if now.first.is_some() => return wait_for_person,
        // The turn that it was meant to stop has ended.
        (Some(StopReason::Shutdown | StopReason::User | StopReason::Timeout) | None, _) => {}
    }
    if now.moment == DecisionMoment::Rest && now.paused {
        return NextStep::Wait {
            for_person: now.rests,
        };
    }
    // After a turn that a budget ended, each further turn would end the same way.
    let first = now.first.filter(|_| !now.over_budget);
    let ended = now.ended.or(now.goal_ended);
    if let Some(ended) = ended.filter(|_| !now.settled) {
        let stopped = ended.reason == Some(Reason::Term) || ended.outcome == OutcomeKind::Killed;
        // A headless run ends with its turn, so that its waiters get the outcome.
        if stopped {
            return NextStep::Exit(ended);
        }
        if now.headless && first.is_none() {
            return NextStep::Exit(now.goal_ended.unwrap_or(ended));
        }
    }
    if waits_for_person(now) {
        return wait_for_person;
    }
    match first {
        Some(_) if now.exited && !now.woken => wait,
        Some(_) if now.paused || now.suspending || now.user_command => wait,
        Some(_) if now.restart_in_ms > 0 => NextStep::AwaitRestart {
            in_ms: now.restart_in_ms,
        },
        Some(first) => NextStep::StartPrompt(first),
        None => wait,
    }
}

/// Whether only a user may continue the queue.
fn waits_for_person(now: &Situation) -> bool {
    let cut_off = now.ended.and_then(|ended| ended.reason) == Some(Reason::Shutdown);
    match now.moment {
        DecisionMoment::TurnEnded => cut_off,
        DecisionMoment::Rest => now.rests,
        DecisionMoment::Recovered(RecoverPolicy::Continue) => false,
        // A prompt whose turn never started is started in any case. Prompts queued after a turn that the daemon's end cut
        // off wait for a user.
        DecisionMoment::Recovered(RecoverPolicy::Idle) => {
            (cut_off || now.by_goal) && !now.asked_since || now.exited
        }
    }
}

impl Step<'_> {
    fn situation(&self, moment: DecisionMoment, stop: Option<StopReason>) -> Situation {
        let facts = &self.facts;
        Situation {
            moment,
            stop,
            ended: facts.ended.as_ref().map(Exit::from),
            goal_ended: self.goal_ended(),
            settled: !facts.unsettled,
            headless: facts.options.kind == Some(Kind::Headless),
            first: self.first_prompt(),
            by_goal: facts.queue.is_empty() && facts.goal.is_some(),
            over_budget: facts.over_budget,
            exited: facts.exited.is_some(),
            woken: facts.woken,
            asked_since: facts.asked_since,
            rests: self.hold.rests,
            paused: facts.paused,
            suspending: self.hold.suspending,
            user_command: facts.user_command().is_some(),
            restart_in_ms: self.restart_in_ms(),
        }
    }

    /// How long the next prompt still waits, if it is that of a restart.
    fn restart_in_ms(&self) -> u64 {
        let history = &self.facts.supervision;
        let own = history.prompt().map(|prompt| prompt.prompt_id);
        let first = self.facts.queue.front().map(|prompt| prompt.prompt_id);
        match history.is_due() && first == own {
            true => history.wait_left_ms(self.now.wall),
            false => 0,
        }
    }

    /// What comes next once the wait before a restart is over.
    pub(crate) fn next_without_wait(&self) -> NextStep {
        next_after_turn(&Situation {
            restart_in_ms: 0,
            ..self.situation(DecisionMoment::Rest, None)
        })
    }

    /// How the session exits by a goal that has ended, if the end of the newest turn does not say it.
    fn goal_ended(&self) -> Option<Exit> {
        let (outcome, reason) = self.facts.goal_exit()?;
        let same = self.facts.ended.as_ref().map(Exit::from);
        let same = same.filter(|ended| ended.outcome == outcome);
        Some(same.unwrap_or(Exit {
            outcome,
            reason,
            code: exit_code(outcome, reason),
        }))
    }

    /// The prompt that may start next.
    fn first_prompt(&self) -> Option<PromptId> {
        let queued = self.facts.queue.front().map(|prompt| prompt.prompt_id);
        let queued = queued.filter(|_| !self.facts.queue_is_paused());
        let goal = self.facts.goal.as_ref();
        let goal = goal.filter(|_| !self.facts.goal_is_paused());
        queued.or_else(|| goal.map(Goal::next_prompt))
    }

    /// Decides what the session does next.
    pub(crate) fn next(&self, moment: DecisionMoment, stop: Option<StopReason>) -> NextStep {
        next_after_turn(&self.situation(moment, stop))
    }

    /// Whether a queued prompt would start now but for a pause, a hand-over or a user's command.
    pub(crate) fn wants_turn(&self) -> bool {
        let free = Situation {
            settled: true,
            paused: false,
            suspending: false,
            user_command: false,
            ..self.situation(DecisionMoment::Rest, None)
        };
        matches!(
            next_after_turn(&free),
            NextStep::StartPrompt(_) | NextStep::AwaitRestart { .. }
        )
    }

    /// Continues between turns: decides and takes the next step. `stop`: a request to stop the session.
    pub(crate) fn continue_idle(&mut self, stop: Option<StopReason>) -> Phase {
        let next = self.next(DecisionMoment::Rest, stop);
        self.follow(next, None)
    }

    /// Takes the next step. `cause`: the cause to log if the session becomes idle.
    pub(crate) fn follow(&mut self, next: NextStep, cause: Option<&str>) -> Phase {
        let awaited = self.hold.restart_due_ms.take();
        if let NextStep::Exit(exit) = next {
            return self.exit(exit, None);
        }
        if let NextStep::AwaitRestart { in_ms } = next {
            return self.await_restart(in_ms, awaited);
        }
        // It waits no more, and neither its turn nor another one starts.
        let dropped = matches!(next, NextStep::Wait { .. }) && !self.facts.supervision.is_due();
        let cause = cause.or(awaited
            .filter(|_| dropped)
            .map(|_| "the restart was stopped"));
        if let Some(cause) = cause {
            self.state(State::Idle, None, cause, None);
        }
        match next {
            NextStep::StartPrompt(prompt) => self.start_prompt(prompt),
            NextStep::Wait { for_person } => {
                self.hold.rests = for_person;
                Phase::Idle
            }
            NextStep::Exit(_) | NextStep::AwaitRestart { .. } => Phase::Idle,
        }
    }

    /// Waits for the time of a restart. `awaited`: it does already, until then.
    fn await_restart(&mut self, in_ms: u64, awaited: Option<u64>) -> Phase {
        if awaited.is_some() {
            self.hold.restart_due_ms = awaited;
            return Phase::Idle;
        }
        self.hold.restart_due_ms = Some(self.now.mono_ms.saturating_add(in_ms));
        let waiting_for = Some(WaitingFor::Restart);
        self.state(State::Waiting, waiting_for, "a restart waits", Some(in_ms));
        self.effects.push(Effect::ArmRestart { in_ms });
        Phase::Idle
    }
}

#[cfg(test)]
mod tests;
