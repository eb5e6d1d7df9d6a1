//! Collects an answer from the lines of a program. The event `done` completes it. Called by `run`.

use std::time::Duration;

use contract::provider::{ErrorKind, ProviderError, Reported};
use proto::item::{Finish, Thought};
use serde_json::value::RawValue;

use super::KIND;
use crate::calls::{ArgumentTrust, CallFragment, Calls, TooManyCalls};
use crate::failure::ErrorContext;
use crate::json::{on_one_line, text_of};
use crate::lenient::{Number, Text, there};
use crate::read::{ANSWER_MAX, Flow, PartBatch};

/// Hint for a program that violates the protocol.
const PROTOCOL: &str =
    "the program must write one JSON event a line and nothing else: see docs/command-provider.md";

/// One event.
#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    text: Text<'a>,
    index: Number,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    finish: Text<'a>,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    hint: Text<'a>,
    #[serde(borrow, rename = "kind")]
    error: Text<'a>,
    retry_after_ms: Number,
    prompt_tokens: Number,
    cached_tokens: Number,
    cache_write_tokens: Number,
    output_tokens: Number,
    reasoning_tokens: Number,
}

/// An answer in progress.
pub(super) struct Collector {
    site: ErrorContext,
    calls: Calls,
    thoughts: Vec<Thought>,
    usage: Option<Reported>,
    end: Option<Finish>,
    said: usize,
    text: u64,
}

impl Collector {
    pub(super) fn new(site: ErrorContext, answered: u64) -> Self {
        Self {
            site,
            calls: Calls::new(answered),
            thoughts: Vec::new(),
            usage: None,
            end: None,
            said: 0,
            text: 0,
        }
    }

    /// Handles a line.
    pub(super) fn line(
        &mut self,
        line: &str,
        batch: &mut PartBatch,
    ) -> Result<Flow, ProviderError> {
        if line.trim().is_empty() {
            return Ok(Flow::Nothing);
        }
        let event: Event<'_> = match serde_json::from_str(line) {
            Ok(event) if line.trim_start().starts_with('{') => event,
            Ok(_) | Err(_) => {
                let shown: String = line.trim().chars().take(120).collect();
                let what = format!("wrote a line that is not an event: {shown}");
                return Err(self.site.permanent(&what, PROTOCOL));
            }
        };
        match &*event.kind.text {
            "text" => {
                self.said += event.text.text.len();
                self.text += event.text.text.len() as u64;
                batch.text(&event.text.text);
            }
            "reasoning" => {
                self.said += event.text.text.len();
                batch.reasoning(&event.text.text);
            }
            "tool_call" => self.call(&event, batch)?,
            "thought" => self.thought(&event),
            "usage" => self.report(&event),
            "done" => {
                self.end = Some(self.finish(&event.finish.text)?);
                return Ok(Flow::Last);
            }
            "error" => return Err(self.failed(&event)),
            // Events of later versions.
            _ => return Ok(Flow::Nothing),
        }
        if self.said > ANSWER_MAX {
            return Err(self.site.too_long());
        }
        Ok(Flow::More)
    }

    fn call(&mut self, event: &Event<'_>, batch: &mut PartBatch) -> Result<(), ProviderError> {
        let arguments = there(event.arguments).map(text_of).unwrap_or_default();
        let piece = CallFragment {
            index: event.index.0,
            id: &event.id.text,
            name: &event.name.text,
            arguments: &arguments,
            // An event without an index is a complete call.
            whole: event.index.0.is_none(),
        };
        self.said += 1 + arguments.len();
        let taken = self.calls.take(piece, batch);
        taken.map_err(|TooManyCalls| self.site.too_many_calls())
    }

    fn thought(&mut self, event: &Event<'_>) {
        if let Some(data) = there(event.data) {
            self.said += data.get().len();
            self.thoughts.push(Thought {
                kind: KIND.to_owned(),
                data: on_one_line(data.get()).into_owned(),
                text_at: self.text,
                calls_at: self.calls.len() as u64,
            });
        }
    }

    fn report(&mut self, event: &Event<'_>) {
        let count = |number: Number| number.0.unwrap_or(0);
        self.usage = Some(Reported {
            prompt_tokens: count(event.prompt_tokens),
            cached_tokens: count(event.cached_tokens),
            cache_write_tokens: count(event.cache_write_tokens),
            output_tokens: count(event.output_tokens),
            reasoning_tokens: count(event.reasoning_tokens),
        });
    }

    fn finish(&self, word: &str) -> Result<Finish, ProviderError> {
        Ok(match word {
            "" | "stop" | "tool_calls" if self.calls.is_empty() => Finish::Stop,
            "" | "stop" | "tool_calls" => Finish::ToolCalls,
            "length" => Finish::Length,
            "content_filter" => Finish::ContentFilter,
            other => {
                let what = format!("ended its answer in an unknown way: `{other}`");
                return Err(self.site.permanent(&what, PROTOCOL));
            }
        })
    }

    fn failed(&self, event: &Event<'_>) -> ProviderError {
        let (kind, hint) = match &*event.error.text {
            "transient" => (ErrorKind::Transient, "it may pass: try again later"),
            "credentials" => (
                ErrorKind::Credentials,
                "log the program in, or set the key that it wants",
            ),
            "context_length" => (
                ErrorKind::ContextLength,
                "the conversation is too long for the model: compact it, or take a model with a larger window",
            ),
            _ => (
                ErrorKind::Permanent,
                "look at what the program says; run it by hand if that does not help",
            ),
        };
        let hint = match &*event.hint.text {
            "" => hint.to_owned(),
            own => self.site.clean(own),
        };
        let words = match &*event.message.text {
            "" => "no reason given",
            words => words,
        };
        let wait = event.retry_after_ms.0.map(Duration::from_millis);
        self.site
            .error(&format!("failed: {words}"), hint, kind, wait)
    }

    /// The usage reported so far.
    pub(super) fn reported(&self) -> Option<Reported> {
        self.usage
    }

    /// Ends the answer if `done` was received.
    pub(super) fn end(&mut self, batch: &mut PartBatch) -> Option<()> {
        let finish = self.end?;
        let trust = match finish {
            Finish::Stop | Finish::ToolCalls => ArgumentTrust::Whole,
            Finish::Length | Finish::ContentFilter | Finish::Interrupted => {
                ArgumentTrust::AllButLast
            }
        };
        let thoughts = std::mem::take(&mut self.thoughts);
        let calls = self.calls.finish(trust);
        batch.finish(thoughts, calls, self.usage, finish);
        Some(())
    }
}
