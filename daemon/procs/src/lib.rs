//! The only way to start a process, with the guarantee that none of its processes is left behind.
//!
//! The daemon never starts a command directly. One thread, which lives as long as the daemon,
//! starts a small helper for each command (the daemon's own binary, `reasonixd child`), and the
//! helper starts the command. The helper adopts all orphans of the command and kills them when the
//! command ends, when it is ordered to, or when the daemon is gone.
//!
//! The event stream keeps a command alive: dropping it (or the whole `Child`) kills everything
//! immediately. Dropping only the control does nothing.
//!
//! ```text
//! daemon: spawner thread ──▶ bubblewrap ──▶ helper (first process of a namespace) ──▶ second stage ──exec──▶ command
//!            │  control channel: orders in, status out       │              (limits, own session, working directory)
//!            └── stdout and stderr of the command go straight to the daemon ────────────────────────────┘
//! ```
//!
//! If no process namespace can be opened (probed once, see [`Mechanism`]), the helper is started
//! directly as a subreaper. That is weaker in two ways. A command can see its helper and kill it.
//! Orphans then go to the next subreaper above. If that is the daemon's parent process (see
//! [`supervisor`]), the daemon finds and kills them there. Without one (a daemon in the foreground,
//! a test), only processes in the command's own Unix session are found.

mod procs;

pub mod harden;
pub mod options;
mod places;
pub mod supervisor;

mod arrivals;
mod drive;
mod findings;
mod grace;
mod helper_handle;
mod init_process;
mod mechanism;
mod memory;
mod memory_groups;
mod prepare;
mod probe;
mod recipe;
#[cfg(target_os = "linux")]
mod session_networks;
#[cfg(not(target_os = "linux"))]
#[path = "session_networks_none.rs"]
mod session_networks;
mod spawner;
mod table;
mod wire;

pub mod child;
mod tree;

pub use mechanism::{Mechanism, ProcessLimit, SandboxReport};
pub use memory::{MemoryControl, usual_limit};
pub use options::{BackendChoice, HelperProgram, ProcsOptions, ResourceLimits};
pub use procs::Procs;

/// Whether the sandbox blocks abstract Unix sockets if `sandbox.network` allows the machine's
/// network.
#[must_use]
pub fn holds_abstract_sockets() -> bool {
    sandbox::ProcessRestrictions::holds_abstract_sockets()
}
