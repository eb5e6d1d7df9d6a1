//! The built-in tools.
//!
//! A tool is `NAME.rs` and `NAME.md` (the prose that the model reads) and a line in `registry`. Tools reach files only
//! through `workspace`, processes only through the context's spawner. Called by the session engine through
//! `contract::Tool`; the assembly takes `builtin()` and puts a `Memory` into the context.

mod arguments;
mod capture;
mod clean;
mod command;
mod files;
mod filter;
pub mod memory;
pub mod registry;
mod run;
mod shells;
mod truncate;

mod bash;
mod bash_output;
mod edit_file;
mod grep;
mod kill_shell;
mod read_file;
mod write_file;

#[cfg(test)]
mod scene;

pub use memory::{Memory, Remembered};
pub use registry::{Options, builtin};
