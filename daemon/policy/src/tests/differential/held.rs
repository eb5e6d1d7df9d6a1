//! What holds a line that is run: anybody's guess of a program must not become a storm of processes.
//!
//! A process namespace that ends with the line where one can be had, a limit on processes (which does not bind the
//! superuser: then an ordinary user runs it), on time and on files. Whether the limit binds is tried, and not believed.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Processes that a line may have beside those that there are.
const PROCESSES: usize = 64;
/// The user that has nothing.
const NOBODY: u32 = 65_534;
/// From here on users are nobody's: one for each run of these tests, because the limit counts what a user has anywhere.
const OWN_FROM: u32 = 1_000_000_000;

/// How lines are held on this machine.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// What a shell is run by.
    by: Vec<String>,
    /// It ends with all that it started.
    pub(super) spaced: bool,
    /// No line can have more processes than it may.
    pub(super) bounded: bool,
    /// The other user that it is run as.
    pub(super) given_up: Option<u32>,
}

/// A program of the system.
pub(super) fn real(name: &str) -> Option<PathBuf> {
    ["/usr/bin", "/bin"]
        .iter()
        .map(|dir| Path::new(dir).join(name))
        .find(|path| path.exists())
}

impl Held {
    /// `None` where there is nothing to hold a line with.
    pub(super) fn here() -> Option<Self> {
        static HERE: OnceLock<Option<Held>> = OnceLock::new();
        HERE.get_or_init(Self::find).clone()
    }

    fn find() -> Option<Self> {
        if !rustix::process::geteuid().is_root() {
            return Self::run_by(None);
        }
        // A superuser of a few users only has no others.
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

    /// The shell, ready to be given a line.
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

    /// Whether a line that starts twice as many processes as it may is told so.
    fn is_bounded(&self) -> bool {
        let many = 2 * PROCESSES;
        let line = format!("for ((i = 0; i < {many}; i++)); do /bin/sleep 0.3 & done; wait");
        let shell = real("bash").and_then(|bash| self.shell(&bash));
        let ran = shell.and_then(|mut shell| shell.args(["-c", &line]).output().ok());
        ran.is_some_and(|ran| String::from_utf8_lossy(&ran.stderr).contains("fork"))
    }
}

/// Threads of a user, as the limit counts them.
fn threads_of(user: u32) -> usize {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let theirs = all.filter(|entry| entry.metadata().is_ok_and(|found| found.uid() == user));
    theirs
        .map(|entry| fs::read_dir(entry.path().join("task")).map_or(0, Iterator::count))
        .sum()
}
