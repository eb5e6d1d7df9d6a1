//! Plays the answer that a conversation has come to.
//!
//! Finds the place from the request alone and says the answer piece by piece; never remembers what it said. Called
//! through `contract::Provider`. The only waiting is tokio's timer.
//!
//! The place is the number of answers that the conversation holds (`Request::answered`). Where a line has a `when`,
//! lines may have been passed over, so the conversation is walked from its start: each of its answers took the first
//! line, from the place reached, that fits what stood before it. Answers that were folded away took one line each.

use std::time::Duration;

use contract::provider::{ErrorKind, Part, Provider, ProviderError, Reported, Request};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use proto::CallId;
use proto::item::{AssistantMessage, Finish, Item, ToolCall};

use crate::cassette::{Answer, Cassette, Fault, Said};
use crate::codec::Body;

/// What is said after the last line.
pub(crate) const OVER: &str = "The script is over.";

/// Plays one cassette, to any number of sessions.
pub(crate) struct Player {
    cassette: Cassette,
}

/// What is sent, and how long after the one before.
struct Cue {
    after: Duration,
    part: Result<Part, ProviderError>,
}

impl Player {
    pub(crate) fn new(cassette: Cassette) -> Self {
        Self { cassette }
    }

    /// Everything that one request gets, in order.
    fn cues(&self, request: &Request) -> Vec<Cue> {
        let answer = match self.place(request) {
            Ok(place) => place.and_then(|place| self.cassette.answers.get(place)),
            Err(error) => {
                return vec![Cue {
                    after: Duration::ZERO,
                    part: Err(error),
                }];
            }
        };
        let over = Answer::default();
        let answer = answer.unwrap_or(&over);
        let tries = usize::try_from(request.attempt.saturating_sub(1)).unwrap_or(usize::MAX);
        let fault = answer.faults.get(tries).copied();
        let said = match &answer.said {
            Some(said) => said.clone(),
            None => Said {
                text: OVER.to_owned(),
                ..Said::default()
            },
        };
        match fault {
            Some(Fault::Http {
                status,
                retry_after,
            }) => {
                vec![Cue {
                    after: answer.delay,
                    part: Err(refusal(status, retry_after)),
                }]
            }
            Some(fault) => self.broken(pieces(answer, &said, request.answered), fault),
            None => whole(answer, &said, request.answered),
        }
    }

    /// The first half of the pieces, then the fault.
    fn broken(&self, mut cues: Vec<Cue>, fault: Fault) -> Vec<Cue> {
        cues.truncate(cues.len().div_ceil(2));
        let (after, message) = match fault {
            Fault::Stall => {
                let silence = self.cassette.stall;
                (
                    silence,
                    format!("`replay` went silent in the middle of its answer for {silence:?}"),
                )
            }
            Fault::Garbage => (
                Duration::ZERO,
                "`replay` sent something that is not an event".to_owned(),
            ),
            Fault::Cut | Fault::Http { .. } => (
                Duration::ZERO,
                "`replay` ended the connection in the middle of its answer".to_owned(),
            ),
        };
        cues.push(Cue {
            after,
            part: Err(failure(message, ErrorKind::Transient)),
        });
        cues
    }

    /// The answer that comes next; `None` behind the last line.
    fn place(&self, request: &Request) -> Result<Option<usize>, ProviderError> {
        let answered = usize::try_from(request.answered).unwrap_or(usize::MAX);
        if !self.cassette.is_conditional() {
            return Ok((answered < self.cassette.answers.len()).then_some(answered));
        }
        let body: Body = serde_json::from_slice(&request.body).map_err(|error| {
            failure(
                format!("`replay` cannot read the request: {error}"),
                ErrorKind::Permanent,
            )
        })?;
        let here = body
            .messages
            .iter()
            .filter(|item| matches!(item, Item::Assistant(said) if heard_out(said)))
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
                // What was cut off did not use an answer up: it comes again.
                Item::Assistant(said) if !heard_out(said) => continue,
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

/// Whether an answer was heard to its end; only those are counted.
fn heard_out(said: &AssistantMessage) -> bool {
    said.finish != Finish::Interrupted
}

impl Provider for Player {
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

/// What is streamed of an answer: reasoning, text, growing calls.
fn pieces(answer: &Answer, said: &Said, answered: u64) -> Vec<Cue> {
    let mut cues = Vec::new();
    let mut push = |part| {
        cues.push(Cue {
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

/// An answer that reaches its end.
fn whole(answer: &Answer, said: &Said, answered: u64) -> Vec<Cue> {
    let mut cues = pieces(answer, said, answered);
    // Where there is nothing to stream, the pause still stands before the end.
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
    cues.extend(end.enumerate().map(|(index, part)| Cue {
        after: if index == 0 { after } else { Duration::ZERO },
        part: Ok(part),
    }));
    cues
}

/// The calls of an answer. Ids that the script leaves out are made from the place, so that none comes twice.
fn calls(said: &Said, answered: u64) -> Vec<ToolCall> {
    let call = |(index, call): (usize, &crate::cassette::Call)| ToolCall {
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

/// Cuts a text into pieces of at most `bytes`, never inside a character; 0: one piece.
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
            // A character longer than a piece is a piece.
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
    }
}

#[cfg(test)]
mod tests;
