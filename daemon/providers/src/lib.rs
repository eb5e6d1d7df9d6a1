//! Model vendors: over HTTP, and as a program.
//!
//! The engine reaches a vendor through the two values that `open` gives for an entry of the config: a codec that
//! turns a conversation into the vendor's bytes, and a provider that sends them and gives neutral parts back. Wire
//! types never leave the module of their kind. Reads no config and no environment, retries nothing, logs nothing.

mod options;
mod patience;
mod registry;

mod anthropic;
mod command;
mod openai_chat;
mod openai_responses;

mod body;
mod calls;
mod extra;
mod failure;
mod http;
mod ids;
mod json;
mod lenient;
mod probe;
mod read;
mod retry_after;
mod said;
mod sse;
mod thoughts;
mod vendor;

#[cfg(test)]
mod conformance;
#[cfg(any(test, fuzzing))]
#[cfg_attr(fuzzing, allow(dead_code, reason = "tests use more of it"))]
mod fake;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
#[cfg(any(test, fuzzing))]
mod play;

pub use options::{Options, Timeouts};
pub use probe::{Probe, Probed, probe};
pub use registry::{KINDS, Means, OpenError, open};
