//! The way into a PID namespace: which program opens it, and with which arguments.
//!
//! Bubblewrap makes a process namespace whose first process is our helper. What is in it cannot see, signal
//! or outlive what is outside: when the helper, bubblewrap, the spawner thread or the daemon dies, by
//! whatever blow, the kernel kills all the rest in one piece. So it says how long a command lives. What it may
//! touch say the walls, whose arguments come from `sandbox`; without them file system, devices, network, user
//! and groups stay as they are.
//!
//! What else is different inside:
//! - No program gains rights by being started (`NO_NEW_PRIVS`, and mounts without set-user-id): `sudo`,
//!   `su` and the like do not work in a command.
//! - `/proc` shows the namespace alone, and parts of it (`/proc/sys`, `/proc/bus` …) cannot be written.
//! - Mounts made by a command end with it.
//! - For an ordinary user it takes a user namespace, in which only the user's own number exists: files of
//!   others look as if they belonged to `nobody`. What may be read and written does not change.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use rustix::process::geteuid;
use sandbox::Plan;
use sandbox::bubblewrap::{self, Network};

use crate::child::{INSIDE, OPEN, PLACE, PROBE};
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
    by: By,
    program: PathBuf,
    /// The helper and what it is told.
    helper: Vec<OsString>,
    /// Inherited by the helper, whose only way to the binary it is: the `/proc` of the daemon is not there.
    /// Never read.
    _binary: Option<File>,
    /// The directory in which the helper finds the switch for how many processes its namespace may have.
    switches: Option<OwnedFd>,
}

/// Who opens namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    Bubblewrap,
    /// The helper's own binary.
    Itself,
}

/// What somebody wants of the namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To hold a command in them.
    Hold,
    /// To see whether it works.
    Probe,
    /// To have a network namespace handed over, and nothing else.
    Place,
}

/// What is opened, besides the process namespace.
#[derive(Default)]
pub(crate) struct Around<'a> {
    pub plan: Option<&'a Plan>,
    /// A loopback of its own.
    pub network: bool,
    /// Open on nothing to read.
    pub nothings: &'a [OwnedFd],
}

/// Why there is no recipe, in a person's words.
pub(crate) type Why = String;

impl Recipe {
    /// By bubblewrap. Starts nothing.
    pub fn new(options: &Options) -> Result<Self, Why> {
        let program = trusted(&PLACES)?;
        let why = |error: io::Error| format!("the daemon's binary cannot be passed on: {error}");
        let binary = File::open(&options.helper.program).map_err(why)?;
        // Everything the daemon starts comes by way of the helper, which closes it.
        fcntl_setfd(&binary, FdFlags::empty()).map_err(|error| why(error.into()))?;
        let switches = switches();
        let numbers = numbers(options, switches.as_ref());
        Ok(Self {
            by: By::Bubblewrap,
            program,
            helper: told(&options.helper, binary.as_raw_fd(), numbers),
            _binary: Some(binary),
            switches,
        })
    }

    /// By system calls of the helper's own binary. Starts nothing.
    pub fn direct(options: &Options) -> Self {
        let switches = switches();
        let numbers = numbers(options, switches.as_ref());
        let mut helper = options.helper.arguments.clone();
        helper.extend([OPEN, INSIDE, &numbers.to_string()].map(OsString::from));
        Self {
            by: By::Itself,
            program: options.helper.program.clone(),
            helper,
            _binary: None,
            switches,
        }
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// What opens the namespaces, for a person.
    pub fn name(&self) -> &'static str {
        match self.by {
            By::Bubblewrap => "bubblewrap",
            By::Itself => "direct system calls",
        }
    }

    /// Whether empty files have to be passed on open.
    pub fn wants_nothings(&self) -> bool {
        self.by == By::Bubblewrap
    }

    /// The program that opens namespaces, and what it is told on its command line. The rest it hears from
    /// [`Recipe::instruct`].
    pub fn command(&self, purpose: Purpose, around: &Around<'_>) -> Command {
        let mut command = Command::new(&self.program);
        if self.by == By::Itself {
            command.arg0("reasonixd").args(&self.helper);
        } else if purpose == Purpose::Place {
            // Without what only a helper that holds a command is told.
            let helper = self.helper.iter().take_while(|word| *word != INSIDE);
            command.args(NETWORK).args(helper).arg(PLACE);
        } else {
            command.args(OPENED).args(walls(around)).args(&self.helper);
        }
        if purpose == Purpose::Probe {
            command.arg(PROBE);
        }
        command
    }

    /// What it has to hear first, when it has just been started: what to open, where that does not stand on the
    /// command line, and for the helper one byte, with the directory of switches where it needs that.
    pub fn instruct(
        &self,
        to: &UnixStream,
        purpose: Purpose,
        around: &Around<'_>,
    ) -> io::Result<()> {
        if self.by == By::Itself {
            order(to, purpose, around)?;
        }
        if purpose == Purpose::Place {
            return Ok(());
        }
        let mut space = [std::mem::MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let switches = self.switches.as_ref().map(|switches| [switches.as_fd()]);
        if let Some(switches) = &switches {
            control.push(SendAncillaryMessage::ScmRights(switches));
        }
        let byte = [io::IoSlice::new(b"\n")];
        sendmsg(to, &byte, &mut control, SendFlags::empty())?;
        Ok(())
    }
}

/// Tells an opener of ours what to open.
#[cfg(target_os = "linux")]
fn order(mut to: &UnixStream, purpose: Purpose, around: &Around<'_>) -> io::Result<()> {
    use crate::child::open::DIGITS;
    let order = sandbox::direct::Order {
        plan: around.plan.cloned(),
        network: around.network,
        place: purpose == Purpose::Place,
    };
    let text = serde_json::to_vec(&order)?;
    // An opener that does not listen must not hold up everybody else.
    to.set_write_timeout(Some(HEARD))?;
    to.write_all(format!("{:0DIGITS$}", text.len()).as_bytes())?;
    to.write_all(&text)
}

#[cfg(not(target_os = "linux"))]
fn order(_to: &UnixStream, _purpose: Purpose, _around: &Around<'_>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// How long an opener may take to hear what to open.
const HEARD: Duration = Duration::from_secs(5);

/// How many process numbers a namespace may give out; 0 for as many as it likes.
fn numbers(options: &Options, switches: Option<&OwnedFd>) -> u32 {
    let tasks = switches.and(options.limits.tasks);
    tasks.map_or(0, |tasks| tasks.saturating_add(RESERVED))
}

/// What bubblewrap is told of walls.
fn walls(around: &Around<'_>) -> Vec<OsString> {
    let Some(plan) = around.plan else {
        return AS_IT_IS.map(OsString::from).into();
    };
    let network = if around.network {
        Network::Own
    } else {
        Network::Shared
    };
    let nothings: Vec<_> = around.nothings.iter().map(AsRawFd::as_raw_fd).collect();
    bubblewrap::arguments(plan, network, geteuid().is_root(), &nothings)
}

/// A process namespace, whose first process is the helper itself, and that ends with who asked for it.
const OPENED: [&str; 3] = ["--unshare-pid", "--as-pid-1", "--die-with-parent"];
/// Without walls: the same file system with the same devices, and the namespace's own list of processes.
const AS_IT_IS: [&str; 5] = ["--dev-bind", "/", "/", "--proc", "/proc"];

/// Only a network namespace.
const NETWORK: [&str; 5] = ["--unshare-net", "--die-with-parent", "--dev-bind", "/", "/"];

/// What comes last on the command line: the helper, and what it is told.
fn told(helper: &Helper, binary: i32, numbers: u32) -> Vec<OsString> {
    let mut all = vec![
        OsString::from("--"),
        format!("/proc/self/fd/{binary}").into(),
    ];
    all.extend(helper.arguments.iter().cloned());
    all.extend([INSIDE, &numbers.to_string()].map(OsString::from));
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
