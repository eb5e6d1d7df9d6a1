//! What a session did, one line a happening, as a fold over its durable events: the same live and from the log.
//!
//! Pure. Only durable events count, so that two readers of one log see the same lines. Times are those of the records,
//! and never go backwards, but for those of a request and its first token: the record that contains them comes with the
//! answer, and earlier lines report what happened meanwhile. The text is raw: whoever prints it strips control sequences.

mod calls;
mod history;
mod prompts;
mod session;
mod text;
mod what;

use std::collections::{HashMap, HashSet};

use proto::item::{AssistantMessage, UserMessage, Voice};
use proto::outcome::TurnEnded;
use proto::record::{SessionSet, SessionState, Usage};
use proto::state::{State, WaitingFor};
use proto::{Body, CallId, InteractionId, ItemId, PromptId, Seq, Stamp};
use schemars::JsonSchema;
use serde::Serialize;

pub use what::{Tokens, What};

use crate::event::DecodedEvent;
use crate::messages::Language;
use crate::transcript::words;
use crate::user_waits::UserWaits;

/// A line of the trace.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Line {
    /// The record that says it.
    pub seq: Seq,
    pub turn: Option<u64>,
    /// When it happened, by the system clock; before the line above only for `request` and `first_token`.
    pub at: Stamp,
    /// Milliseconds since its turn began; absent outside turns.
    pub t_ms: Option<u64>,
    #[serde(flatten)]
    pub what: What,
}

/// Characters of a prompt, a subject or an error that a line shows.
const SHOWN: usize = 100;

/// The part of a session's past that its next line needs. Begin with its first event.
#[derive(Debug, Default)]
pub struct Trace {
    /// Of entries that are worded when they are read.
    language: Language,
    last: Stamp,
    began: Option<(u64, Stamp)>,
    prompts: HashMap<PromptId, String>,
    /// Answers by their item, in the order in which they are first heard of.
    numbers: HashMap<ItemId, u64>,
    tools: HashMap<CallId, String>,
    /// When each open interaction was opened.
    asked: HashMap<InteractionId, Stamp>,
    /// Calls whose end was reported.
    ended: HashSet<CallId>,
    /// The waits of the newest turn for the user.
    waits: UserWaits,
}

impl Trace {
    /// A trace that is read in this language.
    #[must_use]
    pub fn in_language(language: Language) -> Self {
        Self {
            language,
            ..Self::default()
        }
    }

    /// The lines that an event adds. Events without a `seq` add none.
    pub fn fold(&mut self, event: &DecodedEvent) -> Vec<Line> {
        let (Some(seq), Some(body)) = (event.seq, event.body()) else {
            return Vec::new();
        };
        if matches!(body, Body::TurnStarted(_))
            && let Some(turn) = event.turn
        {
            self.began = Some((turn, event.at.max(self.last)));
        }
        self.waits.fold(body, event.at);
        self.body(body.clone(), event.at)
            .into_iter()
            .map(|(at, what)| {
                let at = match what {
                    What::Request { .. } | What::FirstToken { .. } => at,
                    _ => at.max(self.last),
                };
                self.last = self.last.max(at);
                Line {
                    seq,
                    turn: event.turn,
                    at,
                    t_ms: self.since(event.turn, at),
                    what,
                }
            })
            .collect()
    }

    /// Milliseconds from the beginning of a turn to a moment in it.
    fn since(&self, turn: Option<u64>, at: Stamp) -> Option<u64> {
        let (began, from) = self.began?;
        (turn == Some(began)).then(|| between(from, at))
    }

    /// What a record adds: one line, but for those that are several lines, or none.
    fn body(&mut self, body: Body, at: Stamp) -> Vec<(Stamp, What)> {
        match body {
            Body::SessionSet(set) => set_lines(set, at),
            Body::SessionState(state) => self.state_line(state, at),
            Body::User(message) => user(message, at),
            Body::Assistant(message) => {
                self.note_calls(message);
                Vec::new()
            }
            Body::Tool(message) => self.result(message, at),
            Body::Usage(usage) => self.usage(&usage, at),
            other => now(at, self.line(other, at)),
        }
    }

    fn line(&mut self, body: Body, at: Stamp) -> What {
        match body {
            Body::SessionCreated(created) => session::created(created),
            Body::SessionExited(exited) => session::exited(&exited),
            Body::SessionReopened(reopened) => What::Reopened { by: reopened.by },
            Body::SessionSuspended(_) => What::Suspended,
            Body::SessionRestarted(restarted) => session::restarted(self.language, &restarted),
            Body::SessionGaveUp(gave_up) => session::gave_up(self.language, &gave_up),
            Body::PromptQueued(queued) => self.queued(queued),
            Body::PromptUnqueued(unqueued) => self.unqueued(&unqueued),
            Body::PromptEdited(edited) => self.edited(&edited),
            Body::PromptMoved(moved) => self.moved(&moved),
            Body::TurnStarted(started) => What::TurnStart {
                prompt: self.prompt(started.prompt_id),
            },
            Body::TurnEnded(ended) => self.turn_end(ended),
            Body::PolicyDecided(decided) => self.call(decided),
            Body::CallReviewed(reviewed) => calls::reviewed(reviewed),
            Body::ToolStarted(started) => calls::started(started),
            Body::ToolBlocked(blocked) => calls::blocked(self.language, blocked),
            Body::ToolFinished(finished) => self.run(finished),
            Body::InteractionOpened(interaction) => self.opened(interaction, at),
            Body::InteractionResolved(resolved) => self.resolved(resolved, at),
            Body::ChildSpawned(child) => calls::child_spawned(&child),
            Body::ChildExited(child) => calls::child_exited(child),
            Body::Notice(notice) => session::notice(self.language, &notice),
            Body::TodoUpdated(updated) => history::todos(&updated.todos),
            Body::CheckpointCreated(checkpoint) => history::checkpoint(self.language, checkpoint),
            Body::SessionRewound(rewound) => history::rewound(rewound),
            Body::HookFinished(finished) => calls::hook(finished),
            Body::MessagePinned(pinned) => history::pinned(pinned),
            Body::CacheReset(reset) => What::CacheReset {
                reason: short(&words::reset(self.language, &reset)),
            },
            Body::CallsRepaired(repaired) => What::Repaired { calls: repaired },
            Body::ReasoningExtracted(found) => What::ReasoningExtracted {
                found: short(&words::extraction(self.language, &found)),
            },
            Body::GoalStarted(started) => session::goal_started(self.language, &started),
            Body::GoalChanged(changed) => session::goal_changed(self.language, &changed),
            Body::GoalContinued(continued) => session::goal_continued(self.language, &continued),
            Body::GoalEnded(ended) => session::goal_ended(self.language, &ended),
            other => What::Other {
                kind: other.kind().to_owned(),
                data: short(&other.to_json().unwrap_or_default()),
            },
        }
    }

    fn turn_end(&self, ended: TurnEnded) -> What {
        What::TurnEnd {
            outcome: ended.outcome,
            reason: ended.reason,
            duration_ms: ended.duration_ms,
            waited_ms: self.waits.total(),
            steps: ended.steps,
            tool_calls: ended.tool_calls,
            error: ended
                .error
                .map(|failure| short_translated(self.language, &failure.message)),
        }
    }

    /// Waits that have a separate reason. The others are reported by the lines of what is awaited.
    fn state_line(&self, state: SessionState, at: Stamp) -> Vec<(Stamp, What)> {
        let cause = || short_translated(self.language, &state.cause);
        match (state.state, state.waiting_for) {
            (State::Waiting, Some(WaitingFor::Retry)) => now(
                at,
                What::Retry {
                    in_ms: state.retry_in_ms,
                    cause: cause(),
                },
            ),
            (State::Waiting, Some(WaitingFor::Credentials)) => {
                now(at, What::WaitsForKey { cause: cause() })
            }
            (State::Waiting, Some(WaitingFor::Interaction(_) | WaitingFor::Restart) | None)
            | (State::Idle | State::Running | State::Paused | State::Exited, _) => Vec::new(),
        }
    }

    /// Notes the names of the tools that an answer calls.
    fn note_calls(&mut self, message: AssistantMessage) {
        self.number(&message.item);
        let calls = message.calls.into_iter();
        self.tools.extend(calls.map(|call| (call.id, call.name)));
    }

    /// The number of an answer in its session, from 1: as `session.steps` counts them.
    fn number(&mut self, item: &ItemId) -> u64 {
        let next = self.numbers.len() as u64 + 1;
        *self.numbers.entry(item.clone()).or_insert(next)
    }

    /// One record reports three events: when the request went out, when the first token came, when the answer was
    /// whole.
    fn usage(&mut self, usage: &Usage, at: Stamp) -> Vec<(Stamp, What)> {
        let n = self.number(&usage.item);
        let ms = |ms: u64| i64::try_from(ms).unwrap_or(i64::MAX);
        // Counted back from the answer, whose line is not before the one above, and not to before the turn.
        let at = at.max(self.last);
        let turn = self.began.map_or(Stamp(i64::MIN), |(_, began)| began);
        let out = Stamp(at.0.saturating_sub(ms(usage.duration_ms))).max(turn);
        let purpose = usage.purpose;
        let request = What::Request {
            n,
            purpose,
            attempt: usage.attempt,
            bytes: usage.request_bytes,
        };
        let first = What::FirstToken {
            n,
            purpose,
            after_ms: usage.first_token_ms,
        };
        let answer = What::Answer {
            n,
            purpose,
            duration_ms: usage.duration_ms,
            tokens: usage.reported.then_some(Tokens {
                prompt: usage.prompt_tokens,
                cached: usage.cached_tokens,
                output: usage.output_tokens,
                cost_micros: usage.cost_micros,
            }),
        };
        let heard = Stamp(out.0.saturating_add(ms(usage.first_token_ms)));
        vec![(out, request), (heard.min(at), first), (at, answer)]
    }
}

fn now(at: Stamp, what: What) -> Vec<(Stamp, What)> {
    vec![(at, what)]
}

fn between(from: Stamp, to: Stamp) -> u64 {
    u64::try_from(to.0.saturating_sub(from.0)).unwrap_or(0)
}

/// A pause or its end, and the other settings that changed, each as `name=value`.
fn set_lines(set: SessionSet, at: Stamp) -> Vec<(Stamp, What)> {
    let by = set.by.clone();
    let mut lines = match set.paused {
        Some(true) => now(at, What::Paused { by: by.clone() }),
        Some(false) => now(at, What::Resumed { by: by.clone() }),
        None => Vec::new(),
    };
    let changes = text::changes(&set);
    if !changes.is_empty() {
        lines.push((at, What::Set { changes, by }));
    }
    lines
}

/// A prompt that began a turn was reported with the turn; messages in mid-turn are reported here.
fn user(message: UserMessage, at: Stamp) -> Vec<(Stamp, What)> {
    if message.voice == Voice::Prompt {
        return Vec::new();
    }
    let text = short(&message.text);
    now(
        at,
        What::Told {
            voice: message.voice,
            text,
        },
    )
}

/// The first line of a text, cut, with an ellipsis where something is left out.
pub(crate) fn short(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(SHOWN) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None if line.len() < text.len() => format!("{line}…"),
        None => line.to_owned(),
    }
}

/// Words of the daemon in a language, as [`short`] has them.
fn short_translated(language: Language, text: &str) -> String {
    short(&language.translate(text))
}

#[cfg(test)]
mod tests;
