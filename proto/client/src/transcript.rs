//! From events to what a person reads: pieces of text in order, each with its tone.
//!
//! Streamed text comes out as it grows; the finished message adds only what was not shown yet. Everything here is
//! raw: it holds what models and tools wrote, and whoever prints it strips what a terminal would obey.

use std::collections::HashMap;

use proto::item::{AssistantMessage, CallStatus, Display, Finish, UserMessage, Voice};
use proto::live::{Delta, Live};
use proto::outcome::{OutcomeKind, Reason, TurnEnded};
use proto::params::approval::{Approval, Decision};
use proto::record::{ApprovalResolved, Level, SessionState, ToolFinished, ToolStarted};
use proto::state::{State, WaitingFor};
use proto::{Body, Event, ItemId};

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
            | Body::SessionSet(_)
            | Body::PolicyDecided(_)
            | Body::Usage(_)
            | Body::Tool(_)
            | Body::Unknown { .. } => Vec::new(),
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
            Live::Sync(sync) => sync
                .live
                .into_iter()
                .flat_map(|delta| self.grow(delta))
                .collect(),
            Live::ClientJoined(client) => block(Tone::State, format!("{} joined", client.name)),
            Live::ClientLeft(client) => block(Tone::State, format!("{} left", client.name)),
            Live::Reasoning(_)
            | Live::ToolArgs(_)
            | Live::ToolOutput(_)
            | Live::Status(_)
            | Live::Snapshot(_) => Vec::new(),
        }
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

fn state_words(state: &SessionState) -> Option<String> {
    match (state.state, state.waiting_for) {
        (State::Waiting, Some(WaitingFor::Retry)) => Some(match state.retry_in_ms {
            Some(ms) => format!("waits {:.1} s: {}", Seconds(ms).get(), state.cause),
            None => format!("waits: {}", state.cause),
        }),
        (State::Waiting, Some(WaitingFor::Credentials)) => {
            Some(format!("waits for a key: {}", state.cause))
        }
        // The question itself is shown.
        (State::Waiting, Some(WaitingFor::Approval) | None) => None,
        (State::Idle | State::Running | State::Exited, _) => None,
    }
}

/// Milliseconds, to be shown as seconds.
struct Seconds(u64);

impl Seconds {
    fn get(&self) -> f64 {
        std::time::Duration::from_millis(self.0).as_secs_f64()
    }
}

fn status_words(status: CallStatus) -> &'static str {
    match status {
        CallStatus::Ok => "done",
        CallStatus::Failed => "failed",
        CallStatus::Denied => "denied",
        CallStatus::Interrupted => "interrupted",
        CallStatus::Unknown => "the daemon stopped while it ran; what it did is not known",
        CallStatus::Refused => "not run",
    }
}

/// An outcome in words: `completed`, `interrupted (timeout)`, …
#[must_use]
pub fn outcome_words(outcome: OutcomeKind, reason: Option<Reason>) -> String {
    let outcome = match outcome {
        OutcomeKind::Completed => "completed",
        OutcomeKind::Failed => "failed",
        OutcomeKind::Interrupted => "interrupted",
        OutcomeKind::Killed => "killed",
        OutcomeKind::BudgetExceeded => "budget exceeded",
        OutcomeKind::MaxSteps => "step limit reached",
        OutcomeKind::ContextFull => "context full",
        OutcomeKind::Blocked => "blocked",
    };
    match reason {
        None => outcome.to_owned(),
        Some(Reason::User) => format!("{outcome} (by a person)"),
        Some(Reason::Timeout) => format!("{outcome} (time limit)"),
        Some(Reason::Shutdown) => format!("{outcome} (the daemon stopped)"),
        Some(Reason::Term) => format!("{outcome} (TERM)"),
        Some(Reason::Denied) => format!("{outcome} (nobody was there to allow it)"),
    }
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

/// Who answered what.
#[must_use]
pub fn resolved_words(resolved: &ApprovalResolved) -> String {
    let decision = match resolved.decision {
        Decision::AllowOnce => "allowed once",
        Decision::AllowSession => "allowed for the session",
        Decision::Deny => "denied",
    };
    let note = resolved
        .note
        .as_deref()
        .map_or_else(String::new, |note| format!(": {note}"));
    format!(
        "[{}] {decision} by {}{note}",
        resolved.approval_id, resolved.by
    )
}

#[cfg(test)]
mod tests;
