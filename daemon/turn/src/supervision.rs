//! Supervision: decides whether a session goes on by itself after the end of a turn, or gives up (contract, chapter 70).
//!
//! The decision is a pure function, [`decide`]. It applies to headless sessions and to sessions with a goal. The first
//! matching row decides:
//!
//! | the turn | policy | next |
//! |---|---|---|
//! | any | `never` | nothing: the end is final |
//! | was interrupted by a user or the daemon's end, or killed | any | nothing |
//! | is one of a goal, and was completed or reached a limit of steps or time: the goal decides | any | nothing |
//! | used up a budget; ran out of time or steps; was blocked | any | gives up |
//! | was completed | `on-failure` | nothing |
//! | had a call that a person denied, or that was denied because nobody could approve it | any | gives up |
//! | failed because the account has no credit | any | gives up |
//! | failed as the two turns before it | any | gives up |
//! | `max_restarts` restarts within the window | any | gives up |
//! | any other | any | restarts |
//!
//! A restart repeats nothing: it is another turn of the same log, with a note on the failure. It waits before, longer from
//! one restart in a row to the next. `facts::supervision` folds the counts and the wait, so that they hold after the
//! daemon's death. A prompt of a user takes the place of a restart that waits, and who interrupts it ends it.

use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::record::{GaveUpReason, PromptUnqueued, RestartPrompt, SessionGaveUp, SessionRestarted};
use proto::state::{Kind, RestartPolicy};
use proto::{Body, ErrorName, Stamp};

use crate::facts::{Facts, RestartHistory};
use crate::goal::normalise;
use crate::input::StopReason;
use crate::machine::{Phase, Step};
use crate::words;

/// A session gives up if this many turns in a row end with the same failure.
pub const SAME_FAILURE: u32 = 3;

/// How often a session may be restarted. Both are settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RestartLimits {
    /// Restarts within the window; 0: none.
    pub max_restarts: u32,
    pub window_ms: u64,
    /// The wait before the first restart; each further one in a row waits five times as long. 0: none waits.
    pub base_ms: u64,
    /// The longest wait.
    pub cap_ms: u64,
}

/// Each wait in a row is so many times as long as the one before.
const BACKOFF_FACTOR: u64 = 5;

impl RestartLimits {
    /// How long a session waits before it is restarted, after so many restarts in a row.
    pub(crate) fn wait_ms(self, in_row: u32) -> u64 {
        let factor = BACKOFF_FACTOR.saturating_pow(in_row);
        self.base_ms.saturating_mul(factor).min(self.cap_ms)
    }
}

impl Default for RestartLimits {
    /// The contract's numbers (chapter 70).
    fn default() -> Self {
        Self {
            max_restarts: 3,
            window_ms: 60_000,
            base_ms: 1_000,
            cap_ms: 60_000,
        }
    }
}

/// What supervision does after a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Supervised {
    Restart,
    GiveUp(GaveUpReason),
}

/// The end of a turn, as supervision sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnEnd<'a> {
    pub ended: &'a TurnEnded,
    /// It was a turn of a goal that is still in progress.
    pub of_goal: bool,
    pub at: Stamp,
}

/// Decides what follows the end of a turn; `None`: what would follow without a policy. See the table above.
pub(crate) fn decide(
    policy: RestartPolicy,
    limits: RestartLimits,
    history: &RestartHistory,
    turn: TurnEnd<'_>,
) -> Option<Supervised> {
    let gives_up = |reason| Some(Supervised::GiveUp(reason));
    let ended = turn.ended;
    let failed = matches!(
        ended.outcome,
        OutcomeKind::Failed | OutcomeKind::ContextFull
    );
    if policy == RestartPolicy::Never {
        return None;
    }
    match (ended.outcome, ended.reason) {
        (OutcomeKind::Completed | OutcomeKind::MaxSteps, _)
        | (OutcomeKind::Interrupted, Some(Reason::Timeout))
            if turn.of_goal =>
        {
            return None;
        }
        (OutcomeKind::Interrupted, Some(Reason::Timeout)) | (OutcomeKind::MaxSteps, _) => {
            return gives_up(GaveUpReason::Limit);
        }
        (OutcomeKind::Interrupted | OutcomeKind::Killed, _) => return None,
        (OutcomeKind::BudgetExceeded, _) => return gives_up(GaveUpReason::Budget),
        (OutcomeKind::Blocked, Some(Reason::Denied)) => return gives_up(GaveUpReason::Denied),
        (OutcomeKind::Blocked, _) => return gives_up(GaveUpReason::Blocked),
        (OutcomeKind::Completed, _) if policy == RestartPolicy::OnFailure => return None,
        (OutcomeKind::Completed | OutcomeKind::Failed | OutcomeKind::ContextFull, _) => {}
    }
    let error = ended.error.as_ref().filter(|_| failed);
    if history.denied || !ended.denied.is_empty() {
        return gives_up(GaveUpReason::Denied);
    }
    if error.is_some_and(|error| error.name == ErrorName::OutOfCredit) {
        return gives_up(GaveUpReason::OutOfCredit);
    }
    if failed && history.same_failures >= SAME_FAILURE {
        return gives_up(GaveUpReason::SameFailure);
    }
    if history.restarts_since(turn.at, limits.window_ms) >= u64::from(limits.max_restarts) {
        return gives_up(GaveUpReason::TooMany);
    }
    Some(Supervised::Restart)
}

/// What makes two failures the same: their kind, the provider's status, and their words without numbers and ids.
/// `None`: the turn did not fail.
pub(crate) fn fingerprint(ended: &TurnEnded) -> Option<String> {
    if !matches!(
        ended.outcome,
        OutcomeKind::Failed | OutcomeKind::ContextFull
    ) {
        return None;
    }
    let Some(error) = &ended.error else {
        return Some(ended.outcome.as_str().to_owned());
    };
    let status = error
        .details
        .get("status")
        .map(ToString::to_string)
        .unwrap_or_default();
    let words = error
        .message
        .split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<&str> = words
        .filter(|word| !word.contains(|letter: char| letter.is_ascii_digit()))
        .collect();
    let words = normalise(&words.join(" "));
    Some(format!("{} {status} {words}", error.name.as_str()))
}

impl Facts {
    /// Whether a restart policy decides what follows the end of a turn.
    pub(crate) fn is_supervised(&self) -> bool {
        let headless = self.options.kind == Some(Kind::Headless);
        let policy = self.options.restart.unwrap_or_default();
        policy != RestartPolicy::Never && (headless || self.goal.is_some())
    }
}

impl Step<'_> {
    /// After a turn: logs that the session goes on by its restart policy, or that it gives up. `stop`: a request to stop
    /// the session that arrived meanwhile.
    pub(crate) fn supervise(&mut self, stop: Option<StopReason>) {
        let stopped = stop.is_some_and(|stop| stop != StopReason::Shutdown);
        let waits = self.facts.unsettled && self.facts.supervision.undecided;
        if stopped || !waits || !self.facts.is_supervised() {
            return;
        }
        let Some(ended) = self.facts.ended.clone() else {
            return;
        };
        let turn = TurnEnd {
            ended: &ended,
            of_goal: self.facts.goal.is_some(),
            at: self.now.wall,
        };
        // A prompt that waits goes on with the session.
        if ended.outcome == OutcomeKind::Completed && !self.facts.queue.is_empty() {
            return;
        }
        let policy = self.facts.options.restart.unwrap_or_default();
        let history = &self.facts.supervision;
        match decide(policy, self.limits.restarts, history, turn) {
            None => {}
            Some(Supervised::Restart) => self.restart(&ended),
            Some(Supervised::GiveUp(reason)) => {
                let restarts = history.restarts;
                self.append(Body::SessionGaveUp(SessionGaveUp {
                    reason,
                    restarts,
                    detail: failure_text(&ended),
                }));
            }
        }
    }

    fn restart(&mut self, ended: &TurnEnded) {
        let history = &self.facts.supervision;
        let (number, on_ask) = (history.restarts + 1, history.on_ask);
        let reason = failure_text(ended);
        let session = self.facts.created.as_ref().map(|created| created.session);
        let own = session.filter(|_| self.facts.goal.is_none());
        let prompt = own.map(|session| RestartPrompt {
            prompt_id: session.restart_prompt(number),
            text: words::after_restart(&reason),
            on_ask,
        });
        let wait_ms = self.limits.restarts.wait_ms(history.in_row);
        self.append(Body::SessionRestarted(SessionRestarted {
            number,
            outcome: ended.outcome,
            reason,
            wait_ms,
            prompt,
        }));
    }

    /// Takes back the restart that waits, because a user says something else or stops it.
    pub(crate) fn drop_restart(&mut self) {
        if !self.facts.supervision.is_due() {
            return;
        }
        let own = self.facts.supervision.prompt();
        let own = own.map(|prompt| prompt.prompt_id);
        if let Some(prompt_id) = own.filter(|own| self.facts.is_queued(*own)) {
            self.append(Body::PromptUnqueued(PromptUnqueued { prompt_id }));
        }
    }

    /// The wait before a restart is over, unless another one follows it.
    pub(crate) fn restart_due(&mut self, phase: Phase) -> Phase {
        let due = self.hold.restart_due_ms;
        match phase {
            Phase::Idle if due.is_some_and(|due| due <= self.now.mono_ms) => {
                let next = self.next_without_wait();
                self.follow(next, None)
            }
            phase => phase,
        }
    }
}

/// How a turn failed; empty if it did not.
fn failure_text(ended: &TurnEnded) -> String {
    let error = ended.error.as_ref();
    error.map_or_else(String::new, |error| error.message.clone())
}

#[cfg(test)]
mod tests;
