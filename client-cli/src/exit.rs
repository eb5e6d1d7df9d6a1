//! From what went wrong to the exit code and the two lines that a person reads: what, and what to do.

use std::error::Error as _;
use std::io;

use client::{CallError, ConnectError, hint};
use proto::{ErrorName, Failure};
use serde_json::{Value, json};

use crate::messages::{common::Msg, language};
use crate::output;
use crate::text;

/// Something that the user has set up said no.
pub const BLOCKED: u8 = 3;
/// A budget, the step limit or the context is used up: the session can go on.
pub const LIMITED: u8 = 2;
/// The command line was wrong.
pub const USAGE: u8 = 64;
/// No daemon could be reached or started.
pub const NO_DAEMON: u8 = 69;
/// It waits for a person, and goes on in the daemon.
pub const PARKED: u8 = 75;
/// Not permitted.
pub const NOT_PERMITTED: u8 = 77;
/// The configuration is wrong.
pub const CONFIG: u8 = 78;
/// `--timeout` was reached.
pub const TIMEOUT: u8 = 124;
/// Interrupted by INT.
pub const INTERRUPTED: u8 = 130;
/// Ended by TERM.
pub const TERMINATED: u8 = 143;

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The person can say it better.
    #[error("{what}")]
    Usage { what: String, hint: String },
    /// The daemon, or the way to it.
    #[error(transparent)]
    Call(#[from] CallError),
    /// No home, no socket.
    #[error(transparent)]
    Paths(#[from] client::paths::PathsError),
    /// Whoever read our output has had enough. Not an error: the command ends quietly.
    #[error("{}", say!(Msg::StdoutClosed))]
    Closed,
    /// Something of the operating system.
    #[error("{}", say!(Msg::CouldNot, doing))]
    Io { doing: String, source: io::Error },
    /// The daemon is gone; what that means is said.
    #[error("{what}")]
    Away { what: String },
    /// A person stopped it, by a signal with this exit code.
    #[error("{what}")]
    Stopped { what: String, code: u8 },
    /// It was done, and did not come out well.
    #[error("{what}")]
    Failed { what: String, hint: String },
}

impl From<ConnectError> for Error {
    fn from(error: ConnectError) -> Self {
        Self::Call(CallError::Connect(error))
    }
}

impl Error {
    /// The last lines of a daemon that ended or did not answer while it was started.
    pub fn daemon_log(&self) -> &[String] {
        match self {
            Self::Call(CallError::Connect(
                ConnectError::Ended { log, .. } | ConnectError::Silent { log, .. },
            )) => log,
            _ => &[],
        }
    }

    /// A mistake on the command line.
    pub fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// The same error, said to who followed this session.
    pub fn of_session(self, pid: impl std::fmt::Display) -> Self {
        match self {
            Self::Call(CallError::Connect(ConnectError::Stopped { .. })) => Self::Away {
                what: say!(Msg::DaemonStopped, pid),
            },
            other => other,
        }
    }

    /// An error of the system, with the action that failed.
    pub fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Self::Io {
            doing: doing.into(),
            source,
        }
    }

    /// The exit code for scripts.
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage { .. } => USAGE,
            Self::Call(error) => call_code(error),
            Self::Away { .. } => NO_DAEMON,
            Self::Paths(_) => CONFIG,
            Self::Closed => 0,
            Self::Stopped { code, .. } => *code,
            Self::Io { source, .. } if source.kind() == io::ErrorKind::PermissionDenied => {
                NOT_PERMITTED
            }
            Self::Io { .. } | Self::Failed { .. } => 1,
        }
    }

    /// What a user can do about it; empty if nothing.
    pub fn hint(&self) -> String {
        match self {
            Self::Usage { hint, .. } | Self::Failed { hint, .. } => hint.clone(),
            Self::Call(error) => hint::of(error),
            Self::Paths(_) => say!(Msg::HomeShort).to_owned(),
            Self::Io { source, .. } => say!(Msg::SystemSays, source),
            Self::Closed | Self::Away { .. } | Self::Stopped { .. } => String::new(),
        }
    }

    /// The same for programs, as in `data` of the protocol's errors.
    pub fn describe(&self) -> Value {
        if let Self::Call(call) = self
            && let Some(failure) = call.failure()
        {
            return describe(failure);
        }
        let name = match self.code() {
            USAGE => "usage",
            NO_DAEMON => "no_daemon",
            NOT_PERMITTED => "not_permitted",
            INTERRUPTED | TERMINATED => "interrupted",
            CONFIG => "invalid_config",
            _ => "failed",
        };
        json!({"name": name, "message": self.to_string(), "hint": self.hint(), "retryable": false})
    }
}

/// A failure for programs.
pub fn describe(failure: &Failure) -> Value {
    let mut data = failure.data();
    if let Value::Object(data) = &mut data {
        data.insert("message".to_owned(), failure.message.clone().into());
    }
    data
}

/// The exit code of a failure that the daemon named.
pub fn failure_code(name: ErrorName) -> u8 {
    match name {
        ErrorName::NotReady | ErrorName::ProtocolMismatch | ErrorName::ShuttingDown => NO_DAEMON,
        ErrorName::NotFound | ErrorName::Ambiguous | ErrorName::InvalidParams => USAGE,
        ErrorName::NotAllowed => NOT_PERMITTED,
        ErrorName::InvalidConfig => CONFIG,
        ErrorName::Blocked => BLOCKED,
        ErrorName::BudgetExceeded => LIMITED,
        ErrorName::Busy
        | ErrorName::AlreadyResolved
        | ErrorName::ProviderFailed
        | ErrorName::OutOfCredit
        | ErrorName::ConfirmNeeded
        | ErrorName::Limit
        | ErrorName::CursorStale
        | ErrorName::Storage
        | ErrorName::RequestIdReused
        | ErrorName::Stale
        | ErrorName::Internal => 1,
    }
}

fn call_code(error: &CallError) -> u8 {
    match error {
        CallError::Failure(failure) | CallError::Connect(ConnectError::Refused(failure)) => {
            failure_code(failure.name)
        }
        CallError::Connect(ConnectError::Foreign { .. } | ConnectError::Open { .. }) => {
            NOT_PERMITTED
        }
        CallError::Connect(ConnectError::Socket { source, .. })
            if source.kind() == io::ErrorKind::PermissionDenied =>
        {
            NOT_PERMITTED
        }
        CallError::Connect(_) | CallError::Lost { .. } | CallError::Timeout { .. } => NO_DAEMON,
        CallError::TooLarge { .. } => USAGE,
        CallError::Unknown { .. } => NO_DAEMON,
        CallError::Answer { .. } | CallError::Pieces { .. } | CallError::Gap { .. } => 1,
    }
}

/// Says it to a person on standard error; returns the exit code.
pub fn tell(error: &Error, verbose: bool) -> u8 {
    if matches!(error, Error::Closed) {
        return 0;
    }
    let shown = |words: &str| text::line(&language().translate(words));
    output::progress(&format!("reasonix: {}", shown(&error.to_string())));
    for line in error.daemon_log() {
        output::progress(&format!("  {}", text::line(line)));
    }
    if verbose {
        let mut source = error.source();
        while let Some(cause) = source {
            output::progress(&say!(Msg::BecauseLine, shown(&cause.to_string())));
            source = cause.source();
        }
    }
    let hint = error.hint();
    if !hint.is_empty() {
        output::progress(&format!("  {}", shown(&hint)));
    }
    error.code()
}

#[cfg(test)]
mod tests;
