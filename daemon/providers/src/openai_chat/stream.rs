//! Collects an answer from its events.
//!
//! An answer is whole when the vendor gave a finish reason, or ended a stream that said something with `[DONE]`. A
//! connection that ends before that has broken, however well-formed the pieces are: a proxy that loses its upstream
//! looks exactly so, and half an answer must not pass for a whole one. Behind a finish reason only usage may come; its
//! loss breaks nothing. Called by `read`.

use contract::provider::{ProviderError, Reported};
use proto::item::Finish;
use serde_json::value::RawValue;

use crate::calls::{Calls, End, Piece, TooMany};
use crate::failure::{Site, VendorError};
use crate::json;
use crate::openai_chat::wire::{CallDelta, Choice, Chunk, Number, Said, Usage};
use crate::read::{ANSWER_MAX, Batch, Collect, Flow};

/// One answer in the making.
pub(crate) struct Collector {
    site: Site,
    model: String,
    calls: Calls,
    end: End,
    usage: Option<Reported>,
    /// Bytes of content so far.
    said: usize,
}

impl Collector {
    pub(crate) fn new(site: Site, model: String, answered: u64) -> Self {
        Self {
            site,
            model,
            calls: Calls::new(answered),
            end: End::Open,
            usage: None,
            said: 0,
        }
    }

    /// Takes one event, or a whole answer (`whole`).
    fn chunk(&mut self, text: &str, whole: bool, batch: &mut Batch) -> Result<Flow, ProviderError> {
        let chunk: Chunk<'_> = match serde_json::from_str(text) {
            Ok(chunk) => chunk,
            // Nothing behind the finish reason can make the answer less whole.
            Err(_) if self.end != End::Open => return Ok(Flow::Nothing),
            Err(_) => return Err(self.site.no_event()),
        };
        let error = chunk
            .error
            .filter(|error| !matches!(error.get(), "null" | "false" | "{}" | "\"\""));
        if error.is_some() || (!chunk.choices.there && chunk.usage.is_none()) {
            if let Some(vendor) = error_in(text, error) {
                // The vendor takes back what it said.
                self.end = End::Open;
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
        batch: &mut Batch,
    ) -> Result<Flow, ProviderError> {
        self.report(choice.usage);
        let before = self.said;
        for said in [choice.delta, choice.message].into_iter().flatten() {
            self.said(said, whole, batch)?;
        }
        if self.said > ANSWER_MAX {
            self.end = End::Open;
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
                Some(finish) => End::Reason(finish),
                None => {
                    self.end = End::Open;
                    return Err(self
                        .site
                        .transient(&format!("broke its answer off: `{reason}`")));
                }
            };
        }
        Ok(flow)
    }

    fn said(
        &mut self,
        said: Said<'_>,
        whole: bool,
        batch: &mut Batch,
    ) -> Result<(), ProviderError> {
        // Gateways that know both names send the same words under both.
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
        batch: &mut Batch,
    ) -> Result<(), ProviderError> {
        let function = delta.function.unwrap_or_default();
        let arguments = function.arguments.map(json::text_of).unwrap_or_default();
        let piece = Piece {
            index: delta.index.0,
            id: &delta.id.text,
            name: &function.name.text,
            arguments: &arguments,
            whole,
        };
        if piece.id.is_empty() && piece.name.is_empty() && arguments.is_empty() {
            // Says nothing, and must not begin a call.
            return Ok(());
        }
        self.said += 1 + arguments.len();
        self.calls.take(piece, batch).map_err(|TooMany| {
            self.end = End::Open;
            self.site.too_many_calls()
        })
    }

    /// Keeps what the vendor reports. The last report counts, unless it is empty: some end with zeros.
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
            // Nobody who speaks this tells.
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
    fn event(&mut self, data: &str, batch: &mut Batch) -> Result<Flow, ProviderError> {
        if data.trim_ascii() != "[DONE]" {
            return self.chunk(data, false, batch);
        }
        if self.end == End::Open && self.said > 0 {
            self.end = End::Bare;
        }
        Ok(Flow::Last)
    }

    fn document(&mut self, text: &str, batch: &mut Batch) -> Result<(), ProviderError> {
        self.chunk(text, true, batch)?;
        if self.end == End::Open && self.said > 0 {
            // The document is whole, or it would not have parsed.
            self.end = End::Bare;
        }
        Ok(())
    }

    fn reported(&self) -> Option<Reported> {
        self.usage
    }

    fn is_finished(&self) -> bool {
        self.end != End::Open
    }

    fn end(&mut self, batch: &mut Batch) -> Result<(), ProviderError> {
        let Some((finish, trust)) = self.end.judged(&self.calls) else {
            return Err(self
                .site
                .transient("ended its answer before it had said anything"));
        };
        let calls = self.calls.finish(trust);
        batch.finish(Vec::new(), calls, self.reported(), finish);
        Ok(())
    }
}

/// The meaning of a finish reason; `None` where it says that the vendor failed.
fn finish(reason: &str) -> Option<Finish> {
    match reason {
        "tool_calls" | "function_call" | "tool_use" => Some(Finish::ToolCalls),
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => {
            Some(Finish::Length)
        }
        "content_filter" | "sensitive" | "safety" => Some(Finish::ContentFilter),
        // DeepSeek, GLM and OpenRouter name their own trouble here.
        "insufficient_system_resource" | "network_error" | "error" => None,
        _ => Some(Finish::Stop),
    }
}

/// The error that an event is, if it is one.
fn error_in(text: &str, error: Option<&RawValue>) -> Option<VendorError> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    let found = VendorError::from_value(&value);
    match error {
        Some(error) => Some(found.unwrap_or_else(|| VendorError {
            message: error.get().to_owned(),
            ..VendorError::default()
        })),
        // Without an `error` member, only a message makes an event an error: others are news of some kind.
        None => found.filter(|found| !found.message.is_empty()),
    }
}

#[cfg(test)]
mod tests;
