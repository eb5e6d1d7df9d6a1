//! The second stage: sets its own process up, then becomes the command.
//!
//! It exists because limits, session and the "parent died" signal are set by a process for itself, between
//! fork and exec, and because its environment must not be the command's before everything is read.
//! Its standard input is a socket to the first stage: work in, reason of a failure out. When the command
//! runs, the socket has closed by itself.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Resource, Rlimit, getppid, getrlimit, setrlimit, setsid, umask};

use crate::options::Limits;
use crate::wire::Spec;

/// What a shell answers for a command that cannot be run.
const NOT_RUN: i32 = 127;

pub(super) fn main(holder: &OsStr) -> i32 {
    let Ok(mut link) = link() else { return NOT_RUN };
    let reason = turn(holder, &link);
    // Nobody is left to hear it when this fails.
    let _ = link.write_all(reason.as_bytes());
    NOT_RUN
}

/// The socket, out of the way of the command's standard input, and closed by exec.
fn link() -> io::Result<UnixStream> {
    Ok(UnixStream::from(rustix::io::fcntl_dupfd_cloexec(
        rustix::stdio::stdin(),
        3,
    )?))
}

/// Becomes the command. Returns only the reason why it could not.
fn turn(holder: &OsStr, link: &UnixStream) -> String {
    match set_up(holder, link) {
        Ok(spec) => exec(&spec),
        Err(reason) => reason,
    }
}

fn set_up(holder: &OsStr, link: &UnixStream) -> Result<Spec, String> {
    die_with_parent().map_err(|error| format!("tie it to its helper: {error}"))?;
    // The helper may have died before the line above: then nobody tells us.
    let parent = getppid().map(|pid| pid.as_raw_nonzero().get().to_string());
    if parent.as_deref().map(OsStr::new) != Some(holder) {
        return Err("its helper has gone".to_owned());
    }
    let mut line = String::new();
    BufReader::new(link)
        .read_line(&mut line)
        .map_err(|error| format!("hear what to run: {error}"))?;
    let spec: Spec =
        serde_json::from_str(&line).map_err(|error| format!("hear what to run: {error}"))?;
    setsid().map_err(|error| format!("make its session: {error}"))?;
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
        inner
            .bind()
            .map_err(|reason| format!("the sandbox: {reason}"))?;
    }
    Ok(spec)
}

fn die_with_parent() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}

/// When memory runs out, the kernel should take a command before the daemon. Best effort: it is a
/// preference, and some containers do not let it be set.
fn die_before_others() {
    #[cfg(target_os = "linux")]
    let _ = std::fs::write("/proc/self/oom_score_adj", "500");
}

fn limit(limits: &Limits) -> Result<(), String> {
    let asked = [
        (Resource::Core, "core files", Some(0)),
        (Resource::Nproc, "processes", limits.processes),
        (Resource::Nofile, "open files", limits.open_files),
        (Resource::As, "address space", limits.address_space),
        (Resource::Fsize, "file size", limits.file_size),
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

fn exec(spec: &Spec) -> String {
    let Some((program, arguments)) = spec.argv.split_first() else {
        return "the command is empty".to_owned();
    };
    let stdin = match spec.stdin.as_deref().map(given) {
        None => Stdio::null(),
        Some(Ok(file)) => Stdio::from(file),
        Some(Err(error)) => return format!("lay its standard input ready: {error}"),
    };
    // Signal mask and the ignored SIGPIPE are put back by `exec`; the rest the first stage has seen to.
    let error = Command::new(program)
        .args(arguments)
        .env_clear()
        .envs(spec.env.iter().map(|(name, value)| (name, value)))
        .stdin(stdin)
        .exec();
    explain(program, &error)
}

/// A file without a name that holds this text. Whoever does not read it hinders nobody, as a pipe would.
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

/// What the system said, without its number where we know a better word.
fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such directory".to_owned(),
        io::ErrorKind::NotADirectory => "not a directory".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}
