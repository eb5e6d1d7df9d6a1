//! How commands are held together here, and why not better: for status and for `doctor`.

use std::fmt;

/// What is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// It is being tried out; the first command waits for that.
    Looking,
    /// A process namespace for each command: when its first process ends, the kernel ends the rest.
    Namespace {
        /// What ends a fork bomb in it. `None`: nothing that binds this user here.
        bound: Option<Bound>,
    },
    /// A helper for each command adopts what is left behind, and sweeps it by what `/proc` shows.
    Sweep {
        /// Why there is no namespace, in a person's words.
        why: String,
        /// What a killed helper leaves is found through the daemon's parent process.
        orphans_found: bool,
        /// What ends a fork bomb. `None`: nothing that binds this user here.
        bound: Option<Bound>,
    },
    /// The command's process group: not Linux.
    Group,
}

/// What limits the number of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The numbers that the namespace has to give (`kernel.pid_max`, its own since Linux 6.14).
    PidMax,
    /// The user's processes (`RLIMIT_NPROC`); in a namespace those of the command alone.
    Nproc,
}

impl fmt::Display for Bound {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::PidMax => "kernel.pid_max",
            Self::Nproc => "RLIMIT_NPROC",
        })
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bound = match self {
            Self::Looking => return to.write_str("not known yet: no command was started"),
            Self::Group => return to.write_str("process group"),
            Self::Namespace { bound } => {
                to.write_str("process namespace (bubblewrap)")?;
                bound
            }
            Self::Sweep {
                why,
                orphans_found,
                bound,
            } => {
                write!(to, "subreaper and sweep (no process namespace: {why})")?;
                if !orphans_found {
                    to.write_str("; what a killed helper leaves may not be found")?;
                }
                bound
            }
        };
        match bound {
            Some(bound) => write!(to, "; processes limited by {bound}"),
            None => to.write_str("; processes not limited"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_names_what_holds_and_why_not_better() {
        let namespace = Mechanism::Namespace {
            bound: Some(Bound::PidMax),
        };
        let text = "process namespace (bubblewrap); processes limited by kernel.pid_max";
        assert_eq!(namespace.to_string(), text);
        let sweep = Mechanism::Sweep {
            why: "bubblewrap (`bwrap`) is not installed".to_owned(),
            orphans_found: false,
            bound: None,
        };
        let text = "subreaper and sweep (no process namespace: bubblewrap (`bwrap`) is not installed); \
                    what a killed helper leaves may not be found; processes not limited";
        assert_eq!(sweep.to_string(), text);
    }
}
