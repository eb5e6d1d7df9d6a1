//! A server that is a program: started by the one way to start a process, and gone with its handle. It runs outside the
//! sandbox, unless its entry asks for one.
//!
//! One task reads what the program writes: lines that are messages go to the SDK, everything else to the log. What floods,
//! or writes a line that is too long, is stopped.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use contract::spawn::ChildControl;
use contract::{Child, ChildEvent, ChildExit, Command, Quarantined, SandboxSpec, Spawn, Stdin};
use futures::StreamExt as _;
use proto::Pid;
use rustix::fs::{CWD, Mode, OFlags};
use tokio::io::{AsyncWriteExt as _, DuplexStream};
use tokio::net::unix::pipe;
use tokio::sync::watch;

use super::{ConnectError, ConnectRequest, depth};
use crate::config::Transport;
use crate::log::ServerLog;
use crate::sandbox::{SandboxedStart, Sandboxes};

/// The longest line of a server.
const LINE_MAX: usize = 16 * 1024 * 1024;
/// Bytes between the reading task and the SDK.
const BUFFER: usize = 64 * 1024;
/// Bytes on standard output that are no message, in all.
const NOISE_MAX: usize = 4 * 1024 * 1024;
/// Messages in one second.
const MESSAGES_MAX: u32 = 20_000;
/// From TERM to KILL.
const GRACE_MS: u64 = 2_000;
/// Variables of the daemon that a server gets: what programs need to be found and to know their user, and nothing else.
const PASSED: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
];

/// Numbers the pipes and temporary directories.
static NEXT: AtomicU64 = AtomicU64::new(0);

/// A running program.
pub(crate) struct Program {
    pub(crate) os_pid: u32,
    io: Option<(DuplexStream, pipe::Sender)>,
    control: Arc<dyn ChildControl>,
    /// Why it has ended, once it has.
    end: watch::Receiver<Option<String>>,
    /// `None`: it has no sandbox.
    sandbox_terms: Option<SandboxTerms>,
    /// What its sandbox hides from it, as a sentence for an error.
    hidden: Option<String>,
}

/// What the sandbox of a program was made from.
struct SandboxTerms {
    sandboxes: Arc<dyn Sandboxes>,
    cwd: PathBuf,
    terms: String,
}

impl Drop for Program {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Program {
    /// Ends it, and all that it started.
    pub(crate) fn stop(&self) {
        self.control.stop(GRACE_MS);
    }

    /// Why it did not start, with what its sandbox hides from it.
    pub(crate) fn explained(&self, reason: String) -> String {
        with_hidden(reason, self.hidden.as_deref())
    }

    /// Whether its sandbox would be made from other settings now. Blocks.
    pub(crate) fn is_outdated(&self) -> bool {
        let terms = self.sandbox_terms.as_ref();
        terms.is_some_and(|made| made.sandboxes.terms(&made.cwd) != made.terms)
    }

    /// What the SDK reads from and writes to. Once.
    pub(crate) fn take_io(&mut self) -> Option<(DuplexStream, pipe::Sender)> {
        self.io.take()
    }

    /// Resolves when it has ended, with the reason.
    pub(crate) async fn ended(&self) -> String {
        let mut end = self.end.clone();
        let ended = end.wait_for(Option::is_some).await;
        ended.map_or_else(
            |_| "its process is gone".to_owned(),
            |reason| reason.clone().unwrap_or_default(),
        )
    }
}

/// Removes the name of a pipe; those who have it open keep it.
struct PipeName(PathBuf);

impl Drop for PipeName {
    fn drop(&mut self) {
        // It may never have been made.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The temporary directory of one program in a sandbox. Removed when it is dropped: when the program has ended.
struct OwnTemp(PathBuf);

impl OwnTemp {
    fn make(path: PathBuf) -> std::io::Result<Self> {
        std::fs::DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self(path))
    }
}

impl Drop for OwnTemp {
    fn drop(&mut self) {
        if let Err(error) = std::fs::remove_dir_all(&self.0) {
            tracing::warn!(%error, path = %self.0.display(), "temporary files of an MCP server stay");
        }
    }
}

/// What programs are started with.
#[derive(Clone)]
pub struct Programs {
    pub spawn: Arc<dyn Spawn>,
    /// A private directory for named pipes and temporary directories.
    pub dir: PathBuf,
    /// Makes the sandboxes of those that have one.
    pub sandboxes: Arc<dyn Sandboxes>,
}

/// Where a program runs, and with what.
struct Surroundings {
    env: Vec<(String, String)>,
    /// Where its standard input is made.
    pipe: PathBuf,
    /// `None`: it runs outside the sandbox.
    held: Option<Held>,
}

/// What holds a program in the sandbox.
struct Held {
    temp: OwnTemp,
    terms: SandboxTerms,
    sandbox: Arc<SandboxSpec>,
}

/// Starts the program of a server.
pub(crate) async fn start(
    programs: &Programs,
    request: &ConnectRequest,
) -> Result<Program, ConnectError> {
    let Transport::Stdio { command, args, env } = &request.config.transport else {
        return Err("it has no program".to_owned().into());
    };
    let Surroundings { env, pipe, held } = surroundings(programs, request, env).await?;
    let name = PipeName(pipe);
    let input = open_pipe(&name.0).map_err(|error| format!("make a pipe for it: {error}"))?;
    let mut argv = vec![command.clone()];
    argv.extend(args.iter().cloned());
    let hidden = held
        .as_ref()
        .and_then(|held| hidden_word(&argv, &held.sandbox));
    let sandboxed = if held.is_some() { " (sandboxed)" } else { "" };
    let started = programs.spawn.spawn(
        Pid(0),
        Command {
            argv,
            cwd: request.cwd.clone(),
            env,
            title: format!(
                "mcp {}{sandboxed} in {}",
                request.config.name,
                request.cwd.display()
            ),
            number: None,
            sandbox: held.as_ref().map(|held| Arc::clone(&held.sandbox)),
            stdin: Stdin::Pipe(name.0.clone()),
            merge_stderr: false,
        },
    );
    let child = started
        .await
        .map_err(|error| with_hidden(error.to_string(), hidden.as_deref()))?;
    drop(name);
    let Child {
        os_pid,
        events,
        control,
    } = child;
    let control: Arc<dyn ChildControl> = Arc::from(control);
    let (theirs, ours) = tokio::io::duplex(BUFFER);
    let (ended, end) = watch::channel(None);
    let reader = OutputReader::new(Arc::clone(&request.log), ours, Arc::clone(&control));
    let (temp, sandbox_terms) = held.map(|held| (held.temp, held.terms)).unzip();
    tokio::spawn(async move {
        let reason = reader.read(events).await;
        ended.send_replace(Some(reason));
        // It may hold many files.
        drop(tokio::task::spawn_blocking(move || drop(temp)));
    });
    Ok(Program {
        os_pid,
        io: Some((theirs, input)),
        control,
        end,
        sandbox_terms,
        hidden,
    })
}

fn with_hidden(reason: String, hidden: Option<&str>) -> String {
    match hidden {
        Some(hidden) => format!("{reason}; {hidden}"),
        None => reason,
    }
}

/// A file of the command line that a program in this sandbox does not find, because its `/tmp` is its own: a sentence for an
/// error.
fn hidden_word(argv: &[String], sandbox: &SandboxSpec) -> Option<String> {
    let is_hidden = |word: &&String| {
        let path = Path::new(word.as_str());
        let mut seen = sandbox.write.iter().chain([&sandbox.temp]);
        path.starts_with("/tmp") && !seen.any(|seen| path.starts_with(seen)) && path.exists()
    };
    let word = argv.iter().find(is_hidden)?;
    Some(format!(
        "`{word}` is below `/tmp`, and a server with `sandbox` has a `/tmp` of its own: move it to another directory"
    ))
}

/// Where the program of a server is to run. `own`: the variables of its entry.
async fn surroundings(
    programs: &Programs,
    request: &ConnectRequest,
    own: &BTreeMap<String, String>,
) -> Result<Surroundings, ConnectError> {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let place = programs.dir.join(format!("mcp-{number}"));
    let passed = PASSED.iter().filter(|name| !own.contains_key(**name));
    let mut env: Vec<(String, String)> = passed
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    env.extend(own.clone());
    if !request.config.sandbox {
        return Ok(Surroundings {
            env,
            pipe: place,
            held: None,
        });
    }
    // The only place of ours that it sees.
    let pipe = place.join("stdin");
    let (temp, terms, start) = sandboxed(programs, request, place, env).await?;
    let SandboxedStart { sandbox, env } = start;
    let held = Some(Held {
        temp,
        terms,
        sandbox,
    });
    Ok(Surroundings { env, pipe, held })
}

/// Makes the temporary directory and the sandbox of a program.
async fn sandboxed(
    programs: &Programs,
    request: &ConnectRequest,
    temp: PathBuf,
    env: Vec<(String, String)>,
) -> Result<(OwnTemp, SandboxTerms, SandboxedStart), ConnectError> {
    let (sandboxes, cwd) = (Arc::clone(&programs.sandboxes), request.cwd.clone());
    let made = tokio::task::spawn_blocking(move || make_sandbox(sandboxes, cwd, temp, env));
    made.await
        .unwrap_or_else(|_| Err(no_sandbox("its sandbox cannot be worked out")))
}

/// The same. Blocks.
fn make_sandbox(
    sandboxes: Arc<dyn Sandboxes>,
    cwd: PathBuf,
    temp: PathBuf,
    env: Vec<(String, String)>,
) -> Result<(OwnTemp, SandboxTerms, SandboxedStart), ConnectError> {
    // A full disk says nothing of the sandbox: the next try may find room.
    let temp = OwnTemp::make(temp)
        .map_err(|error| format!("its temporary directory cannot be made: {error}"))?;
    // First: what changes meanwhile is noticed later.
    let terms = sandboxes.terms(&cwd);
    let start = sandboxes
        .sandbox(&cwd, &temp.0, env)
        .map_err(|reason| no_sandbox(&reason))?;
    let terms = SandboxTerms {
        sandboxes,
        cwd,
        terms,
    };
    Ok((temp, terms, start))
}

fn no_sandbox(reason: &str) -> ConnectError {
    ConnectError::NoSandbox(format!(
        "its entry has `sandbox`, and it is not started without: {reason}"
    ))
}

/// Makes a named pipe and opens it for both directions, so that neither end waits for the other.
fn open_pipe(path: &Path) -> std::io::Result<pipe::Sender> {
    rustix::fs::mkfifoat(CWD, path, Mode::RUSR | Mode::WUSR)?;
    let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
    let mut options = OpenOptions::new();
    let file = options
        .read(true)
        .write(true)
        .custom_flags(flags)
        .open(path)?;
    pipe::Sender::from_file(file)
}

/// Reads what a program writes, to its end.
struct OutputReader {
    log: Arc<ServerLog>,
    /// To the SDK.
    to: DuplexStream,
    control: Arc<dyn ChildControl>,
    line: Vec<u8>,
    noise: usize,
    /// Since when, and how many.
    messages: (Instant, u32),
    /// Whether a message was not UTF-8.
    is_damaged: bool,
    /// Why we stopped it.
    stopped_for: Option<String>,
}

impl OutputReader {
    fn new(log: Arc<ServerLog>, to: DuplexStream, control: Arc<dyn ChildControl>) -> Self {
        Self {
            log,
            to,
            control,
            line: Vec::new(),
            noise: 0,
            messages: (Instant::now(), 0),
            is_damaged: false,
            stopped_for: None,
        }
    }

    async fn read(mut self, mut events: futures::stream::BoxStream<'static, ChildEvent>) -> String {
        while let Some(event) = events.next().await {
            match event {
                ChildEvent::Stdout(bytes) => self.take(&bytes).await,
                ChildEvent::Stderr(bytes) => self.log.take(&bytes),
                ChildEvent::Quarantined(items) => self.note_quarantined(&items),
                ChildEvent::Exited(exit) => return self.reason(exit),
            }
        }
        self.reason(ChildExit {
            code: None,
            signal: None,
            swept: 0,
            over_memory: None,
        })
    }

    fn stop(&mut self, reason: String) {
        self.log.note(&format!("stopped: {reason}"));
        self.stopped_for = Some(reason);
        self.line = Vec::new();
        self.control.stop(0);
    }

    async fn take(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.stopped_for.is_some() {
                return;
            }
            if self.line.len() + piece.len() > LINE_MAX {
                self.stop(format!("it wrote a line of more than {LINE_MAX} bytes"));
                return;
            }
            self.line.extend_from_slice(piece);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.line);
                self.take_line(&line).await;
            }
        }
    }

    async fn take_line(&mut self, line: &[u8]) {
        let text = line.trim_ascii();
        if text.is_empty() {
            return;
        }
        if !text.starts_with(b"{") && !text.starts_with(b"[") {
            self.noise += line.len();
            self.log.take(line);
            if self.noise > NOISE_MAX {
                self.stop(format!(
                    "it wrote more than {NOISE_MAX} bytes to its standard output that are no MCP messages"
                ));
            }
            return;
        }
        let (since, count) = &mut self.messages;
        if since.elapsed() > Duration::from_secs(1) {
            (*since, *count) = (Instant::now(), 0);
        }
        *count += 1;
        if *count > MESSAGES_MAX {
            self.stop(format!(
                "it wrote more than {MESSAGES_MAX} messages in a second"
            ));
            return;
        }
        let line = match std::str::from_utf8(line) {
            Ok(_) => Cow::Borrowed(line),
            // The SDK would ignore it, and the call that it answers would wait for its whole time limit.
            Err(_) => {
                self.note_damage();
                Cow::Owned(String::from_utf8_lossy(line).into_owned().into_bytes())
            }
        };
        let line = match depth::without_depths(&line) {
            None => line,
            // The SDK would ignore it too.
            Some(kept) => {
                self.log.note(
                    "it wrote a message that is nested too deeply; what is below the hundredth level is left out",
                );
                Cow::Owned(kept)
            }
        };
        // An error means that the SDK has let go of it: then it is stopped.
        let _ = self.to.write_all(&line).await;
    }

    /// Notes what it made under names that are protected.
    fn note_quarantined(&self, items: &[Quarantined]) {
        for Quarantined {
            path,
            kept,
            problem,
            restored: _,
        } in items
        {
            self.log.note(&match (kept, problem) {
                (None, None) => format!(
                    "`{path}`, which its sandbox protects, was replaced by another program, and it could change it from then on"
                ),
                (Some(kept), _) => format!(
                    "it made `{path}`, a name that its sandbox protects: moved to `{kept}`"
                ),
                (None, problem) => format!(
                    "it made `{path}`, a name that its sandbox protects, which cannot be moved away: {}",
                    problem.as_deref().unwrap_or("nobody knows why")
                ),
            });
        }
    }

    /// Notes that a message is not UTF-8. Once.
    fn note_damage(&mut self) {
        if !std::mem::replace(&mut self.is_damaged, true) {
            self.log.note(
                "it wrote a message that is not UTF-8; the bytes that are no text are replaced by \u{fffd}",
            );
        }
    }

    fn reason(&self, exit: ChildExit) -> String {
        let how = match (&self.stopped_for, exit.code, exit.signal) {
            (Some(reason), ..) => return format!("it was stopped: {reason}"),
            (None, Some(code), _) => format!("it exited with code {code}"),
            (None, None, Some(signal)) => format!("it was ended by signal {signal}"),
            (None, None, None) => "it ended".to_owned(),
        };
        self.log.note(&how);
        match self.log.last_words() {
            Some(words) => format!("{how}: {words}"),
            None => how,
        }
    }
}

#[cfg(test)]
mod tests;
