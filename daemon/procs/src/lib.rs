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
//! daemon: spawner thread ──▶ helper (subreaper, own session) ──▶ second stage ──exec──▶ command
//!            │  control channel: orders in, status out │           (limits, own session, working directory)
//!            └── stdout and stderr of the command go straight to the daemon ────────────────────┘
//! ```

mod procs;

pub mod harden;
pub mod options;

mod drive;
mod grip;
mod spawner;
mod table;
mod wire;

pub mod child;
mod tree;

pub use options::{Helper, Limits, Options};
pub use procs::Procs;
pub use tree::mechanism;
