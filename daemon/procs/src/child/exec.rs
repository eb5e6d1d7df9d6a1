//! The second stage: sets up its own process, then becomes the command.
//!
//! It exists because a process must set limits, session and the parent-death signal for itself,
//! between fork and exec. Its standard input is a socket to the first stage: the command comes in,
//! the reason of a failure goes out. Exec closes the socket.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use contract::Stdin;
use rustix::process::{Pid, Resource, Rlimit, getppid, getrlimit, setrlimit, setsid, umask};

use super::sockets;
use crate::options::ResourceLimits;
use crate::wire::CommandSpec;

/// The exit code of a shell for a command that cannot be run.
const NOT_RUN: i32 = 127;

pub(super) fn main(holder: Pid) -> i32 {
    let Ok(mut link) = link() else { return NOT_RUN };
    let reason = turn(holder, &link);
    // If this fails, nobody is left to read it.
    let _ = link.write_all(reason.as_bytes());
    NOT_RUN
}

/// Moves the socket away from the command's standard input. Exec closes it.
fn link() -> io::Result<UnixStream> {
    Ok(UnixStream::from(rustix::io::fcntl_dupfd_cloexec(
        rustix::stdio::stdin(),
        3,
    )?))
}

/// Becomes the command. Returns only if that fails, with the reason.
fn turn(holder: Pid, link: &UnixStream) -> String {
    match set_up(holder, link) {
        Ok(spec) => exec(&spec),
        Err(reason) => reason,
    }
}

fn set_up(holder: Pid, link: &UnixStream) -> Result<CommandSpec, String> {
    die_with_parent().map_err(|error| format!("tie it to its helper: {error}"))?;
    // The helper may have died before the line above. Then no signal arrives.
    if getppid() != Some(holder) {
        return Err("its helper has gone".to_owned());
    }
    let mut line = String::new();
    BufReader::new(link)
        .read_line(&mut line)
        .map_err(|error| format!("read the command: {error}"))?;
    let spec: CommandSpec =
        serde_json::from_str(&line).map_err(|error| format!("read the command: {error}"))?;
    setsid().map_err(|error| format!("create its session: {error}"))?;
    die_before_others();
    limit(&spec.limits)?;
    if let Some(mask) = spec.umask {
        umask(rustix::fs::Mode::from_bits_truncate(mask));
    }
    std::env::set_current_dir(&spec.cwd).map_err(|error| {
        format!(
            "working directory `{}`: {}",
            Path::new(&spec.cwd).display(),
            plain(&error)
        )
    })?;
    if let Some(inner) = &spec.inner {
        let bound = inner.bind();
        let listener = bound.map_err(|reason| format!("the sandbox: {reason}"))?;
        if let Some(listener) = listener {
            sockets::give(link, &listener)
                .map_err(|error| format!("the sandbox: hand its sockets over: {error}"))?;
        }
    }
    Ok(spec)
}

fn die_with_parent() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}

/// If memory runs out, the kernel should kill a command before the daemon. Best effort: some
/// containers do not allow it.
fn die_before_others() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // The first stage is closed to others, and with it its own files in `/proc` to all but root.
        let _ = set_dumpable_behavior(DumpableBehavior::Dumpable);
        let _ = std::fs::write("/proc/self/oom_score_adj", "500");
    }
}

fn limit(limits: &ResourceLimits) -> Result<(), String> {
    let asked = [
        (Resource::Core, "core files", Some(0)),
        (Resource::Nproc, "processes", limits.processes),
    ];
    for (resource, name, limit) in asked {
        let Some(limit) = limit else { continue };
        let had = getrlimit(resource);
        let lower = |had: Option<u64>| Some(had.map_or(limit, |had| had.min(limit)));
        let now = Rlimit {
            current: lower(had.current),
            maximum: lower(had.maximum),
        };
        setrlimit(resource, now).map_err(|error| format!("limit {name} to {limit}: {error}"))?;
    }
    Ok(())
}

fn exec(spec: &CommandSpec) -> String {
    let Some((program, arguments)) = spec.argv.split_first() else {
        return "the command is empty".to_owned();
    };
    let opened = match &spec.stdin {
        Stdin::Empty => Ok(Stdio::null()),
        Stdin::Text(text) => given(text).map(Stdio::from),
        // The caller has it open: this does not wait for a writer.
        Stdin::Pipe(path) => File::open(path).map(Stdio::from),
    };
    let stdin = match opened {
        Ok(stdin) => stdin,
        Err(error) => return format!("prepare its standard input: {error}"),
    };
    if spec.merge_stderr
        && let Err(error) = rustix::stdio::dup2_stderr(rustix::stdio::stdout())
    {
        return format!("join its standard error to its standard output: {error}");
    }
    // `exec` resets the signal mask and the ignored SIGPIPE. The first stage handled the rest.
    let error = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(stdin)
        .exec();
    explain(program, &error)
}

/// An unnamed file with this text. Unlike a pipe, it does not block if the command ignores it.
fn given(text: &str) -> io::Result<File> {
    let mut file = nameless()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

#[cfg(target_os = "linux")]
fn nameless() -> io::Result<File> {
    use rustix::fs::{MemfdFlags, memfd_create};
    Ok(File::from(memfd_create("stdin", MemfdFlags::CLOEXEC)?))
}

#[cfg(not(target_os = "linux"))]
fn nameless() -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let name = format!(
        "reasonix-{}-{}",
        std::process::id(),
        now.unwrap_or_default().as_nanos()
    );
    let path = std::env::temp_dir().join(name);
    let mut options = File::options();
    let file = options.read(true).write(true).create_new(true).mode(0o600);
    let file = file.open(&path)?;
    std::fs::remove_file(&path)?;
    Ok(file)
}

fn explain(program: &str, error: &io::Error) -> String {
    if error.kind() != io::ErrorKind::NotFound {
        return plain(error);
    }
    if !program.contains('/') {
        return "no such program on `PATH`".to_owned();
    }
    if Path::new(program).exists() {
        return "the interpreter or loader that the file names does not exist".to_owned();
    }
    "no such file".to_owned()
}

/// A clearer text for common errors, without the system's error number.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such directory".to_owned(),
        io::ErrorKind::NotADirectory => "not a directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}
