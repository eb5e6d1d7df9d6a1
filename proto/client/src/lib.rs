//! The caller's half of the protocol: find or start the daemon, call it, follow a session.
//!
//! Shared by every client. Holds no agent logic and prints nothing.

mod backoff;
pub mod call;
pub mod connect;
mod lost;
pub mod paths;
mod replace;
pub mod start;
pub mod subscription;
pub mod trace;
pub mod transcript;
mod transport;
pub mod version;
pub mod whole;

pub use call::{CallError, Client};
pub use connect::{ConnectError, Listener, Options, Start, Told};
pub use paths::Paths;
pub use subscription::{Follow, Followed, From, Heard};
