//! How to open a PID namespace: the program and its arguments.
//!
//! Bubblewrap creates a process namespace whose first process is our helper. Its processes cannot
//! see, signal or outlive processes outside: when the helper, bubblewrap, the spawner thread or the
//! daemon dies for any reason, the kernel kills all of them at once. So the namespace bounds the
//! lifetime of a command. The sandbox, whose arguments come from the `sandbox` crate, bounds its
//! access. Without a sandbox, file system, devices, network, user and groups are unchanged.
//!
//! Other differences inside:
//! - Programs cannot gain privileges (`NO_NEW_PRIVS`, and mounts without set-user-id): `sudo` and
//!   `su` do not work.
//! - `/proc` shows only the namespace, and parts of it (`/proc/sys`, `/proc/bus` …) are read-only.
//! - Mounts created by a command end with it.
//! - For an ordinary user it needs a user namespace with only the user's own id: files of others
//!   appear to belong to `nobody`. Access rights do not change.

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
use sandbox::MountPlan;
use sandbox::bubblewrap::{self, NetworkAccess};

use crate::child::{INSIDE, OPEN, PLACE, PROBE};
use crate::options::{HelperProgram, ProcsOptions};

/// Where the program may be. Never on `PATH`, which may include a project directory.
const PLACES: [&str; 6] = [
    "/usr/bin/bwrap",
    "/bin/bwrap",
    "/usr/local/bin/bwrap",
    "/run/current-system/sw/bin/bwrap",
    "/usr/sbin/bwrap",
    "/usr/libexec/bwrap",
];

/// Process ids below this one are assigned only once in a namespace (`RESERVED_PIDS` in the
/// kernel's `kernel/pid.c`), so they do not count.
const RESERVED: u32 = 300;

/// How every helper is started, once this is known to work.
pub(crate) struct Recipe {
    by: NamespaceOpener,
    program: PathBuf,
    /// The helper and its arguments.
    helper: Vec<OsString>,
    /// Inherited by the helper as its only way to the binary, because it cannot see the daemon's
    /// `/proc`. Never read.
    _binary: Option<File>,
    /// The directory with the kernel setting for the namespace's maximum number of processes.
    switches: Option<OwnedFd>,
}

/// The program that opens namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NamespaceOpener {
    Bubblewrap,
    /// The helper's own binary.
    Itself,
}

/// The purpose of the namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To run a command in them.
    Hold,
    /// To test whether they work.
    Probe,
    /// Only to hand over a network namespace.
    Place,
}

/// Additional setup besides the process namespace.
#[derive(Default)]
pub(crate) struct NamespaceOptions<'a> {
    pub plan: Option<&'a MountPlan>,
    /// Open a separate loopback.
    pub network: bool,
    /// Empty descriptors.
    pub empty_files: &'a [OwnedFd],
}

/// Why there is no recipe, as a text for the user.
pub(crate) type Reason = String;

impl Recipe {
    /// Uses bubblewrap. Starts nothing.
    pub fn new(options: &ProcsOptions) -> Result<Self, Reason> {
        let program = trusted(&PLACES)?;
        let why = |error: io::Error| format!("the daemon's binary cannot be passed on: {error}");
        let binary = File::open(&options.helper.program).map_err(why)?;
        // All children of the daemon are started through the helper, which closes it.
        fcntl_setfd(&binary, FdFlags::empty()).map_err(|error| why(error.into()))?;
        let switches = switches();
        let numbers = numbers(options, switches.as_ref());
        Ok(Self {
            by: NamespaceOpener::Bubblewrap,
            program,
            helper: helper_arguments(&options.helper, binary.as_raw_fd(), numbers),
            _binary: Some(binary),
            switches,
        })
    }

    /// Uses system calls of the helper's own binary. Starts nothing.
    pub fn direct(options: &ProcsOptions) -> Self {
        let switches = switches();
        let numbers = numbers(options, switches.as_ref());
        let mut helper = options.helper.arguments.clone();
        helper.extend([OPEN, INSIDE, &numbers.to_string()].map(OsString::from));
        Self {
            by: NamespaceOpener::Itself,
            program: options.helper.program.clone(),
            helper,
            _binary: None,
            switches,
        }
    }

    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The name of the opener, for users.
    pub fn name(&self) -> &'static str {
        match self.by {
            NamespaceOpener::Bubblewrap => "bubblewrap",
            NamespaceOpener::Itself => "direct system calls",
        }
    }

    /// Whether open empty files have to be passed.
    pub fn needs_empty_files(&self) -> bool {
        self.by == NamespaceOpener::Bubblewrap
    }

    /// The program that opens namespaces, with its arguments. [`Recipe::instruct`] sends the rest.
    pub fn command(&self, purpose: Purpose, around: &NamespaceOptions<'_>) -> Command {
        let mut command = Command::new(&self.program);
        if self.by == NamespaceOpener::Itself {
            command.arg0("reasonixd").args(&self.helper);
        } else if purpose == Purpose::Place {
            // Without the arguments that are only for a helper with a command.
            let helper = self.helper.iter().take_while(|word| *word != INSIDE);
            command.args(NETWORK).args(helper).arg(PLACE);
        } else {
            command
                .args(OPENED)
                .args(sandbox(around))
                .args(&self.helper);
        }
        if purpose == Purpose::Probe {
            command.arg(PROBE);
        }
        command
    }

    /// Sends the first message to a new process: the namespace request if it is not on the command
    /// line, and for the helper one byte, with the directory of kernel settings if it needs that.
    pub fn instruct(
        &self,
        to: &UnixStream,
        purpose: Purpose,
        around: &NamespaceOptions<'_>,
    ) -> io::Result<()> {
        if self.by == NamespaceOpener::Itself {
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

/// Sends a namespace request to our own opener.
#[cfg(target_os = "linux")]
fn order(mut to: &UnixStream, purpose: Purpose, around: &NamespaceOptions<'_>) -> io::Result<()> {
    use crate::child::open::DIGITS;
    let order = sandbox::direct::NamespaceRequest {
        plan: around.plan.cloned(),
        network: around.network,
        place: purpose == Purpose::Place,
    };
    let text = serde_json::to_vec(&order)?;
    // An opener that does not read must not block others.
    to.set_write_timeout(Some(HEARD))?;
    to.write_all(format!("{:0DIGITS$}", text.len()).as_bytes())?;
    to.write_all(&text)
}

#[cfg(not(target_os = "linux"))]
fn order(_to: &UnixStream, _purpose: Purpose, _around: &NamespaceOptions<'_>) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Time limit for the opener to read its request.
const HEARD: Duration = Duration::from_secs(5);

/// Maximum number of process ids in a namespace. 0: unlimited.
fn numbers(options: &ProcsOptions, switches: Option<&OwnedFd>) -> u32 {
    let tasks = switches.and(options.limits.tasks);
    tasks.map_or(0, |tasks| tasks.saturating_add(RESERVED))
}

/// Bubblewrap's arguments for a sandbox.
fn sandbox(around: &NamespaceOptions<'_>) -> Vec<OsString> {
    let Some(plan) = around.plan else {
        return AS_IT_IS.map(OsString::from).into();
    };
    let network = if around.network {
        NetworkAccess::Own
    } else {
        NetworkAccess::Shared
    };
    let empty_files: Vec<_> = around.empty_files.iter().map(AsRawFd::as_raw_fd).collect();
    bubblewrap::arguments(plan, network, geteuid().is_root(), &empty_files)
}

/// A process namespace with the helper itself as first process, which ends with its parent.
const OPENED: [&str; 3] = ["--unshare-pid", "--as-pid-1", "--die-with-parent"];
/// Without a sandbox: the same file system and devices, and the namespace's own `/proc`.
const AS_IT_IS: [&str; 5] = ["--dev-bind", "/", "/", "--proc", "/proc"];

/// Only a network namespace.
const NETWORK: [&str; 5] = ["--unshare-net", "--die-with-parent", "--dev-bind", "/", "/"];

/// The last arguments: the helper and its own arguments.
fn helper_arguments(helper: &HelperProgram, binary: i32, numbers: u32) -> Vec<OsString> {
    let mut all = vec![
        OsString::from("--"),
        format!("/proc/self/fd/{binary}").into(),
    ];
    all.extend(helper.arguments.iter().cloned());
    all.extend([INSIDE, &numbers.to_string()].map(OsString::from));
    all
}

/// The first of these programs that exists, if only root can have put it there.
fn trusted(places: &[&str]) -> Result<PathBuf, Reason> {
    let mut why = "bubblewrap (`bwrap`) is not installed".to_owned();
    for place in places {
        let Ok(program) = std::fs::canonicalize(place) else {
            continue;
        };
        // The path may be a link: its owner chooses the target.
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

/// The first component of a resolved path that a user other than root can change.
fn untrusted(program: &Path) -> Option<&Path> {
    /// Only the owner of an entry may change it.
    const STICKY: u32 = 0o1000;
    // An unresolved path has no components and is untrusted.
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

/// Only root can change these settings, and only root needs them: other users have a resource
/// limit. Before 6.14 the setting applies to the whole machine and is not changed.
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
