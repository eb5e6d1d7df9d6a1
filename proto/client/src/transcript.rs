//! From events to what a person reads: pieces of text in order, each with its tone.
//!
//! Streamed text comes out as it grows; the finished message adds only what was not shown yet. Everything here is
//! raw: it holds what models and tools wrote, and whoever prints it strips what a terminal would obey.

mod history;
mod plan;
mod question;
mod words;

use std::collections::{HashMap, HashSet};

use proto::item::{AssistantMessage, CallStatus, Display, Finish, UserMessage, Voice};
use proto::live::{Delta, Live};
use proto::outcome::{OutcomeKind, TurnEnded};
use proto::params::approval::Approval;
use proto::record::{CheckpointCreated, Level, Todo, ToolBlocked, ToolFinished, ToolStarted};
use proto::{Body, Event, PromptId, Seq};

use crate::growing::{Growing, Rest, Synced};

pub use history::{file_lines, origin_words, rewound_words};
pub use plan::{plan_pieces, planned_words};
pub use question::{answered_words, ask_lines, question_pieces, reply_words};
pub use words::{
    compacted_words, exit_words, extraction_words, hook_words, outcome_words, pin_words,
    reset_words, resolved_words,
};
use words::{first_words, set_words, state_words, status_words};

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
    /// What the model has set out to do, as it is now: one line each.
    Todos { todos: Vec<Todo> },
}

/// What of a session has been shown so far.
#[derive(Debug, Default)]
pub struct Transcript {
    /// Streamed text of messages that are not finished.
    growing: Growing,
    /// The words of prompts that wait.
    prompts: HashMap<PromptId, String>,
    /// The running calls: the tool that really runs, as their start named it.
    running: HashMap<proto::CallId, String>,
    /// What calls of this turn work on, as the model wrote it: for those that never start.
    named: HashMap<proto::CallId, String>,
    /// The list of what is to be done, as it was shown last.
    todos: Vec<Todo>,
    /// The list of a snapshot and the record up to which it holds, until a `sync`: what the replay shows of it is not
    /// shown twice.
    held: Option<(Seq, Vec<Todo>)>,
    /// The newest turn of which it was told that its commands are not kept.
    unkept: Option<u64>,
    /// Why calls of this turn were denied, as far as it was shown.
    denied: HashMap<proto::CallId, String>,
    /// Calls that the sandbox stopped: what they came to within has been shown.
    blocked: HashSet<proto::CallId>,
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
            Ok(body) => self.record(body, event),
            Err(_) => Vec::new(),
        }
    }

    fn record(&mut self, body: Body, event: &Event) -> Vec<Piece> {
        match body {
            Body::SessionCreated(created) => {
                let origin = created.origin.as_ref().map(origin_words);
                let origin = origin.map_or_else(String::new, |words| format!(" · {words}"));
                let text = format!(
                    "session {} · {} · {}{origin}",
                    created.pid,
                    created.options.model.unwrap_or_default(),
                    created.cwd
                );
                block(Tone::State, text)
            }
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
            Body::PromptQueued(queued) => {
                self.prompts.insert(queued.prompt_id, queued.text);
                Vec::new()
            }
            Body::QuestionAsked(question) => question_pieces(&question),
            Body::QuestionAnswered(answered) => block(Tone::Approval, answered_words(&answered)),
            Body::PlanProposed(plan) => plan_pieces(&plan),
            Body::PlanResolved(resolved) => block(Tone::Approval, planned_words(&resolved)),
            Body::TodoUpdated(updated) => {
                // What a snapshot had is older than this.
                if self
                    .held
                    .as_ref()
                    .is_some_and(|held| event.seq > Some(held.0))
                {
                    self.held = None;
                }
                self.todos(updated.todos)
            }
            Body::CheckpointCreated(checkpoint) => self.checkpoint(checkpoint, event.turn),
            Body::SessionRewound(rewound) => history::rewound_pieces(&rewound),
            Body::CacheReset(reset) => block(
                Tone::Notice,
                format!("the cache starts anew: {}", reset_words(&reset)),
            ),
            Body::MessagePinned(pinned) => block(Tone::State, pin_words(&pinned)),
            Body::ReasoningExtracted(found) => block(Tone::State, extraction_words(&found)),
            Body::TurnStarted(_)
            | Body::PolicyDecided(_)
            | Body::Usage(_)
            | Body::Tool(_)
            | Body::CallsRepaired(_)
            | Body::Unknown { .. } => Vec::new(),
            Body::SessionSet(set) => {
                set_words(&set).map_or_else(Vec::new, |text| block(Tone::State, text))
            }
            Body::SessionSuspended(_) => block(
                Tone::State,
                "the daemon hands over to the next one, which goes on here".to_owned(),
            ),
            Body::PromptEdited(edited) => {
                let which = self.which(edited.prompt_id);
                self.prompts.insert(edited.prompt_id, edited.text.clone());
                let text = format!("{} changed {which}: {}", edited.by, edited.text);
                block(Tone::State, text)
            }
            Body::PromptMoved(moved) => block(
                Tone::State,
                format!(
                    "{} moved {} to place {}",
                    moved.by,
                    self.which(moved.prompt_id),
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
            Body::PromptUnqueued(unqueued) => {
                let which = self.which(unqueued.prompt_id);
                self.prompts.remove(&unqueued.prompt_id);
                block(Tone::State, format!("{which} was taken back"))
            }
            Body::User(message) => self.user(&message),
            Body::Assistant(message) => self.assistant(&message),
            Body::ToolStarted(started) => self.tool_started(started),
            Body::ToolBlocked(blocked) => self.tool_blocked(blocked),
            Body::ToolFinished(finished) => self.tool_finished(&finished),
            Body::ApprovalRequested(approval) => approval_pieces(&approval),
            Body::ApprovalResolved(resolved) => block(Tone::Approval, resolved_words(&resolved)),
            Body::TurnEnded(ended) => self.turn_ended(&ended),
            Body::HookFinished(finished) => {
                hook_words(&finished).map_or_else(Vec::new, |text| block(Tone::Notice, text))
            }
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
            Live::Partial(partial) if self.growing.partial(&partial) => {
                let mut pieces = vec![Piece::Whole];
                let why = if partial.superseded {
                    "the answer starts again"
                } else {
                    "the answer broke off"
                };
                pieces.extend(block(Tone::Notice, why.to_owned()));
                pieces
            }
            Live::Partial(_) => Vec::new(),
            Live::Sync(sync) => {
                let mut pieces = self.synced(sync.live);
                if let Some((_, todos)) = self.held.take() {
                    pieces.extend(self.todos(todos));
                }
                pieces
            }
            Live::ClientJoined(client) => block(Tone::State, format!("{} joined", client.name)),
            Live::ClientLeft(client) => block(Tone::State, format!("{} left", client.name)),
            Live::Status(status) => {
                words::status(&status).map_or_else(Vec::new, |text| block(Tone::Notice, text))
            }
            Live::Snapshot(snapshot) => {
                let queue = snapshot.queue.into_iter();
                self.prompts = queue
                    .map(|queued| (queued.prompt_id, queued.text))
                    .collect();
                self.held = Some((snapshot.seq, snapshot.todos));
                Vec::new()
            }
            Live::Reasoning(_) | Live::ToolArgs(_) | Live::ToolOutput(_) => Vec::new(),
        }
    }

    /// Takes messages in progress as a `sync` has them: what was shown of others came to nothing while we were away.
    fn synced(&mut self, live: Vec<Delta>) -> Vec<Piece> {
        let synced = self.growing.synced(live).into_iter();
        synced
            .map(|synced| match synced {
                Synced::Broken(_) | Synced::Anew(_) => Piece::Whole,
                Synced::Grown(grown) => Piece::Grow { text: grown.text },
            })
            .collect()
    }

    /// Shows what of a delta is new. After a jump it shows nothing: the finished message tells the rest.
    fn grow(&mut self, delta: Delta) -> Vec<Piece> {
        // One without a letter begins no message.
        if delta.text.is_empty() {
            return Vec::new();
        }
        let grown = self.growing.grow(delta).into_iter();
        grown
            .map(|grown| Piece::Grow { text: grown.text })
            .collect()
    }

    fn assistant(&mut self, message: &AssistantMessage) -> Vec<Piece> {
        for call in &message.calls {
            self.named.insert(call.id.clone(), call.subject());
        }
        let finished = self.growing.finish(&message.item, &message.text);
        let mut pieces = Vec::new();
        let grow = |text: &str| Piece::Grow {
            text: text.to_owned(),
        };
        match finished.rest {
            Rest::More("") | Rest::Less => {}
            Rest::More(rest) => pieces.push(grow(rest)),
            Rest::Other(text) => pieces.extend([Piece::Whole, grow(text)]),
        }
        if finished.open || !message.text.is_empty() {
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
        let place = match started.outside {
            true => "once outside the sandbox: ",
            false => "",
        };
        let text = format!("{place}{} {}", started.tool, started.subject);
        self.running.insert(started.call, started.tool);
        block(Tone::Tool, text)
    }

    /// What a call came to that was stopped: whether it runs again is a question of its own.
    fn tool_blocked(&mut self, blocked: ToolBlocked) -> Vec<Piece> {
        self.running.remove(&blocked.call);
        self.blocked.insert(blocked.call);
        let mut display = blocked.display;
        if let Display::Command {
            sandbox_stopped, ..
        } = &mut display
        {
            // Said with the reason.
            *sandbox_stopped = false;
        }
        let mut pieces = display_pieces(&display);
        let text = format!("the sandbox seems to have stopped it: {}", blocked.reason);
        pieces.extend(block(Tone::Warning, text));
        pieces
    }

    fn tool_finished(&mut self, finished: &ToolFinished) -> Vec<Piece> {
        let running = self.running.remove(&finished.call);
        let subject = self.named.remove(&finished.call).unwrap_or_default();
        if self.blocked.remove(&finished.call) && running.is_none() {
            return Vec::new();
        }
        let mut pieces = match (running, finished.status) {
            // It never started: nothing has named it yet.
            (None, status) => block(
                Tone::Tool,
                match subject.is_empty() {
                    true => format!("{}: {}", finished.tool, status_words(status)),
                    false => format!("{} {subject}: {}", finished.tool, status_words(status)),
                },
            ),
            (Some(_), CallStatus::Ok | CallStatus::Failed) => Vec::new(),
            (Some(tool), status) => block(Tone::Tool, format!("{tool}: {}", status_words(status))),
        };
        if let (CallStatus::Denied, Display::Line { text }) = (finished.status, &finished.display) {
            self.denied.insert(finished.call.clone(), text.clone());
        }
        pieces.extend(display_pieces(&finished.display));
        pieces
    }

    fn turn_ended(&mut self, ended: &TurnEnded) -> Vec<Piece> {
        let shown = std::mem::take(&mut self.denied);
        self.blocked.clear();
        self.named.clear();
        self.growing.turn_ended();
        turn_ended(ended, &shown)
    }

    /// What the model has set out to do, as it was shown last.
    #[must_use]
    pub fn list(&self) -> &[Todo] {
        &self.todos
    }

    /// The list, where it is another one than stands there.
    fn todos(&mut self, todos: Vec<Todo>) -> Vec<Piece> {
        if self.todos == todos {
            return Vec::new();
        }
        self.todos.clone_from(&todos);
        if todos.is_empty() {
            return block(Tone::State, "the list of things to do is empty".to_owned());
        }
        vec![Piece::Todos { todos }]
    }

    /// Nothing, but for what will not be there when it is wanted back: once a turn.
    fn checkpoint(&mut self, checkpoint: CheckpointCreated, turn: Option<u64>) -> Vec<Piece> {
        let Some(why) = checkpoint.skipped else {
            return Vec::new();
        };
        let turn = turn.unwrap_or(0);
        if self.unkept.replace(turn) == Some(turn) {
            return Vec::new();
        }
        let text = format!("what commands change in this turn cannot be taken back: {why}");
        block(Tone::Notice, text)
    }

    /// What the daemon says to the model is not for the person.
    fn user(&mut self, message: &UserMessage) -> Vec<Piece> {
        if let Some(id) = message.prompt_id {
            self.prompts.remove(&id);
        }
        match message.voice {
            Voice::Prompt | Voice::Steer => block(Tone::User, message.text.clone()),
            Voice::Daemon => Vec::new(),
        }
    }

    /// A prompt that waits, by its first words where they are known.
    fn which(&self, id: PromptId) -> String {
        match self.prompts.get(&id) {
            Some(text) => format!("the queued prompt \"{}\"", first_words(text)),
            None => "a queued prompt".to_owned(),
        }
    }
}

fn block(tone: Tone, text: String) -> Vec<Piece> {
    vec![Piece::Block { tone, text }]
}

/// How a turn ended. `shown`: reasons that stand on the screen already; they are not told again.
#[must_use]
pub fn turn_ended(ended: &TurnEnded, shown: &HashMap<proto::CallId, String>) -> Vec<Piece> {
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
    let (tool, id) = (&approval.tool, &approval.approval_id);
    let mut pieces = match &approval.escape {
        None => block(Tone::Approval, format!("may `{tool}` run? [{id}]")),
        Some(reason) => block(
            Tone::Approval,
            format!(
                "the sandbox seems to have stopped it: {reason} — may `{tool}` run once outside it, with all your rights? [{id}]"
            ),
        ),
    };
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
    if approval.escape.is_none() {
        pieces.extend(block(
            Tone::Approval,
            format!("asked because: {}", approval.rule),
        ));
    }
    if let Some(scope) = approval.scopes.first() {
        pieces.extend(block(
            Tone::Approval,
            format!("for the session: {} ({})", scope.words, scope.rule),
        ));
    }
    if let Some(scope) = approval.scopes.iter().find(|scope| scope.always) {
        pieces.extend(block(
            Tone::Approval,
            format!(
                "always, in this workspace: {} ({})",
                scope.words, scope.rule
            ),
        ));
    }
    pieces
}

#[cfg(test)]
mod tests;
