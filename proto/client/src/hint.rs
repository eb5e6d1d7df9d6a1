//! What a person is notified of a call that failed, beside what the daemon said: what to do about it.

use proto::{ErrorName, Failure};
use serde_json::Value;

use crate::start::StartError;
use crate::{CallError, ConnectError};

/// What a user can do about a call that failed; empty if nothing.
#[must_use]
pub fn of(error: &CallError) -> String {
    let hint = match error {
        CallError::Failure(failure) | CallError::Connect(ConnectError::Refused(failure)) => {
            return failure.hint.clone();
        }
        CallError::Connect(error) => match error {
            ConnectError::Absent { .. } | ConnectError::Gone { .. } => {
                "start one with `reasonix daemon start`"
            }
            ConnectError::Stopped { .. } => {
                "start it again with `reasonix daemon start`; its sessions continue"
            }
            ConnectError::Start(StartError::NotFound) => {
                "install `reasonixd` next to `reasonix`, or set `REASONIX_DAEMON` to its path"
            }
            ConnectError::Start(StartError::Home { .. }) => {
                "set `REASONIX_HOME` to a writable directory"
            }
            ConnectError::Start(StartError::Spawn { .. } | StartError::Mute { .. }) => {
                "check `REASONIX_DAEMON`: it must be the path of a program"
            }
            ConnectError::Ended { .. } | ConnectError::Silent { .. } => {
                "see `reasonix daemon logs` and `reasonix doctor`"
            }
            ConnectError::Socket { .. } => {
                "the socket belongs to another user, you cannot access its directory, or this runs in a sandbox"
            }
            ConnectError::Foreign { .. } => {
                "nothing was sent there: set `REASONIX_SOCKET` or `XDG_RUNTIME_DIR` to a path of your own"
            }
            ConnectError::Open { .. } => {
                "run `chmod 700` on it, or set `REASONIX_SOCKET` or `XDG_RUNTIME_DIR` to a path of your own"
            }
            ConnectError::Hello(_) => {
                "client and daemon may have different versions: run `reasonix doctor` to check"
            }
            ConnectError::Homeless { .. } | ConnectError::Refused(_) => "",
        },
        CallError::Lost { .. } => "check whether it was done before you repeat it",
        CallError::Timeout { .. } => {
            "check the daemon with `reasonix daemon status` and `reasonix daemon logs`"
        }
        CallError::TooLarge { .. } => "put the text in a file and name the file in the prompt",
        CallError::Unknown { .. } => "run `reasonix daemon restart` to start the installed version",
        CallError::Answer { .. } | CallError::Pieces { .. } => {
            "client and daemon may have different versions: run `reasonix doctor` to check"
        }
        CallError::Gap { .. } => "check the session's log with `reasonix doctor`",
    };
    hint.to_owned()
}

/// Words of the daemon for a client that is in the session: commands that they suggest for a shell are those that are
/// typed there.
#[must_use]
pub fn typed_in_session(words: &str) -> String {
    let words = words
        .replace("`reasonix rewind SESSION TURN`", "`/rewind`")
        .replace("`reasonix rewind SESSION --list`", "`/rewind`")
        .replace("`reasonix compact SESSION WORDS`", "`/compact WORDS`")
        // `/effort auto`; the Chinese words for an empty option first.
        .replace("留空（`\"\"`），使用", "用 `auto` 恢复")
        .replace("`\"\"`", "`auto`");
    // It names the session.
    let goal = words.split_once("`reasonix goal -s ");
    let goal = goal.and_then(|(before, rest)| Some((before, rest.split_once('`')?.1)));
    match goal {
        Some((before, after)) => format!("{before}`/goal TEXT`{after}"),
        None => words,
    }
}

/// Who answered a question before us, what, and when; `None` for any other failure.
#[must_use]
pub fn answered_before(failure: &Failure) -> Option<String> {
    if failure.name != ErrorName::AlreadyResolved {
        return None;
    }
    let detail = |name: &str| failure.details.get(name).and_then(Value::as_str);
    let (Some(by), Some(decision)) = (detail("by"), detail("decision")) else {
        return Some(failure.message.clone());
    };
    let decision = match decision {
        "allow_once" => "allowed once",
        "allow_session" => "allowed for the session",
        "allow_always" => "always allowed",
        "deny" => "denied",
        other => other,
    };
    let at = detail("at").map_or_else(String::new, |at| format!(" at {at}"));
    Some(format!("{by} already answered it: {decision}{at}"))
}

#[cfg(test)]
mod tests;
