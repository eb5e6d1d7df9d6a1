//! Requests to the model and their answers. What fails is in `failures`.

use std::collections::HashSet;

use contract::ToolChoice;
use proto::item::{AssistantMessage, Finish, ToolCall, Voice};
use proto::outcome::OutcomeKind;
use proto::record::{Level, Purpose};
use proto::reset::Trigger;
use proto::{Body, CallId, ErrorName, Failure, ItemId};

use crate::facts::ReportedPermissions;
use crate::input::{Answer, Effect, RequestInfo};
use crate::machine::{Asking, CallsInProgress, Phase, RequestWait, Step};
use crate::words;

mod failures;

pub(crate) use failures::{backoff, failure_of};

/// How many times in a row to continue an answer that the provider paused.
const PAUSES_MAX: u32 = 8;

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
            self.append_prompt(prompt, None, Vec::new(), voice);
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
        if self
            .facts
            .open
            .as_ref()
            .is_some_and(|open| open.empty_answer_retried)
        {
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
}
