//! What the collectors of all kinds gather of an answer, and how it ends.

use contract::provider::{ProviderError, Reported};
use proto::item::{Finish, Thought};

use crate::calls::{AnswerEnd, CallFragment, Calls, TooManyCalls};
use crate::failure::ErrorContext;
use crate::json::on_one_line;
use crate::lenient::Object;
use crate::part_batch::PartBatch;
use crate::read::Flow;

/// Bytes of a long token: an answer with more has more than one.
const TOKEN_BYTES: usize = 64;

/// An answer in progress.
pub(crate) struct Gathered {
    pub site: ErrorContext,
    pub model: String,
    pub calls: Calls,
    pub thoughts: Vec<Thought>,
    /// The usage reported so far. A broken answer is billed too.
    pub usage: Option<Reported>,
    pub end: AnswerEnd,
    /// Bytes of content so far, as the log holds them.
    pub said: usize,
    /// Bytes of text so far.
    pub text: u64,
    /// Bytes of content of the messages that this one replaces: the limit of an answer holds for all together.
    replaced: usize,
    answered: u64,
}

/// Bytes of a text in a record: JSON writes some characters as several.
fn logged_bytes(text: &str) -> usize {
    let more = text.bytes().map(|byte| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' => 1,
        0..=0x1f => 5,
        _ => 0,
    });
    text.len() + more.sum::<usize>()
}

impl Gathered {
    pub(crate) fn new(site: ErrorContext, model: String, answered: u64) -> Self {
        Self {
            site,
            model,
            calls: Calls::new(answered),
            thoughts: Vec::new(),
            usage: None,
            end: AnswerEnd::Open,
            said: 0,
            text: 0,
            replaced: 0,
            answered,
        }
    }

    /// Drops the message so far: another one begins in its place. Its usage goes first, since it is billed all the same.
    pub(crate) fn restart(&mut self, batch: &mut PartBatch) {
        batch.usage(self.usage.take());
        batch.restart();
        self.calls = Calls::new(self.answered);
        self.thoughts.clear();
        self.end = AnswerEnd::Open;
        self.replaced += std::mem::take(&mut self.said);
        self.text = 0;
    }

    /// Whether the answer is complete, so that a closed connection is not a failure.
    pub(crate) fn is_finished(&self) -> bool {
        self.end != AnswerEnd::Open
    }

    /// Parses an event. `None` if it is invalid but the answer has ended: nothing after its end can
    /// invalidate it.
    pub(crate) fn event<'a>(&self, data: &'a str) -> Result<Option<Object<'a>>, ProviderError> {
        match Object::parse(data) {
            None if !self.is_finished() => Err(self.site.no_event(data)),
            event => Ok(event),
        }
    }

    pub(crate) fn text(&mut self, text: &str, batch: &mut PartBatch) {
        self.said += logged_bytes(text);
        self.text += text.len() as u64;
        batch.text(text);
    }

    pub(crate) fn reasoning(&mut self, text: &str, batch: &mut PartBatch) {
        self.said += logged_bytes(text);
        batch.reasoning(text);
    }

    /// Adds a fragment of a call. An empty one must not start a call.
    pub(crate) fn fragment(
        &mut self,
        piece: CallFragment<'_>,
        batch: &mut PartBatch,
    ) -> Result<(), ProviderError> {
        match (piece.id, piece.name, piece.arguments) {
            ("", "", "") => Ok(()),
            _ => self.call(piece, batch),
        }
    }

    pub(crate) fn call(
        &mut self,
        piece: CallFragment<'_>,
        batch: &mut PartBatch,
    ) -> Result<(), ProviderError> {
        self.said += 1 + logged_bytes(piece.arguments);
        let taken = self.calls.take(piece, batch);
        taken.map_err(|TooManyCalls| self.fail(self.site.too_many_calls()))
    }

    /// Adds a thought after the text so far and this many calls.
    pub(crate) fn thought(&mut self, kind: &str, raw: &str, calls: usize) {
        self.said += logged_bytes(raw);
        self.thoughts.push(Thought {
            kind: kind.to_owned(),
            data: on_one_line(raw).into_owned(),
            text_at: self.text,
            calls_at: calls as u64,
        });
    }

    /// Whether there is more content than before.
    pub(crate) fn flow(&mut self, before: usize) -> Result<Flow, ProviderError> {
        let is_too_long = self.replaced.saturating_add(self.said) > self.site.entry.answer_max;
        match self.said {
            _ if is_too_long => Err(self.fail(self.site.too_long())),
            said if said == before => Ok(Flow::Nothing),
            _ => Ok(Flow::More),
        }
    }

    /// Discards the answer so far.
    pub(crate) fn fail(&mut self, error: ProviderError) -> ProviderError {
        self.end = AnswerEnd::Open;
        error
    }

    /// The vendor sent an error in place of the answer, or of the rest of it.
    pub(crate) fn refused(&mut self, data: &str) -> ProviderError {
        self.fail(self.site.refused_in(&self.model, data))
    }

    /// The answer ends here, with or without a reason.
    pub(crate) fn end_here(&mut self) {
        if self.end == AnswerEnd::Open && self.said > 0 {
            self.end = AnswerEnd::Bare;
        }
    }

    /// Whether the limit of output was reached before anything was said, or behind the first token: there is no room behind
    /// the prompt.
    fn is_cut_at_once(&self) -> bool {
        let wrote_nothing = self.usage.is_none_or(|usage| usage.output_tokens == 0);
        // Some report 1 before they count.
        let wrote_one =
            self.said <= TOKEN_BYTES && self.usage.is_some_and(|usage| usage.output_tokens == 1);
        let at_once = wrote_one || (self.said == 0 && wrote_nothing);
        at_once && self.end == AnswerEnd::Reason(Finish::Length)
    }

    /// Adds the remaining parts, with `Done` last, or returns why the answer is broken.
    pub(crate) fn finish(&mut self, batch: &mut PartBatch) -> Result<(), ProviderError> {
        if self.is_cut_at_once() {
            return Err(self.site.context_full());
        }
        let Some((finish, trust)) = self.end.judged(&self.calls) else {
            let empty = self.said == 0;
            let error = self.site.transient(match empty {
                true => "ended its answer without any content",
                false => "ended its answer before it was complete",
            });
            return Err(ProviderError { empty, ..error });
        };
        let thoughts = std::mem::take(&mut self.thoughts);
        batch.finish(thoughts, self.calls.finish(trust), self.usage, finish);
        Ok(())
    }
}
