//! What a session does when nothing runs any more: behind the end of a turn, at rest, after a restart of the daemon.
//!
//! One pure decision, [`next_after_turn`]. The first row that fits decides:
//!
//! | when | stop meanwhile | newest turn, not settled | queue | next |
//! |---|---|---|---|---|
//! | any | KILL | any | any | exit, killed |
//! | any | TERM | any | any | exit, interrupted by TERM |
//! | turn ended | shutdown | any | a prompt | wait for a person |
//! | at rest | shutdown | any | any | wait for a person |
//! | at rest, paused | none, user | any | any | wait |
//! | any | none, user | ended by TERM, or killed | any | exit as the turn |
//! | any | none, user | of a headless session | nothing that may start | exit as the turn |
//! | turn ended | none, user | ended by a shutdown | any | wait for a person |
//! | recovered, policy `idle` | none | settled or not; ended by a shutdown, and no prompt since; or the session has exited | any | wait for a person |
//! | any | none, user | any | nothing that may start | wait |
//! | paused, handing over, or a user's command runs | none, user | any | a prompt | wait |
//! | any | none, user | any | a prompt | start it |
//!
//! A prompt may not start while the turn before it was ended by a budget, in a session that has exited and was not prompted
//! since, and while the queue waits for a person. A turn that is not settled is one whose end nothing has followed yet.

use proto::PromptId;
use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::state::{Kind, State};

use crate::input::StopReason;
use crate::machine::{Phase, Step};
use crate::recover::RecoverPolicy;

/// What a session does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NextStep {
    Exit(Exit),
    /// Rest. `for_person`: the queue does not go on before somebody prompts.
    Wait {
        for_person: bool,
    },
    StartPrompt(PromptId),
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
    /// Between turns: something that kept the next one from starting is over.
    Rest,
    /// The daemon was restarted.
    Recovered(RecoverPolicy),
}

/// Everything that the decision depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Situation {
    pub moment: DecisionMoment,
    /// What was to stop the session meanwhile.
    pub stop: Option<StopReason>,
    /// How the newest turn ended.
    pub ended: Option<Exit>,
    /// Something has followed that end already.
    pub settled: bool,
    pub headless: bool,
    /// The prompt that stands first in the queue.
    pub first: Option<PromptId>,
    /// The newest turn was ended by a budget, and nothing was said since.
    pub over_budget: bool,
    pub exited: bool,
    /// A prompt came after the exit.
    pub woken: bool,
    /// A prompt came after the end of the newest turn.
    pub asked_since: bool,
    /// The queue waits for a person, as an earlier decision said.
    pub rests: bool,
    pub paused: bool,
    /// The daemon hands over.
    pub suspending: bool,
    /// A command of a user runs: its output belongs to the next prompt.
    pub user_command: bool,
}

/// What a session does when nothing runs any more. See the table above.
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
        // The next life of the daemon goes on with what waits.
        (Some(StopReason::Shutdown), DecisionMoment::Rest) => return wait_for_person,
        (Some(StopReason::Shutdown), _) if now.first.is_some() => return wait_for_person,
        // Whom it was to stop has ended.
        (Some(StopReason::Shutdown | StopReason::User | StopReason::Timeout) | None, _) => {}
    }
    if now.moment == DecisionMoment::Rest && now.paused {
        return NextStep::Wait {
            for_person: now.rests,
        };
    }
    // Behind a turn that a budget has ended each would end in the same way.
    let first = now.first.filter(|_| !now.over_budget);
    if let Some(ended) = now.ended.filter(|_| !now.settled) {
        let stopped = ended.reason == Some(Reason::Term) || ended.outcome == OutcomeKind::Killed;
        // A run is over with its turn; whoever waits for it is told.
        if stopped || now.headless && first.is_none() {
            return NextStep::Exit(ended);
        }
    }
    if waits_for_person(now) {
        return wait_for_person;
    }
    match first {
        Some(_) if now.exited && !now.woken => wait,
        Some(_) if now.paused || now.suspending || now.user_command => wait,
        Some(first) => NextStep::StartPrompt(first),
        None => wait,
    }
}

/// Whether the queue stands behind something that only a person goes on from.
fn waits_for_person(now: &Situation) -> bool {
    let cut_off = now.ended.and_then(|ended| ended.reason) == Some(Reason::Shutdown);
    match now.moment {
        DecisionMoment::TurnEnded => cut_off,
        DecisionMoment::Rest => now.rests,
        DecisionMoment::Recovered(RecoverPolicy::Continue) => false,
        // A prompt whose turn never began is begun in any case; what stood behind a turn that the daemon's end cut off
        // waits for the person.
        DecisionMoment::Recovered(RecoverPolicy::Idle) => cut_off && !now.asked_since || now.exited,
    }
}

impl Step<'_> {
    fn situation(&self, moment: DecisionMoment, stop: Option<StopReason>) -> Situation {
        let facts = &self.facts;
        Situation {
            moment,
            stop,
            ended: facts.ended.as_ref().map(Exit::from),
            settled: !facts.unsettled,
            headless: facts.options.kind == Some(Kind::Headless),
            first: facts.queue.front().map(|prompt| prompt.prompt_id),
            over_budget: facts.over_budget,
            exited: facts.exited.is_some(),
            woken: facts.woken,
            asked_since: facts.asked_since,
            rests: self.hold.rests,
            paused: facts.paused,
            suspending: self.hold.suspending,
            user_command: facts.user_command().is_some(),
        }
    }

    /// What follows now.
    pub(crate) fn next(&self, moment: DecisionMoment, stop: Option<StopReason>) -> NextStep {
        next_after_turn(&self.situation(moment, stop))
    }

    /// Whether a prompt is to start as soon as it may: not held back by anything but a pause, a hand-over or a user's
    /// command.
    pub(crate) fn wants_turn(&self) -> bool {
        let free = Situation {
            settled: true,
            paused: false,
            suspending: false,
            user_command: false,
            ..self.situation(DecisionMoment::Rest, None)
        };
        matches!(next_after_turn(&free), NextStep::StartPrompt(_))
    }

    /// Does what follows at rest. `stop`: what was to stop the session.
    pub(crate) fn go_on_at_rest(&mut self, stop: Option<StopReason>) -> Phase {
        let next = self.next(DecisionMoment::Rest, stop);
        self.follow(next, None)
    }

    /// Does what follows. `cause`: why the session is idle, where that is to be noted.
    pub(crate) fn follow(&mut self, next: NextStep, cause: Option<&str>) -> Phase {
        if let NextStep::Exit(exit) = next {
            return self.exit(exit, None);
        }
        if let Some(cause) = cause {
            self.state(State::Idle, None, cause, None);
        }
        match next {
            NextStep::StartPrompt(prompt) => self.start_prompt(prompt),
            NextStep::Wait { for_person } => {
                self.hold.rests = for_person;
                Phase::Idle
            }
            NextStep::Exit(_) => Phase::Idle,
        }
    }
}

#[cfg(test)]
mod tests;
