//! What a typed line means. Pure.

use client::goal_command::{self, GoalCommand, GoalCommandError};
use proto::hello::Role;
use proto::params::history::What;

use crate::commands::queue::Change;
use crate::messages::line_mode::Line;
use crate::messages::talk::Msg;

/// A line, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedLine {
    /// An empty line.
    Nothing,
    Prompt(String),
    Steer(String),
    /// A shell command that the user runs.
    Shell(String),
    Interrupt,
    /// Yes, to the question of this id or to the oldest.
    Approve(Option<String>),
    /// Approve a plan, and keep asking about calls.
    ApproveKeepAsking(Option<String>),
    /// No; the words may begin with an id.
    Deny(String),
    /// Yes, with another command; the words may begin with an id.
    ChangeCommand(String),
    /// An answer to a question of the model; the words may begin with its id. Without words: it is to be shown.
    Answer(String),
    /// The conversation is to be hidden from the model; true: it was said a second time.
    Clear(bool),
    /// The instruction files are to be read again; true: although the prompt cache is lost.
    Reload(bool),
    /// Back to a turn; without one: what can be gone back to is to be shown.
    Rewind(Option<(u64, What)>),
    /// Files as they were before the last turn.
    Undo,
    /// The newest rewind is taken back.
    Redo,
    /// A session of its own goes on from here, under this name.
    Fork(Option<String>),
    Rename(String),
    /// What the model has set out to do is to be shown.
    Todos,
    /// The session's goal.
    Goal(GoalCommand),
    /// A goal that is not understood.
    WrongGoal(GoalCommandError),
    /// The session is to be written to this file.
    Export(String),
    /// The prompts that wait are to be shown.
    Queue,
    /// A prompt that waits is to be changed.
    Change(Change),
    Pause,
    /// Change the approval mode.
    Mode(ModeChange),
    Resume,
    /// A command that lacks an argument: its usage.
    Usage(&'static str),
    /// What can be typed is to be shown.
    Help,
    Quit,
    /// A word with a slash that is none of ours.
    Unknown(String),
}

/// What the session is to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeChange {
    Plan,
    Normal,
    /// One that only reads, or no more.
    Safe(bool),
}

/// Reads a line. One that begins with two slashes is a prompt that begins with one.
pub fn parse(line: &str) -> TypedLine {
    // After a blank it is the beginning of a prompt.
    if let Some(command) = line.strip_prefix('!') {
        return match command.trim() {
            "" => TypedLine::Usage(say!(Msg::UseShell)),
            command => TypedLine::Shell(command.to_owned()),
        };
    }
    let line = line.trim();
    match line {
        "" => return TypedLine::Nothing,
        // What shells and other agents leave by.
        "exit" | "quit" => return TypedLine::Quit,
        _ => {}
    }
    if let Some(prompt) = line.strip_prefix("//") {
        // The blank says to the daemon that it is not a command.
        return TypedLine::Prompt(format!(" /{prompt}"));
    }
    if !line.starts_with('/') {
        return TypedLine::Prompt(line.to_owned());
    }
    command(line)
}

/// Reads a line that begins with a slash.
fn command(line: &str) -> TypedLine {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word {
        "/steer" if !rest.is_empty() => TypedLine::Steer(rest.to_owned()),
        "/queue" if rest.is_empty() => TypedLine::Queue,
        "/steer" => TypedLine::Usage(say!(Msg::UseSteer)),
        "/edit" => edit(rest),
        "/move" => move_to(rest),
        "/drop" if is_word(rest) => TypedLine::Change(Change::Rm {
            prompt: rest.to_owned(),
        }),
        "/drop" => TypedLine::Usage("/drop N"),
        "/plan" if rest.is_empty() => TypedLine::Mode(ModeChange::Plan),
        "/normal" if rest.is_empty() => TypedLine::Mode(ModeChange::Normal),
        "/safe" if rest.is_empty() => TypedLine::Mode(ModeChange::Safe(true)),
        "/safe" if rest == "off" => TypedLine::Mode(ModeChange::Safe(false)),
        "/safe" => TypedLine::Usage(say!(Msg::UseSafe)),
        "/pause" if rest.is_empty() => TypedLine::Pause,
        "/resume" if rest.is_empty() => TypedLine::Resume,
        "/help" if rest.is_empty() => TypedLine::Help,
        "/interrupt" if rest.is_empty() => TypedLine::Interrupt,
        "/approve" => approve(rest),
        "/deny" => TypedLine::Deny(rest.to_owned()),
        "/change" if !rest.is_empty() => TypedLine::ChangeCommand(rest.to_owned()),
        "/change" => TypedLine::Usage("/change [ID] COMMAND"),
        "/answer" => TypedLine::Answer(rest.to_owned()),
        "/reload" if rest.is_empty() => TypedLine::Reload(false),
        "/reload" if rest == "yes" => TypedLine::Reload(true),
        "/reload" => TypedLine::Usage(say!(Msg::UseReload)),
        "/clear" if rest.is_empty() => TypedLine::Clear(false),
        "/clear" if rest == "yes" => TypedLine::Clear(true),
        "/clear" => TypedLine::Usage(say!(Msg::UseClear)),
        "/rewind" => rewind(rest),
        "/undo" if rest.is_empty() => TypedLine::Undo,
        "/redo" if rest.is_empty() => TypedLine::Redo,
        "/fork" => TypedLine::Fork(Some(rest.to_owned()).filter(|name| !name.is_empty())),
        "/rename" if !rest.is_empty() => TypedLine::Rename(rest.to_owned()),
        "/rename" => TypedLine::Usage(say!(Msg::UseRename)),
        "/goal" => goal_command::parse(rest).map_or_else(TypedLine::WrongGoal, TypedLine::Goal),
        "/todos" if rest.is_empty() => TypedLine::Todos,
        "/export" if !rest.is_empty() => TypedLine::Export(rest.to_owned()),
        "/export" => TypedLine::Usage(say!(Msg::UseExport)),
        "/quit" | "/exit" | "/q" if rest.is_empty() => TypedLine::Quit,
        _ if is_custom(word) => TypedLine::Prompt(line.to_owned()),
        _ => TypedLine::Unknown(line.to_owned()),
    }
}

/// Words of ours that can be said in a wrong way.
const OWN: [&str; 13] = [
    "/queue",
    "/plan",
    "/normal",
    "/pause",
    "/resume",
    "/help",
    "/interrupt",
    "/undo",
    "/redo",
    "/todos",
    "/quit",
    "/exit",
    "/q",
];

/// Whether it may be a custom command. The daemon knows those, and refuses a word that is none.
fn is_custom(word: &str) -> bool {
    let name = word.strip_prefix('/').unwrap_or_default();
    !name.is_empty() && !name.contains('/') && !OWN.contains(&word)
}

fn approve(rest: &str) -> TypedLine {
    let words: Vec<&str> = rest.split_whitespace().collect();
    match words.as_slice() {
        [] => TypedLine::Approve(None),
        ["ask"] => TypedLine::ApproveKeepAsking(None),
        ["ask", id] => TypedLine::ApproveKeepAsking(Some((*id).to_owned())),
        [id] => TypedLine::Approve(Some((*id).to_owned())),
        _ => TypedLine::Usage("/approve [ask] [ID]"),
    }
}

fn edit(rest: &str) -> TypedLine {
    match rest.split_once(char::is_whitespace) {
        Some((prompt, text)) => TypedLine::Change(Change::Edit {
            prompt: prompt.to_owned(),
            text: vec![text.trim().to_owned()],
        }),
        None => TypedLine::Usage(say!(Msg::UseEdit)),
    }
}

fn move_to(rest: &str) -> TypedLine {
    let change = || {
        let (prompt, place) = rest.split_once(char::is_whitespace)?;
        let place = place.trim().parse().ok().filter(|place| *place > 0)?;
        let prompt = prompt.to_owned();
        Some(Change::Move { prompt, place })
    };
    change().map_or(TypedLine::Usage(say!(Msg::UseMove)), TypedLine::Change)
}

fn rewind(rest: &str) -> TypedLine {
    let usage = TypedLine::Usage(say!(Msg::UseRewind));
    let mut words = rest.split_whitespace();
    let Some(turn) = words.next() else {
        return TypedLine::Rewind(None);
    };
    let what = match (words.next(), words.next()) {
        (None, _) => What::Both,
        (Some("chat"), None) => What::Conversation,
        (Some("files"), None) => What::Code,
        _ => return usage,
    };
    match turn.parse() {
        Ok(turn) => TypedLine::Rewind(Some((turn, what))),
        Err(_) => usage,
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

/// The lines of help for a role.
pub fn help(role: Role) -> impl Iterator<Item = &'static str> {
    Line::ALL.iter().filter_map(move |line| {
        let (letter, words) = say!(*line).split_once(' ')?;
        let needs = match letter {
            "W" => Role::Watch,
            "A" => Role::Approve,
            _ => Role::Drive,
        };
        (role >= needs).then_some(words)
    })
}

#[cfg(test)]
mod tests;
