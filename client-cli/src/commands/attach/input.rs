//! What a typed line means. Pure.

use client::goal_command::{self, GoalCommand, GoalCommandError};
use proto::hello::Role;
use proto::params::history::What;

use crate::commands::queue::Change;
use crate::messages::line_mode::Line;
use crate::messages::talk::Msg;

/// A line, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// An empty line.
    Nothing,
    Prompt(String),
    Steer(String),
    /// A shell command that the user runs.
    Shell(String),
    Interrupt,
    /// Yes, to the question of this id or to the oldest.
    Approve(Option<String>),
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
    Mode(ToMode),
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
pub enum ToMode {
    Plan,
    Normal,
    /// One that only reads, or no more.
    Safe(bool),
}

/// Reads a line. One that begins with two slashes is a prompt that begins with one.
pub fn parse(line: &str) -> Said {
    // After a blank it is the beginning of a prompt.
    if let Some(command) = line.strip_prefix('!') {
        return match command.trim() {
            "" => Said::Usage(say!(Msg::UseShell)),
            command => Said::Shell(command.to_owned()),
        };
    }
    let line = line.trim();
    match line {
        "" => return Said::Nothing,
        // What shells and other agents leave by.
        "exit" | "quit" => return Said::Quit,
        _ => {}
    }
    if let Some(prompt) = line.strip_prefix("//") {
        // The blank says to the daemon that it is not a command.
        return Said::Prompt(format!(" /{prompt}"));
    }
    if !line.starts_with('/') {
        return Said::Prompt(line.to_owned());
    }
    command(line)
}

/// Reads a line that begins with a slash.
fn command(line: &str) -> Said {
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word {
        "/steer" if !rest.is_empty() => Said::Steer(rest.to_owned()),
        "/queue" if rest.is_empty() => Said::Queue,
        "/steer" => Said::Usage(say!(Msg::UseSteer)),
        "/edit" => edit(rest),
        "/move" => move_to(rest),
        "/drop" if is_word(rest) => Said::Change(Change::Rm {
            prompt: rest.to_owned(),
        }),
        "/drop" => Said::Usage("/drop N"),
        "/plan" if rest.is_empty() => Said::Mode(ToMode::Plan),
        "/normal" if rest.is_empty() => Said::Mode(ToMode::Normal),
        "/safe" if rest.is_empty() => Said::Mode(ToMode::Safe(true)),
        "/safe" if rest == "off" => Said::Mode(ToMode::Safe(false)),
        "/safe" => Said::Usage(say!(Msg::UseSafe)),
        "/pause" if rest.is_empty() => Said::Pause,
        "/resume" if rest.is_empty() => Said::Resume,
        "/help" if rest.is_empty() => Said::Help,
        "/interrupt" if rest.is_empty() => Said::Interrupt,
        "/approve" if !rest.contains(char::is_whitespace) => {
            Said::Approve(Some(rest.to_owned()).filter(|id| !id.is_empty()))
        }
        "/deny" => Said::Deny(rest.to_owned()),
        "/change" if !rest.is_empty() => Said::ChangeCommand(rest.to_owned()),
        "/change" => Said::Usage("/change [ID] COMMAND"),
        "/answer" => Said::Answer(rest.to_owned()),
        "/reload" if rest.is_empty() => Said::Reload(false),
        "/reload" if rest == "yes" => Said::Reload(true),
        "/reload" => Said::Usage(say!(Msg::UseReload)),
        "/clear" if rest.is_empty() => Said::Clear(false),
        "/clear" if rest == "yes" => Said::Clear(true),
        "/clear" => Said::Usage(say!(Msg::UseClear)),
        "/rewind" => rewind(rest),
        "/undo" if rest.is_empty() => Said::Undo,
        "/redo" if rest.is_empty() => Said::Redo,
        "/fork" => Said::Fork(Some(rest.to_owned()).filter(|name| !name.is_empty())),
        "/rename" if !rest.is_empty() => Said::Rename(rest.to_owned()),
        "/rename" => Said::Usage(say!(Msg::UseRename)),
        "/goal" => goal_command::parse(rest).map_or_else(Said::WrongGoal, Said::Goal),
        "/todos" if rest.is_empty() => Said::Todos,
        "/export" if !rest.is_empty() => Said::Export(rest.to_owned()),
        "/export" => Said::Usage(say!(Msg::UseExport)),
        "/quit" | "/exit" | "/q" if rest.is_empty() => Said::Quit,
        _ if is_custom(word) => Said::Prompt(line.to_owned()),
        _ => Said::Unknown(line.to_owned()),
    }
}

/// Words of ours that can be said in a wrong way.
const OWN: [&str; 14] = [
    "/queue",
    "/plan",
    "/normal",
    "/pause",
    "/resume",
    "/help",
    "/interrupt",
    "/approve",
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

fn edit(rest: &str) -> Said {
    match rest.split_once(char::is_whitespace) {
        Some((prompt, text)) => Said::Change(Change::Edit {
            prompt: prompt.to_owned(),
            text: vec![text.trim().to_owned()],
        }),
        None => Said::Usage(say!(Msg::UseEdit)),
    }
}

fn move_to(rest: &str) -> Said {
    let change = || {
        let (prompt, place) = rest.split_once(char::is_whitespace)?;
        let place = place.trim().parse().ok().filter(|place| *place > 0)?;
        let prompt = prompt.to_owned();
        Some(Change::Move { prompt, place })
    };
    change().map_or(Said::Usage(say!(Msg::UseMove)), Said::Change)
}

fn rewind(rest: &str) -> Said {
    let usage = Said::Usage(say!(Msg::UseRewind));
    let mut words = rest.split_whitespace();
    let Some(turn) = words.next() else {
        return Said::Rewind(None);
    };
    let what = match (words.next(), words.next()) {
        (None, _) => What::Both,
        (Some("chat"), None) => What::Conversation,
        (Some("files"), None) => What::Code,
        _ => return usage,
    };
    match turn.parse() {
        Ok(turn) => Said::Rewind(Some((turn, what))),
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
