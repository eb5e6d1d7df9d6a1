//! A request that waits for its turn at the vendor, before it is sent: shown as a wait for a retry, and no try of it.
//!
//! The wait counts for no limit of the tries. In a pause and in a hand-over a request that is not sent yet is not sent:
//! it is dropped, and made when they end. The request for a summary waits like any other; one that a person asked for at
//! rest is sent in a pause too.

use proto::state::{State, WaitingFor};
use proto::{ErrorName, Failure};

use crate::input::Effect;
use crate::machine::{Asking, Phase, RequestWait, Step};

impl Phase {
    /// The request that is under way, of the conversation or for a summary.
    fn request(&mut self) -> Option<&mut Asking> {
        match self {
            Self::Asking(asking) => Some(asking),
            Self::Compacting(compacting) => compacting.request(),
            _ => None,
        }
    }
}

impl Step<'_> {
    /// The request waits for its turn.
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
            // It has been tried often enough, by other requests.
            self.effects.push(Effect::CancelAsk);
            let hint = "Try again later, or use another model.";
            return self.fall_back(Failure::new(ErrorName::ProviderFailed, cause, hint));
        }
        if self.facts.open.is_some() {
            self.state(State::Waiting, Some(WaitingFor::Retry), &cause, in_ms);
        }
        phase
    }

    /// Its turn has come.
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

    /// Drops a request that is not sent yet; it is made as soon as requests may be.
    pub(crate) fn unsend(&mut self, mut phase: Phase) -> Phase {
        let at_rest = self.facts.open.is_none() && !self.hold.suspending;
        let Some(asking) = phase.request() else {
            return phase;
        };
        // At rest a person waits for it, also in a pause.
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

    /// The request as it was before this try, where it is not sent: that was no try, and its wait takes no time.
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

/// When the first try began, as if there had been no wait since `waited_since_ms`.
fn without_wait(since_ms: u64, waited_since_ms: u64, now_ms: u64) -> u64 {
    let waited_ms = now_ms.saturating_sub(waited_since_ms);
    since_ms.saturating_add(waited_ms).min(now_ms)
}
