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
use crate::openai_chat::base_response;
use crate::openai_chat::raw_thoughts::{RawThoughts, SplitContent};
use crate::openai_chat::vendor_members::VendorMembers;
use crate::openai_chat::vendor_rules;
use crate::part_batch::PartBatch;
use crate::read::{Collect, Flow};

/// An answer in progress.
pub(crate) struct Collector {
    gathered: Gathered,
    vendor_members: VendorMembers,
    raw_thoughts: RawThoughts,
    /// Whether content came as a delta.
    has_deltas: bool,
}

impl Collector {
    pub(crate) fn new(gathered: Gathered) -> Self {
        Self {
            vendor_members: VendorMembers::default(),
            raw_thoughts: RawThoughts::new(vendor_rules::thinks_from_the_start(&gathered.model)),
            gathered,
            has_deltas: false,
        }
    }

    /// Handles one event, or a whole answer (`whole`).
    fn chunk(
        &mut self,
        text: &str,
        whole: bool,
        batch: &mut PartBatch,
    ) -> Result<Flow, ProviderError> {
        let Some(chunk) = self.gathered.event(text)? else {
            return Ok(Flow::Nothing);
        };
        if let Some(vendor) = base_response::error_in(&chunk) {
            return Err(self.refused(&vendor));
        }
        let error = chunk.raw("error").filter(|error| is_error(error));
        let usage = chunk.object("usage");
        if error.is_some() || (chunk.raw("choices").is_none() && usage.is_none()) {
            return match error_in(text, error) {
                Some(vendor) => Err(self.refused(&vendor)),
                None => Ok(Flow::Nothing),
            };
        }
        // Groq reports usage in its own member, and a failure in the middle of an answer.
        let groq = chunk.object("x_groq").unwrap_or_default();
        let failed = groq.text("error");
        if !failed.is_empty() {
            let vendor = VendorError {
                message: failed.into_owned(),
                ..VendorError::default()
            };
            return Err(self.refused(&vendor));
        }
        self.report(usage.or_else(|| groq.object("usage")));
        // We request one choice and ignore others. Copilot has sent the text and the calls of one as two without a number.
        let mut flow = Flow::Nothing;
        for choice in chunk.objects("choices") {
            if choice.count("index") == 0 && self.choice(&choice, whole, batch)? == Flow::More {
                flow = Flow::More;
            }
        }
        Ok(flow)
    }

    fn refused(&mut self, vendor: &VendorError) -> ProviderError {
        let Gathered { site, model, .. } = &self.gathered;
        let error = site.refused(model, 200, None, vendor);
        self.gathered.fail(error)
    }

    fn choice(
        &mut self,
        choice: &Object<'_>,
        whole: bool,
        batch: &mut PartBatch,
    ) -> Result<Flow, ProviderError> {
        // OpenRouter reports the failure of another vendor here.
        if let Some(error) = choice.raw("error").filter(|error| is_error(error))
            && let Some(vendor) = error_in(error.get(), Some(error))
        {
            return Err(self.refused(&vendor));
        }
        // Moonshot reports usage here.
        self.report(choice.object("usage"));
        let before = self.gathered.said;
        if let Some(delta) = choice.object("delta") {
            self.has_deltas = self.has_deltas || has_content(&delta);
            self.said(&delta, whole, batch)?;
        }
        // A server that does not stream sends `message` instead. Beside deltas it repeats them: Perplexity's grows with
        // each chunk, MiniMax's comes last.
        if let Some(message) = choice.object("message").filter(|_| !self.has_deltas) {
            self.said(&message, whole, batch)?;
        }
        let flow = self.gathered.flow(before)?;
        let reason = choice.text("finish_reason");
        if !reason.is_empty() {
            if is_invalid_call(&reason) {
                let Gathered { site, model, .. } = &self.gathered;
                let error = site.invalid_call(model, &reason);
                return Err(self.gathered.fail(error));
            }
            let Some(finish) = finish(&reason) else {
                let what = format!("stopped before the end of its answer: `{reason}`");
                return Err(self.gathered.fail(self.gathered.site.transient(&what)));
            };
            self.gathered.end = AnswerEnd::Reason(finish);
        }
        Ok(flow)
    }

    fn said(
        &mut self,
        said: &Object<'_>,
        whole: bool,
        batch: &mut PartBatch,
    ) -> Result<(), ProviderError> {
        // Gateways that know several names send the same text under each.
        let names = ["reasoning_content", "reasoning", "reasoning_text"];
        let by_name = names.map(|name| said.text(name));
        let all = names.iter().chain(&["reasoning_details"]);
        if all.into_iter().any(|name| said.names(name)) {
            self.raw_thoughts.separated_by_server();
        }
        if let Some(reasoning) = by_name.iter().find(|text| !text.is_empty()) {
            self.gathered.reasoning(reasoning, batch);
        } else if names.iter().all(|name| said.raw(name).is_none()) {
            // Snowflake and MiniMax send it only here.
            let reasoning = reasoning_in_details(said);
            self.gathered.reasoning(&reasoning, batch);
        }
        self.gathered.reasoning(&said.thinking("content"), batch);
        let split = self.raw_thoughts.push(&said.text("content"));
        self.pass_on(&split, batch);
        self.gathered.text(&said.text("refusal"), batch);
        let calls: Vec<_> = said.objects("tool_calls").collect();
        // Moonshot has sent several in a list without numbers: the place in the list is meant.
        let is_list = calls.len() > 1;
        for (place, call) in (0..).zip(calls) {
            let function = call.object("function").unwrap_or_default();
            // A string that contains JSON. Some servers send the object itself.
            let arguments = function.raw("arguments").map(json::text_of);
            let piece = CallFragment {
                index: call.number("index").or(is_list.then_some(place)),
                id: &call.text("id"),
                name: &function.text("name"),
                arguments: &arguments.unwrap_or_default(),
                whole,
            };
            self.gathered.fragment(piece, batch)?;
            VendorMembers::take_of_call(&call, &mut self.gathered);
        }
        self.vendor_members.take(said, &mut self.gathered);
        Ok(())
    }

    fn pass_on(&mut self, split: &SplitContent, batch: &mut PartBatch) {
        if !split.reasoning.is_empty() {
            self.gathered.reasoning(&split.reasoning, batch);
        }
        if !split.text.is_empty() {
            self.gathered.text(&split.text, batch);
        }
    }

    /// Passes on text that was held back.
    fn flush(&mut self, batch: &mut PartBatch) {
        let is_cut = self.gathered.end == AnswerEnd::Reason(Finish::Length);
        let held = match is_cut || !self.gathered.calls.is_empty() {
            true => self.raw_thoughts.cut(),
            false => self.raw_thoughts.finish(),
        };
        self.pass_on(&held, batch);
    }

    /// Keeps the reported usage. The last report counts, unless it is empty: some vendors end with
    /// zeros.
    fn report(&mut self, usage: Option<Object<'_>>) {
        let Some(usage) = usage else { return };
        let cached = [
            usage.count_in("prompt_tokens_details", "cached_tokens"),
            usage.count("prompt_cache_hit_tokens"),
            usage.count("cached_tokens"),
            // LiteLLM passes Anthropic's names on.
            usage.count("cache_read_input_tokens"),
        ];
        let written = [
            usage.count_in("prompt_tokens_details", "cache_write_tokens"),
            usage.count_in("prompt_tokens_details", "cache_creation_tokens"),
            // Alibaba.
            usage.count_in("prompt_tokens_details", "cache_creation_input_tokens"),
            usage.count("cache_creation_input_tokens"),
        ];
        // A few servers take the names of the vendor's other API.
        let either = |name, other| match usage.count(name) {
            0 => usage.count(other),
            count => count,
        };
        let prompt_tokens = either("prompt_tokens", "input_tokens");
        let completion = either("completion_tokens", "output_tokens");
        let total = usage.count("total_tokens").checked_sub(prompt_tokens);
        let mut reasoning_tokens = usage.count_in("completion_tokens_details", "reasoning_tokens");
        if reasoning_tokens == 0 {
            // SGLang, Perplexity.
            reasoning_tokens = usage.count("reasoning_tokens");
        }
        if reasoning_tokens == 0 && vendor_rules::counts_reasoning_in_total(&self.gathered.model) {
            reasoning_tokens = total.map_or(0, |total| total.saturating_sub(completion));
        }
        let reported = Reported {
            prompt_tokens,
            cached_tokens: cached.into_iter().max().unwrap_or(0),
            cache_write_tokens: written.into_iter().max().unwrap_or(0),
            output_tokens: output_tokens(completion, total, reasoning_tokens),
            reasoning_tokens,
        };
        if let Some(reported) = reported.plausible() {
            self.gathered.usage = Some(reported);
        }
    }
}

impl Collect for Collector {
    fn event(&mut self, data: &str, batch: &mut PartBatch) -> Result<Flow, ProviderError> {
        if data.trim_ascii() != "[DONE]" {
            return self.chunk(data, false, batch);
        }
        self.flush(batch);
        self.gathered.end_here();
        Ok(Flow::Last)
    }

    fn document(&mut self, text: &str, batch: &mut PartBatch) -> Result<(), ProviderError> {
        self.chunk(text, true, batch)?;
        self.flush(batch);
        // A truncated document would not have parsed.
        self.gathered.end_here();
        Ok(())
    }

    fn gathered(&mut self) -> &mut Gathered {
        &mut self.gathered
    }

    fn complete(&mut self, batch: &mut PartBatch) {
        self.flush(batch);
        self.vendor_members.finish(&mut self.gathered);
    }
}

/// The tokens of an answer, reasoning included. xAI leaves it out of `completion_tokens`; its total shows that.
fn output_tokens(completion: u64, total: Option<u64>, reasoning: u64) -> u64 {
    let with_reasoning = completion.saturating_add(reasoning);
    match total {
        Some(total) if reasoning > 0 && total == with_reasoning => with_reasoning,
        _ => completion,
    }
}

/// The readable reasoning in a list of details.
fn reasoning_in_details(said: &Object<'_>) -> String {
    let details = said.objects("reasoning_details");
    let text = |detail: Object<'_>| match detail.text("text") {
        text if text.is_empty() => detail.text("summary").into_owned(),
        text => text.into_owned(),
    };
    details.map(text).collect()
}

/// Whether a delta has any content.
fn has_content(delta: &Object<'_>) -> bool {
    const NAMES: &[&str] = &[
        "content",
        "refusal",
        "reasoning_content",
        "reasoning",
        "reasoning_text",
        "reasoning_details",
        "tool_calls",
    ];
    let mut found = NAMES.iter().filter_map(|name| delta.raw(name));
    found.any(|raw| !matches!(raw.get(), "\"\"" | "[]"))
}

/// Whether the vendor ended the answer because of a call in it. These are Gemini's names, with a prefix over chat.
fn is_invalid_call(reason: &str) -> bool {
    let reason = reason.to_uppercase();
    let names = ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"];
    names.iter().any(|name| reason.ends_with(name))
}

/// Maps a finish reason. `None` if it means that the vendor failed. Gateways that pass on Gemini's reasons write them in
/// capitals.
fn finish(reason: &str) -> Option<Finish> {
    let reason = reason.to_lowercase();
    // Gemini over chat says what the filter found: `content_filter: RECITATION`.
    if reason.starts_with("content_filter:") {
        return Some(Finish::ContentFilter);
    }
    match &*reason {
        "tool_calls" | "function_call" | "tool_use" => Some(Finish::ToolCalls),
        "length" | "max_tokens" | "model_length" | "model_context_window_exceeded" => {
            Some(Finish::Length)
        }
        "content_filter" | "sensitive" | "refusal" => Some(Finish::ContentFilter),
        // Gemini's.
        "safety" | "prohibited_content" | "recitation" | "blocklist" | "spii" | "image_safety" => {
            Some(Finish::ContentFilter)
        }
        // DeepSeek, GLM and OpenRouter report their own failures here, and vLLM and SGLang that they gave up.
        "insufficient_system_resource" | "network_error" | "error" | "abort" => None,
        _ => Some(Finish::Stop),
    }
}

/// Whether an `error` member has an error. Some servers send an empty one with each event.
fn is_error(error: &RawValue) -> bool {
    !matches!(error.get(), "false" | "{}" | "\"\"")
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
