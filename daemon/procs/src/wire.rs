//! The messages between daemon and helper: the command, orders and status, as one JSON value per
//! line.
//!
//! Both ends are from the same build, so the format need not be compatible.

use std::ffi::OsString;

use contract::{Command, Stdin};
use serde::{Deserialize, Serialize};

use crate::options::{ProcsOptions, ResourceLimits};

/// The first line to the helper, which passes it unchanged to its second stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CommandSpec {
    pub argv: Vec<String>,
    /// A raw system path: a directory's name need not be UTF-8.
    pub cwd: OsString,
    pub env: Vec<(String, String)>,
    pub limits: ResourceLimits,
    pub umask: Option<u32>,
    /// Restrictions to apply before becoming the command.
    pub inner: Option<sandbox::ProcessRestrictions>,
    pub stdin: Stdin,
    /// Its standard error is its standard output.
    pub merge_stderr: bool,
}

impl CommandSpec {
    pub fn new(command: Command, options: &ProcsOptions) -> Self {
        Self {
            argv: command.argv,
            cwd: command.cwd.into_os_string(),
            env: command.env,
            limits: options.limits,
            umask: options.umask,
            inner: None,
            stdin: command.stdin,
            merge_stderr: command.merge_stderr,
        }
    }
}

/// What the helper itself needs of a [`CommandSpec`].
#[derive(Debug, Deserialize)]
pub(crate) struct HeldCommand {
    pub limits: ResourceLimits,
    inner: Option<HeldRestrictions>,
}

#[derive(Debug, Deserialize)]
struct HeldRestrictions {
    sockets: Option<sandbox::SocketRules>,
}

impl HeldCommand {
    /// The sockets that a broker lets the command reach.
    pub fn sockets(&mut self) -> Option<sandbox::SocketRules> {
        self.inner.take()?.sockets
    }
}

/// A message from the helper: `Started` or `Failed` first, and `Exited` last after `Started`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HelperStatus {
    /// The command runs, with this process id.
    Started(u32),
    /// The command could not be run. The reason is a text for the user.
    Failed(String),
    /// The command has ended, and its remaining processes were killed.
    Exited(CommandExit),
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CommandExit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub swept: u32,
    /// Number of processes that could not be killed, because they have other rights or hang in the
    /// kernel.
    pub left: u32,
    /// It was killed because it used more memory than its limit, in bytes.
    pub memory: Option<u64>,
}

/// An order to the helper. The end of the channel means that the daemon is gone: kill everything.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum HelperOrder {
    /// TERM now, KILL after this many milliseconds. Of several orders, the earliest end counts.
    Stop(u64),
}

/// Serializes a value as a line.
pub(crate) fn line<T: Serialize>(value: &T) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// Parses a line.
pub(crate) fn read<T: serde::de::DeserializeOwned>(line: &str) -> serde_json::Result<T> {
    serde_json::from_str(line)
}
