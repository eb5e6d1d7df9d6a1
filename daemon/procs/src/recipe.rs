//! The way into a PID namespace: which program opens it, and with which arguments.
//!
//! Bubblewrap makes a process namespace whose first process is our helper. What is in it cannot see, signal
//! or outlive what is outside: when the helper, bubblewrap, the spawner thread or the daemon dies, by
//! whatever blow, the kernel kills all the rest in one piece. So it says how long a command lives, and
//! nothing about what it may touch: file system, devices, network, user and groups stay as they are.
//!
//! What else is different inside:
//! - No program gains rights by being started (`NO_NEW_PRIVS`, and mounts without set-user-id): `sudo`,
//!   `su` and the like do not work in a command.
//! - `/proc` shows the namespace alone, and parts of it (`/proc/sys`, `/proc/bus` …) cannot be written.
//! - Mounts made by a command end with it.
//! - For an ordinary user it takes a user namespace, in which only the user's own number exists: files of
//!   others look as if they belonged to `nobody`. What may be read and written does not change.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::geteuid;

use crate::child::{INSIDE, PROBE};
use crate::options::{Helper, Options};

/// Where the program may stand. Never on a `PATH`: that may lead into a project.
const PLACES: [&str; 6] = [
    "/usr/bin/bwrap",
    "/bin/bwrap",
    "/usr/local/bin/bwrap",
    "/run/current-system/sw/bin/bwrap",
    "/usr/sbin/bwrap",
    "/usr/libexec/bwrap",
];

/// Process numbers below this one are given out only once in a namespace (`RESERVED_PIDS` in the kernel's
/// `kernel/pid.c`), so they do not count as room.
const RESERVED: u32 = 300;

/// How every helper is started, once it is known that it can be.
pub(crate) struct Recipe {
    program: PathBuf,
    arguments: Vec<String>,
    /// Inherited by the helper, whose only way to the binary it is: the `/proc` of the daemon is not there.
    /// Never read.
    _binary: File,
    /// The directory in which the helper finds the switch for how many processes its namespace may have.
    switches: Option<OwnedFd>,
}

/// Why there is no recipe, in a person's words.
pub(crate) type Why = String;

impl Recipe {
    /// Writes it down. Starts nothing.
    pub fn new(options: &Options) -> Result<Self, Why> {
        let program = trusted(&PLACES)?;
        let told = |error: io::Error| format!("the daemon's binary cannot be passed on: {error}");
        let binary = File::open(&options.helper.program).map_err(told)?;
        // Everything the daemon starts comes by way of the helper, which closes it.
        fcntl_setfd(&binary, FdFlags::empty()).map_err(|error| told(error.into()))?;
        let switches = switches();
        let numbers = switches.as_ref().and(options.limits.tasks);
        let numbers = numbers.map_or(0, |tasks| tasks.saturating_add(RESERVED));
        Ok(Self {
            program,
            arguments: arguments(&options.helper, binary.as_raw_fd(), numbers),
            _binary: binary,
            switches,
        })
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// What the program is told to start one command.
    pub fn to_hold(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().map(String::as_str)
    }

    /// What the program is told to try whether it works.
    pub fn to_probe(&self) -> impl Iterator<Item = &str> {
        self.to_hold().chain([PROBE])
    }

    /// What the helper is handed over its channel before anything else.
    pub fn switches(&self) -> Option<&OwnedFd> {
        self.switches.as_ref()
    }
}

/// The whole command line, but for the program. Here is where walls would be added.
fn arguments(helper: &Helper, binary: i32, numbers: u32) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    let mut add = |words: &[&str]| all.extend(words.iter().map(|&word| word.to_owned()));
    // A process namespace, whose first process is the helper itself, and that ends with who asked for it.
    add(&["--unshare-pid", "--as-pid-1", "--die-with-parent"]);
    // The same file system with the same devices, and the namespace's own list of processes.
    add(&["--dev-bind", "/", "/", "--proc", "/proc"]);
    add(&["--", &format!("/proc/self/fd/{binary}")]);
    all.extend(
        helper
            .arguments
            .iter()
            .map(|argument| argument.to_string_lossy().into_owned()),
    );
    all.extend([INSIDE.to_owned(), numbers.to_string()]);
    all
}

/// The first of these programs that is there, if nobody but root can have put it there.
fn trusted(places: &[&str]) -> Result<PathBuf, Why> {
    let mut why = "bubblewrap (`bwrap`) is not installed".to_owned();
    for place in places {
        let Ok(program) = std::fs::canonicalize(place) else {
            continue;
        };
        // The place itself may be a link: who may change it chooses where it leads.
        let place_dir = Path::new(place).parent().unwrap_or(Path::new("/"));
        let place_dir = std::fs::canonicalize(place_dir).unwrap_or_default();
        match untrusted(&program).or_else(|| untrusted(&place_dir)) {
            None => return Ok(program),
            Some(part) => {
                why = format!(
                    "`{place}` is not used: others than root may change `{}`",
                    part.display()
                );
            }
        }
    }
    Err(why)
}

/// The first part of a resolved path that somebody else than root may change.
fn untrusted(program: &Path) -> Option<&Path> {
    /// Only whom a directory's entries belong to may change them.
    const STICKY: u32 = 0o1000;
    // What could not be resolved has no parts, and is nobody's.
    if program.as_os_str().is_empty() {
        return Some(program);
    }
    program.ancestors().find(|part| match part.metadata() {
        Ok(found) => {
            let open = found.mode() & 0o022 != 0;
            let guarded = found.is_dir() && found.mode() & STICKY != 0;
            found.uid() != 0 || (open && !guarded)
        }
        Err(_) => true,
    })
}

/// Only root may turn them, and only root needs them: other users are bound by a resource limit. Before
/// 6.14 the switch for the number of processes is that of the whole machine, and is not touched.
fn switches() -> Option<OwnedFd> {
    if !geteuid().is_root() || linux() < Some((6, 14)) {
        return None;
    }
    File::open("/proc/sys/kernel").ok().map(OwnedFd::from)
}

/// The first two numbers of the kernel's version.
fn linux() -> Option<(u32, u32)> {
    let name = rustix::system::uname();
    let mut numbers = name
        .release()
        .to_str()
        .ok()?
        .split(|sign: char| !sign.is_ascii_digit())
        .map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests;
