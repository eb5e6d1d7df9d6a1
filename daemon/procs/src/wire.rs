//! The lines between daemon and helper: what is to be run, orders, and status. One JSON value a line.
//!
//! Both ends are always of the same build, so nothing here is kept compatible.

use std::ffi::OsString;

use contract::Command;
use serde::{Deserialize, Serialize};

use crate::options::{Limits, Options};

/// The first line to the helper, which hands it on to its second stage as it came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spec {
    pub argv: Vec<String>,
    /// As the system has it: a directory's name need not be UTF-8.
    pub cwd: OsString,
    pub env: Vec<(String, String)>,
    pub limits: Limits,
    pub umask: Option<u32>,
    /// What it does to itself before it becomes the command.
    pub inner: Option<sandbox::Inner>,
    /// What stands on its standard input.
    pub stdin: Option<String>,
}

impl Spec {
    pub fn new(command: Command, options: &Options) -> Self {
        Self {
            argv: command.argv,
            cwd: command.cwd.into_os_string(),
            env: command.env,
            limits: options.limits,
            umask: options.umask,
            inner: None,
            stdin: command.stdin,
        }
    }
}

/// What the helper tells the daemon: `Started` or `Failed` first, and `Exited` as the last after `Started`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    /// The command runs, with this process id.
    Started(u32),
    /// The command could not be run: for a person to read.
    Failed(String),
    /// The command has ended, and what it left behind has been killed.
    Exited(Ended),
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Ended {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub swept: u32,
    /// Processes that could not be killed, because they run with other rights or hang in the kernel.
    pub left: u32,
}

/// What the daemon tells the helper. The end of the channel means: the daemon is gone, kill everything.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Order {
    /// TERM now, KILL after so many milliseconds. Of several, the earliest end counts.
    Stop(u64),
}

/// One value as a line.
pub(crate) fn line<T: Serialize>(value: &T) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(line)
}

/// What a line says.
pub(crate) fn read<T: serde::de::DeserializeOwned>(line: &str) -> serde_json::Result<T> {
    serde_json::from_str(line)
}
