//! Collects an answer from its events.
//!
//! Everything comes twice: in pieces, and whole when a part, an item or the answer is done. The pieces are shown as they
//! come; of what is said whole only what has not been said yet is taken, so that servers that leave the pieces out are
//! understood too. The answer is whole when the vendor says how it ended. Called by `read`.

use contract::provider::{ProviderError, Reported};
use proto::item::{Finish, Thought};

use super::KIND;
use super::wire::{self, Event, Output, Response, Usage};
use crate::calls::{Calls, Piece, TooMany, Trust};
use crate::failure::Site;
use crate::json::{on_one_line, text_of};
use crate::lenient::there;
use crate::read::{ANSWER_MAX, Batch, Collect, Flow};

/// One answer in the making.
pub(crate) struct Collector {
    site: Site,
    model: String,
    calls: Calls,
    /// Ids of items, for servers that do not number them: the place is the number.
    items: Vec<String>,
    /// How much of which part has been said.
    parts: Vec<Said>,
    thoughts: Vec<Thought>,
    end: Option<Finish>,
    usage: Option<Reported>,
    /// Bytes of content so far.
    said: usize,
    /// Bytes of text so far.
    text: u64,
}

/// A part of an item, as far as it has been said.
struct Said {
    item: u64,
    part: u64,
    what: What,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Text,
    /// The vendor's summary of its reasoning.
    Summary,
    /// The reasoning itself.
    Reasoning,
}

impl Collector {
    pub(crate) fn new(site: Site, model: String, answered: u64) -> Self {
        Self {
            site,
            model,
            calls: Calls::new(answered),
            items: Vec::new(),
            parts: Vec::new(),
            thoughts: Vec::new(),
            end: None,
            usage: None,
            said: 0,
            text: 0,
        }
    }

    fn take(&mut self, data: &str, batch: &mut Batch) -> Result<Flow, ProviderError> {
        let event: Event<'_> = match serde_json::from_str(data) {
            Ok(event) => event,
            Err(_) if self.end.is_some() => return Ok(Flow::Nothing),
            Err(_) => return Err(self.site.no_event()),
        };
        let kind = &*event.kind.text;
        if kind == "error" || (kind.is_empty() && there(event.error).is_some()) {
            return Err(self.refused(data));
        }
        let before = self.said;
        let item = self.number(&event);
        let part = event.content_index.0.unwrap_or(0);
        let summary = event.summary_index.0.unwrap_or(0);
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.more(item, part, What::Text, &event.delta.text, batch);
            }
            "response.output_text.done" => {
                self.rest(item, part, What::Text, &event.text.text, batch);
            }
            "response.refusal.done" => {
                self.rest(item, part, What::Text, &event.refusal.text, batch);
            }
            "response.reasoning_summary_text.delta" => {
                self.more(item, summary, What::Summary, &event.delta.text, batch);
            }
            "response.reasoning_summary_text.done" => {
                self.rest(item, summary, What::Summary, &event.text.text, batch);
            }
            "response.reasoning_text.delta" => {
                self.more(item, part, What::Reasoning, &event.delta.text, batch);
            }
            "response.reasoning_text.done" => {
                self.rest(item, part, What::Reasoning, &event.text.text, batch);
            }
            "response.function_call_arguments.delta" => {
                self.call(item, "", "", &event.delta.text, batch)?;
            }
            "response.function_call_arguments.done" => {
                self.arguments(item, &event.arguments.text, batch)?;
            }
            "response.output_item.added" | "response.output_item.done" => {
                if let Some(raw) = event.item {
                    self.item(item, raw.get(), kind.ends_with(".done"), batch)?;
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled"
            | "response.done" => {
                self.over(kind, event.response.unwrap_or_default(), data, batch)?;
                return Ok(Flow::Last);
            }
            // How it goes on, and what we did not ask for.
            _ => {}
        }
        if self.said > ANSWER_MAX {
            self.end = None;
            return Err(self.site.too_long());
        }
        Ok(if self.said == before {
            Flow::Nothing
        } else {
            Flow::More
        })
    }

    /// The number of the item that an event is about.
    fn number(&mut self, event: &Event<'_>) -> u64 {
        if let Some(index) = event.output_index.0 {
            return index;
        }
        let raw = event.item.map(|raw| serde_json::from_str(raw.get()));
        let output: Option<Output<'_>> = raw.and_then(Result::ok);
        let id = match &output {
            Some(output) if event.item_id.text.is_empty() => &*output.id.text,
            _ => &*event.item_id.text,
        };
        let known = self.items.iter().position(|known| known == id);
        let at = known.unwrap_or_else(|| {
            self.items.push(id.to_owned());
            self.items.len() - 1
        });
        at as u64
    }

    /// More of a part.
    fn more(&mut self, item: u64, part: u64, what: What, text: &str, batch: &mut Batch) {
        if text.is_empty() {
            return;
        }
        let is_same = |said: &Said| said.item == item && said.part == part && said.what == what;
        let at = self.parts.iter().position(is_same).unwrap_or_else(|| {
            let first = !self.parts.iter().any(|said| said.what != What::Text);
            if what != What::Text && !first {
                batch.reasoning("\n\n");
            }
            self.parts.push(Said {
                item,
                part,
                what,
                bytes: 0,
            });
            self.parts.len() - 1
        });
        self.parts[at].bytes += text.len();
        self.said += text.len();
        if what == What::Text {
            self.text += text.len() as u64;
            batch.text(text);
        } else {
            batch.reasoning(text);
        }
    }

    /// A part as a whole: what has not been said of it is said.
    fn rest(&mut self, item: u64, part: u64, what: What, whole: &str, batch: &mut Batch) {
        let is_same = |said: &&Said| said.item == item && said.part == part && said.what == what;
        let said = self.parts.iter().find(is_same).map_or(0, |said| said.bytes);
        self.more(
            item,
            part,
            what,
            whole.get(said..).unwrap_or_default(),
            batch,
        );
    }

    /// An item as it begins, or `done`.
    fn item(
        &mut self,
        number: u64,
        raw: &str,
        done: bool,
        batch: &mut Batch,
    ) -> Result<(), ProviderError> {
        let output: Output<'_> = serde_json::from_str(raw).unwrap_or_default();
        match &*output.kind.text {
            "function_call" => {
                let begun = self.calls.arguments(number).is_some();
                if !begun {
                    let id = match &*output.call_id.text {
                        "" => &output.id.text,
                        id => id,
                    };
                    self.call(number, id, &output.name.text, "", batch)?;
                }
                let arguments = there(output.arguments).map(text_of).unwrap_or_default();
                self.arguments(number, &arguments, batch)?;
            }
            "message" if done => {
                for (at, part) in (0..).zip(&output.content.0) {
                    let part: wire::Part<'_> = serde_json::from_str(part.get()).unwrap_or_default();
                    for text in [&part.text.text, &part.refusal.text] {
                        self.rest(number, at, What::Text, text, batch);
                    }
                }
            }
            "reasoning" if done => self.reasoned(number, &output, raw, batch),
            _ => {}
        }
        Ok(())
    }

    fn reasoned(&mut self, number: u64, output: &Output<'_>, raw: &str, batch: &mut Batch) {
        let shown = |what| {
            let of = |said: &Said| said.item == number && said.what == what;
            self.parts.iter().any(of)
        };
        // One of both is shown: the summary where there is one.
        let (what, parts) = match output.summary.0.is_empty() || shown(What::Reasoning) {
            true => (What::Reasoning, &output.content.0),
            false => (What::Summary, &output.summary.0),
        };
        for (at, part) in (0..).zip(parts) {
            let part: wire::Part<'_> = serde_json::from_str(part.get()).unwrap_or_default();
            self.rest(number, at, what, &part.text.text, batch);
        }
        // Without its encrypted content the vendor would look for it in its store, and there is nothing.
        let known = self
            .thoughts
            .iter()
            .any(|thought| thought.data == *on_one_line(raw));
        if !output.encrypted_content.text.is_empty() && !known {
            self.said += output.encrypted_content.text.len();
            self.thoughts.push(Thought {
                kind: KIND.to_owned(),
                data: on_one_line(raw).into_owned(),
                text_at: self.text,
                calls_at: self.calls.before(number) as u64,
            });
        }
    }

    /// A call's arguments as a whole: what has not been said of them is said.
    fn arguments(
        &mut self,
        number: u64,
        whole: &str,
        batch: &mut Batch,
    ) -> Result<(), ProviderError> {
        let said = self.calls.arguments(number).map_or(0, str::len);
        let rest = whole.get(said..).unwrap_or_default();
        self.call(number, "", "", rest, batch)
    }

    fn call(
        &mut self,
        number: u64,
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
            index: Some(number),
            id,
            name,
            arguments,
            whole: false,
        };
        self.calls.take(piece, batch).map_err(|TooMany| {
            self.end = None;
            self.site.too_many_calls()
        })
    }

    /// The answer as a whole, and how it ended.
    fn over(
        &mut self,
        kind: &str,
        response: Response<'_>,
        data: &str,
        batch: &mut Batch,
    ) -> Result<(), ProviderError> {
        self.report(response.usage);
        // Whoever sent pieces has sent all of them; numbers need not agree then.
        if self.said == 0 {
            for (number, item) in (0..).zip(&response.output.0) {
                self.item(number, item.get(), true, batch)?;
            }
        }
        let status = match &*response.status.text {
            "" => kind.strip_prefix("response.").unwrap_or(kind),
            status => status,
        };
        match status {
            "completed" | "done" => self.end = Some(Finish::Stop),
            "incomplete" => {
                let reason = response.incomplete_details.unwrap_or_default().reason;
                self.end = Some(match &*reason.text {
                    "content_filter" => Finish::ContentFilter,
                    _ => Finish::Length,
                });
            }
            "failed" => {
                let error = there(response.error).map_or(data, |error| error.get());
                return Err(self.refused(error));
            }
            other => {
                let what = format!("broke its answer off: `{other}`");
                return Err(self.site.transient(&what));
            }
        }
        Ok(())
    }

    /// The vendor takes back what it said.
    fn refused(&mut self, data: &str) -> ProviderError {
        self.end = None;
        self.site.refused_in(&self.model, data)
    }

    fn report(&mut self, usage: Option<Usage>) {
        let Some(usage) = usage else { return };
        let input = usage.input_tokens_details.unwrap_or_default();
        let output = usage.output_tokens_details.unwrap_or_default();
        self.usage = Some(Reported {
            prompt_tokens: usage.input_tokens.0.unwrap_or(0),
            cached_tokens: input.cached_tokens.0.unwrap_or(0),
            cache_write_tokens: input.cache_write_tokens.0.unwrap_or(0),
            output_tokens: usage.output_tokens.0.unwrap_or(0),
            reasoning_tokens: output.reasoning_tokens.0.unwrap_or(0),
        });
    }
}

impl Collect for Collector {
    fn event(&mut self, data: &str, batch: &mut Batch) -> Result<Flow, ProviderError> {
        if data.trim_ascii() == "[DONE]" {
            return Ok(Flow::Last);
        }
        self.take(data, batch)
    }

    fn document(&mut self, text: &str, batch: &mut Batch) -> Result<(), ProviderError> {
        let Ok(response) = serde_json::from_str::<Response<'_>>(text) else {
            return Err(self.site.no_answer());
        };
        let is_error = response.status.text.is_empty() && there(response.error).is_some();
        if is_error {
            return Err(self.refused(text));
        }
        self.over("response.completed", response, text, batch)
    }

    fn reported(&self) -> Option<Reported> {
        self.usage
    }

    fn is_finished(&self) -> bool {
        self.end.is_some()
    }

    fn end(&mut self, batch: &mut Batch) -> Result<(), ProviderError> {
        let Some(finish) = self.end else {
            return Err(self.site.transient("ended its answer before it was over"));
        };
        let (finish, trust) = match finish {
            Finish::Stop if self.calls.is_empty() => (Finish::Stop, Trust::Whole),
            Finish::Stop | Finish::ToolCalls => (Finish::ToolCalls, Trust::Whole),
            cut => (cut, Trust::AllButLast),
        };
        let thoughts = std::mem::take(&mut self.thoughts);
        let calls = self.calls.finish(trust);
        batch.finish(thoughts, calls, self.reported(), finish);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
