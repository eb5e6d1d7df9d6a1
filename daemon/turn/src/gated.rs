//! A request that waits for its turn at the vendor, before it is sent: shown as a wait for a retry, and no try of it.
//!
//! The wait counts for no limit of the tries. In a pause and in a hand-over a request that is not sent yet is not sent:
//! it is dropped, and made when they end.

use proto::state::{State, WaitingFor};

use crate::input::Effect;
use crate::machine::{Asking, Phase, Step, Waits};

impl Step<'_> {
    /// The request waits for its turn.
    pub(crate) fn request_waits(&mut self, phase: Phase, cause: &str, in_ms: Option<u64>) -> Phase {
        let Phase::Asking(asking) = phase else {
            return phase;
        };
        if asking.waits != Waits::Answer {
            return Phase::Asking(asking);
        }
        let waits = Waits::Gate {
            since_ms: self.now.mono_ms,
        };
        let phase = Phase::Asking(Asking { waits, ..asking });
        if self.held() {
            return self.unsend(phase);
        }
        self.state(State::Waiting, Some(WaitingFor::Retry), cause, in_ms);
        phase
    }

    /// Its turn has come.
    pub(crate) fn request_sent(&mut self, phase: Phase) -> Phase {
        match phase {
            Phase::Asking(asking) => {
                let Waits::Gate { since_ms } = asking.waits else {
                    return Phase::Asking(asking);
                };
                self.state(State::Running, None, "the request is sent", None);
                Phase::Asking(Asking {
                    waits: Waits::Answer,
                    since_ms: self.without_wait(asking.since_ms, since_ms),
                    ..asking
                })
            }
            other => other,
        }
    }

    /// Drops a request that is not sent yet; it is made as soon as requests may be.
    pub(crate) fn unsend(&mut self, phase: Phase) -> Phase {
        match phase {
            Phase::Asking(asking) if matches!(asking.waits, Waits::Gate { .. }) => {
                self.effects.push(Effect::CancelAsk);
                Phase::Asking(Asking {
                    waits: Waits::Resume,
                    ..self.not_sent(asking)
                })
            }
            other => other,
        }
    }

    /// The request as it was before this try, where it is not sent: that was no try, and its wait takes no time.
    pub(crate) fn not_sent(&self, asking: Asking) -> Asking {
        let Waits::Gate { since_ms } = asking.waits else {
            return asking;
        };
        Asking {
            waits: Waits::Answer,
            attempt: asking.attempt.saturating_sub(1),
            since_ms: self.without_wait(asking.since_ms, since_ms),
            ..asking
        }
    }

    /// When the first try began, as if there had been no wait since `waited_since_ms`.
    fn without_wait(&self, since_ms: u64, waited_since_ms: u64) -> u64 {
        let now_ms = self.now.mono_ms;
        let waited_ms = now_ms.saturating_sub(waited_since_ms);
        since_ms.saturating_add(waited_ms).min(now_ms)
    }
}
