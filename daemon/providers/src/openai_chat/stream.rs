//! Collects an answer from its events.
//!
//! An answer is complete when the vendor gives a finish reason, or ends a stream with content by
//! `[DONE]`. A connection that ends before that is broken, even between events: a proxy that loses
//! its upstream looks the same. After a finish reason only usage may follow, and losing it is
//! harmless. Called by `read`.

use contract::provider::{ProviderError, Reported};
use proto::item::Finish;
use serde_json::value::RawValue;

use crate::calls::{AnswerEnd, CallFragment};
use crate::failure::VendorError;
use crate::gathered::Gathered;
use crate::json;
use crate::lenient::Object;
use crate::part_batch::PartBatch;
use crate::read::{Collect, Flow};

/// An answer in progress.
pub(crate) struct Collector(pub(crate) Gathered);

impl Collector {
    /// Handles one event, or a whole answer (`whole`).
    fn chunk(
        &mut self,
        text: &str,
        whole: bool,
        batch: &mut PartBatch,
    ) -> Result<Flow, ProviderError> {
        let Some(chunk) = self.0.event(text)? else {
            return Ok(Flow::Nothing);
        };
        let error = chunk
            .raw("error")
            .filter(|error| !matches!(error.get(), "false" | "{}" | "\"\""));
        let usage = chunk.object("usage");
        if error.is_some() || (chunk.raw("choices").is_none() && usage.is_none()) {
            return match error_in(text, error) {
                Some(vendor) => {
                    let error = self.0.site.refused(&self.0.model, 200, None, &vendor);
                    Err(self.0.fail(error))
                }
                None => Ok(Flow::Nothing),
            };
        }
        // Groq reports usage in its own member.
        self.report(usage.or_else(|| chunk.object("x_groq")?.object("usage")));
        // We request one choice and ignore others.
        let mut choices = chunk.objects("choices");
        match choices.find(|choice| choice.count("index") == 0) {
            Some(choice) => self.choice(&choice, whole, batch),
            None => Ok(Flow::Nothing),
        }
    }

    fn choice(
        &mut self,
        choice: &Object<'_>,
        whole: bool,
        batch: &mut PartBatch,
    ) -> Result<Flow, ProviderError> {
        // Moonshot reports usage here.
        self.report(choice.object("usage"));
        let before = self.0.said;
        // A server that does not stream sends `message` instead.
        for said in ["delta", "message"] {
            if let Some(said) = choice.object(said) {
                self.said(&said, whole, batch)?;
            }
        }
        let flow = self.0.flow(before)?;
        let reason = choice.text("finish_reason");
        if !reason.is_empty() {
            let Some(finish) = finish(&reason) else {
                let what = format!("stopped before the end of its answer: `{reason}`");
                return Err(self.0.fail(self.0.site.transient(&what)));
            };
            self.0.end = AnswerEnd::Reason(finish);
        }
        Ok(flow)
    }

    fn said(
        &mut self,
        said: &Object<'_>,
        whole: bool,
        batch: &mut PartBatch,
    ) -> Result<(), ProviderError> {
        // Gateways that know both names send the same text under both.
        let by_name = ["reasoning_content", "reasoning"].map(|name| said.text(name));
        if let Some(reasoning) = by_name.iter().find(|text| !text.is_empty()) {
            self.0.reasoning(reasoning, batch);
        }
        self.0.reasoning(&said.thinking("content"), batch);
        self.0.text(&said.text("content"), batch);
        self.0.text(&said.text("refusal"), batch);
        for call in said.objects("tool_calls") {
            let function = call.object("function").unwrap_or_default();
            // A string that contains JSON. Some servers send the object itself.
            let arguments = function.raw("arguments").map(json::text_of);
            let piece = CallFragment {
                index: call.number("index"),
                id: &call.text("id"),
                name: &function.text("name"),
                arguments: &arguments.unwrap_or_default(),
                whole,
            };
            self.0.fragment(piece, batch)?;
        }
        Ok(())
    }

    /// Keeps the reported usage. The last report counts, unless it is empty: some vendors end with
    /// zeros.
    fn report(&mut self, usage: Option<Object<'_>>) {
        let Some(usage) = usage else { return };
        let cached = [
            usage.count_in("prompt_tokens_details", "cached_tokens"),
            usage.count("prompt_cache_hit_tokens"),
            usage.count("cached_tokens"),
        ];
        let reported = Reported {
            prompt_tokens: usage.count("prompt_tokens"),
            cached_tokens: cached.into_iter().max().unwrap_or(0),
            // No vendor of this kind reports it.
            cache_write_tokens: 0,
            output_tokens: usage.count("completion_tokens"),
            reasoning_tokens: usage.count_in("completion_tokens_details", "reasoning_tokens"),
        };
        if reported != Reported::default() || self.0.usage.is_none() {
            self.0.usage = Some(reported);
        }
    }
}

impl Collect for Collector {
    fn event(&mut self, data: &str, batch: &mut PartBatch) -> Result<Flow, ProviderError> {
        if data.trim_ascii() != "[DONE]" {
            return self.chunk(data, false, batch);
        }
        self.0.end_here();
        Ok(Flow::Last)
    }

    fn document(&mut self, text: &str, batch: &mut PartBatch) -> Result<(), ProviderError> {
        self.chunk(text, true, batch)?;
        // A truncated document would not have parsed.
        self.0.end_here();
        Ok(())
    }

    fn gathered(&mut self) -> &mut Gathered {
        &mut self.0
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
