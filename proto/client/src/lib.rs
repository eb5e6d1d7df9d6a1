//! The caller's half of the protocol: find or start the daemon, call it, follow a session.
//!
//! Shared by every client. Holds no agent logic and prints nothing.

pub mod agent_questions;
pub mod amounts;
mod backoff;
pub mod call;
pub mod connect;
pub mod environment;
mod event;
pub mod form;
pub mod goal_command;
pub mod growing;
pub mod hint;
mod lost;
pub mod messages;
pub mod pages;
pub mod paths;
pub mod prompt;
pub mod queue;
mod replace;
pub mod reply;
pub mod server_state;
pub mod session;
pub mod start;
pub mod subscription;
pub mod text;
pub mod trace;
pub mod transcript;
mod transport;
pub mod tree;
pub mod user_waits;
pub mod version;
pub mod whole;

pub use call::{CallError, Client};
pub use connect::{ConnectError, Listener, Options, SilenceNotice, Start};
pub use event::{Content, DecodedEvent};
pub use paths::Paths;
pub use subscription::{Follow, FollowEvent, FollowFrom, FollowUpdate};
