//! Requests that fail: tried again, waited for, or given up.

use contract::provider::{ErrorKind, ProviderError};
use proto::item::Voice;
use proto::outcome::OutcomeKind;
use proto::record::Level;
use proto::state::{State, WaitingFor};
use proto::{ErrorName, Failure, ItemId};

use crate::input::{Answer, Effect};
use crate::machine::{Asking, Phase, RequestWait, Step};
use crate::words;

/// How long to retry a request to a local address where nothing listens.
const NOT_RUNNING_MS: u64 = 4_000;

/// How many empty answers in a row mean that a long conversation is too long.
const EMPTY_MAX: u32 = 2;
/// How long a conversation is in that sense, in tokens if the model's window is unknown, else as a percentage of it.
const LONG_TOKENS: u64 = 4_000;
const LONG_PERCENT: u64 = 50;

/// How many times in a row to report to the model that the provider refused its call.
const INVALID_CALLS_MAX: u32 = 2;

impl Step<'_> {
    pub(crate) fn broke(
        &mut self,
        phase: Phase,
        error: ProviderError,
        partial: Answer,
        jitter: f64,
        key_lost: bool,
    ) -> Phase {
        let (asking, unsent) = match phase {
            Phase::Asking(asking) => {
                let unsent = matches!(asking.waits, RequestWait::Gate { .. });
                (self.not_sent(asking), unsent)
            }
            Phase::Compacting(compacting) => {
                return self.summary_broke(compacting, &error, &partial, jitter);
            }
            other => return other,
        };
        if partial.reported.is_some() || partial.rewritten.is_some() {
            // The request failed, but the provider billed it: the usage ledger must match (I15). A request that
            // rewrote earlier bytes, which is our bug, is logged too.
            self.log_usage(&asking, &partial);
        }
        match error.kind {
            ErrorKind::Credentials if key_lost || self.waits_for_another_key() => {
                self.wait_for_key(asking, &error, &partial)
            }
            ErrorKind::ContextLength => {
                self.learn_window(&error);
                if self.may_be_shortened() {
                    self.supersede(&asking, &partial);
                    return self.too_long(&error);
                }
                self.log_partial_answer(asking, Some(partial));
                let failure = failure_of(&error);
                self.end_turn(OutcomeKind::ContextFull, None, Some(failure))
            }
            ErrorKind::Budget => {
                self.log_partial_answer(asking, Some(partial));
                self.end_over_budget(&error)
            }
            ErrorKind::Credentials => self.give_up(asking, &error, partial),
            // The request waited too long in the provider's queue: the provider counts as down.
            ErrorKind::Permanent if unsent && self.may_fall_back() => {
                self.fall_back(failure_of(&error))
            }
            // It waited so for as long as the provider had named.
            ErrorKind::Permanent if unsent && error.retry_after.is_some() && self.is_patient() => {
                self.wait_for_reset(asking, &error, &partial)
            }
            ErrorKind::Permanent | ErrorKind::OutOfCredit => self.give_up(asking, &error, partial),
            ErrorKind::InvalidCall => self.ask_for_valid_call(asking, &error, partial),
            ErrorKind::Transient | ErrorKind::NotRunning => {
                self.try_again(asking, &error, partial, jitter)
            }
        }
    }

    fn wait_for_key(&mut self, asking: Asking, error: &ProviderError, partial: &Answer) -> Phase {
        self.supersede(&asking, partial);
        self.state(
            State::Waiting,
            Some(WaitingFor::Credentials),
            &error.message,
            None,
        );
        Phase::Asking(Asking {
            waits: RequestWait::Credentials,
            ..asking
        })
    }

    /// A goal waits for another key if the one that is refused has worked: it may have expired while nobody was there. With
    /// one that never worked it fails.
    fn waits_for_another_key(&self) -> bool {
        self.facts.goal.is_some() && self.facts.usage.requests > 0
    }

    /// The provider refused the model's answer because of a call in it: reports that to the model and asks again.
    fn ask_for_valid_call(
        &mut self,
        asking: Asking,
        error: &ProviderError,
        partial: Answer,
    ) -> Phase {
        let reports = self.facts.open.as_ref().map(|open| open.invalid_calls);
        if reports.is_none_or(|reports| reports >= INVALID_CALLS_MAX) {
            return self.give_up(asking, error, partial);
        }
        self.supersede(&asking, &partial);
        self.notice(Level::Warning, words::INVALID_CALL_NOTICE);
        let text = words::invalid_call(&error.message);
        self.say(text, None, None, Voice::Daemon);
        self.ask_again()
    }

    /// Ends the turn because a budget forbids its next request. Queued prompts stay queued: they would end the same way.
    pub(crate) fn end_over_budget(&mut self, error: &ProviderError) -> Phase {
        // The turn's own prompt left the queue before its first request.
        let waiting = self.facts.queue.len();
        if waiting > 0 {
            self.notice(Level::Warning, words::waits_for_budget(waiting));
        }
        self.end_turn(OutcomeKind::BudgetExceeded, None, Some(failure_of(error)))
    }

    fn try_again(
        &mut self,
        asking: Asking,
        error: &ProviderError,
        partial: Answer,
        jitter: f64,
    ) -> Phase {
        if error.empty && asking.attempt >= EMPTY_MAX && self.may_be_overfull() {
            self.supersede(&asking, &partial);
            return self.too_long(error);
        }
        let limits = self.limits;
        // Nobody else waits for a server on this machine, so its tries can be counted before.
        let jitter = match error.kind {
            ErrorKind::NotRunning => 0.0,
            _ => jitter,
        };
        let wait = match error.retry_after {
            Some(after) => u64::try_from(after.as_millis()).unwrap_or(u64::MAX),
            None => backoff(
                limits.retry_base_ms,
                limits.retry_cap_ms,
                asking.attempt,
                jitter,
            ),
        };
        let now = self.now.mono_ms;
        // A server that dies in the middle of an answer has not been away for as long as that answer took.
        let not_running = (error.kind == ErrorKind::NotRunning)
            .then(|| asking.not_running_since_ms.unwrap_or(now));
        let (since_ms, total_ms) = match not_running {
            Some(since_ms) => (since_ms, limits.retry_total_ms.min(NOT_RUNNING_MS)),
            None => (asking.since_ms, limits.retry_total_ms),
        };
        let asking = Asking {
            not_running_since_ms: not_running,
            ..asking
        };
        let spent = now.saturating_sub(since_ms);
        if asking.attempt >= limits.retry_tries {
            return self.give_up(asking, error, partial);
        }
        if spent.saturating_add(wait) > total_ms {
            let is_busy = matches!(error.status, Some(429 | 529)) && error.retry_after.is_some();
            return match is_busy && self.is_patient() {
                true => self.wait_for_reset(asking, error, &partial),
                false => self.give_up(asking, error, partial),
            };
        }
        self.supersede(&asking, &partial);
        let next = asking.attempt + 1;
        let last = self.last_try(next, total_ms.saturating_sub(spent.saturating_add(wait)));
        let cause = format!("{} (attempt {next} of {last})", error.message);
        self.wait_for_retry(asking, &cause, wait)
    }

    /// Whether the conversation may be too long for the model although the provider does not say so.
    fn may_be_overfull(&self) -> bool {
        let (tokens, window) = (self.facts.context_tokens, self.facts.wire.context_window);
        let is_long = match window {
            0 => tokens >= LONG_TOKENS,
            window => tokens.saturating_mul(100) >= window.saturating_mul(LONG_PERCENT),
        };
        is_long && self.may_be_shortened()
    }

    /// The number of the last try, if all fail, and this one is made when so much time is left.
    fn last_try(&self, next: u32, mut left_ms: u64) -> u32 {
        let limits = self.limits;
        let mut last = next;
        while last < limits.retry_tries {
            let wait = backoff(limits.retry_base_ms, limits.retry_cap_ms, last, 0.0);
            match left_ms.checked_sub(wait) {
                Some(left) => left_ms = left,
                None => break,
            }
            last += 1;
        }
        last
    }

    /// Whether the session waits for its provider however long that takes: one with a goal works on by itself.
    fn is_patient(&self) -> bool {
        self.facts.goal.is_some() && !self.may_fall_back()
    }

    /// The provider names a time that no series of tries reaches: the goal waits for it, and then begins another series.
    fn wait_for_reset(&mut self, asking: Asking, error: &ProviderError, partial: &Answer) -> Phase {
        let wait = error.retry_after.unwrap_or_default().as_millis();
        let wait = u64::try_from(wait).unwrap_or(u64::MAX);
        self.supersede(&asking, partial);
        let cause = format!("{} (the goal waits for the provider)", error.message);
        let fresh = Asking {
            attempt: 0,
            since_ms: self.now.mono_ms.saturating_add(wait),
            ..asking
        };
        self.wait_for_retry(fresh, &cause, wait)
    }

    fn wait_for_retry(&mut self, asking: Asking, cause: &str, wait: u64) -> Phase {
        self.state(State::Waiting, Some(WaitingFor::Retry), cause, Some(wait));
        self.effects.push(Effect::Retry {
            item: asking.item.clone(),
            attempt: asking.attempt,
            in_ms: wait,
        });
        Phase::Asking(Asking {
            waits: RequestWait::Retry {
                due_ms: self.now.mono_ms.saturating_add(wait),
            },
            ..asking
        })
    }

    /// Discards the shown part of an answer that is requested again.
    pub(crate) fn supersede(&mut self, asking: &Asking, partial: &Answer) {
        if !(partial.text.is_empty() && partial.reasoning.is_empty() && partial.calls.is_empty()) {
            self.effects.push(Effect::Supersede {
                item: asking.item.clone(),
            });
        }
    }

    fn give_up(&mut self, asking: Asking, error: &ProviderError, partial: Answer) -> Phase {
        let mut failure = failure_of(error);
        failure
            .details
            .insert("tries".into(), asking.attempt.into());
        let may_pass = matches!(error.kind, ErrorKind::Transient | ErrorKind::NotRunning);
        if may_pass && self.may_fall_back() {
            self.supersede(&asking, &partial);
            return self.fall_back(failure);
        }
        // An endless answer must not fill up the next request.
        let partial = Answer {
            text: truncate(partial.text),
            reasoning: truncate(partial.reasoning),
            ..partial
        };
        self.log_partial_answer(asking, Some(partial));
        self.end_turn(OutcomeKind::Failed, None, Some(failure))
    }

    pub(crate) fn retry_due(&mut self, phase: Phase, item: &ItemId, attempt: u32) -> Phase {
        match phase {
            // The timer of an earlier request may fire late and must not retry this one. In a hand-over the next daemon
            // process retries.
            Phase::Asking(asking)
                if !self.hold.suspending
                    && matches!(asking.waits, RequestWait::Retry { .. })
                    && asking.item == *item
                    && asking.attempt == attempt =>
            {
                self.resend(asking)
            }
            Phase::Compacting(compacting) if !self.hold.suspending => {
                self.summary_due(compacting, item, attempt)
            }
            other => other,
        }
    }

    pub(crate) fn credentials_arrived(&mut self, phase: Phase) -> Phase {
        match phase {
            Phase::Asking(asking)
                if !self.hold.suspending && asking.waits == RequestWait::Credentials =>
            {
                self.resend(Asking {
                    attempt: 0,
                    since_ms: self.now.mono_ms,
                    ..asking
                })
            }
            other => other,
        }
    }

    /// Sends the next try of a request, or postpones it to the end of a pause.
    pub(crate) fn resend(&mut self, asking: Asking) -> Phase {
        if self.held() {
            return Phase::Asking(Asking {
                waits: RequestWait::Resume,
                ..asking
            });
        }
        self.state(State::Running, None, "another try", None);
        self.send(Asking {
            attempt: asking.attempt + 1,
            waits: RequestWait::Answer,
            ..asking
        })
    }
}

/// Maximum size of a failed answer's text, in bytes: more than any model's output limit.
const PARTIAL_MAX: usize = 1 << 20;

/// Truncates a failed answer's text to [`PARTIAL_MAX`].
fn truncate(mut text: String) -> String {
    if text.len() > PARTIAL_MAX {
        text.truncate(text.floor_char_boundary(PARTIAL_MAX));
        text.push('…');
    }
    text
}

/// Exponential backoff with jitter: half fixed, half random, from `base` to `cap`.
pub(crate) fn backoff(base: u64, cap: u64, attempt: u32, jitter: f64) -> u64 {
    let full = base
        .saturating_mul(1_u64 << attempt.saturating_sub(1).min(20))
        .min(cap);
    let half = full / 2;
    // Jitter is within 0..1 and a wait within 30 s, so the loss of precision is irrelevant.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss
    )]
    let random = ((full - half) as f64 * jitter.clamp(0.0, 1.0)) as u64;
    half + random
}

pub(crate) fn failure_of(error: &ProviderError) -> Failure {
    let name = match error.kind {
        ErrorKind::Budget => ErrorName::BudgetExceeded,
        ErrorKind::OutOfCredit => ErrorName::OutOfCredit,
        _ => ErrorName::ProviderFailed,
    };
    let mut failure = Failure::new(name, error.message.clone(), error.hint.clone());
    if let Some(status) = error.status {
        failure = failure.with("status", status);
    }
    if let Some(after) = error.retry_after {
        failure = failure.with("retry_after", after.as_secs());
    }
    failure.retryable = matches!(error.kind, ErrorKind::Transient | ErrorKind::NotRunning);
    failure
}
