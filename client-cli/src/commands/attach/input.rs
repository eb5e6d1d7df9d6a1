//! What a typed line means. Pure.

use proto::hello::Role;

/// A line, understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// An empty line.
    Nothing,
    Prompt(String),
    Steer(String),
    Interrupt,
    /// Yes, to the question of this id or to the oldest.
    Approve(Option<String>),
    /// No; the words may begin with an id.
    Deny(String),
    /// The prompts that wait are to be shown.
    Queue,
    /// The prompt at this place, or whose id begins so, gets these words.
    Edit(String, String),
    /// It gets this place, from 1.
    Move(String, u64),
    /// It is taken back.
    Drop(String),
    Pause,
    Resume,
    /// A word of ours that needs something else behind it: how it is said.
    Usage(&'static str),
    /// What can be typed is to be shown.
    Help,
    Quit,
    /// A word with a slash that is none of ours.
    Unknown(String),
}

/// Reads a line. One that begins with two slashes is a prompt that begins with one.
pub fn parse(line: &str) -> Said {
    let line = line.trim();
    if line.is_empty() {
        return Said::Nothing;
    }
    if let Some(prompt) = line.strip_prefix("//") {
        return Said::Prompt(format!("/{prompt}"));
    }
    if !line.starts_with('/') {
        return Said::Prompt(line.to_owned());
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    match word {
        "/steer" if !rest.is_empty() => Said::Steer(rest.to_owned()),
        "/queue" if rest.is_empty() => Said::Queue,
        "/steer" => Said::Usage("/steer TEXT, or /steer N"),
        "/edit" | "/move" => match rest.split_once(char::is_whitespace) {
            Some((prompt, rest)) => change(word, prompt, rest.trim()),
            None => None,
        }
        .unwrap_or(Said::Usage(match word {
            "/edit" => "/edit N TEXT",
            _ => "/move N M, both places from 1",
        })),
        "/drop" if is_word(rest) => Said::Drop(rest.to_owned()),
        "/drop" => Said::Usage("/drop N"),
        "/pause" if rest.is_empty() => Said::Pause,
        "/resume" if rest.is_empty() => Said::Resume,
        "/help" if rest.is_empty() => Said::Help,
        "/interrupt" if rest.is_empty() => Said::Interrupt,
        "/approve" if !rest.contains(char::is_whitespace) => {
            Said::Approve(Some(rest.to_owned()).filter(|id| !id.is_empty()))
        }
        "/deny" => Said::Deny(rest.to_owned()),
        "/quit" if rest.is_empty() => Said::Quit,
        _ => Said::Unknown(line.to_owned()),
    }
}

/// A change of a prompt that waits.
fn change(word: &str, prompt: &str, rest: &str) -> Option<Said> {
    match word {
        "/edit" if !rest.is_empty() => Some(Said::Edit(prompt.to_owned(), rest.to_owned())),
        "/move" => match rest.parse() {
            Ok(place) if place > 0 => Some(Said::Move(prompt.to_owned(), place)),
            _ => None,
        },
        _ => None,
    }
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && !text.contains(char::is_whitespace)
}

/// What can be typed, a line each, and the role that it takes.
pub const HELP: [(Role, &str); 13] = [
    (
        Role::Drive,
        "TEXT                a prompt; it waits its turn (`//` in front: one that begins with a slash)",
    ),
    (
        Role::Drive,
        "/steer TEXT         words into the running turn, behind its next results",
    ),
    (
        Role::Drive,
        "/steer N            the prompt at place N is put into the running turn",
    ),
    (
        Role::Watch,
        "/queue              show the prompts that wait",
    ),
    (
        Role::Drive,
        "/edit N TEXT        give the prompt at place N other words (N may be the start of its id)",
    ),
    (Role::Drive, "/move N M           move it to place M"),
    (Role::Drive, "/drop N             take it back"),
    (Role::Drive, "/pause, /resume     start nothing new; go on"),
    (Role::Drive, "/interrupt          stop the running turn"),
    (
        Role::Approve,
        "/approve [ID]       yes to the oldest question, or to this one",
    ),
    (
        Role::Approve,
        "/deny [ID] [NOTE]   no; the note is told to the model",
    ),
    (Role::Watch, "/help               this"),
    (Role::Watch, "/quit               leave; the session stays"),
];

#[cfg(test)]
mod tests;
