//! What a person is notified of a call that failed, beside what the daemon said: what to do about it.

use proto::{ErrorName, Failure};
use serde_json::Value;

use crate::start::StartError;
use crate::{CallError, ConnectError};

/// What a person can do about a call that failed; empty where there is nothing.
#[must_use]
pub fn of(error: &CallError) -> String {
    let hint = match error {
        CallError::Failure(failure) | CallError::Connect(ConnectError::Refused(failure)) => {
            return failure.hint.clone();
        }
        CallError::Connect(error) => match error {
            ConnectError::Absent { .. } | ConnectError::Gone { .. } => {
                "`reasonix daemon start` starts one"
            }
            ConnectError::Stopped { .. } => {
                "`reasonix daemon start` starts it again; its sessions go on"
            }
            ConnectError::Start(StartError::NotFound) => {
                "install `reasonixd` beside `reasonix`, or name it by `REASONIX_DAEMON`"
            }
            ConnectError::Start(StartError::Home { .. }) => {
                "set `REASONIX_HOME` to a directory that you can write"
            }
            ConnectError::Start(StartError::Spawn { .. } | StartError::Mute { .. }) => {
                "look at `REASONIX_DAEMON`: it must name a program"
            }
            ConnectError::Ended { .. } | ConnectError::Silent { .. } => {
                "`reasonix daemon logs` shows more"
            }
            ConnectError::Socket { .. } => {
                "the socket belongs to somebody else, or its directory is closed to you"
            }
            ConnectError::Foreign { .. } => {
                "nothing was sent there: set `REASONIX_SOCKET` or `XDG_RUNTIME_DIR` to a place of your own"
            }
            ConnectError::Open { .. } => {
                "close it to others (mode 700), or set `REASONIX_SOCKET` or `XDG_RUNTIME_DIR` to a place of your own"
            }
            ConnectError::Hello(_) => {
                "client and daemon may be of different versions: `reasonix doctor` tells"
            }
            ConnectError::Homeless { .. } | ConnectError::Refused(_) => "",
        },
        CallError::Lost { .. } => "look whether it was done before doing it again",
        CallError::Timeout { .. } => {
            "`reasonix daemon status` and `reasonix daemon logs` tell what it does"
        }
        CallError::TooLarge { .. } => "put the text into a file and name the file in the prompt",
        CallError::Unknown { .. } => "`reasonix daemon restart` starts the one that is installed",
        CallError::Answer { .. } | CallError::Pieces { .. } => {
            "client and daemon may be of different versions: `reasonix doctor` tells"
        }
        CallError::Gap { .. } => "`reasonix doctor` checks the session's log",
    };
    hint.to_owned()
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
        "allow_always" => "allowed always",
        "deny" => "denied",
        other => other,
    };
    let at = detail("at").map_or_else(String::new, |at| format!(" at {at}"));
    Some(format!("{by} answered it already: {decision}{at}"))
}
