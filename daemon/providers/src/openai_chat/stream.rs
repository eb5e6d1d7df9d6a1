//! Collects an answer from its events.
//!
//! An answer is complete when the vendor gives a finish reason, or ends a stream with content by
//! `[DONE]`. A connection that ends before that is broken, even between events: a proxy that loses
//! its upstream looks the same. After a finish reason only usage may follow, and losing it is
//! harmless. Called by `read`.

use contract::provider::{ProviderError, Reported};
use proto::item::Finish;
use serde_json::value::RawValue;

use crate::calls::{AnswerEnd, CallFragment, Calls, TooManyCalls};
use crate::failure::{ErrorContext, VendorError};
use crate::json;
use crate::openai_chat::wire::{CallDelta, ChatMessage, Choice, Chunk, Number, Usage};
use crate::read::{ANSWER_MAX, Collect, Flow, PartBatch};

/// An answer in progress.
pub(crate) struct Collector {
    site: ErrorContext,
    model: String,
    calls: Calls,
    end: AnswerEnd,
    usage: Option<Reported>,
    /// Bytes of content so far.
    said: usize,
}

impl Collector {
    pub(crate) fn new(site: ErrorContext, model: String, answered: u64) -> Self {
        Self {
            site,
            model,
            calls: Calls::new(answered),
            end: AnswerEnd::Open,
            usage: None,
            said: 0,
        }
    }

    /// Handles one event, or a whole answer (`whole`).
    fn chunk(
        &mut self,
        text: &str,
        whole: bool,
        batch: &mut PartBatch,
    ) -> Result<Flow, ProviderError> {
        let chunk: Chunk<'_> = match serde_json::from_str(text) {
            Ok(chunk) => chunk,
            // Anything after the finish reason cannot invalidate the answer.
            Err(_) if self.end != AnswerEnd::Open => return Ok(Flow::Nothing),
            Err(_) => return Err(self.site.no_event()),
        };
        let error = chunk
            .error
            .filter(|error| !matches!(error.get(), "null" | "false" | "{}" | "\"\""));
        if error.is_some() || (!chunk.choices.there && chunk.usage.is_none()) {
            if let Some(vendor) = error_in(text, error) {
                // The vendor discards the answer so far.
                self.end = AnswerEnd::Open;
                return Err(self.site.refused(&self.model, 200, None, &vendor));
            }
            return Ok(Flow::Nothing);
        }
        let usage = chunk.usage.or(chunk.x_groq.and_then(|groq| groq.usage));
        self.report(usage);
        match chunk.choices.choice {
            Some(choice) => self.choice(choice, whole, batch),
            None => Ok(Flow::Nothing),
        }
    }

    fn choice(
        &mut self,
        choice: Choice<'_>,
        whole: bool,
        batch: &mut PartBatch,
    ) -> Result<Flow, ProviderError> {
        self.report(choice.usage);
        let before = self.said;
        for said in [choice.delta, choice.message].into_iter().flatten() {
            self.said(said, whole, batch)?;
        }
        if self.said > ANSWER_MAX {
            self.end = AnswerEnd::Open;
            return Err(self.site.too_long());
        }
        let flow = if self.said == before {
            Flow::Nothing
        } else {
            Flow::More
        };
        let reason = choice.finish_reason.text;
        if !reason.is_empty() {
            self.end = match finish(&reason) {
                Some(finish) => AnswerEnd::Reason(finish),
                None => {
                    self.end = AnswerEnd::Open;
                    return Err(self
                        .site
                        .transient(&format!("broke off its answer: `{reason}`")));
                }
            };
        }
        Ok(flow)
    }

    fn said(
        &mut self,
        said: ChatMessage<'_>,
        whole: bool,
        batch: &mut PartBatch,
    ) -> Result<(), ProviderError> {
        // Gateways that know both names send the same text under both.
        let by_name = [said.reasoning_content.text, said.reasoning.text];
        let reasoning = by_name.iter().find(|text| !text.is_empty());
        let thoughts = [reasoning.map_or("", |text| text), &said.content.thinking];
        let words = [&*said.content.text, &*said.refusal.text];
        for text in thoughts {
            self.said += text.len();
            batch.reasoning(text);
        }
        for text in words {
            self.said += text.len();
            batch.text(text);
        }
        for delta in said.tool_calls.into_iter().flatten() {
            self.call(delta, whole, batch)?;
        }
        Ok(())
    }

    fn call(
        &mut self,
        delta: CallDelta<'_>,
        whole: bool,
        batch: &mut PartBatch,
    ) -> Result<(), ProviderError> {
        let function = delta.function.unwrap_or_default();
        let arguments = function.arguments.map(json::text_of).unwrap_or_default();
        let piece = CallFragment {
            index: delta.index.0,
            id: &delta.id.text,
            name: &function.name.text,
            arguments: &arguments,
            whole,
        };
        if piece.id.is_empty() && piece.name.is_empty() && arguments.is_empty() {
            // An empty fragment must not start a call.
            return Ok(());
        }
        self.said += 1 + arguments.len();
        self.calls.take(piece, batch).map_err(|TooManyCalls| {
            self.end = AnswerEnd::Open;
            self.site.too_many_calls()
        })
    }

    /// Keeps the reported usage. The last report counts, unless it is empty: some vendors end with
    /// zeros.
    fn report(&mut self, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        let count = |number: Number| number.0.unwrap_or(0);
        let detail = usage.prompt_tokens_details.unwrap_or_default();
        let cached = [
            detail.cached_tokens,
            usage.prompt_cache_hit_tokens,
            usage.cached_tokens,
        ];
        let reported = Reported {
            prompt_tokens: count(usage.prompt_tokens),
            cached_tokens: cached.into_iter().map(count).max().unwrap_or(0),
            // No vendor of this kind reports it.
            cache_write_tokens: 0,
            output_tokens: count(usage.completion_tokens),
            reasoning_tokens: count(
                usage
                    .completion_tokens_details
                    .unwrap_or_default()
                    .reasoning_tokens,
            ),
        };
        if reported != Reported::default() || self.usage.is_none() {
            self.usage = Some(reported);
        }
    }
}

impl Collect for Collector {
    fn event(&mut self, data: &str, batch: &mut PartBatch) -> Result<Flow, ProviderError> {
        if data.trim_ascii() != "[DONE]" {
            return self.chunk(data, false, batch);
        }
        if self.end == AnswerEnd::Open && self.said > 0 {
            self.end = AnswerEnd::Bare;
        }
        Ok(Flow::Last)
    }

    fn document(&mut self, text: &str, batch: &mut PartBatch) -> Result<(), ProviderError> {
        self.chunk(text, true, batch)?;
        if self.end == AnswerEnd::Open && self.said > 0 {
            // A truncated document would not have parsed.
            self.end = AnswerEnd::Bare;
        }
        Ok(())
    }

    fn reported(&self) -> Option<Reported> {
        self.usage
    }

    fn is_finished(&self) -> bool {
        self.end != AnswerEnd::Open
    }

    fn end(&mut self, batch: &mut PartBatch) -> Result<(), ProviderError> {
        let Some((finish, trust)) = self.end.judged(&self.calls) else {
            return Err(self.site.transient("ended its answer without any content"));
        };
        let calls = self.calls.finish(trust);
        batch.finish(Vec::new(), calls, self.reported(), finish);
        Ok(())
    }
}

/// Maps a finish reason. `None` if it means that the vendor failed.
fn finish(reason: &str) -> Option<Finish> {
    match reason {
        "tool_calls" | "function_call" | "tool_use" => Some(Finish::ToolCalls),
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => {
            Some(Finish::Length)
        }
        "content_filter" | "sensitive" | "safety" => Some(Finish::ContentFilter),
        // DeepSeek, GLM and OpenRouter report their own failures here.
        "insufficient_system_resource" | "network_error" | "error" => None,
        _ => Some(Finish::Stop),
    }
}

/// The error in an event, if it is one.
fn error_in(text: &str, error: Option<&RawValue>) -> Option<VendorError> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let found = VendorError::from_value(&value);
    match error {
        Some(error) => Some(found.unwrap_or_else(|| VendorError {
            message: error.get().to_owned(),
            ..VendorError::default()
        })),
        // Without an `error` member, only a message makes an event an error. Other events are
        // informational.
        None => found.filter(|found| !found.message.is_empty()),
    }
}

#[cfg(test)]
mod tests;
