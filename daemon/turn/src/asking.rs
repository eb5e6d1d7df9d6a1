//! Requests to the model: their answers, failures and retries.

use std::collections::HashSet;

use contract::ToolChoice;
use contract::provider::{ErrorKind, ProviderError};
use proto::item::{AssistantMessage, Finish, ToolCall, Voice};
use proto::outcome::OutcomeKind;
use proto::record::{Level, Purpose};
use proto::reset::Trigger;
use proto::state::{State, WaitingFor};
use proto::{Body, CallId, ErrorName, Failure, ItemId};

use crate::facts::ReportedPermissions;
use crate::input::{Answer, Effect, RequestInfo};
use crate::machine::{Asking, CallsInProgress, Phase, RequestWait, Step};
use crate::words;

/// How long to retry a request to a local address where nothing listens.
const NOT_RUNNING_MS: u64 = 4_000;

/// How many times in a row to continue an answer that the provider paused.
const PAUSES_MAX: u32 = 8;

/// How many empty answers in a row mean that a long conversation is too long.
const EMPTY_MAX: u32 = 2;
/// How long a conversation is in that sense, in tokens if the model's window is unknown, else as a percentage of it.
const LONG_TOKENS: u64 = 4_000;
const LONG_PERCENT: u64 = 50;

/// How many times in a row to report to the model that the provider refused its call.
const INVALID_CALLS_MAX: u32 = 2;

impl Step<'_> {
    /// Sends the current conversation to the model.
    pub fn ask(&mut self) -> Phase {
        if self.facts.wants_rebase() {
            return self.rebase();
        }
        if self.is_near_full() {
            return self.compact_first(Trigger::Auto);
        }
        self.notify_effective_permissions();
        let asking = Asking {
            item: self.next_item(),
            attempt: 1,
            since_ms: self.now.mono_ms,
            not_running_since_ms: None,
            waits: RequestWait::Answer,
        };
        self.send(asking)
    }

    /// Notifies the model of the session's permissions if they have changed since the last notice. The notice goes at the
    /// end of the conversation, so that earlier bytes stay unchanged. A retry adds none, because it is the same request.
    fn notify_effective_permissions(&mut self) {
        let options = &self.facts.options;
        let now = ReportedPermissions {
            mode: options.mode.unwrap_or_default(),
            read_only: options.read_only.unwrap_or_default(),
        };
        let summing_up = self.facts.open.as_ref().is_some_and(|open| open.summing_up);
        if (self.facts.reported_permissions != now || self.facts.repeat_permissions) && !summing_up
        {
            self.say(
                words::effective_permissions(now).to_owned(),
                None,
                None,
                Voice::Daemon,
            );
        }
    }

    fn send(&mut self, asking: Asking) -> Phase {
        let summing_up = self.facts.open.as_ref().is_some_and(|open| open.summing_up);
        self.effects.push(Effect::Ask {
            upto: self.facts.seq,
            item: asking.item.clone(),
            attempt: asking.attempt,
            tool_choice: if summing_up {
                ToolChoice::None
            } else {
                ToolChoice::Auto
            },
        });
        Phase::Asking(asking)
    }

    /// Continues after an answer and its calls: adds steering, then sends the next request, within the step limit.
    pub fn ask_again(&mut self) -> Phase {
        if self.held() {
            // Steering is added only when it is sent: until then users may change it.
            return Phase::Held;
        }
        self.fold_steering();
        let Some(open) = &self.facts.open else {
            return Phase::Idle;
        };
        let limit = self.facts.limit_of_steps(open);
        let over = limit > 0 && open.steps >= limit;
        // The model was warned before, in the result of a call.
        let stuck = open.recent_calls.is_loop();
        if (over || stuck) && !open.summing_up {
            let words = if over { words::SUM_UP } else { words::STUCK };
            self.say(words.to_owned(), None, None, Voice::Daemon);
        }
        self.ask()
    }

    /// Appends queued steering to the conversation. True if there was any.
    fn fold_steering(&mut self) -> bool {
        let steering: Vec<_> = self
            .facts
            .queue
            .iter()
            .filter(|queued| queued.steer)
            .cloned()
            .collect();
        let steers = !steering.is_empty();
        for prompt in steering {
            let by_session = self.facts.sent_by_sessions.contains_key(&prompt.prompt_id);
            let voice = match by_session {
                true => Voice::Session,
                false => Voice::Steer,
            };
            self.say_prompt(prompt, None, Vec::new(), voice);
        }
        steers
    }

    pub(crate) fn answered(&mut self, phase: Phase, answer: Answer) -> Phase {
        let asking = match self.request_sent(phase) {
            Phase::Asking(asking) => asking,
            Phase::Compacting(compacting) => return self.summary_answered(compacting, &answer),
            other => return other,
        };
        self.hold.too_long = 0;
        let finish = answer.finish.unwrap_or(Finish::Stop);
        self.log_usage(&asking, &answer);
        let answer = self.repair_calls(answer, finish);
        self.log_answer(asking.item, &answer, finish);
        let Some(open) = &self.facts.open else {
            return Phase::Idle;
        };
        if open.calls.is_empty() {
            self.settle(finish)
        } else {
            self.begin_calls(CallsInProgress::default())
        }
    }

    /// Continues or ends the turn after an answer without calls.
    pub fn settle(&mut self, finish: Finish) -> Phase {
        let Some(open) = &self.facts.open else {
            return Phase::Idle;
        };
        if open.summing_up {
            return self.end_summed_up();
        }
        if finish == Finish::ContentFilter {
            let failure = Failure::new(
                ErrorName::ProviderFailed,
                "The provider's content filter cut off the answer.",
                "Rephrase the prompt, or use another model.",
            );
            return self.end_turn(OutcomeKind::Failed, None, Some(failure));
        }
        if finish == Finish::Paused && open.pauses <= PAUSES_MAX {
            self.say(words::PAUSED.to_owned(), None, None, Voice::Daemon);
            return self.ask_again();
        }
        if open.text.trim().is_empty() {
            return self.continue_empty_answer();
        }
        if self.held() && self.facts.queue.iter().any(|queued| queued.steer) {
            return Phase::Held;
        }
        if finish == Finish::Length {
            self.notice(
                Level::Warning,
                "The answer was cut off by the model's output limit.",
            );
        }
        // Steering that arrived while the answer streamed is answered in the same turn.
        if self.fold_steering() {
            return self.ask_again();
        }
        self.end_turn(OutcomeKind::Completed, None, None)
    }

    /// Asks once more after an answer without text or calls; a second one fails the turn. It never counts as success.
    fn continue_empty_answer(&mut self) -> Phase {
        if self.facts.open.as_ref().is_some_and(|open| open.prodded) {
            let failure = Failure::new(
                ErrorName::ProviderFailed,
                "The model returned two empty answers in a row.",
                "Send the prompt again, or use another model.",
            );
            return self.end_turn(OutcomeKind::Failed, None, Some(failure));
        }
        self.say(words::REASONING_ONLY.to_owned(), None, None, Voice::Daemon);
        self.ask_again()
    }

    /// Logs an answer, complete or partial.
    pub(crate) fn log_answer(&mut self, item: ItemId, answer: &Answer, finish: Finish) {
        // A partial answer keeps no calls and no reasoning blocks: providers accept those only with the rest of their
        // answer.
        let (calls, thoughts) = if finish == Finish::Interrupted {
            (Vec::new(), Vec::new())
        } else {
            (self.with_unique_ids(&answer.calls), answer.thoughts.clone())
        };
        self.append(Body::Assistant(AssistantMessage {
            item,
            text: answer.text.clone(),
            reasoning: answer.reasoning.clone(),
            calls,
            thoughts,
            finish,
        }));
    }

    /// Returns the calls with ids that are unique in the session. Some providers number the calls of each answer from 0,
    /// so a late result of an old call could be mistaken for a new call's.
    pub(crate) fn with_unique_ids(&self, calls: &[ToolCall]) -> Vec<ToolCall> {
        let mut taken = HashSet::new();
        let mut unique = calls.to_vec();
        for call in &mut unique {
            let (original, mut number) = (call.id.0.clone(), self.facts.answered + 1);
            while self.facts.call_ids.contains(&call.id) || !taken.insert(call.id.clone()) {
                call.id = CallId(format!("{original}_{number}"));
                number += 1;
            }
        }
        unique
    }

    /// Logs the shown part of an answer that will not be completed.
    pub fn log_partial_answer(&mut self, asking: Asking, partial: Option<Answer>) {
        if let Some(partial) = partial
            && !(partial.text.is_empty() && partial.reasoning.is_empty())
        {
            self.log_answer(asking.item, &partial, Finish::Interrupted);
        }
    }

    /// Logs the usage of a request of the conversation.
    pub(crate) fn log_usage(&mut self, asking: &Asking, answer: &Answer) {
        self.log_usage_for(asking, answer, Purpose::Answer);
    }

    /// Logs the usage of a request, also of one outside the conversation.
    pub(crate) fn log_usage_for(&mut self, asking: &Asking, answer: &Answer, purpose: Purpose) {
        let (provider, model) = match &answer.asked {
            Some(asked) => (asked.provider.clone(), asked.model.clone()),
            None => (
                self.facts.wire.provider.clone(),
                self.facts.wire.model.clone(),
            ),
        };
        let mut usage = answer.usage(RequestInfo {
            item: asking.item.clone(),
            provider,
            model,
            purpose,
            step: self.facts.open.as_ref().map_or(0, |open| open.steps + 1),
            attempt: asking.attempt,
        });
        self.check_cache(&mut usage, answer.rewritten.as_deref());
        let cache = &self.facts.cache;
        let miss = usage.cache_miss.clone();
        let miss = miss.filter(|miss| !cache.is_reported(miss.cause));
        self.append(Body::Usage(usage.clone()));
        if let Some(miss) = miss {
            self.notify_cache_miss(&usage, &miss);
        }
        for text in &answer.notices {
            self.notice(Level::Warning, text.clone());
        }
    }

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
                self.supersede(&asking, &partial);
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
