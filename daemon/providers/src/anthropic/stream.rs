//! Collects an answer from its events.
//!
//! An answer is complete when the vendor gives a stop reason. A connection that ends before that is
//! broken. Blocks are identified by their index, so they may interleave. Thinking is streamed, and
//! kept as a thought when its block ends: signed, and sent back unchanged. Called by `read`.

use contract::codec::COMPACTION;
use contract::provider::{ProviderError, Reported};
use proto::item::{Finish, Thought};
use serde_json::{Map, Value, json};

use super::{KIND, compaction};
use crate::calls::{AnswerEnd, CallFragment};
use crate::gathered::Gathered;
use crate::json::{on_one_line, text_of};
use crate::lenient::Object;
use crate::part_batch::PartBatch;
use crate::read::{Collect, Flow};

/// An answer in progress.
pub(crate) struct Collector {
    gathered: Gathered,
    /// The message's id.
    message: String,
    blocks: Vec<OpenBlock>,
    counts: Counts,
    /// Whether there is reasoning, so that the next block is separated from it.
    reasoned: bool,
    /// The answer is the vendor's own compaction and nothing else.
    compacted: bool,
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
    /// The vendor's compaction: its members.
    Compaction(Map<String, Value>),
    Call,
    /// A kind that we did not request.
    Other,
}

/// Reported usage, field by field: later events repeat some fields and omit others.
#[derive(Clone, Copy, Default)]
struct Counts {
    input: u64,
    read: u64,
    written: u64,
    output: u64,
    thinking: u64,
    /// Of the vendor's own compaction, which the other counts leave out.
    compaction: Reported,
}

impl Collector {
    pub(crate) fn new(gathered: Gathered) -> Self {
        Self {
            gathered,
            message: String::new(),
            blocks: Vec::new(),
            counts: Counts::default(),
            reasoned: false,
            compacted: false,
        }
    }

    fn take(&mut self, data: &str, batch: &mut PartBatch) -> Result<Flow, ProviderError> {
        let Some(event) = self.gathered.event(data)? else {
            return Ok(Flow::Nothing);
        };
        let kind = event.text("type");
        if kind == "error" || event.raw("error").is_some() {
            return Err(self.gathered.refused(data));
        }
        let before = self.gathered.said;
        let index = event.count("index");
        match &*kind {
            "message_start" => self.start(&event.object("message").unwrap_or_default(), batch)?,
            "content_block_start" => {
                if let Some(raw) = event.raw("content_block") {
                    self.begin(index, raw.get(), batch)?;
                }
            }
            "content_block_delta" => {
                if let Some(delta) = event.object("delta") {
                    self.delta(index, &delta, batch)?;
                }
            }
            "content_block_stop" => self.close(index, batch)?,
            "message_delta" => {
                self.stop(&event.object("delta").unwrap_or_default());
                self.report(&event);
            }
            "message_stop" => {
                self.gathered.end_here();
                return Ok(Flow::Last);
            }
            // `ping`, and unknown events.
            _ => {}
        }
        self.gathered.flow(before)
    }

    /// A message begins. Some gateways ask another server within an answer: two starts are two messages, and the later one
    /// is the answer. Other gateways send the start of one twice, with the same id.
    fn start(&mut self, message: &Object<'_>, batch: &mut PartBatch) -> Result<(), ProviderError> {
        let id = message.text("id");
        let is_same = !id.is_empty() && *id == self.message;
        if self.gathered.said > 0 && !is_same {
            self.gathered.restart(batch);
            self.blocks.clear();
            self.counts = Counts::default();
            self.reasoned = false;
            self.compacted = false;
        }
        self.message = id.into_owned();
        self.report(message);
        // An answer that only goes on with calls of the vendor's own programs comes whole with its start.
        match is_same || message.text("stop_reason").is_empty() {
            true => Ok(()),
            false => self.whole(message, batch),
        }
    }

    /// Handles a message with all its blocks.
    fn whole(&mut self, message: &Object<'_>, batch: &mut PartBatch) -> Result<(), ProviderError> {
        for (index, block) in (0..).zip(message.list("content")) {
            self.begin(index, block.get(), batch)?;
            self.close(index, batch)?;
        }
        self.stop(message);
        Ok(())
    }

    fn begin(&mut self, index: u64, raw: &str, batch: &mut PartBatch) -> Result<(), ProviderError> {
        let block = Object::parse(raw).unwrap_or_default();
        let what = match &*block.text("type") {
            "text" => BlockKind::Text,
            "thinking" => BlockKind::Thinking {
                text: String::new(),
                signature: String::new(),
            },
            "redacted_thinking" => BlockKind::Redacted(on_one_line(raw).into_owned()),
            "compaction" => {
                self.gathered.said += raw.len();
                BlockKind::Compaction(compaction::members(raw))
            }
            "tool_use" => BlockKind::Call,
            _ => BlockKind::Other,
        };
        let is_call = matches!(what, BlockKind::Call);
        self.blocks.push(OpenBlock {
            index,
            text_at: self.gathered.text,
            calls_at: self.gathered.calls.len() as u64,
            what,
            closed: false,
        });
        if is_call {
            // Complete if the answer is not streamed, otherwise an empty object that grows.
            let input = block.raw("input").map_or("", |input| input.get());
            let piece = CallFragment {
                id: &block.text("id"),
                name: &block.text("name"),
                ..CallFragment::indexed(index, if is_empty_object(input) { "" } else { input })
            };
            return self.gathered.fragment(piece, batch);
        }
        self.delta(index, &block, batch)
    }

    /// Handles an increment of a block, or its start, which has the same members.
    fn delta(
        &mut self,
        index: u64,
        delta: &Object<'_>,
        batch: &mut PartBatch,
    ) -> Result<(), ProviderError> {
        let (said, thinking) = (delta.text("text"), delta.text("thinking"));
        let mut blocks = self.blocks.iter_mut();
        let block = blocks.rfind(|block| block.index == index);
        let mut what = block.map(|block| &mut block.what);
        if !thinking.is_empty() {
            let is_first =
                matches!(&what, Some(BlockKind::Thinking { text, .. }) if text.is_empty());
            if is_first && self.reasoned {
                batch.reasoning("\n\n");
            }
            self.reasoned = true;
            self.gathered.reasoning(&thinking, batch);
        }
        self.gathered.text(&said, batch);
        match &mut what {
            Some(BlockKind::Thinking { text, signature }) => {
                let more = delta.text("signature");
                text.push_str(&thinking);
                signature.push_str(&more);
                self.gathered.said += more.len();
            }
            // On demand it comes whole; where an ordinary request led to it, in one delta.
            Some(BlockKind::Compaction(block)) => {
                for key in ["content", "encrypted_content"] {
                    if let Some(raw) = delta.raw(key) {
                        self.gathered.said += raw.get().len();
                        block.insert(key.to_owned(), text_of(raw).into_owned().into());
                    }
                }
            }
            Some(BlockKind::Call) => {
                let more = delta.text("partial_json");
                let piece = CallFragment::indexed(index, &more);
                self.gathered.fragment(piece, batch)?;
            }
            // Some gateways omit the start of a block. Its text still counts.
            Some(BlockKind::Text | BlockKind::Redacted(_) | BlockKind::Other) | None => {}
        }
        Ok(())
    }

    fn close(&mut self, index: u64, batch: &mut PartBatch) -> Result<(), ProviderError> {
        let Some(block) = self.blocks.iter_mut().rfind(|block| block.index == index) else {
            return Ok(());
        };
        block.closed = true;
        let is_bare = matches!(block.what, BlockKind::Call)
            && self
                .gathered
                .calls
                .arguments(index)
                .is_none_or(str::is_empty);
        // A call without parameters sends no input.
        if is_bare {
            let piece = CallFragment::indexed(index, "{}");
            self.gathered.fragment(piece, batch)?;
        }
        Ok(())
    }

    /// Takes the stop reason from a message or its delta.
    fn stop(&mut self, message: &Object<'_>) {
        let reason = message.text("stop_reason");
        if !reason.is_empty() {
            self.compacted = reason == "compaction";
            self.gathered.end = AnswerEnd::Reason(finish(&reason));
        }
    }

    /// Takes the usage from a message or an event.
    fn report(&mut self, message: &Object<'_>) {
        let Some(usage) = message.object("usage") else {
            return;
        };
        let counts = &mut self.counts;
        // Some gateways start with zeros, others end with them.
        for (count, now) in [
            (&mut counts.input, usage.count("input_tokens")),
            (&mut counts.read, usage.count("cache_read_input_tokens")),
            (
                &mut counts.written,
                usage.count("cache_creation_input_tokens"),
            ),
            (&mut counts.output, usage.count("output_tokens")),
            (
                &mut counts.thinking,
                usage.count_in("output_tokens_details", "thinking_tokens"),
            ),
        ] {
            if now > 0 {
                *count = now;
            }
        }
        if let Some(spent) = compaction_usage(&usage) {
            counts.compaction = spent;
        }
        let own = reported(counts.input, counts.read, counts.written, counts.output);
        let own = Reported {
            reasoning_tokens: counts.thinking,
            ..own
        };
        // In an ordinary answer the context is what the answer's own counts say.
        let alone = self.compacted || own == Reported::default();
        self.gathered.usage = Some(match alone {
            true => sum(own, counts.compaction),
            false => own,
        });
    }
}

impl Collect for Collector {
    fn event(&mut self, data: &str, batch: &mut PartBatch) -> Result<Flow, ProviderError> {
        self.take(data, batch)
    }

    fn document(&mut self, text: &str, batch: &mut PartBatch) -> Result<(), ProviderError> {
        let Some(message) = Object::parse(text) else {
            return Err(self.gathered.site.no_answer());
        };
        if message.text("type") == "error" || message.raw("error").is_some() {
            return Err(self.gathered.refused(text));
        }
        self.whole(&message, batch)?;
        self.report(&message);
        // A truncated document would not have parsed.
        self.gathered.end_here();
        Ok(())
    }

    fn gathered(&mut self) -> &mut Gathered {
        &mut self.gathered
    }

    /// Keeps the thoughts to send back, in order. Excludes a thought that was cut off before its
    /// signature.
    fn complete(&mut self, _: &mut PartBatch) {
        let is_cut = !matches!(
            self.gathered.end,
            AnswerEnd::Bare | AnswerEnd::Reason(Finish::Stop | Finish::ToolCalls | Finish::Paused)
        );
        for block in std::mem::take(&mut self.blocks) {
            let (kind, data) = match block.what {
                BlockKind::Thinking { text, signature }
                    if !signature.is_empty() || (block.closed && !is_cut) =>
                {
                    (KIND, thinking(&text, &signature))
                }
                BlockKind::Redacted(raw) => (KIND, raw),
                BlockKind::Compaction(block) if compaction::has_summary(&block) => {
                    (COMPACTION, Value::Object(block).to_string())
                }
                _ => continue,
            };
            self.gathered.thoughts.push(Thought {
                kind: kind.to_owned(),
                data,
                text_at: block.text_at,
                calls_at: block.calls_at,
            });
        }
    }
}

/// Counts as neutral ones. The input excludes tokens read from or written to the cache.
fn reported(input: u64, read: u64, written: u64, output: u64) -> Reported {
    Reported {
        prompt_tokens: input.saturating_add(read).saturating_add(written),
        cached_tokens: read,
        cache_write_tokens: written,
        output_tokens: output,
        reasoning_tokens: 0,
    }
}

/// What the vendor's own compaction took. It is billed, and the counts of the answer leave it out. `None`: there was none.
fn compaction_usage(usage: &Object<'_>) -> Option<Reported> {
    let steps = usage.objects("iterations");
    let steps = steps.filter(|step| step.text("type") == "compaction");
    let each = steps.map(|step| {
        reported(
            step.count("input_tokens"),
            step.count("cache_read_input_tokens"),
            step.count("cache_creation_input_tokens"),
            step.count("output_tokens"),
        )
    });
    each.reduce(sum)
}

fn sum(one: Reported, other: Reported) -> Reported {
    Reported {
        prompt_tokens: one.prompt_tokens.saturating_add(other.prompt_tokens),
        cached_tokens: one.cached_tokens.saturating_add(other.cached_tokens),
        cache_write_tokens: one
            .cache_write_tokens
            .saturating_add(other.cache_write_tokens),
        output_tokens: one.output_tokens.saturating_add(other.output_tokens),
        reasoning_tokens: one.reasoning_tokens.saturating_add(other.reasoning_tokens),
    }
}

/// A thinking block as it is sent back.
fn thinking(text: &str, signature: &str) -> String {
    let mut block = json!({"type": "thinking", "thinking": text});
    if !signature.is_empty() {
        block["signature"] = json!(signature);
    }
    block.to_string()
}

/// Maps a stop reason.
fn finish(reason: &str) -> Finish {
    match reason {
        "tool_use" => Finish::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "pause_turn" => Finish::Paused,
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
