//! The one way to start a process, and the promise that nothing it started is left behind.
//!
//! The daemon never starts a command by itself. One thread that lives as long as the daemon starts a
//! small helper for each command (the daemon's own binary, `reasonixd child`), and the helper starts
//! the command. The helper is what lasts: it adopts whatever the command leaves behind, and kills it
//! when the command ends, when it is told to, or when the daemon is gone.
//!
//! The stream of events is what keeps a command alive: dropping it (or the whole `Child`) kills everything
//! at once. Dropping the control alone does nothing.
//!
//! ```text
//! daemon: spawner thread ──▶ bubblewrap ──▶ helper (first process of a namespace) ──▶ second stage ──exec──▶ command
//!            │  control channel: orders in, status out       │              (limits, own session, working directory)
//!            └── stdout and stderr of the command go straight to the daemon ────────────────────────────┘
//! ```
//!
//! Where no process namespace can be opened (it is tried once; see [`Mechanism`]) the helper is started
//! directly, and is a subreaper instead. Then two things hold less: a command can see its helper and kill it,
//! and what the command left by then goes to the next subreaper above. That is the daemon's parent process
//! where it is a [`warden`]: there the daemon finds and kills it. Without a warden (a daemon in the
//! foreground, a test) only what stayed in the command's own session is found.

mod procs;

pub mod harden;
pub mod options;
pub mod warden;

mod drive;
mod found;
mod grip;
mod inner;
mod mechanism;
#[cfg(target_os = "linux")]
mod place;
#[cfg(not(target_os = "linux"))]
#[path = "place_none.rs"]
mod place;
mod prepare;
mod probe;
mod recipe;
mod spawner;
mod table;
mod wire;

pub mod child;
mod tree;

pub use mechanism::{Bound, Held, Mechanism};
pub use options::{Helper, Layers, Limits, Options};
pub use procs::Procs;

/// Whether walls keep a command from abstract Unix sockets where `sandbox.network` gives it the network of the machine.
#[must_use]
pub fn holds_abstract_sockets() -> bool {
    sandbox::Inner::holds_abstract_sockets()
}
