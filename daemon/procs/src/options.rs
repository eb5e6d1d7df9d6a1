//! Settings of all processes, set once by the daemon's assembly.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::supervisor::SupervisorProcess;

/// Settings of `Procs`.
#[derive(Clone, Debug)]
pub struct ProcsOptions {
    pub helper: HelperProgram,
    pub limits: ResourceLimits,
    /// The file mode mask of commands. `None`: the daemon's own when the command starts. A daemon
    /// that narrows its mask for its own files passes the user's mask here.
    pub umask: Option<u32>,
    pub layers: BackendChoice,
    /// Where protected names are kept that came during a sandboxed command. Commands must not see it.
    pub quarantine: PathBuf,
    /// Bound the memory of a command by a control group too, if one can be made.
    pub memory_groups: bool,
    /// How many commands of sessions run at a time; further ones wait.
    pub commands_max: usize,
    /// The process that started the daemon and adopts orphans of a killed helper, if any.
    pub supervisor: Option<SupervisorProcess>,
}

/// The sandbox backend: the strongest one, or a chosen one without fallback.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BackendChoice {
    /// The strongest one that works here.
    #[default]
    Auto,
    /// Bubblewrap only.
    Bubblewrap,
    /// Only our own system calls.
    Direct,
    /// No namespaces: the helper manages processes, and Landlock and seccomp are the sandbox.
    Landlock,
    /// No namespaces and no sandbox: only the helper manages processes. For tests that simulate
    /// other machines.
    Off,
}

impl ProcsOptions {
    /// Uses the daemon's own binary as helper, and the default limits. `quarantine`: see the field.
    ///
    /// # Errors
    /// The daemon cannot find its own binary.
    pub fn of_this_binary(quarantine: PathBuf) -> io::Result<Self> {
        Ok(Self {
            helper: HelperProgram::this_binary()?,
            limits: ResourceLimits::default(),
            umask: None,
            layers: BackendChoice::Auto,
            quarantine,
            memory_groups: true,
            commands_max: crate::places::of_this_process(),
            supervisor: SupervisorProcess::of_this_process(),
        })
    }
}

/// The program that calls [`crate::child::child_main`], with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperProgram {
    pub program: PathBuf,
    /// Arguments before our own, by which `main` recognises the helper.
    pub arguments: Vec<OsString>,
}

impl HelperProgram {
    /// The running binary, called as `<binary> child`.
    ///
    /// # Errors
    /// The system cannot determine the running binary.
    pub fn this_binary() -> io::Result<Self> {
        Ok(Self {
            program: this_binary()?,
            arguments: vec![OsString::from("child")],
        })
    }
}

/// The running binary. On Linux a link that stays valid after an update replaced the file, so that
/// daemon and helper are from the same build.
///
/// # Errors
/// The system cannot determine the running binary.
pub fn this_binary() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") {
        Ok(PathBuf::from("/proc/self/exe"))
    } else {
        std::env::current_exe()
    }
}

/// Resource limits of every command, within the system's own limits. `None`: not limited by us.
/// Core files are always off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceLimits {
    /// Processes and threads of the user. The kernel does not apply it to root.
    pub processes: Option<u64>,
    /// Processes and threads of one command in a process namespace. For root up to 300 more, until
    /// the command has started that many in total.
    pub tasks: Option<u32>,
    /// Bytes of memory of one command with all its processes. It is killed if it uses more.
    pub memory: Option<u64>,
}

impl ResourceLimits {
    /// In a namespace the kernel counts an ordinary user's processes separately.
    pub(crate) fn in_namespace(self) -> Self {
        let tasks = self.tasks.map(u64::from);
        let processes = match (self.processes, tasks) {
            (Some(processes), Some(tasks)) => Some(processes.min(tasks)),
            (one, other) => one.or(other),
        };
        Self { processes, ..self }
    }
}

impl Default for ResourceLimits {
    /// Stops a fork bomb before it exhausts the machine, and limits nothing else. A big build or a
    /// browser has some hundreds of threads. Measured with bash bombs on two processors: one of
    /// 1,300 processes was gone 0.1 s after the KILL, and one of 4,400 after 2.2 s. Neither delayed
    /// other commands: blocked forks wait, and each Unix session has its own share of the
    /// processors (the kernel's autogroups). So commands keep their priority: lowering it had no
    /// measurable effect.
    fn default() -> Self {
        Self {
            processes: Some(16_384),
            tasks: Some(2_048),
            memory: crate::memory::usual_limit(),
        }
    }
}
