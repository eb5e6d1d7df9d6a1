//! Plays the answer at a conversation's position.
//!
//! Derives the position from the request alone and streams the answer in chunks. Keeps no state.
//! Called through `contract::Provider`. Waits only on tokio's timer.
//!
//! The position is the number of answers in the conversation (`Request::answered`). If a line has a
//! `when`, lines may have been skipped, so the conversation is replayed from its start: each of its
//! answers used the first line, from the current position, that matched the messages before it.
//! Each compacted answer used one line.

use std::time::Duration;

use contract::provider::{ErrorKind, Part, Provider, ProviderError, Reported, Request};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use proto::CallId;
use proto::item::{AssistantMessage, Finish, Item, ToolCall};

use crate::cassette::{AnswerContent, Cassette, ScriptedAnswer, ScriptedFault};
use crate::codec::RequestBody;

/// The answer after the last line.
pub(crate) const OVER: &str = "The script is over.";

/// Plays one cassette, for any number of sessions.
pub(crate) struct CassettePlayer {
    cassette: Cassette,
}

/// A part to send, and the pause before it.
struct TimedPart {
    after: Duration,
    part: Result<Part, ProviderError>,
}

impl CassettePlayer {
    pub(crate) fn new(cassette: Cassette) -> Self {
        Self { cassette }
    }

    /// All parts of one request, in order.
    fn cues(&self, request: &Request) -> Vec<TimedPart> {
        let answer = match self.place(request) {
            Ok(place) => place.and_then(|place| self.cassette.answers.get(place)),
            Err(error) => return vec![fails(Duration::ZERO, error)],
        };
        let over = ScriptedAnswer::default();
        let answer = answer.unwrap_or(&over);
        let tries = usize::try_from(request.attempt.saturating_sub(1)).unwrap_or(usize::MAX);
        let fault = answer.faults.get(tries).copied();
        let said = answer.said.clone().unwrap_or_else(|| AnswerContent {
            text: OVER.to_owned(),
            ..AnswerContent::default()
        });
        match fault {
            Some(ScriptedFault::Http {
                status,
                retry_after,
            }) => vec![fails(answer.delay, refusal(status, retry_after))],
            Some(fault) => self.broken(pieces(answer, &said, request.answered), fault),
            None => whole(answer, &said, request.answered),
        }
    }

    /// The first half of the parts, then the fault.
    fn broken(&self, mut cues: Vec<TimedPart>, fault: ScriptedFault) -> Vec<TimedPart> {
        cues.truncate(cues.len().div_ceil(2));
        let silence = self.cassette.stall;
        let (after, what) = match fault {
            ScriptedFault::Stall => (
                silence,
                format!("sent nothing for {silence:?} in the middle of its answer"),
            ),
            ScriptedFault::Garbage => (
                Duration::ZERO,
                "sent something that is not an event".to_owned(),
            ),
            ScriptedFault::Cut | ScriptedFault::Http { .. } => (
                Duration::ZERO,
                "ended the connection in the middle of its answer".to_owned(),
            ),
        };
        let error = failure(format!("`replay` {what}"), ErrorKind::Transient);
        cues.push(fails(after, error));
        cues
    }

    /// The index of the next answer. `None` after the last line.
    fn place(&self, request: &Request) -> Result<Option<usize>, ProviderError> {
        let answered = usize::try_from(request.answered).unwrap_or(usize::MAX);
        if !self.cassette.is_conditional() {
            return Ok((answered < self.cassette.answers.len()).then_some(answered));
        }
        let body: RequestBody = serde_json::from_slice(&request.body).map_err(|error| {
            failure(
                format!("`replay` cannot read the request: {error}"),
                ErrorKind::Permanent,
            )
        })?;
        let here = body
            .messages
            .iter()
            .filter(|item| matches!(item, Item::Assistant(said) if is_complete(said)))
            .count();
        let mut place = Some(answered.saturating_sub(here));
        let mut newest = String::new();
        for item in &body.messages {
            match item {
                Item::User(user) => {
                    newest.push_str(user.context.as_deref().unwrap_or_default());
                    newest.push('\n');
                    newest.push_str(&user.text);
                }
                Item::Tool(tool) => newest.push_str(&tool.text),
                // An interrupted answer is played again.
                Item::Assistant(said) if !is_complete(said) => continue,
                Item::Assistant(_) => {
                    place = place
                        .and_then(|from| self.cassette.next(from, &newest))
                        .map(|taken| taken + 1);
                    newest.clear();
                    continue;
                }
            }
            newest.push('\n');
        }
        Ok(place.and_then(|from| self.cassette.next(from, &newest)))
    }
}

/// Whether an answer was completed. Only those count.
fn is_complete(said: &AssistantMessage) -> bool {
    said.finish != Finish::Interrupted
}

impl Provider for CassettePlayer {
    fn stream(&self, request: Request) -> BoxStream<'static, Result<Part, ProviderError>> {
        stream::iter(self.cues(&request))
            .then(|cue| async move {
                if !cue.after.is_zero() {
                    tokio::time::sleep(cue.after).await;
                }
                cue.part
            })
            .boxed()
    }
}

fn fails(after: Duration, error: ProviderError) -> TimedPart {
    TimedPart {
        after,
        part: Err(error),
    }
}

/// The streamed parts of an answer: reasoning, text, call deltas.
fn pieces(answer: &ScriptedAnswer, said: &AnswerContent, answered: u64) -> Vec<TimedPart> {
    let mut cues = Vec::new();
    let mut push = |part| {
        cues.push(TimedPart {
            after: answer.delay,
            part: Ok(part),
        })
    };
    for piece in cut(&said.reasoning, answer.chunk_bytes) {
        push(Part::Reasoning(piece));
    }
    for piece in cut(&said.text, answer.chunk_bytes) {
        push(Part::Text(piece));
    }
    for (index, call) in (0_u32..).zip(calls(said, answered)) {
        let delta = |arguments| Part::CallDelta {
            index,
            id: call.id.0.clone(),
            name: call.name.clone(),
            arguments,
        };
        if call.arguments.is_empty() {
            push(delta(String::new()));
        }
        for piece in cut(&call.arguments, answer.chunk_bytes) {
            push(delta(piece));
        }
    }
    cues
}

/// A complete answer.
fn whole(answer: &ScriptedAnswer, said: &AnswerContent, answered: u64) -> Vec<TimedPart> {
    let mut cues = pieces(answer, said, answered);
    // If there is nothing to stream, the pause is before the end.
    let after = if cues.is_empty() {
        answer.delay
    } else {
        Duration::ZERO
    };
    let calls = calls(said, answered);
    let finish = if calls.is_empty() {
        Finish::Stop
    } else {
        Finish::ToolCalls
    };
    let usage = said.usage.map(|usage| {
        Part::Usage(Reported {
            prompt_tokens: usage.prompt,
            cached_tokens: usage.cached,
            cache_write_tokens: 0,
            output_tokens: usage.output,
            reasoning_tokens: 0,
        })
    });
    let end = calls
        .into_iter()
        .map(Part::Call)
        .chain(usage)
        .chain([Part::Done(finish)]);
    cues.extend(end.enumerate().map(|(index, part)| TimedPart {
        after: if index == 0 { after } else { Duration::ZERO },
        part: Ok(part),
    }));
    cues
}

/// The calls of an answer. Missing ids are derived from the position, so they are unique.
fn calls(said: &AnswerContent, answered: u64) -> Vec<ToolCall> {
    let call = |(index, call): (usize, &crate::cassette::ScriptedCall)| ToolCall {
        id: CallId(
            call.id
                .clone()
                .unwrap_or_else(|| format!("call_{}_{}", answered + 1, index + 1)),
        ),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
        cut: false,
        found: false,
    };
    said.calls.iter().enumerate().map(call).collect()
}

/// Splits a text into chunks of at most `bytes`, never inside a character. 0: one chunk.
fn cut(text: &str, bytes: usize) -> Vec<String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let mut end = if bytes == 0 {
            rest.len()
        } else {
            rest.floor_char_boundary(bytes)
        };
        if end == 0 {
            // A character longer than a chunk is a chunk.
            end = rest.chars().next().map_or(rest.len(), char::len_utf8);
        }
        let (piece, later) = rest.split_at(end);
        pieces.push(piece.to_owned());
        rest = later;
    }
    pieces
}

fn refusal(status: u16, retry_after: Option<u64>) -> ProviderError {
    let kind = match status {
        401 => ErrorKind::Credentials,
        402 => ErrorKind::OutOfCredit,
        413 => ErrorKind::ContextLength,
        408 | 409 | 429 | 500..=599 => ErrorKind::Transient,
        _ => ErrorKind::Permanent,
    };
    let mut error = failure(format!("`replay` answered {status}"), kind);
    error.status = Some(status);
    error.retry_after = retry_after.map(Duration::from_secs);
    error
}

fn failure(message: String, kind: ErrorKind) -> ProviderError {
    let hint = "the cassette says so".to_owned();
    ProviderError {
        message,
        hint,
        kind,
        status: None,
        retry_after: None,
        of_model: false,
        empty: false,
        window: None,
    }
}

#[cfg(test)]
mod tests;
