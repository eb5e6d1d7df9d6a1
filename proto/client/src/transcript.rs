//! From events to what a person reads: pieces of text in order, each with its tone.
//!
//! Streamed text comes out as it grows; the finished message adds only what was not shown yet. Everything here is
//! raw: it holds what models and tools wrote, and whoever prints it strips what a terminal would obey.

mod words;

use std::collections::HashMap;

use proto::item::{AssistantMessage, CallStatus, Display, Finish, UserMessage, Voice};
use proto::live::{Delta, Live};
use proto::outcome::{OutcomeKind, TurnEnded};
use proto::params::approval::Approval;
use proto::record::{Level, ToolFinished, ToolStarted};
use proto::{Body, Event, ItemId};

pub use words::{exit_words, outcome_words, resolved_words};
use words::{set_words, state_words, status_words};

/// Who or what speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tone {
    User,
    Answer,
    Tool,
    Diff,
    Output,
    Notice,
    Warning,
    Error,
    Approval,
    State,
}

/// Something to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// More of an answer that is being streamed: no line ends here.
    Grow { text: String },
    /// The streamed answer is whole: end its line.
    Whole,
    /// One line or several, by themselves.
    Block { tone: Tone, text: String },
}

/// What of a session has been shown so far.
#[derive(Debug, Default)]
pub struct Transcript {
    /// Streamed text of messages that are not finished.
    growing: HashMap<ItemId, String>,
    /// What the running calls work on.
    subjects: HashMap<proto::CallId, String>,
    /// Why calls of this turn were denied, as far as it was shown.
    denied: HashMap<proto::CallId, String>,
}

impl Transcript {
    /// What an event adds to the screen. An event that this build cannot read adds nothing.
    pub fn fold(&mut self, event: &Event) -> Vec<Piece> {
        if event.seq.is_none() {
            return match Live::decode(&event.kind, event.data.get()) {
                Some(Ok(live)) => self.live(live),
                Some(Err(_)) | None => Vec::new(),
            };
        }
        match event.body() {
            Ok(body) => self.record(body),
            Err(_) => Vec::new(),
        }
    }

    fn record(&mut self, body: Body) -> Vec<Piece> {
        match body {
            Body::SessionCreated(created) => block(
                Tone::State,
                format!(
                    "session {} · {}/{} · {}",
                    created.pid, created.provider, created.model, created.cwd
                ),
            ),
            Body::SessionState(state) => {
                state_words(&state).map_or_else(Vec::new, |text| block(Tone::State, text))
            }
            Body::SessionExited(exited) => block(
                Tone::State,
                format!(
                    "session ended: {}",
                    outcome_words(exited.outcome, exited.reason)
                ),
            ),
            Body::SessionReopened(reopened) => {
                block(Tone::State, format!("session reopened by {}", reopened.by))
            }
            Body::PromptQueued(_)
            | Body::TurnStarted(_)
            | Body::PolicyDecided(_)
            | Body::Usage(_)
            | Body::Tool(_)
            | Body::Unknown { .. } => Vec::new(),
            Body::SessionSet(set) => {
                set_words(&set).map_or_else(Vec::new, |text| block(Tone::State, text))
            }
            Body::SessionSuspended(_) => block(
                Tone::State,
                "the daemon hands over to the next one, which goes on here".to_owned(),
            ),
            Body::PromptEdited(edited) => block(
                Tone::State,
                format!("{} changed a queued prompt: {}", edited.by, edited.text),
            ),
            Body::PromptMoved(moved) => block(
                Tone::State,
                format!(
                    "{} moved a queued prompt to place {}",
                    moved.by,
                    moved.position.saturating_add(1)
                ),
            ),
            Body::ChildSpawned(child) => block(
                Tone::Tool,
                format!("{} runs in the background: {}", child.pid, child.command),
            ),
            Body::ChildExited(child) => block(
                Tone::Tool,
                format!(
                    "{} in the background ended: {}",
                    child.pid,
                    exit_words(&child)
                ),
            ),
            Body::PromptUnqueued(_) => {
                block(Tone::State, "a queued prompt was taken back".to_owned())
            }
            Body::User(message) => user(&message),
            Body::Assistant(message) => self.assistant(&message),
            Body::ToolStarted(started) => self.tool_started(started),
            Body::ToolFinished(finished) => self.tool_finished(&finished),
            Body::ApprovalRequested(approval) => approval_pieces(&approval),
            Body::ApprovalResolved(resolved) => block(Tone::Approval, resolved_words(&resolved)),
            Body::TurnEnded(ended) => self.turn_ended(&ended),
            Body::Notice(notice) => {
                let tone = match notice.level {
                    Level::Info => Tone::Notice,
                    Level::Warning => Tone::Warning,
                    Level::Error => Tone::Error,
                };
                block(tone, notice.text)
            }
        }
    }

    fn live(&mut self, live: Live) -> Vec<Piece> {
        match live {
            Live::Text(delta) => self.grow(delta),
            Live::Partial(partial) => match self.growing.remove(&partial.item) {
                Some(_) => {
                    let mut pieces = vec![Piece::Whole];
                    let why = if partial.superseded {
                        "the answer starts again"
                    } else {
                        "the answer broke off"
                    };
                    pieces.extend(block(Tone::Notice, why.to_owned()));
                    pieces
                }
                None => Vec::new(),
            },
            Live::Sync(sync) => self.synced(sync.live),
            Live::ClientJoined(client) => block(Tone::State, format!("{} joined", client.name)),
            Live::ClientLeft(client) => block(Tone::State, format!("{} left", client.name)),
            Live::Status(status) => {
                words::status(&status).map_or_else(Vec::new, |text| block(Tone::Notice, text))
            }
            Live::Reasoning(_) | Live::ToolArgs(_) | Live::ToolOutput(_) | Live::Snapshot(_) => {
                Vec::new()
            }
        }
    }

    /// Takes messages in progress as a `sync` has them: what was shown of others came to nothing while we were away.
    fn synced(&mut self, live: Vec<Delta>) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let known = self.growing.len();
        self.growing
            .retain(|item, _| live.iter().any(|delta| delta.item == *item));
        if self.growing.len() < known {
            pieces.push(Piece::Whole);
        }
        for delta in live {
            let shown = self.growing.get(&delta.item);
            let other = shown.is_some_and(|shown| {
                delta.offset == 0
                    && !delta.text.starts_with(shown.as_str())
                    && !shown.starts_with(&delta.text)
            });
            if other {
                // A new attempt under the same name: what stands there is not how it begins.
                self.growing.remove(&delta.item);
                pieces.push(Piece::Whole);
            }
            pieces.extend(self.grow(delta));
        }
        pieces
    }

    /// Shows what of a delta is new. After a jump it shows nothing: the finished message tells the rest.
    fn grow(&mut self, delta: Delta) -> Vec<Piece> {
        let shown = self.growing.entry(delta.item).or_default();
        let Some(known) = usize::try_from(delta.offset)
            .ok()
            .and_then(|offset| shown.len().checked_sub(offset))
        else {
            return Vec::new();
        };
        match delta.text.get(known..) {
            Some(new) if !new.is_empty() => {
                shown.push_str(new);
                vec![Piece::Grow {
                    text: new.to_owned(),
                }]
            }
            _ => Vec::new(),
        }
    }

    fn assistant(&mut self, message: &AssistantMessage) -> Vec<Piece> {
        let shown = self.growing.remove(&message.item).unwrap_or_default();
        let mut pieces = Vec::new();
        if let Some(rest) = message.text.strip_prefix(shown.as_str()) {
            if !rest.is_empty() {
                pieces.push(Piece::Grow {
                    text: rest.to_owned(),
                });
            }
        } else {
            pieces.push(Piece::Whole);
            pieces.push(Piece::Grow {
                text: message.text.clone(),
            });
        }
        if !message.text.is_empty() {
            pieces.push(Piece::Whole);
        }
        match message.finish {
            Finish::Length => pieces.extend(block(
                Tone::Warning,
                "the answer was cut by the output limit".to_owned(),
            )),
            Finish::ContentFilter => {
                pieces.extend(block(
                    Tone::Warning,
                    "the provider's filter cut the answer".to_owned(),
                ));
            }
            Finish::Interrupted => {
                pieces.extend(block(Tone::Notice, "the answer was interrupted".to_owned()))
            }
            Finish::Stop | Finish::ToolCalls => {}
        }
        pieces
    }

    fn tool_started(&mut self, started: ToolStarted) -> Vec<Piece> {
        let text = format!("{} {}", started.tool, started.subject);
        self.subjects.insert(started.call, started.subject);
        block(Tone::Tool, text)
    }

    fn tool_finished(&mut self, finished: &ToolFinished) -> Vec<Piece> {
        let subject = self.subjects.remove(&finished.call);
        let mut pieces = match (subject, finished.status) {
            // It never started: nothing has named it yet.
            (None, status) => block(
                Tone::Tool,
                format!("{}: {}", finished.tool, status_words(status)),
            ),
            (Some(_), CallStatus::Ok | CallStatus::Failed) => Vec::new(),
            (Some(_), status) => block(
                Tone::Tool,
                format!("{}: {}", finished.tool, status_words(status)),
            ),
        };
        if let (CallStatus::Denied, Display::Line { text }) = (finished.status, &finished.display) {
            self.denied.insert(finished.call.clone(), text.clone());
        }
        pieces.extend(display_pieces(&finished.display));
        pieces
    }

    fn turn_ended(&mut self, ended: &TurnEnded) -> Vec<Piece> {
        let shown = std::mem::take(&mut self.denied);
        turn_ended(ended, &shown)
    }
}

fn block(tone: Tone, text: String) -> Vec<Piece> {
    vec![Piece::Block { tone, text }]
}

fn user(message: &UserMessage) -> Vec<Piece> {
    match message.voice {
        Voice::Prompt | Voice::Steer => block(Tone::User, message.text.clone()),
        Voice::Daemon => block(Tone::Notice, message.text.clone()),
    }
}

/// How a turn ended. `shown`: reasons that stand on the screen already; they are not told again.
fn turn_ended(ended: &TurnEnded, shown: &HashMap<proto::CallId, String>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for denied in &ended.denied {
        let known = shown
            .get(&denied.call)
            // A call shows the first line of what it was told.
            .is_some_and(|shown| denied.why.lines().next() == Some(shown.as_str()));
        let mut text = format!("denied: {} {}", denied.tool, denied.subject);
        if !known {
            text.push_str(&format!(" ({})", denied.why));
        }
        pieces.push(Piece::Block {
            tone: Tone::Warning,
            text,
        });
    }
    if let Some(error) = &ended.error {
        pieces.push(Piece::Block {
            tone: Tone::Error,
            text: error.message.clone(),
        });
        if !error.hint.is_empty() {
            pieces.push(Piece::Block {
                tone: Tone::Error,
                text: error.hint.clone(),
            });
        }
    }
    if ended.outcome != OutcomeKind::Completed {
        let text = format!("turn ended: {}", outcome_words(ended.outcome, ended.reason));
        pieces.push(Piece::Block {
            tone: Tone::State,
            text,
        });
    }
    pieces
}

/// What a call shows for itself.
#[must_use]
pub fn display_pieces(display: &Display) -> Vec<Piece> {
    match display {
        Display::Line { text } if text.is_empty() => Vec::new(),
        Display::Line { text } => block(Tone::Output, text.clone()),
        Display::Diff {
            path,
            diff,
            added,
            removed,
        } => {
            let mut pieces = block(Tone::Tool, format!("{path}  +{added} −{removed}"));
            pieces.extend(block(Tone::Diff, diff.trim_end_matches('\n').to_owned()));
            pieces
        }
        Display::Command {
            exit_code,
            signal,
            tail,
            sandbox_stopped,
            ..
        } => {
            let mut pieces = Vec::new();
            if !tail.is_empty() {
                pieces.extend(block(Tone::Output, tail.trim_end_matches('\n').to_owned()));
            }
            match (exit_code, signal) {
                (Some(0), _) => {}
                (Some(code), _) => pieces.extend(block(Tone::Tool, format!("exit code {code}"))),
                (None, Some(signal)) => {
                    pieces.extend(block(Tone::Tool, format!("ended by signal {signal}")))
                }
                (None, None) => {}
            }
            if *sandbox_stopped {
                pieces.extend(block(
                    Tone::Warning,
                    "the sandbox stopped something".to_owned(),
                ));
            }
            pieces
        }
    }
}

/// A question with all that a person must see to answer it.
#[must_use]
pub fn approval_pieces(approval: &Approval) -> Vec<Piece> {
    let mut pieces = block(
        Tone::Approval,
        format!("may `{}` run? [{}]", approval.tool, approval.approval_id),
    );
    pieces.extend(block(Tone::Approval, approval.subject.clone()));
    match &approval.preview {
        Display::Line { text } if *text == approval.subject || text.is_empty() => {}
        Display::Line { text } => pieces.extend(block(Tone::Approval, text.clone())),
        Display::Diff {
            path,
            diff,
            added,
            removed,
        } => {
            pieces.extend(block(
                Tone::Approval,
                format!("{path}  +{added} −{removed}\n{}", diff.trim_end()),
            ));
        }
        Display::Command { tail, .. } if *tail == approval.subject || tail.is_empty() => {}
        Display::Command { tail, .. } => pieces.extend(block(Tone::Approval, tail.clone())),
    }
    pieces.extend(block(
        Tone::Approval,
        format!("asked because: {}", approval.rule),
    ));
    if let Some(scope) = approval.scopes.first() {
        pieces.extend(block(
            Tone::Approval,
            format!("for the session: {} ({})", scope.words, scope.rule),
        ));
    }
    pieces
}

#[cfg(test)]
mod tests;
