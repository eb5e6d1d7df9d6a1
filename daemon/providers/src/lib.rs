//! Model vendors over HTTP.
//!
//! The engine reaches a vendor through the two values that `open` gives for an entry of the config: a codec that
//! turns a conversation into the vendor's bytes, and a provider that sends them and gives neutral parts back. Wire
//! types never leave the module of their kind. Reads no config and no environment, retries nothing, logs nothing.

mod options;
mod registry;

mod failure;
mod http;
mod json;
mod openai_chat;
mod probe;
mod read;
mod retry_after;
mod sse;

#[cfg(test)]
mod fake;

pub use options::{Options, Timeouts};
pub use probe::{KeyState, Probe, Probed, probe};
pub use registry::{KINDS, OpenError, open};
