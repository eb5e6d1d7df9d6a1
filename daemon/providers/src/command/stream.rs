//! Collects an answer from the lines of a program. The answer is whole with the event `done`. Called by `run`.

use std::time::Duration;

use contract::provider::{ErrorKind, ProviderError, Reported};
use proto::item::{Finish, Thought};
use serde_json::value::RawValue;

use super::KIND;
use crate::calls::{Calls, Piece, TooMany, Trust};
use crate::failure::Site;
use crate::json::{on_one_line, text_of};
use crate::lenient::{Number, Text, there};
use crate::read::{ANSWER_MAX, Batch, Flow};

/// What the program has to be mended for.
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

/// One answer in the making.
pub(super) struct Collector {
    site: Site,
    calls: Calls,
    thoughts: Vec<Thought>,
    usage: Option<Reported>,
    end: Option<Finish>,
    said: usize,
    text: u64,
}

impl Collector {
    pub(super) fn new(site: Site, answered: u64) -> Self {
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

    /// Takes a line.
    pub(super) fn line(&mut self, line: &str, batch: &mut Batch) -> Result<Flow, ProviderError> {
        if line.trim().is_empty() {
            return Ok(Flow::Nothing);
        }
        let event: Event<'_> = match serde_json::from_str(line) {
            Ok(event) if line.trim_start().starts_with('{') => event,
            Ok(_) | Err(_) => {
                let shown: String = line.trim().chars().take(120).collect();
                let what = format!("wrote a line that is no event: {shown}");
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
            // News of later versions.
            _ => return Ok(Flow::Nothing),
        }
        if self.said > ANSWER_MAX {
            return Err(self.site.too_long());
        }
        Ok(Flow::More)
    }

    fn call(&mut self, event: &Event<'_>, batch: &mut Batch) -> Result<(), ProviderError> {
        let arguments = there(event.arguments).map(text_of).unwrap_or_default();
        let piece = Piece {
            index: event.index.0,
            id: &event.id.text,
            name: &event.name.text,
            arguments: &arguments,
            // Without a number, an event is a call.
            whole: event.index.0.is_none(),
        };
        self.said += 1 + arguments.len();
        let taken = self.calls.take(piece, batch);
        taken.map_err(|TooMany| self.site.too_many_calls())
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

    /// What was reported so far.
    pub(super) fn reported(&self) -> Option<Reported> {
        self.usage
    }

    /// The answer is over, where `done` has come.
    pub(super) fn end(&mut self, batch: &mut Batch) -> Option<()> {
        let finish = self.end?;
        let trust = match finish {
            Finish::Stop | Finish::ToolCalls => Trust::Whole,
            Finish::Length | Finish::ContentFilter | Finish::Interrupted => Trust::AllButLast,
        };
        let thoughts = std::mem::take(&mut self.thoughts);
        let calls = self.calls.finish(trust);
        batch.finish(thoughts, calls, self.usage, finish);
        Some(())
    }
}
