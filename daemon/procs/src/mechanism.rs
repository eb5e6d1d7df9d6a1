//! How commands are held here, and why not better: for status and for `doctor`.

use std::fmt;

use contract::Strength;

/// What is in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mechanism {
    /// It is being tried out; the first command waits for that.
    Looking,
    /// A process namespace for each command: when its first process ends, the kernel ends the rest.
    Namespace {
        /// What opens it.
        by: &'static str,
        /// What ends a fork bomb in it. `None`: nothing that binds this user here.
        bound: Option<Bound>,
        walls: Held,
    },
    /// A helper for each command adopts what is left behind, and sweeps it by what `/proc` shows.
    Sweep {
        /// Why there is no namespace, in a person's words.
        why: String,
        /// What a killed helper leaves is found through the daemon's parent process.
        orphans_found: bool,
        /// What ends a fork bomb. `None`: nothing that binds this user here.
        bound: Option<Bound>,
        walls: Held,
    },
    /// The command's process group: not Linux.
    Group { walls: Held },
}

/// How walls are held.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Held {
    pub strength: Strength,
    /// What holds them, the outermost first: for a person.
    pub layers: Vec<String>,
    /// Why nothing stronger does, or what is less than it could be.
    pub why: Option<String>,
}

/// What limits the number of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The numbers that the namespace has to give (`kernel.pid_max`, its own since Linux 6.14).
    PidMax,
    /// The user's processes (`RLIMIT_NPROC`); in a namespace those of the command alone.
    Nproc,
}

impl Mechanism {
    /// How strongly walls are held. [`Strength::None`] as long as it is not known.
    #[must_use]
    pub fn strength(&self) -> Strength {
        self.walls().map_or(Strength::None, |walls| walls.strength)
    }

    /// How walls are held, once it is known.
    #[must_use]
    pub fn walls(&self) -> Option<&Held> {
        match self {
            Self::Looking => None,
            Self::Namespace { walls, .. } | Self::Sweep { walls, .. } | Self::Group { walls } => {
                Some(walls)
            }
        }
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(match self {
            Self::PidMax => "kernel.pid_max",
            Self::Nproc => "RLIMIT_NPROC",
        })
    }
}

impl fmt::Display for Held {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.strength {
            Strength::Full => {}
            Strength::Partial => to.write_str("partial sandbox: ")?,
            Strength::None => to.write_str("no sandbox")?,
        }
        to.write_str(&self.layers.join("; "))?;
        match &self.why {
            Some(why) => write!(to, " ({why})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Mechanism {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bound, walls) = match self {
            Self::Looking => return to.write_str("not known yet: no command was started"),
            Self::Group { walls } => return write!(to, "process group; {walls}"),
            Self::Namespace { by, bound, walls } => {
                write!(to, "process namespace ({by})")?;
                (bound, walls)
            }
            Self::Sweep {
                why,
                orphans_found,
                bound,
                walls,
            } => {
                write!(to, "subreaper and sweep (no process namespace: {why})")?;
                if !orphans_found {
                    to.write_str("; what a killed helper leaves may not be found")?;
                }
                (bound, walls)
            }
        };
        match bound {
            Some(bound) => write!(to, "; processes limited by {bound}")?,
            None => to.write_str("; processes not limited")?,
        }
        write!(to, "; {walls}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_names_the_sandbox_backend_and_why_no_stronger_one_works() {
        let namespace = Mechanism::Namespace {
            by: "bubblewrap",
            bound: Some(Bound::PidMax),
            walls: Held {
                strength: Strength::Full,
                layers: vec![
                    "bubblewrap (files, processes, network)".to_owned(),
                    "seccomp".to_owned(),
                ],
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
            walls: Held {
                strength: Strength::None,
                layers: Vec::new(),
                why: Some("nothing works".to_owned()),
            },
        };
        let text = "subreaper and sweep (no process namespace: bubblewrap (`bwrap`) is not installed); \
                    what a killed helper leaves may not be found; processes not limited; no sandbox (nothing works)";
        assert_eq!(sweep.to_string(), text);
        assert_eq!(sweep.strength(), Strength::None);
    }
}
