//! All scenarios, with commands in a process namespace, if one can be opened.
#![cfg(target_os = "linux")]

mod sandboxed;
mod scenes;
mod stage;

pub const BACKEND: procs::BackendChoice = procs::BackendChoice::Auto;
/// The argument of `procs-probe` that runs commands this way.
pub const HOST: &str = "host";
