//! The caller's half of the protocol: find or start the daemon, call it, follow a session.
//!
//! Shared by every client. Holds no agent logic and prints nothing.

pub mod call;
pub mod connect;
pub mod paths;
pub mod start;
pub mod subscription;
pub mod transcript;
mod transport;

pub use call::{CallError, Client};
pub use connect::{ConnectError, Options, Start};
pub use paths::Paths;
pub use subscription::{Follow, Followed, From};
