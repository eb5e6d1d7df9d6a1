//! The protocol between Reasonix's daemon and its clients, and the records of a session's log.
//!
//! Types only: no I/O, no clock, no network stack. Server, typed client, JSON Schema and reference
//! are all made from these types.

pub mod budget;
pub mod error;
pub mod frame;
pub mod hello;
mod hidden;
pub mod hook;
pub mod ids;
pub mod item;
pub mod live;
pub mod login_files;
pub mod methods;
pub mod near;
pub mod options;
pub mod outcome;
pub mod params;
pub mod paths;
pub mod program_variables;
pub mod record;
pub mod reset;
pub mod secret;
pub mod startup;
pub mod state;
mod untyped;
mod words;

pub use error::{ErrorName, Failure};
pub use hidden::{hidden, invisible};
pub use ids::{
    CallId, GoalId, InteractionId, ItemId, Pid, PromptId, RequestId, Seq, SessionId, Stamp,
};
pub use options::SessionOptions;
pub use record::{Body, Event, Record};
pub use secret::{held_back, loader_name, secret_name, secret_value};
pub use untyped::{TextOrigin, UntypedText};

/// The protocol versions this build speaks, oldest and newest.
pub const PROTOCOL: [u32; 2] = [1, 1];

/// The version of the product, as `daemon.hello` and `--version` say it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
