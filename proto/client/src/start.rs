//! Starting and stopping the daemon as a process. Speaks no protocol. Called by `connect` and `call`.

use std::fs::DirBuilder;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::Paths;

/// The daemon's program, beside the client's own or on PATH.
const PROGRAM: &str = "reasonixd";

/// What the daemon gets of the client's environment. Providers' keys never: a session brings its own.
const PASSED: [&str; 13] = [
    "REASONIX_LOG",
    "HOME",
    "PATH",
    "XDG_RUNTIME_DIR",
    "TMPDIR",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
];

/// Why the daemon was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// Nothing by that name anywhere.
    #[error("`{PROGRAM}` was not found next to this program or on PATH")]
    NotFound,
    /// The home cannot be made.
    #[error("create the home `{}`", home.display())]
    Home {
        home: PathBuf,
        source: std::io::Error,
    },
    /// There is a program, and it does not say which version it is.
    #[error("`{}` did not print its version: it cannot run or is not `{PROGRAM}`", program.display())]
    Mute { program: PathBuf },
    /// The program does not run.
    #[error("run `{}`", program.display())]
    Spawn {
        program: PathBuf,
        source: std::io::Error,
    },
}

/// Where the daemon's program is: `$REASONIX_DAEMON`, else beside this program, else on PATH.
#[must_use]
pub fn find_program() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("REASONIX_DAEMON").filter(|value| !value.is_empty()) {
        return Some(PathBuf::from(named));
    }
    let own = std::env::current_exe().ok();
    let real = own.as_deref().and_then(|path| path.canonicalize().ok());
    let beside = [own, real]
        .into_iter()
        .flatten()
        .filter_map(|path| Some(path.parent()?.join(PROGRAM)));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path: Vec<PathBuf> = std::env::split_paths(&path)
        .map(|directory| directory.join(PROGRAM))
        .collect();
    beside.chain(on_path).find(|candidate| candidate.is_file())
}

/// The version that the daemon's program says it is of; `None` if there is none, or it prints nothing in time.
pub async fn program_version() -> Option<String> {
    /// It only prints; a busy machine may take seconds to load it.
    const PATIENCE: Duration = Duration::from_secs(10);
    let asked = tokio::process::Command::new(find_program()?)
        .arg("--version")
        .env_clear()
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .output();
    let said = tokio::time::timeout(PATIENCE, asked).await.ok()?.ok()?;
    let said = String::from_utf8(said.stdout).ok()?;
    let version = said.trim().rsplit(' ').next()?;
    (!version.is_empty()).then(|| version.to_owned())
}

/// Starts the daemon of these paths: nothing of the client's terminal or environment stays with it. It leaves the
/// client's session by itself, first of all; as the leader of a group it could not. `make_home`: a home that is not
/// there is made; without it the daemon does not start there.
pub(crate) fn launch(paths: &Paths, make_home: bool) -> Result<Child, StartError> {
    let program = find_program().ok_or(StartError::NotFound)?;
    if make_home {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&paths.home)
            .map_err(|source| StartError::Home {
                home: paths.home.clone(),
                source,
            })?;
    }
    let mut command = Command::new(&program);
    command
        .env_clear()
        .envs(
            PASSED
                .iter()
                .filter_map(|name| Some((*name, std::env::var_os(name)?))),
        )
        .env("REASONIX_HOME", &paths.home)
        .current_dir(&paths.home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        // Its output before it has a log: why it cannot start. Nobody reads on once it answers.
        .stderr(Stdio::piped());
    if paths.socket_given {
        command.env("REASONIX_SOCKET", &paths.socket);
    }
    command
        .spawn()
        .map_err(|source| StartError::Spawn { program, source })
}

/// What a daemon that has ended said before it had a log, line by line.
pub(crate) fn last_words(child: &mut Child) -> Vec<String> {
    /// A reason is short; whatever else is there is not one.
    const MOST: u64 = 4096;
    let mut said = Vec::new();
    if let Some(stderr) = child.stderr.take() {
        // It has ended, so this ends: at the end of its output, or at the cap. A read that fails adds nothing.
        let _ = stderr.take(MOST).read_to_end(&mut said);
    }
    String::from_utf8_lossy(&said)
        .lines()
        .map(str::to_owned)
        .filter(|line| !line.is_empty())
        .collect()
}

/// The last `lines` lines of the daemon's log; empty if there is none.
#[must_use]
pub fn log_tail(path: &Path, lines: usize) -> Vec<String> {
    /// Enough for some hundred lines; a log may be large.
    const WINDOW: u64 = 256 * 1024;
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = std::fs::File::open(path)?;
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(WINDOW)))?;
        let mut bytes = Vec::new();
        file.take(WINDOW).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let Ok(bytes) = read() else { return Vec::new() };
    let text = String::from_utf8_lossy(&bytes);
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..]
        .iter()
        .map(|line| (*line).to_owned())
        .collect()
}

/// Whether no process with this number runs any more. One that has ended is gone even while nobody has asked for its exit
/// status: in a container the first process may never do so.
pub(crate) fn is_gone(pid: u32) -> bool {
    let pid = i32::try_from(pid)
        .ok()
        .filter(|pid| *pid > 0)
        .and_then(rustix::process::Pid::from_raw);
    pid.is_none_or(|pid| has_ended(pid) || rustix::process::test_kill_process(pid).is_err())
}

/// Whether a process is there that has ended. Its handle is readable from then on.
#[cfg(target_os = "linux")]
fn has_ended(pid: rustix::process::Pid) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    let flags = rustix::process::PidfdFlags::empty();
    rustix::process::pidfd_open(pid, flags).is_ok_and(|handle| {
        let mut handles = [PollFd::new(&handle, PollFlags::IN)];
        poll(&mut handles, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    })
}

#[cfg(not(target_os = "linux"))]
fn has_ended(_pid: rustix::process::Pid) -> bool {
    false
}
