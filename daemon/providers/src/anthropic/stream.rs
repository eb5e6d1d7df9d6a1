//! Collects an answer from its events.
//!
//! An answer is whole when the vendor gave a stop reason; a connection that ends before that has broken. Blocks are
//! known by their index, so that they may come interleaved. Thinking is shown as it comes, and kept as a thought when
//! its block ends: signed, and to go back unchanged. Called by `read`.

use contract::provider::{ProviderError, Reported};
use proto::item::{Finish, Thought};

use super::KIND;
use super::wire::{Block, Delta, Event, Usage};
use crate::calls::{Calls, End, Piece, TooMany};
use crate::failure::Site;
use crate::json::{on_one_line, push_string};
use crate::lenient::{Number, there};
use crate::read::{ANSWER_MAX, Batch, Collect, Flow};

/// One answer in the making.
pub(crate) struct Collector {
    site: Site,
    model: String,
    calls: Calls,
    blocks: Vec<Growing>,
    end: End,
    counts: Counts,
    /// Bytes of content so far.
    said: usize,
    /// Bytes of text so far.
    text: u64,
    /// Whether there is reasoning, so that the next block's stands apart.
    reasoned: bool,
}

/// A block in the making, kept to the end of the answer.
struct Growing {
    index: u64,
    /// Bytes of text, and calls, that stand before it.
    text_at: u64,
    calls_at: u64,
    what: What,
    /// Its end has come.
    closed: bool,
}

enum What {
    Text,
    Thinking {
        text: String,
        signature: String,
    },
    /// As it stands.
    Redacted(String),
    Call,
    /// Of a kind that we did not ask for.
    Other,
}

/// What was reported, member by member: later events repeat some and leave others out.
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
    pub(crate) fn new(site: Site, model: String, answered: u64) -> Self {
        Self {
            site,
            model,
            calls: Calls::new(answered),
            blocks: Vec::new(),
            end: End::Open,
            counts: Counts::default(),
            said: 0,
            text: 0,
            reasoned: false,
        }
    }

    fn take(&mut self, data: &str, batch: &mut Batch) -> Result<Flow, ProviderError> {
        let event: Event<'_> = match serde_json::from_str(data) {
            Ok(event) => event,
            // Nothing behind the stop reason can make the answer less whole.
            Err(_) if self.end != End::Open => return Ok(Flow::Nothing),
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
                if self.end == End::Open && self.said > 0 {
                    self.end = End::Bare;
                }
                return Ok(Flow::Last);
            }
            // `ping`, and news of some kind.
            _ => {}
        }
        if self.said > ANSWER_MAX {
            self.end = End::Open;
            return Err(self.site.too_long());
        }
        Ok(if self.said == before {
            Flow::Nothing
        } else {
            Flow::More
        })
    }

    /// The vendor takes back what it said.
    fn refused(&mut self, data: &str) -> ProviderError {
        self.end = End::Open;
        self.site.refused_in(&self.model, data)
    }

    fn begin(&mut self, index: u64, raw: &str, batch: &mut Batch) -> Result<(), ProviderError> {
        let block: Block<'_> = serde_json::from_str(raw).unwrap_or_default();
        let what = match &*block.kind.text {
            "text" => What::Text,
            "thinking" => What::Thinking {
                text: String::new(),
                signature: block.signature.text.to_string(),
            },
            "redacted_thinking" => What::Redacted(on_one_line(raw).into_owned()),
            "tool_use" => What::Call,
            _ => What::Other,
        };
        let is_call = matches!(what, What::Call);
        self.blocks.push(Growing {
            index,
            text_at: self.text,
            calls_at: self.calls.len() as u64,
            what,
            closed: false,
        });
        if is_call {
            // Whole where the answer is not streamed; else an empty object that grows.
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
        batch: &mut Batch,
    ) -> Result<(), ProviderError> {
        let at = self.blocks.iter().rposition(|block| block.index == index);
        let is_first = at.is_some_and(
            |at| matches!(&self.blocks[at].what, What::Thinking { text, .. } if text.is_empty()),
        );
        self.reason(&delta.thinking.text, is_first, batch);
        self.said += delta.text.text.len();
        self.text += delta.text.text.len() as u64;
        batch.text(&delta.text.text);
        match at
            .and_then(|at| self.blocks.get_mut(at))
            .map(|block| &mut block.what)
        {
            Some(What::Thinking { text, signature }) => {
                text.push_str(&delta.thinking.text);
                signature.push_str(&delta.signature.text);
                self.said += delta.signature.text.len();
            }
            Some(What::Call) => {
                self.call(index, "", "", &delta.partial_json.text, batch)?;
            }
            // Some gateways leave the beginning of a block out: words are words.
            Some(What::Text | What::Redacted(_) | What::Other) | None => {}
        }
        Ok(())
    }

    fn reason(&mut self, text: &str, is_first: bool, batch: &mut Batch) {
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
        batch: &mut Batch,
    ) -> Result<(), ProviderError> {
        if id.is_empty() && name.is_empty() && arguments.is_empty() {
            return Ok(());
        }
        self.said += 1 + arguments.len();
        let piece = Piece {
            index: Some(index),
            id,
            name,
            arguments,
            whole: false,
        };
        self.calls.take(piece, batch).map_err(|TooMany| {
            self.end = End::Open;
            self.site.too_many_calls()
        })
    }

    fn close(&mut self, index: u64, batch: &mut Batch) -> Result<(), ProviderError> {
        let Some(block) = self.blocks.iter_mut().rfind(|block| block.index == index) else {
            return Ok(());
        };
        block.closed = true;
        let is_bare = matches!(block.what, What::Call)
            && self.calls.arguments(index).is_none_or(str::is_empty);
        // A call without parameters sends none.
        if is_bare {
            self.call(index, "", "", "{}", batch)?;
        }
        Ok(())
    }

    fn stop(&mut self, reason: &str) {
        if !reason.is_empty() {
            self.end = End::Reason(finish(reason));
        }
    }

    fn report(&mut self, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        let counts = &mut self.counts;
        counts.there = true;
        let thinking = usage.output_tokens_details.unwrap_or_default();
        // Some gateways begin with zeros, others end with them.
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

    /// What goes back, in order. What was cut off before it was signed does not.
    fn thoughts(&mut self, is_cut: bool) -> Vec<Thought> {
        let blocks = std::mem::take(&mut self.blocks).into_iter();
        let thoughts = blocks.filter_map(|block| {
            let data = match block.what {
                What::Thinking { text, signature } => {
                    let whole = !signature.is_empty() || (block.closed && !is_cut);
                    whole.then(|| thinking(&text, &signature))?
                }
                What::Redacted(raw) => raw,
                What::Text | What::Call | What::Other => return None,
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
    fn event(&mut self, data: &str, batch: &mut Batch) -> Result<Flow, ProviderError> {
        self.take(data, batch)
    }

    fn document(&mut self, text: &str, batch: &mut Batch) -> Result<(), ProviderError> {
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
        if self.end == End::Open && self.said > 0 {
            // The document is whole, or it would not have parsed.
            self.end = End::Bare;
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
        self.end != End::Open
    }

    fn end(&mut self, batch: &mut Batch) -> Result<(), ProviderError> {
        let Some((finish, trust)) = self.end.judged(&self.calls) else {
            return Err(self
                .site
                .transient("ended its answer before it had said anything"));
        };
        let is_cut = !matches!(finish, Finish::Stop | Finish::ToolCalls);
        let thoughts = self.thoughts(is_cut);
        let calls = self.calls.finish(trust);
        batch.finish(thoughts, calls, self.reported(), finish);
        Ok(())
    }
}

/// A block of thinking as it goes back.
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

/// The meaning of a stop reason.
fn finish(reason: &str) -> Finish {
    match reason {
        "tool_use" => Finish::ToolCalls,
        // A pause is the end of one answer and not of what was to be said. It comes with tools of the vendor's own,
        // which nobody asks for: that something is missing is all there is to say.
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
