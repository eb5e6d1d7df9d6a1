//! Collects an answer from its events.
//!
//! An answer is complete when the vendor gives a stop reason. A connection that ends before that is
//! broken. Blocks are identified by their index, so they may interleave. Thinking is streamed, and
//! kept as a thought when its block ends: signed, and sent back unchanged. Called by `read`.

use contract::provider::{ProviderError, Reported};
use proto::item::{Finish, Thought};

use super::KIND;
use super::wire::{Block, Delta, Event, Usage};
use crate::calls::{AnswerEnd, CallFragment, Calls, TooManyCalls};
use crate::failure::ErrorContext;
use crate::json::{on_one_line, push_string};
use crate::lenient::{Number, there};
use crate::read::{ANSWER_MAX, Collect, Flow, PartBatch};

/// An answer in progress.
pub(crate) struct Collector {
    site: ErrorContext,
    model: String,
    calls: Calls,
    blocks: Vec<OpenBlock>,
    end: AnswerEnd,
    counts: Counts,
    /// Bytes of content so far.
    said: usize,
    /// Bytes of text so far.
    text: u64,
    /// Whether there is reasoning, so that the next block is separated from it.
    reasoned: bool,
}

/// A block in progress, kept until the answer ends.
struct OpenBlock {
    index: u64,
    /// Position of the block: bytes of text and number of calls before it.
    text_at: u64,
    calls_at: u64,
    what: BlockKind,
    /// The block has ended.
    closed: bool,
}

enum BlockKind {
    Text,
    Thinking {
        text: String,
        signature: String,
    },
    /// The raw block.
    Redacted(String),
    Call,
    /// A kind that we did not request.
    Other,
}

/// Reported usage, field by field: later events repeat some fields and omit others.
#[derive(Clone, Copy, Default)]
struct Counts {
    there: bool,
    input: u64,
    read: u64,
    written: u64,
    output: u64,
    thinking: u64,
}

impl Collector {
    pub(crate) fn new(site: ErrorContext, model: String, answered: u64) -> Self {
        Self {
            site,
            model,
            calls: Calls::new(answered),
            blocks: Vec::new(),
            end: AnswerEnd::Open,
            counts: Counts::default(),
            said: 0,
            text: 0,
            reasoned: false,
        }
    }

    fn take(&mut self, data: &str, batch: &mut PartBatch) -> Result<Flow, ProviderError> {
        let event: Event<'_> = match serde_json::from_str(data) {
            Ok(event) => event,
            // Anything after the stop reason cannot invalidate the answer.
            Err(_) if self.end != AnswerEnd::Open => return Ok(Flow::Nothing),
            Err(_) => return Err(self.site.no_event()),
        };
        if event.kind.text == "error" || there(event.error).is_some() {
            return Err(self.refused(data));
        }
        let before = self.said;
        let index = event.index.0.unwrap_or(0);
        match &*event.kind.text {
            "message_start" => {
                if let Some(message) = event.message {
                    self.report(message.usage);
                }
            }
            "content_block_start" => {
                if let Some(raw) = event.content_block {
                    self.begin(index, raw.get(), batch)?;
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.delta {
                    self.delta(index, &delta, batch)?;
                }
            }
            "content_block_stop" => self.close(index, batch)?,
            "message_delta" => {
                self.report(event.usage);
                self.stop(&event.delta.unwrap_or_default().stop_reason.text);
            }
            "message_stop" => {
                if self.end == AnswerEnd::Open && self.said > 0 {
                    self.end = AnswerEnd::Bare;
                }
                return Ok(Flow::Last);
            }
            // `ping`, and unknown events.
            _ => {}
        }
        if self.said > ANSWER_MAX {
            self.end = AnswerEnd::Open;
            return Err(self.site.too_long());
        }
        Ok(if self.said == before {
            Flow::Nothing
        } else {
            Flow::More
        })
    }

    /// The vendor discards the answer so far.
    fn refused(&mut self, data: &str) -> ProviderError {
        self.end = AnswerEnd::Open;
        self.site.refused_in(&self.model, data)
    }

    fn begin(&mut self, index: u64, raw: &str, batch: &mut PartBatch) -> Result<(), ProviderError> {
        let block: Block<'_> = serde_json::from_str(raw).unwrap_or_default();
        let what = match &*block.kind.text {
            "text" => BlockKind::Text,
            "thinking" => BlockKind::Thinking {
                text: String::new(),
                signature: block.signature.text.to_string(),
            },
            "redacted_thinking" => BlockKind::Redacted(on_one_line(raw).into_owned()),
            "tool_use" => BlockKind::Call,
            _ => BlockKind::Other,
        };
        let is_call = matches!(what, BlockKind::Call);
        self.blocks.push(OpenBlock {
            index,
            text_at: self.text,
            calls_at: self.calls.len() as u64,
            what,
            closed: false,
        });
        if is_call {
            // Complete if the answer is not streamed, otherwise an empty object that grows.
            let input = there(block.input).map_or("", |input| input.get());
            let input = if is_empty_object(input) { "" } else { input };
            return self.call(index, &block.id.text, &block.name.text, input, batch);
        }
        let first = Delta {
            text: block.text,
            thinking: block.thinking,
            ..Delta::default()
        };
        self.delta(index, &first, batch)
    }

    fn delta(
        &mut self,
        index: u64,
        delta: &Delta<'_>,
        batch: &mut PartBatch,
    ) -> Result<(), ProviderError> {
        let at = self.blocks.iter().rposition(|block| block.index == index);
        let is_first = at.is_some_and(
            |at| matches!(&self.blocks[at].what, BlockKind::Thinking { text, .. } if text.is_empty()),
        );
        self.reason(&delta.thinking.text, is_first, batch);
        self.said += delta.text.text.len();
        self.text += delta.text.text.len() as u64;
        batch.text(&delta.text.text);
        match at
            .and_then(|at| self.blocks.get_mut(at))
            .map(|block| &mut block.what)
        {
            Some(BlockKind::Thinking { text, signature }) => {
                text.push_str(&delta.thinking.text);
                signature.push_str(&delta.signature.text);
                self.said += delta.signature.text.len();
            }
            Some(BlockKind::Call) => {
                self.call(index, "", "", &delta.partial_json.text, batch)?;
            }
            // Some gateways omit the start of a block. Its text still counts.
            Some(BlockKind::Text | BlockKind::Redacted(_) | BlockKind::Other) | None => {}
        }
        Ok(())
    }

    fn reason(&mut self, text: &str, is_first: bool, batch: &mut PartBatch) {
        if text.is_empty() {
            return;
        }
        if is_first && self.reasoned {
            batch.reasoning("\n\n");
        }
        self.reasoned = true;
        self.said += text.len();
        batch.reasoning(text);
    }

    fn call(
        &mut self,
        index: u64,
        id: &str,
        name: &str,
        arguments: &str,
        batch: &mut PartBatch,
    ) -> Result<(), ProviderError> {
        if id.is_empty() && name.is_empty() && arguments.is_empty() {
            return Ok(());
        }
        self.said += 1 + arguments.len();
        let piece = CallFragment {
            index: Some(index),
            id,
            name,
            arguments,
            whole: false,
        };
        self.calls.take(piece, batch).map_err(|TooManyCalls| {
            self.end = AnswerEnd::Open;
            self.site.too_many_calls()
        })
    }

    fn close(&mut self, index: u64, batch: &mut PartBatch) -> Result<(), ProviderError> {
        let Some(block) = self.blocks.iter_mut().rfind(|block| block.index == index) else {
            return Ok(());
        };
        block.closed = true;
        let is_bare = matches!(block.what, BlockKind::Call)
            && self.calls.arguments(index).is_none_or(str::is_empty);
        // A call without parameters sends no input.
        if is_bare {
            self.call(index, "", "", "{}", batch)?;
        }
        Ok(())
    }

    fn stop(&mut self, reason: &str) {
        if !reason.is_empty() {
            self.end = AnswerEnd::Reason(finish(reason));
        }
    }

    fn report(&mut self, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        let counts = &mut self.counts;
        counts.there = true;
        let thinking = usage.output_tokens_details.unwrap_or_default();
        // Some gateways start with zeros, others end with them.
        for (count, now) in [
            (&mut counts.input, usage.input_tokens),
            (&mut counts.read, usage.cache_read_input_tokens),
            (&mut counts.written, usage.cache_creation_input_tokens),
            (&mut counts.output, usage.output_tokens),
            (&mut counts.thinking, thinking.thinking_tokens),
        ] {
            let Number(now) = now;
            *count = now.filter(|now| *now > 0).unwrap_or(*count);
        }
    }

    /// The thoughts to send back, in order. Excludes a thought that was cut off before its
    /// signature.
    fn thoughts(&mut self, is_cut: bool) -> Vec<Thought> {
        let blocks = std::mem::take(&mut self.blocks).into_iter();
        let thoughts = blocks.filter_map(|block| {
            let data = match block.what {
                BlockKind::Thinking { text, signature } => {
                    let whole = !signature.is_empty() || (block.closed && !is_cut);
                    whole.then(|| thinking(&text, &signature))?
                }
                BlockKind::Redacted(raw) => raw,
                BlockKind::Text | BlockKind::Call | BlockKind::Other => return None,
            };
            Some(Thought {
                kind: KIND.to_owned(),
                data,
                text_at: block.text_at,
                calls_at: block.calls_at,
            })
        });
        thoughts.collect()
    }
}

impl Collect for Collector {
    fn event(&mut self, data: &str, batch: &mut PartBatch) -> Result<Flow, ProviderError> {
        self.take(data, batch)
    }

    fn document(&mut self, text: &str, batch: &mut PartBatch) -> Result<(), ProviderError> {
        let Ok(message) = serde_json::from_str::<Event<'_>>(text) else {
            return Err(self.site.no_answer());
        };
        if message.kind.text == "error" || there(message.error).is_some() {
            return Err(self.refused(text));
        }
        for (index, block) in (0..).zip(message.content.0) {
            self.begin(index, block.get(), batch)?;
            self.close(index, batch)?;
        }
        self.report(message.usage);
        self.stop(&message.stop_reason.text);
        if self.end == AnswerEnd::Open && self.said > 0 {
            // A truncated document would not have parsed.
            self.end = AnswerEnd::Bare;
        }
        Ok(())
    }

    fn reported(&self) -> Option<Reported> {
        let counts = self.counts;
        let cached = counts.read.saturating_add(counts.written);
        counts.there.then(|| Reported {
            prompt_tokens: counts.input.saturating_add(cached),
            cached_tokens: counts.read,
            cache_write_tokens: counts.written,
            output_tokens: counts.output,
            reasoning_tokens: counts.thinking,
        })
    }

    fn is_finished(&self) -> bool {
        self.end != AnswerEnd::Open
    }

    fn end(&mut self, batch: &mut PartBatch) -> Result<(), ProviderError> {
        let Some((finish, trust)) = self.end.judged(&self.calls) else {
            return Err(self.site.transient("ended its answer without any content"));
        };
        let is_cut = !matches!(finish, Finish::Stop | Finish::ToolCalls);
        let thoughts = self.thoughts(is_cut);
        let calls = self.calls.finish(trust);
        batch.finish(thoughts, calls, self.reported(), finish);
        Ok(())
    }
}

/// A thinking block as it is sent back.
fn thinking(text: &str, signature: &str) -> String {
    let mut block = String::from("{\"type\":\"thinking\",\"thinking\":");
    push_string(&mut block, text);
    if !signature.is_empty() {
        block.push_str(",\"signature\":");
        push_string(&mut block, signature);
    }
    block.push('}');
    block
}

/// Maps a stop reason.
fn finish(reason: &str) -> Finish {
    match reason {
        "tool_use" => Finish::ToolCalls,
        // A pause belongs to tools of the vendor, which we never request. All we can report is that
        // the answer is incomplete.
        "max_tokens" | "model_context_window_exceeded" | "pause_turn" => Finish::Length,
        "refusal" => Finish::ContentFilter,
        _ => Finish::Stop,
    }
}

fn is_empty_object(text: &str) -> bool {
    let inner = text
        .strip_prefix('{')
        .and_then(|text| text.strip_suffix('}'));
    inner.is_some_and(|inner| inner.trim().is_empty())
}

#[cfg(test)]
mod tests;
