//! From changes of a transcript to printed text: pieces of text in order, each with its tone.
//!
//! Streamed text comes out as it grows; the finished message adds only the part not shown yet. All text here is raw: it
//! holds what models and tools wrote, and the painter strips what a terminal would obey.

mod user_output;

use user_output::UserOutput;

use crate::dialog;
use crate::messages::talk::Msg;
use crate::messages::{language, translated};
use client::form::Form;
use client::messages::transcript::Msg as Shared;
use client::transcript::{self, Change, Entry, EntryKind, Status, ToolOutcome, ToolRun, words};
use client::{Content, DecodedEvent};
use proto::CallId;
use proto::item::{Attachment, CallStatus, Display, Finish};
use proto::live::Live;
use proto::outcome::{OutcomeKind, TurnEnded};
use proto::record::{SessionRewound, Todo};

/// Who or what speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tone {
    User,
    /// Another session.
    Session,
    Answer,
    Tool,
    Diff,
    Output,
    /// Of a user's own command: all of it is shown.
    UserOutput,
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

/// A transcript of which every piece is printed as it comes.
#[derive(Debug, Default)]
pub struct Transcript {
    transcript: transcript::Transcript<String>,
    /// Something has grown since a piece was whole.
    growing: bool,
    /// What the user's own commands print.
    of_user: UserOutput,
    /// The call whose heading was printed last: what is printed under it is taken for its output.
    heading: Option<CallId>,
}

impl Transcript {
    /// What an event adds to the screen. An event that this build cannot read adds nothing.
    pub fn fold(&mut self, event: &DecodedEvent) -> Vec<Piece> {
        let changes = self.transcript.fold(event);
        let pieces = changes.iter().flat_map(|change| self.change(*change));
        let mut pieces: Vec<_> = pieces.collect();
        if let Content::Live(Live::ToolOutput(output)) = &event.content
            && let Some(lines) = self.of_user.push(output)
        {
            pieces.extend(block(Tone::UserOutput, lines));
        }
        // Printed entries are not needed again.
        self.transcript.entries.retain(|entry| !entry.settled());
        pieces
    }

    /// What the model has set out to do.
    pub fn todos(&self) -> &[Todo] {
        self.transcript.todos()
    }

    fn change(&mut self, change: Change) -> Vec<Piece> {
        match change {
            Change::New(id) => {
                let Some(entry) = self.transcript.entry(id) else {
                    return Vec::new();
                };
                if let EntryKind::Tool(tool) = &entry.kind
                    && tool.by_user.is_some()
                {
                    self.of_user.start(&tool.call);
                }
                if let EntryKind::Tool(tool) = &entry.kind {
                    self.heading = Some(tool.call.clone());
                }
                entry_pieces(entry)
            }
            Change::TextGrowth(id, from) => {
                let entry = self.transcript.entry(id).map(|entry| &entry.kind);
                let Some(EntryKind::Answer { text, .. }) = entry else {
                    return Vec::new();
                };
                self.growing = true;
                let text = text.get(from..).unwrap_or_default().to_owned();
                vec![Piece::Grow { text }]
            }
            Change::Stopped => self.whole(),
            Change::Settled(id) => match self.transcript.entry(id) {
                Some(Entry {
                    seq,
                    kind: EntryKind::Answer { text, finish, .. },
                    ..
                }) => {
                    let (durable, empty, finish) = (seq.is_some(), text.is_empty(), *finish);
                    let mut pieces = match durable && !empty {
                        true => vec![Piece::Whole],
                        false => self.whole(),
                    };
                    self.growing = false;
                    // Why one is over that no record finished is shown by itself.
                    pieces.extend(finish.filter(|_| durable).map_or_else(Vec::new, end_pieces));
                    pieces
                }
                Some(Entry {
                    kind: EntryKind::Tool(tool),
                    ..
                }) if tool.by_user.is_some() => user_command_end(tool, &mut self.of_user),
                Some(Entry {
                    kind: EntryKind::Tool(tool),
                    ..
                }) => {
                    let mut pieces = tool_end(tool);
                    let is_under_own = self.heading.as_ref() == Some(&tool.call);
                    if tool.started && !is_under_own && needs_heading(&pieces) {
                        pieces.splice(0..0, block(Tone::Tool, repeated_heading(tool)));
                        self.heading = Some(tool.call.clone());
                    }
                    pieces
                }
                Some(_) | None => Vec::new(),
            },
        }
    }

    /// Ends the line of growing text.
    fn whole(&mut self) -> Vec<Piece> {
        match std::mem::take(&mut self.growing) {
            true => vec![Piece::Whole],
            false => Vec::new(),
        }
    }
}

pub fn block(tone: Tone, text: String) -> Vec<Piece> {
    vec![Piece::Block { tone, text }]
}

/// What a new entry shows. Answers, and the ends of calls, are shown as they come.
fn entry_pieces(entry: &Entry<String>) -> Vec<Piece> {
    match &entry.kind {
        EntryKind::User {
            text,
            from: Some(session),
            ..
        } => {
            let label = words::message_of(language(), *session);
            block(Tone::Session, format!("{label}\n{text}"))
        }
        EntryKind::User { text, attached, .. } => prompt_pieces(text, attached),
        EntryKind::Answer {
            text,
            plan: Some(id),
            ..
        } => dialog::pieces(id, &Form::of_plan(text)),
        EntryKind::Reasoning { .. } | EntryKind::Answer { .. } => Vec::new(),
        EntryKind::Tool(tool) if tool.started => {
            let text = format!("{} {}", tool.tool, tool.subject);
            let mut text = text.trim_end().to_owned();
            if tool.by_user.is_some() {
                return block(Tone::User, text);
            }
            if tool.outside {
                text = say!(Msg::OnceOutside, text);
            }
            block(Tone::Tool, text)
        }
        EntryKind::Tool(tool) => tool_end(tool),
        EntryKind::Interaction(interaction) => {
            dialog::pieces(&interaction.interaction_id, &Form::of(interaction))
        }
        EntryKind::Resolved { asked, resolved } => {
            block(Tone::Approval, asked.settled_lines(language(), resolved))
        }
        EntryKind::Todos(todos) if todos.is_empty() => {
            block(Tone::State, say!(Msg::TodosEmpty).to_owned())
        }
        EntryKind::Todos(todos) => vec![Piece::Todos {
            todos: todos.clone(),
        }],
        EntryKind::Child {
            pid,
            command,
            exited,
            ..
        } => {
            let words = words::child(language(), *pid, command, exited.as_ref());
            block(Tone::Tool, words)
        }
        EntryKind::Rewound(rewound) => rewound_pieces(rewound),
        EntryKind::Ended { ended, explained } => turn_ended(ended, |call| explained.contains(call)),
        // The other text follows, and says enough.
        EntryKind::Status(status) if **status == (Status::StartsAgain { attempt: false }) => {
            Vec::new()
        }
        // The question shows what the reviewer said.
        EntryKind::Status(status) if matches!(&**status, Status::Reviewed(found) if !found.decided) => {
            Vec::new()
        }
        EntryKind::Status(status) => block(status_tone(status), words::status(language(), status)),
        EntryKind::Notice { tone, words } => block(tone_of(*tone), translated(words).into_owned()),
        EntryKind::Divider { words } => block(Tone::State, words.clone()),
    }
}

/// A prompt, and what was attached to it.
pub fn prompt_pieces(text: &str, attached: &[Attachment]) -> Vec<Piece> {
    let mut pieces = block(Tone::User, text.to_owned());
    pieces.extend(attached_pieces(attached));
    pieces
}

/// What was attached to a prompt.
pub fn attached_pieces(attached: &[Attachment]) -> Vec<Piece> {
    let lines = words::attached(language(), attached);
    lines.flat_map(|line| block(Tone::State, line)).collect()
}

fn tone_of(tone: transcript::Tone) -> Tone {
    match tone {
        transcript::Tone::Info | transcript::Tone::Good => Tone::Notice,
        transcript::Tone::Warning => Tone::Warning,
        transcript::Tone::Error => Tone::Error,
    }
}

fn status_tone(status: &Status) -> Tone {
    match status {
        Status::StartsAgain { .. }
        | Status::BrokeOff
        | Status::CacheReset(_)
        | Status::Samples { .. }
        | Status::Behind(_)
        | Status::ReadOnly { .. }
        | Status::Hook(_)
        | Status::Unkept { .. } => Tone::Notice,
        _ => Tone::State,
    }
}

/// How an answer ended, if that is to be shown.
fn end_pieces(finish: Finish) -> Vec<Piece> {
    let tone = match finish {
        Finish::Length | Finish::ContentFilter => Tone::Warning,
        Finish::Stop | Finish::ToolCalls | Finish::Paused | Finish::Interrupted => Tone::Notice,
    };
    words::answer_end(language(), finish).map_or_else(Vec::new, |end| block(tone, end.to_owned()))
}

/// How a call ended.
fn tool_end(tool: &ToolRun) -> Vec<Piece> {
    let Some(outcome) = &tool.outcome else {
        return Vec::new();
    };
    let status = words::call_status(language(), outcome.status);
    let mut pieces = match (tool.started, outcome.status) {
        // Why it was stopped is reported below.
        _ if outcome.blocked.is_some() => Vec::new(),
        (true, CallStatus::Ok | CallStatus::Failed) => Vec::new(),
        (false, _) if !tool.subject.is_empty() => block(
            Tone::Tool,
            format!("{} {}: {status}", tool.tool, tool.subject),
        ),
        _ => block(Tone::Tool, format!("{}: {status}", tool.tool)),
    };
    match &outcome.display {
        // A command shows its exit code, other tools only their words.
        Display::Line { text } if tool.started && outcome.status == CallStatus::Failed => {
            let words = language().fill(Shared::Because, &[status, &translated(text)]);
            pieces.extend(block(Tone::Output, words));
        }
        _ => pieces.extend(display_pieces(outcome)),
    }
    if let Some(reason) = &outcome.blocked {
        let text = say!(Msg::SandboxBlocked, translated(reason));
        pieces.extend(block(Tone::Warning, text));
    }
    pieces
}

/// The most characters of a heading that is repeated.
const REPEATED_MAX: usize = 60;

/// Whether what a call printed at its end does not say whose it is.
fn needs_heading(pieces: &[Piece]) -> bool {
    let diff = |piece: &Piece| matches!(piece, Piece::Block { tone, .. } if *tone == Tone::Diff);
    // A diff is printed under its path.
    !pieces.is_empty() && !pieces.iter().any(diff)
}

/// The heading of a call whose output comes after that of another one: one short line.
fn repeated_heading(tool: &ToolRun) -> String {
    let heading = format!("{} {}", tool.tool, tool.subject);
    let line = heading.lines().next().unwrap_or_default();
    match line.char_indices().nth(REPEATED_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None if line.len() < heading.len() => format!("{line} …"),
        None => line.to_owned(),
    }
}

/// How a user's own command ended. What was not shown while it ran is shown by its end.
fn user_command_end(tool: &ToolRun, of_user: &mut UserOutput) -> Vec<Piece> {
    let mut tool = tool.clone();
    let Some(outcome) = &mut tool.outcome else {
        return Vec::new();
    };
    let Display::Command {
        output_lines, tail, ..
    } = &mut outcome.display
    else {
        return tool_end(&tool);
    };
    let rest = of_user.end(&tool.call, tail);
    let end = std::mem::take(tail);
    let mut pieces = Vec::new();
    if rest.is_none() {
        let before = output_lines.saturating_sub(end.lines().count() as u64);
        if before > 0 {
            let words = say!(Msg::OutputBefore, before);
            pieces.extend(block(Tone::State, words));
        }
    }
    let text = rest.unwrap_or(end);
    if !text.is_empty() {
        pieces.extend(block(Tone::UserOutput, text));
    }
    pieces.extend(tool_end(&tool));
    pieces
}

/// What a call shows for itself.
fn display_pieces(outcome: &ToolOutcome) -> Vec<Piece> {
    match &outcome.display {
        Display::Line { text } if text.is_empty() => Vec::new(),
        Display::Line { text } => block(Tone::Output, translated(text).into_owned()),
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
            stopped,
            ..
        } => {
            let mut pieces = Vec::new();
            if !tail.is_empty() {
                pieces.extend(block(Tone::Output, tail.trim_end_matches('\n').to_owned()));
            }
            match (exit_code, signal) {
                _ if stopped.is_some() => {
                    let why = stopped.as_deref().unwrap_or_default();
                    pieces.extend(block(Tone::Warning, translated(why).into_owned()));
                }
                (Some(0), _) | (None, None) => {}
                (Some(code), _) => pieces.extend(block(Tone::Output, say!(Msg::ExitCode, code))),
                (None, Some(signal)) => {
                    pieces.extend(block(Tone::Output, say!(Msg::BySignal, signal)));
                }
            }
            // Shown with the reason if there is one.
            if *sandbox_stopped && outcome.blocked.is_none() {
                let text = say!(Msg::SandboxSomething).to_owned();
                pieces.extend(block(Tone::Warning, text));
            }
            pieces
        }
    }
}

/// How a turn ended. `shown`: calls whose denial is on the screen with its reason.
pub fn turn_ended(ended: &TurnEnded, shown: impl Fn(&proto::CallId) -> bool) -> Vec<Piece> {
    let lines = end_lines(ended, shown).into_iter();
    lines.flat_map(|(tone, text)| block(tone, text)).collect()
}

/// The same, line by line.
pub fn end_lines(ended: &TurnEnded, shown: impl Fn(&proto::CallId) -> bool) -> Vec<(Tone, String)> {
    let denied = ended.denied.iter();
    let denied = denied.map(|denied| words::denied(language(), denied, shown(&denied.call)));
    let mut lines: Vec<_> = denied.map(|words| (Tone::Warning, words)).collect();
    if let Some(error) = &ended.error {
        let texts = [&error.message, &error.hint].into_iter();
        let texts = texts.filter(|text| !text.is_empty());
        lines.extend(texts.map(|text| (Tone::Error, translated(text).into_owned())));
    }
    if ended.outcome != OutcomeKind::Completed {
        let outcome = words::outcome(language(), ended.outcome, ended.reason);
        lines.push((Tone::State, say!(Msg::TurnEnded, outcome)));
    }
    lines
}

/// A rewind, and what became of the files.
fn rewound_pieces(rewound: &SessionRewound) -> Vec<Piece> {
    let mut pieces = block(Tone::State, words::rewound(language(), rewound));
    for (tone, line) in words::files(language(), &rewound.files) {
        let tone = match tone {
            transcript::Tone::Warning => Tone::Warning,
            _ => Tone::State,
        };
        pieces.extend(block(tone, line));
    }
    pieces
}

#[cfg(test)]
mod tests;
