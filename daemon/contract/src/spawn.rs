//! The one way to start a process.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use proto::Pid;
use proto::params::process::ChildProcess;
use proto::record::Quarantined;

use crate::sandbox_spec::{SandboxSpec, SandboxStrength};

/// A program to start, fully said: nothing is inherited.
#[derive(Clone, Debug)]
pub struct Command {
    /// Program and arguments. The program is an absolute path, or found on `PATH` of `env`.
    pub argv: Vec<String>,
    pub cwd: PathBuf,
    /// The whole environment.
    pub env: Vec<(String, String)>,
    /// For `ps`: what a person would call it.
    pub title: String,
    /// Its own number in the process table, where it runs in the background.
    pub number: Option<Pid>,
    /// Its sandbox. `None`: only the user's rights apply.
    pub sandbox: Option<Arc<SandboxSpec>>,
    pub stdin: Stdin,
    /// Its standard error is its standard output, so that what it writes to both arrives in the order in which it was
    /// written, as [`ChildEvent::Stdout`].
    pub merge_stderr: bool,
}

/// The standard input of a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Stdin {
    /// It reads as empty.
    #[default]
    Empty,
    /// This text, at most [`STDIN_MAX`] bytes.
    Text(String),
    /// A named pipe that the caller has made and holds open: it may write as long as the command runs.
    Pipe(PathBuf),
}

/// Memory of a git that the daemon runs for itself, in KiB: it reads files of the workspace that a command may have replaced by
/// one without end. A large repository needs a tenth of it.
pub const OWN_GIT_MEMORY_KIB: u32 = 2 * 1024 * 1024;

/// The longest text that a child is given on its standard input, in bytes.
pub const STDIN_MAX: usize = 16 * 1024 * 1024;

/// Something a child did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChildEvent {
    Stdout(Vec<u8>),
    Stderr(Vec<u8>),
    /// Protected names came while the command ran in its sandbox, and were moved away.
    Quarantined(Vec<Quarantined>),
    /// The last event: the command has ended, its output is drained, and nothing it started is left.
    Exited(ChildExit),
}

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChildExit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    /// Processes that it had left behind and that were killed with it.
    pub swept: u32,
    /// It, or a process of it, was killed because all of them used more memory than this limit, in bytes.
    pub over_memory: Option<u64>,
}

/// A running child. Dropping it kills everything it started.
pub struct Child {
    /// Of the command itself.
    pub os_pid: u32,
    pub events: BoxStream<'static, ChildEvent>,
    pub control: Box<dyn ChildControl>,
}

/// Stops a child.
pub trait ChildControl: Send + Sync {
    /// TERM to the whole tree now, KILL after `grace_ms` to whatever is left. `0`: KILL at once.
    fn stop(&self, grace_ms: u64);
}

/// Why a child could not be started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("start `{program}`: {reason}")]
    Start { program: String, reason: String },
    #[error("the daemon is stopping")]
    Stopping,
}

/// Starts processes. Implemented by `procs`, handed out by the daemon's assembly.
pub trait Spawn: Send + Sync {
    /// How strong a sandbox is here. It does not change. Shortly after the start it may block for some
    /// ten milliseconds, until the machine has been probed.
    fn strength(&self) -> SandboxStrength {
        SandboxStrength::None
    }

    /// Starts a command in the scope of a session. It ends with the session or the daemon. If it has a
    /// sandbox that cannot be set up, it does not start.
    fn spawn(
        &self,
        session: Pid,
        command: Command,
    ) -> BoxFuture<'static, Result<Child, SpawnError>>;

    /// What runs in the scope of a session, oldest first.
    fn running(&self, session: Pid) -> Vec<ChildProcess>;

    /// Stops everything in the scope of a session, without waiting: TERM now, KILL after `grace_ms`.
    fn stop_session(&self, session: Pid, grace_ms: u64);

    /// A file tool is about to create these paths, with the user's approval: running commands have not made them.
    fn expect(&self, _paths: &[PathBuf]) {}

    /// Protected names that came while commands of this session ran and that nobody was there to hear of: the daemon
    /// was killed. Moves them away. Blocks.
    fn leftovers(&self, _session: Pid) -> Vec<Quarantined> {
        Vec::new()
    }

    /// Puts something back that was moved away. Blocks.
    ///
    /// # Errors
    /// It stays where it was kept: the reason, as a text for the user.
    fn put_back(&self, item: &Quarantined) -> Result<(), String> {
        Err(format!("nothing here keeps `{}`", item.path))
    }
}
