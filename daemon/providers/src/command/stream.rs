//! Collects an answer from the lines of a program. The event `done` completes it. Called by `run`.

use std::time::Duration;

use contract::provider::{ErrorKind, ProviderError, Reported};
use proto::item::Finish;

use super::KIND;
use crate::calls::{AnswerEnd, CallFragment};
use crate::failure::ErrorContext;
use crate::gathered::Gathered;
use crate::json::text_of;
use crate::lenient::Object;
use crate::part_batch::PartBatch;
use crate::read::Flow;

/// Hint for a program that violates the protocol.
const PROTOCOL: &str =
    "the program must write one JSON event per line and nothing else: see docs/command-provider.md";

/// An answer in progress.
pub(super) struct Collector(pub(super) Gathered);

impl Collector {
    pub(super) fn new(site: ErrorContext, answered: u64) -> Self {
        Self(Gathered::new(site, String::new(), answered))
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
        let Some(event) = Object::parse(line) else {
            let shown: String = line.trim().chars().take(120).collect();
            let what = format!("wrote a line that is not an event: {shown}");
            return Err(self.0.site.permanent(&what, PROTOCOL));
        };
        let before = self.0.said;
        match &*event.text("type") {
            "text" => self.0.text(&event.text("text"), batch),
            "reasoning" => self.0.reasoning(&event.text("text"), batch),
            "tool_call" => {
                let arguments = event.raw("arguments").map(text_of).unwrap_or_default();
                let index = event.number("index");
                let piece = CallFragment {
                    index,
                    id: &event.text("id"),
                    name: &event.text("name"),
                    arguments: &arguments,
                    // An event without an index is a complete call.
                    whole: index.is_none(),
                };
                self.0.call(piece, batch)?;
            }
            "thought" => {
                if let Some(data) = event.raw("data") {
                    self.0.thought(KIND, data.get(), self.0.calls.len());
                }
            }
            "usage" => {
                self.0.usage = Some(Reported {
                    prompt_tokens: event.count("prompt_tokens"),
                    cached_tokens: event.count("cached_tokens"),
                    cache_write_tokens: event.count("cache_write_tokens"),
                    output_tokens: event.count("output_tokens"),
                    reasoning_tokens: event.count("reasoning_tokens"),
                });
            }
            "done" => {
                self.0.end = AnswerEnd::Reason(self.finish(&event.text("finish"))?);
                return Ok(Flow::Last);
            }
            "error" => return Err(self.failed(&event)),
            // Events of later versions.
            _ => {}
        }
        self.0.flow(before)
    }

    fn finish(&self, word: &str) -> Result<Finish, ProviderError> {
        Ok(match word {
            "" | "stop" | "tool_calls" => Finish::Stop,
            "length" => Finish::Length,
            "content_filter" => Finish::ContentFilter,
            other => {
                let what = format!("ended its answer in an unknown way: `{other}`");
                return Err(self.0.site.permanent(&what, PROTOCOL));
            }
        })
    }

    fn failed(&self, event: &Object<'_>) -> ProviderError {
        let (kind, hint) = match &*event.text("kind") {
            "transient" => (
                ErrorKind::Transient,
                "this may be temporary: try again later",
            ),
            "credentials" => (
                ErrorKind::Credentials,
                "log in with the program, or set the key that it needs",
            ),
            "context_length" => (
                ErrorKind::ContextLength,
                "the conversation is too long for the model: compact it, or use a model with a larger context window",
            ),
            _ => (
                ErrorKind::Permanent,
                "check the program's output, or run it by hand",
            ),
        };
        let hint = match &*event.text("hint") {
            "" => hint.to_owned(),
            own => self.0.site.clean(own),
        };
        let words = event.text("message");
        let words = if words.is_empty() {
            "no reason given"
        } else {
            &*words
        };
        let wait = event.number("retry_after_ms").map(Duration::from_millis);
        self.0
            .site
            .error(&format!("failed: {words}"), hint, kind, wait)
    }
}
