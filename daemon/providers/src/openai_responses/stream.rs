//! Collects an answer from its events.
//!
//! The vendor sends everything twice: as deltas, and complete when a part, an item or the answer
//! ends. Deltas are passed on as they arrive. Of the complete text, only the rest is passed on, so
//! servers without deltas work too. The answer is complete when the vendor reports its status.
//! Called by `read`.

use contract::codec::COMPACTION;
use contract::provider::{ProviderError, Reported};
use proto::item::{Finish, Thought};

use serde_json::json;

use super::{KIND, OPEN_REASONING, PHASE, compaction};
use crate::calls::{AnswerEnd, CallFragment};
use crate::gathered::Gathered;
use crate::json::{on_one_line, text_of};
use crate::lenient::Object;
use crate::part_batch::PartBatch;
use crate::read::{Collect, Flow};

/// An answer in progress.
pub(crate) struct Collector {
    gathered: Gathered,
    /// Items, for servers that do not number them. The position is the number.
    items: Vec<UnnumberedItem>,
    /// The items whose start came with a number.
    begun: Vec<BegunItem>,
    /// Numbers of calls whose arguments are complete.
    ended_calls: Vec<u64>,
    /// How much of each part was passed on.
    parts: Vec<StreamedPart>,
}

/// An item that came without a number.
struct UnnumberedItem {
    /// Empty: it has none.
    id: String,
    /// Whether its end has come.
    done: bool,
}

/// An item whose start came with a number.
struct BegunItem {
    id: String,
    number: u64,
    /// Whether its end has come.
    done: bool,
}

/// A part of an item, as far as it was passed on.
struct StreamedPart {
    item: u64,
    part: u64,
    what: PartKind,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartKind {
    Text,
    /// The vendor's summary of its reasoning.
    Summary,
    /// The reasoning itself.
    Reasoning,
}

impl Collector {
    pub(crate) fn new(gathered: Gathered) -> Self {
        Self {
            gathered,
            items: Vec::new(),
            begun: Vec::new(),
            ended_calls: Vec::new(),
            parts: Vec::new(),
        }
    }

    fn take(&mut self, data: &str, batch: &mut PartBatch) -> Result<Flow, ProviderError> {
        let Some(event) = self.gathered.event(data)? else {
            return Ok(Flow::Nothing);
        };
        let kind = &*event.text("type");
        if kind == "error" || (kind.is_empty() && event.raw("error").is_some()) {
            return Err(self.gathered.refused(data));
        }
        let before = self.gathered.said;
        let item = self.number(kind, &event);
        let text = |key| event.text(key);
        if let Some((what, index, key)) = streamed(kind) {
            let part = event.count(index);
            match key {
                "delta" => self.more(item, part, what, &text(key), batch),
                _ => self.rest(item, part, what, &text(key), batch),
            }
            return self.gathered.flow(before);
        }
        match kind {
            "response.function_call_arguments.delta" => {
                let more = text("delta");
                let piece = CallFragment::indexed(item, &more);
                self.gathered.fragment(piece, batch)?;
            }
            "response.function_call_arguments.done" => {
                self.arguments(item, &text("arguments"), batch)?;
                self.ended_calls.push(item);
            }
            "response.output_item.added" | "response.output_item.done" => {
                if let Some(raw) = event.raw("item") {
                    self.item(item, raw.get(), kind.ends_with(".done"), batch)?;
                }
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled"
            | "response.done" => {
                let response = event.object("response").unwrap_or_default();
                self.over(kind, &response, data, batch)?;
                return Ok(Flow::Last);
            }
            // Progress events, and events that we did not request.
            _ => {}
        }
        self.gathered.flow(before)
    }

    /// The number of the item of an event.
    fn number(&mut self, kind: &str, event: &Object<'_>) -> u64 {
        let index = event.number("output_index");
        if let Some(index) = index.filter(|_| !kind.ends_with("ed") && !kind.ends_with(".done")) {
            return index;
        }
        let item = event.object("item").unwrap_or_default();
        let ids = [event.text("item_id"), item.text("id"), item.text("call_id")];
        let id = ids.iter().find(|id| !id.is_empty()).map_or("", |id| id);
        match index {
            Some(index) => self.begun_as(kind, index, id),
            None => self.unnumbered(kind, id, item.text("type") == "message"),
        }
    }

    /// The number of an item that came without one. One without an id goes on until its end, which may be the first to name it.
    fn unnumbered(&mut self, kind: &str, id: &str, is_message: bool) -> u64 {
        let ends = kind == "response.output_item.done";
        let is_known = |item: &UnnumberedItem| item.id == id && !(id.is_empty() && item.done);
        let is_unnamed = |item: &UnnumberedItem| item.id.is_empty() && !item.done;
        let known = self.items.iter().position(is_known);
        let at = known
            .or_else(|| {
                let unnamed = self.items.iter().position(is_unnamed);
                unnamed.filter(|_| ends && is_message)
            })
            .unwrap_or_else(|| {
                let id = id.to_owned();
                self.items.push(UnnumberedItem { id, done: false });
                self.items.len() - 1
            });
        self.items[at].done |= ends;
        at as u64
    }

    /// The number under which the item of a start or an end began.
    ///
    /// Some servers give an item another number at its end. That is believed only of an item that began with this id and has not
    /// ended yet: other servers give several items one id, or each event another one.
    fn begun_as(&mut self, kind: &str, index: u64, id: &str) -> u64 {
        if kind == "response.output_item.added" {
            self.begun.push(BegunItem {
                id: id.to_owned(),
                number: index,
                done: false,
            });
            return index;
        }
        let is_numbered = |item: &BegunItem| item.number == index;
        let is_own = |item: &BegunItem| is_numbered(item) && item.id == id;
        let has_content = self.parts.iter().any(|said| said.item == index)
            || self.gathered.calls.vendor_id(index).is_some();
        let is_unannounced = has_content && !self.begun.iter().any(is_numbered);
        let is_renumbered = |item: &BegunItem| !is_unannounced && item.id == id && !item.done;
        let own = self.begun.iter().rposition(is_own);
        let begun = own.or_else(|| self.begun.iter().position(is_renumbered));
        let Some(item) = begun.filter(|_| !id.is_empty()) else {
            return index;
        };
        self.begun[item].done |= kind == "response.output_item.done";
        self.begun[item].number
    }

    /// Adds a delta of a part.
    fn more(&mut self, item: u64, part: u64, what: PartKind, text: &str, batch: &mut PartBatch) {
        if text.is_empty() {
            return;
        }
        let is_same =
            |said: &StreamedPart| said.item == item && said.part == part && said.what == what;
        let at = self.parts.iter().position(is_same).unwrap_or_else(|| {
            let first = !self.parts.iter().any(|said| said.what != PartKind::Text);
            if what != PartKind::Text && !first {
                batch.reasoning("\n\n");
            }
            self.parts.push(StreamedPart {
                item,
                part,
                what,
                bytes: 0,
            });
            self.parts.len() - 1
        });
        self.parts[at].bytes += text.len();
        match what {
            PartKind::Text => self.gathered.text(text, batch),
            PartKind::Summary | PartKind::Reasoning => self.gathered.reasoning(text, batch),
        }
    }

    /// Handles a complete part: passes on the rest.
    fn rest(&mut self, item: u64, part: u64, what: PartKind, whole: &str, batch: &mut PartBatch) {
        let is_same =
            |said: &&StreamedPart| said.item == item && said.part == part && said.what == what;
        let said = self.parts.iter().find(is_same).map_or(0, |said| said.bytes);
        self.more(
            item,
            part,
            what,
            whole.get(said..).unwrap_or_default(),
            batch,
        );
    }

    /// Handles an item at its start, or at its end (`done`).
    fn item(
        &mut self,
        number: u64,
        raw: &str,
        done: bool,
        batch: &mut PartBatch,
    ) -> Result<(), ProviderError> {
        let output = Object::parse(raw).unwrap_or_default();
        let kind = &*output.text("type");
        // Perplexity begins what it does itself as a call, and ends it as something else.
        if done && kind != "function_call" && !self.ended_calls.contains(&number) {
            self.gathered.calls.forget(number);
        }
        match kind {
            "function_call" => {
                let ids = ["call_id", "id"].map(|key| output.text(key));
                let id = ids.iter().find(|id| !id.is_empty()).map_or("", |id| id);
                // Some servers give all items the same number.
                let is_other = |known: &str| !done && ![id, known].contains(&"") && known != id;
                if self.gathered.calls.vendor_id(number).is_none_or(is_other) {
                    let piece = CallFragment {
                        id,
                        name: &output.text("name"),
                        ..CallFragment::indexed(number, "")
                    };
                    self.gathered.fragment(piece, batch)?;
                }
                let arguments = output.raw("arguments").map(text_of).unwrap_or_default();
                self.arguments(number, &arguments, batch)?;
                if done {
                    self.ended_calls.push(number);
                }
            }
            "message" if done => {
                self.phase(number, &output.text("phase"));
                if self.is_streamed(number, &output) {
                    return Ok(());
                }
                for (at, part) in (0..).zip(output.objects("content")) {
                    for key in ["text", "refusal"] {
                        self.rest(number, at, PartKind::Text, &part.text(key), batch);
                    }
                }
            }
            "reasoning" if done => self.reasoned(number, &output, raw, batch),
            "compaction" if done && compaction::parse(raw).is_some() => {
                let calls = self.gathered.calls.before(number);
                self.gathered.thought(COMPACTION, raw, calls);
            }
            _ => {}
        }
        Ok(())
    }

    /// Bytes of a message that were passed on.
    fn streamed_text(&self, number: u64) -> usize {
        let is_own = |said: &&StreamedPart| said.item == number && said.what == PartKind::Text;
        let own = self.parts.iter().filter(is_own);
        own.map(|said| said.bytes).sum()
    }

    /// Whether all text of a complete message was passed on, whatever the numbers of its parts: vLLM has not begun them at 0.
    fn is_streamed(&self, number: u64, message: &Object<'_>) -> bool {
        let bytes = |part: Object<'_>| part.text("text").len() + part.text("refusal").len();
        let whole: usize = message.objects("content").map(bytes).sum();
        whole == self.streamed_text(number)
    }

    /// Keeps what a message of an answer is, in front of its text. The vendor wants it back.
    fn phase(&mut self, number: u64, phase: &str) {
        let streamed = self.streamed_text(number) as u64;
        let text_at = self.gathered.text.saturating_sub(streamed);
        let thoughts = &mut self.gathered.thoughts;
        let is_known = |thought: &Thought| thought.kind == PHASE && thought.text_at == text_at;
        if !phase.is_empty() && !thoughts.iter().any(is_known) {
            thoughts.push(Thought {
                kind: PHASE.to_owned(),
                data: json!({ "phase": phase }).to_string(),
                text_at,
                calls_at: self.gathered.calls.before(number) as u64,
            });
        }
    }

    fn reasoned(&mut self, number: u64, output: &Object<'_>, raw: &str, batch: &mut PartBatch) {
        let shown = |what| {
            let of = |said: &StreamedPart| said.item == number && said.what == what;
            self.parts.iter().any(of)
        };
        // Shows only one of both: the summary if there is one.
        let (what, key) = match output.list("summary").is_empty() || shown(PartKind::Reasoning) {
            true => (PartKind::Reasoning, "content"),
            false => (PartKind::Summary, "summary"),
        };
        for (at, part) in (0..).zip(output.objects(key)) {
            self.rest(number, at, what, &part.text("text"), batch);
        }
        // Without any content, the vendor would look it up in its store, which is empty.
        let data = on_one_line(raw);
        let mut thoughts = self.gathered.thoughts.iter();
        let known = thoughts.any(|thought| thought.data == data);
        let is_open = !output.list("content").is_empty();
        let kind = match &*output.text("encrypted_content") {
            "" if is_open => OPEN_REASONING,
            "" => return,
            _ => KIND,
        };
        if !known {
            let calls = self.gathered.calls.before(number);
            self.gathered.thought(kind, &data, calls);
        }
    }

    /// Handles the complete arguments of a call: passes on the rest.
    fn arguments(
        &mut self,
        number: u64,
        whole: &str,
        batch: &mut PartBatch,
    ) -> Result<(), ProviderError> {
        let said = self.gathered.calls.arguments(number).map_or(0, str::len);
        let rest = whole.get(said..).unwrap_or_default();
        let piece = CallFragment::indexed(number, rest);
        self.gathered.fragment(piece, batch)
    }

    /// Handles the complete answer and its status.
    fn over(
        &mut self,
        kind: &str,
        response: &Object<'_>,
        data: &str,
        batch: &mut PartBatch,
    ) -> Result<(), ProviderError> {
        self.report(response.object("usage"));
        // A server that sent deltas has sent all of them. Its item numbers need not match.
        if self.gathered.said == 0 {
            for (number, item) in (0..).zip(response.list("output")) {
                self.item(number, item.get(), true, batch)?;
            }
        }
        let status = response.text("status");
        let named = kind.strip_prefix("response.").unwrap_or(kind);
        let finish = match if status.is_empty() { named } else { &*status } {
            "completed" | "done" => Finish::Stop,
            "incomplete" => {
                let details = response.object("incomplete_details").unwrap_or_default();
                match &*details.text("reason") {
                    "content_filter" => Finish::ContentFilter,
                    _ => Finish::Length,
                }
            }
            "failed" => {
                let error = response.raw("error").map_or(data, |error| error.get());
                return Err(self.gathered.refused(error));
            }
            other => {
                let what = format!("stopped before the end of its answer: `{other}`");
                return Err(self.gathered.site.transient(&what));
            }
        };
        self.gathered.end = AnswerEnd::Reason(finish);
        Ok(())
    }

    fn report(&mut self, usage: Option<Object<'_>>) {
        let Some(usage) = usage else { return };
        let reported = Reported {
            prompt_tokens: usage.count("input_tokens"),
            cached_tokens: usage.count_in("input_tokens_details", "cached_tokens"),
            cache_write_tokens: usage.count_in("input_tokens_details", "cache_write_tokens"),
            output_tokens: usage.count("output_tokens"),
            reasoning_tokens: usage.count_in("output_tokens_details", "reasoning_tokens"),
        };
        self.gathered.usage = reported.plausible();
    }
}

impl Collect for Collector {
    fn event(&mut self, data: &str, batch: &mut PartBatch) -> Result<Flow, ProviderError> {
        if data.trim_ascii() == "[DONE]" {
            return Ok(Flow::Last);
        }
        self.take(data, batch)
    }

    fn document(&mut self, text: &str, batch: &mut PartBatch) -> Result<(), ProviderError> {
        let Some(response) = Object::parse(text) else {
            return Err(self.gathered.site.no_answer());
        };
        if response.text("status").is_empty() && response.raw("error").is_some() {
            return Err(self.gathered.refused(text));
        }
        self.over("response.completed", &response, text, batch)
    }

    fn gathered(&mut self) -> &mut Gathered {
        &mut self.gathered
    }
}

/// What an event streams of a part, if it does: the kind of part, and the members with its number and
/// its text. A text that is not a delta is complete.
fn streamed(kind: &str) -> Option<(PartKind, &'static str, &'static str)> {
    let (content, summary) = ("content_index", "summary_index");
    Some(match kind.strip_prefix("response.")? {
        "output_text.delta" | "refusal.delta" => (PartKind::Text, content, "delta"),
        "output_text.done" => (PartKind::Text, content, "text"),
        "refusal.done" => (PartKind::Text, content, "refusal"),
        "reasoning_summary_text.delta" => (PartKind::Summary, summary, "delta"),
        "reasoning_summary_text.done" => (PartKind::Summary, summary, "text"),
        "reasoning_text.delta" => (PartKind::Reasoning, content, "delta"),
        "reasoning_text.done" => (PartKind::Reasoning, content, "text"),
        _ => return None,
    })
}

#[cfg(test)]
mod tests;
