//! What the assembly says once about every process that will be started.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::warden::Warden;

/// How `Procs` works.
#[derive(Clone, Debug)]
pub struct Options {
    pub helper: Helper,
    pub limits: Limits,
    /// The file mode mask of commands. `None`: the daemon's own at the time of the start. A daemon that
    /// narrows its mask for its own files says here what the person's was.
    pub umask: Option<u32>,
    pub layers: Layers,
    /// The process that started the daemon and adopts what a killed helper leaves, where there is one.
    pub warden: Option<Warden>,
}

/// By what commands are held: the strongest, or one that was chosen and nothing in its place where it does not work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Layers {
    /// The strongest that works here.
    #[default]
    Auto,
    /// Bubblewrap, or nothing.
    Bubblewrap,
    /// System calls of our own, or nothing.
    Direct,
    /// No namespaces: commands are held together by their helper, and within walls by Landlock and seccomp.
    Landlock,
    /// No namespaces and no walls: commands are held together by their helper alone. For tests, which show by it what
    /// is so on other machines.
    Off,
}

impl Options {
    /// The daemon's own binary as helper, and the limits that are on by default.
    ///
    /// # Errors
    /// Where the daemon cannot find its own binary.
    pub fn of_this_binary() -> io::Result<Self> {
        Ok(Self {
            helper: Helper::this_binary()?,
            limits: Limits::default(),
            umask: None,
            layers: Layers::Auto,
            warden: Warden::of_this_process(),
        })
    }
}

/// The program that calls [`crate::child::child_main`], and how it is told to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helper {
    pub program: PathBuf,
    /// Arguments before our own; `main` recognises the helper by them.
    pub arguments: Vec<OsString>,
}

impl Helper {
    /// The running binary, called as `<binary> child`.
    ///
    /// # Errors
    /// Where the system cannot name the running binary.
    pub fn this_binary() -> io::Result<Self> {
        Ok(Self {
            program: this_binary()?,
            arguments: vec![OsString::from("child")],
        })
    }
}

/// The running binary. On Linux by the link that still holds after an update has replaced the file, so
/// that daemon and helper are always of the same build.
///
/// # Errors
/// Where the system cannot name the running binary.
pub fn this_binary() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok(PathBuf::from("/proc/self/exe"))
    } else {
        std::env::current_exe()
    }
}

/// Resource limits of every command, as far as the system's own allow. `None`: not limited by us.
/// Core files are always off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Processes and threads of the user. The kernel does not apply it to root.
    pub processes: Option<u64>,
    /// Processes and threads of one command, where it has a process namespace. For root it may be up to 300
    /// more, as long as the command has not started that many altogether.
    pub tasks: Option<u32>,
    pub open_files: Option<u64>,
    /// Address space of one process, in bytes. Off by default: many runtimes reserve far more than they use.
    pub address_space: Option<u64>,
    /// Size of one file, in bytes.
    pub file_size: Option<u64>,
}

impl Limits {
    /// In a namespace the kernel counts an ordinary user's processes by themselves.
    pub(crate) fn in_namespace(self) -> Self {
        let tasks = self.tasks.map(u64::from);
        let processes = match (self.processes, tasks) {
            (Some(processes), Some(tasks)) => Some(processes.min(tasks)),
            (one, other) => one.or(other),
        };
        Self { processes, ..self }
    }
}

impl Default for Limits {
    /// Ends a fork bomb before it ends the machine; leaves the rest to the system. A big build or a browser
    /// has some hundreds of threads. Of bombs of bash on two processors, one of 1,300 was gone 0.1 s after
    /// the KILL and one of 4,400 after 2.2 s, and neither made the commands of others start later: what
    /// cannot fork waits, and each session has its own share of the processors (the kernel's autogroups).
    /// So no command gets a worse priority: it changed nothing that could be measured.
    fn default() -> Self {
        Self {
            processes: Some(16_384),
            tasks: Some(2_048),
            open_files: None,
            address_space: None,
            file_size: None,
        }
    }
}
