//! Restricts a line that is run: a random program must not start masses of processes.
//!
//! Uses a process namespace that ends with the line, if one is available, and limits on processes, time and files. The
//! limit on processes does not apply to the superuser, so an ordinary user runs the line then. Whether the limit works
//! is tested, not assumed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Maximum processes of a line, in addition to existing ones.
const PROCESSES: usize = 64;
/// The user without any permissions.
const NOBODY: u32 = 65_534;
/// User ids from here on are unused. Each run of these tests gets one, because the limit counts all processes of a
/// user.
const OWN_FROM: u32 = 1_000_000_000;

/// How lines are restricted on this machine.
#[derive(Clone, Debug)]
pub(super) struct LineSandbox {
    /// The command that runs a shell.
    by: Vec<String>,
    /// The namespace ends everything that the line started.
    pub(super) spaced: bool,
    /// The limit on processes works.
    pub(super) bounded: bool,
    /// The other user that runs the line.
    pub(super) given_up: Option<u32>,
}

/// A program of the system.
pub(super) fn real(name: &str) -> Option<PathBuf> {
    ["/usr/bin", "/bin"]
        .iter()
        .map(|dir| Path::new(dir).join(name))
        .find(|path| path.exists())
}

impl LineSandbox {
    /// `None` if this machine has no means to restrict a line.
    pub(super) fn here() -> Option<Self> {
        static HERE: OnceLock<Option<LineSandbox>> = OnceLock::new();
        HERE.get_or_init(Self::find).clone()
    }

    fn find() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return Self::run_by(None);
        }
        // A superuser in a user namespace may have no other users.
        let own = OWN_FROM + std::process::id();
        Self::run_by(Some(own)).or_else(|| Self::run_by(Some(NOBODY)))
    }

    fn run_by(given_up: Option<u32>) -> Option<Self> {
        let user = given_up.unwrap_or_else(|| rustix::process::geteuid().as_raw());
        let mut held = Self {
            by: vec![
                real("prlimit")?.display().to_string(),
                format!("--nproc={}", threads_of(user) + PROCESSES),
                "--cpu=2".to_owned(),
                "--fsize=1048576".to_owned(),
                "--core=0".to_owned(),
            ],
            spaced: false,
            bounded: false,
            given_up,
        };
        let plain = held.by.clone();
        let own = [
            "--user",
            "--map-root-user",
            "--pid",
            "--fork",
            "--kill-child=KILL",
        ];
        if let Some(unshare) = real("unshare") {
            held.by.push(unshare.display().to_string());
            held.by.extend(own.map(str::to_owned));
            held.spaced = held.runs();
        }
        if !held.spaced {
            held.by = plain;
            held.runs().then_some(())?;
        }
        held.bounded = held.is_bounded();
        Some(held)
    }

    /// The shell command, ready for a line.
    pub(super) fn shell(&self, shell: &Path) -> Option<Command> {
        let (program, options) = self.by.split_first()?;
        let mut command = Command::new(program);
        command.args(options);
        command
            .arg(real("timeout")?)
            .args(["-k", "0.2", "2"])
            .arg(shell);
        command.env_clear().stdin(Stdio::null()).process_group(0);
        if let Some(user) = self.given_up {
            command.uid(user).gid(user);
        }
        Some(command)
    }

    fn runs(&self) -> bool {
        let shell = real("bash").and_then(|bash| self.shell(&bash));
        let ran = shell.and_then(|mut shell| shell.args(["-c", "exit 7"]).status().ok());
        ran.is_some_and(|status| status.code() == Some(7))
    }

    /// Whether a line that starts twice as many processes as allowed gets an error.
    fn is_bounded(&self) -> bool {
        let many = 2 * PROCESSES;
        let line = format!("for ((i = 0; i < {many}; i++)); do /bin/sleep 0.3 & done; wait");
        let shell = real("bash").and_then(|bash| self.shell(&bash));
        let ran = shell.and_then(|mut shell| shell.args(["-c", &line]).output().ok());
        ran.is_some_and(|ran| String::from_utf8_lossy(&ran.stderr).contains("fork"))
    }
}

/// Number of a user's threads, as the limit counts them.
fn threads_of(user: u32) -> usize {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let theirs = all.filter(|entry| entry.metadata().is_ok_and(|found| found.uid() == user));
    theirs
        .map(|entry| fs::read_dir(entry.path().join("task")).map_or(0, Iterator::count))
        .sum()
}
