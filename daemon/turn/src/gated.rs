//! A request that waits for its turn in the provider's queue before it is sent. It is shown as waiting for a retry, but
//! does not count as a try.
//!
//! The wait does not count towards the time limit of the tries. In a pause or hand-over, an unsent request is dropped and
//! made again afterwards. A summary request waits like any other; if a user requested it while the session was idle, it
//! is sent during a pause too.

use proto::state::{State, WaitingFor};
use proto::{ErrorName, Failure};

use crate::input::Effect;
use crate::machine::{Asking, Phase, RequestWait, Step};

impl Phase {
    /// The request in progress, of the conversation or for a summary.
    pub(crate) fn request(&mut self) -> Option<&mut Asking> {
        match self {
            Self::Asking(asking) => Some(asking),
            Self::Compacting(compacting) => compacting.request(),
            _ => None,
        }
    }
}

impl Step<'_> {
    /// Handles a request that has to wait for its turn.
    pub(crate) fn request_waits(
        &mut self,
        mut phase: Phase,
        cause: String,
        in_ms: Option<u64>,
        down: bool,
    ) -> Phase {
        let since_ms = self.now.mono_ms;
        match phase.request() {
            Some(asking) if asking.waits == RequestWait::Answer => {
                asking.waits = RequestWait::Gate { since_ms };
            }
            _ => return phase,
        }
        if self.held() {
            return self.unsend(phase);
        }
        if down && matches!(phase, Phase::Asking(_)) && self.may_fall_back() {
            // Other requests have retried often enough: use the fallback at once.
            self.effects.push(Effect::CancelAsk);
            let hint = "Try again later, or use another model.";
            return self.fall_back(Failure::new(ErrorName::ProviderFailed, cause, hint));
        }
        if self.facts.open.is_some() {
            self.state(State::Waiting, Some(WaitingFor::Retry), &cause, in_ms);
        }
        phase
    }

    /// Handles that a waiting request is now sent.
    pub(crate) fn request_sent(&mut self, mut phase: Phase) -> Phase {
        let now_ms = self.now.mono_ms;
        let Some(asking) = phase.request() else {
            return phase;
        };
        let RequestWait::Gate { since_ms } = asking.waits else {
            return phase;
        };
        asking.waits = RequestWait::Answer;
        asking.since_ms = without_wait(asking.since_ms, since_ms, now_ms);
        if self.facts.open.is_some() {
            self.state(State::Running, None, "the request is sent", None);
        }
        phase
    }

    /// Drops a request that is not sent yet. It is made again when requests may be sent.
    pub(crate) fn unsend(&mut self, mut phase: Phase) -> Phase {
        let at_rest = self.facts.open.is_none() && !self.hold.suspending;
        let Some(asking) = phase.request() else {
            return phase;
        };
        // If no turn is open, a user waits for the request, even during a pause.
        if matches!(asking.waits, RequestWait::Gate { .. }) && !at_rest {
            let unsent = self.not_sent(asking.clone());
            *asking = Asking {
                waits: RequestWait::Resume,
                ..unsent
            };
            self.effects.push(Effect::CancelAsk);
        }
        phase
    }

    /// Restores an unsent request to its state before this try: it does not count as a try, nor its wait as time.
    pub(crate) fn not_sent(&self, asking: Asking) -> Asking {
        let RequestWait::Gate { since_ms } = asking.waits else {
            return asking;
        };
        Asking {
            waits: RequestWait::Answer,
            attempt: asking.attempt.saturating_sub(1),
            since_ms: without_wait(asking.since_ms, since_ms, self.now.mono_ms),
            ..asking
        }
    }
}

/// The start time of the first try, moved forward by the wait since `waited_since_ms`.
fn without_wait(since_ms: u64, waited_since_ms: u64, now_ms: u64) -> u64 {
    let waited_ms = now_ms.saturating_sub(waited_since_ms);
    since_ms.saturating_add(waited_ms).min(now_ms)
}
