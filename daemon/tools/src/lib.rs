//! The built-in tools.
//!
//! A tool is `NAME.rs` and `NAME.md` (the prose that the model reads) and a line in `registry`. Tools reach files only
//! through `workspace`, processes only through the context's spawner. Called by the session engine through
//! `contract::Tool`; the assembly takes `builtin()` and puts a `Memory` into the context.

mod arguments;
mod capture;
mod clean;
mod command;
mod file_tool;
mod files;
mod filter;
mod lasting;
mod memory;
pub mod registry;
mod run;
mod shells;
mod transfer;
mod truncate;

mod apply_patch;
mod ask;
mod bash;
mod bash_output;
mod copy_file;
mod delete_file;
mod edit_file;
mod exit_plan_mode;
mod glob;
mod grep;
mod kill_shell;
mod ls;
mod make_dir;
mod move_file;
mod multi_edit;
mod read_file;
mod todo_write;
mod tool_call;
mod tool_search;
mod write_file;

#[cfg(test)]
mod path_cases;
#[cfg(test)]
mod scene;

pub use memory::Memory;
pub use registry::{Options, builtin};
