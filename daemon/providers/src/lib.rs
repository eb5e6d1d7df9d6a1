//! Model vendors, over HTTP or as a program.
//!
//! For a config entry, `open` returns a codec, which renders conversations into the vendor's bytes,
//! and a provider, which sends them and returns neutral parts. Wire types never leave the module of
//! their kind. Reads no config and no environment, never retries, never logs.

mod deadline;
mod options;
mod registry;

mod anthropic;
mod command;
mod openai_chat;
mod openai_responses;

mod body;
mod calls;
mod extra;
mod failure;
mod gathered;
mod http;
mod ids;
mod json;
mod lenient;
mod part_batch;
mod probe;
mod read;
mod result_images;
mod retry_after;
mod sse;
mod thoughts;
mod user_text;
mod vendor;

#[cfg(test)]
mod conformance;
#[cfg(any(test, fuzzing))]
#[cfg_attr(fuzzing, allow(dead_code, reason = "tests use more of it"))]
mod fake;
#[cfg(any(test, fuzzing))]
pub mod fuzz;
#[cfg(any(test, fuzzing))]
mod playback;

pub use options::{ANSWER_MAX, ProviderOptions, Timeouts};
pub use probe::{ListedModel, MODELS_MAX, ProbeRequest, ProbeResult, is_local, list_models, probe};
pub use registry::{KINDS, OpenError, ProviderContext, open};
