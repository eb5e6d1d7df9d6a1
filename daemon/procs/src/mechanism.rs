//! How commands are contained on this machine, and why not better: for the status and for `doctor`.

use std::fmt;

use contract::SandboxStrength;

/// The containment in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// Probing. The first command waits for the result.
    Looking,
    /// A process namespace per command: when its first process ends, the kernel kills the others.
    Namespace {
        /// What opens it.
        by: &'static str,
        /// What stops a fork bomb in it. `None`: nothing limits this user here.
        bound: Option<ProcessLimit>,
        sandbox: SandboxReport,
    },
    /// A helper per command adopts orphans and kills them by searching `/proc`.
    Sweep {
        /// Why there is no namespace, as a text for the user.
        why: String,
        /// Orphans of a killed helper are found through the daemon's parent process.
        orphans_found: bool,
        /// What stops a fork bomb. `None`: nothing limits this user here.
        bound: Option<ProcessLimit>,
        sandbox: SandboxReport,
    },
    /// The command's process group, on systems other than Linux.
    Group { sandbox: SandboxReport },
}

/// The state of the sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxReport {
    pub strength: SandboxStrength,
    /// Its layers, outermost first, as texts for the user.
    pub layers: Vec<String>,
    /// A broker makes the connections of commands, so that they reach only their own Unix sockets.
    pub brokered: bool,
    /// Why no stronger backend is used, or what is missing.
    pub why: Option<String>,
}

/// What limits the number of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessLimit {
    /// The namespace's process ids (`kernel.pid_max`, per namespace since Linux 6.14).
    PidMax,
    /// The user's processes (`RLIMIT_NPROC`). In a namespace only those of the command.
    Nproc,
}

impl Mechanism {
    /// The strength of the sandbox. [`SandboxStrength::None`] until it is known.
    #[must_use]
    pub fn strength(&self) -> SandboxStrength {
        self.sandbox()
            .map_or(SandboxStrength::None, |sandbox| sandbox.strength)
    }

    /// The state of the sandbox, once it is known.
    #[must_use]
    pub fn sandbox(&self) -> Option<&SandboxReport> {
        match self {
            Self::Looking => None,
            Self::Namespace { sandbox, .. }
            | Self::Sweep { sandbox, .. }
            | Self::Group { sandbox } => Some(sandbox),
        }
    }
}

impl fmt::Display for ProcessLimit {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::PidMax => "kernel.pid_max",
            Self::Nproc => "RLIMIT_NPROC",
        })
    }
}

impl fmt::Display for SandboxReport {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.strength {
            SandboxStrength::Full => {}
            SandboxStrength::Partial => to.write_str("partial sandbox: ")?,
            SandboxStrength::None => to.write_str("no sandbox: ")?,
        }
        let parts: Vec<&str> = self
            .layers
            .iter()
            .chain(&self.why)
            .map(String::as_str)
            .collect();
        to.write_str(&parts.join("; "))
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bound, sandbox) = match self {
            Self::Looking => return to.write_str("not known yet: no command was started"),
            Self::Group { sandbox } => return write!(to, "process group; {sandbox}"),
            Self::Namespace { by, bound, sandbox } => {
                write!(to, "process namespace ({by})")?;
                (bound, sandbox)
            }
            Self::Sweep {
                why,
                orphans_found,
                bound,
                sandbox,
            } => {
                write!(to, "subreaper and sweep (no process namespace: {why})")?;
                if !orphans_found {
                    to.write_str("; what a killed helper leaves may not be found")?;
                }
                (bound, sandbox)
            }
        };
        match bound {
            Some(bound) => write!(to, "; processes limited by {bound}")?,
            None => to.write_str("; processes not limited")?,
        }
        write!(to, "; {sandbox}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_names_the_sandbox_backend_and_why_no_stronger_one_works() {
        let namespace = Mechanism::Namespace {
            by: "bubblewrap",
            bound: Some(ProcessLimit::PidMax),
            sandbox: SandboxReport {
                strength: SandboxStrength::Full,
                layers: vec![
                    "bubblewrap (files, processes, network)".to_owned(),
                    "seccomp".to_owned(),
                ],
                brokered: true,
                why: None,
            },
        };
        let text = "process namespace (bubblewrap); processes limited by kernel.pid_max; \
                    bubblewrap (files, processes, network); seccomp";
        assert_eq!(namespace.to_string(), text);
        let sweep = Mechanism::Sweep {
            why: "bubblewrap (`bwrap`) is not installed".to_owned(),
            orphans_found: false,
            bound: None,
            sandbox: SandboxReport {
                strength: SandboxStrength::None,
                layers: Vec::new(),
                brokered: false,
                why: Some("nothing works".to_owned()),
            },
        };
        let text = "subreaper and sweep (no process namespace: bubblewrap (`bwrap`) is not installed); \
                    what a killed helper leaves may not be found; processes not limited; no sandbox: nothing works";
        assert_eq!(sweep.to_string(), text);
        assert_eq!(sweep.strength(), SandboxStrength::None);
    }
}
