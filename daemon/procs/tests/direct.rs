//! All scenarios, with namespaces opened by our own system calls, if that works.
#![cfg(target_os = "linux")]

mod sandboxed;
mod scenes;
mod stage;

pub const BACKEND: procs::BackendChoice = procs::BackendChoice::Direct;
/// The argument of `procs-probe` that runs commands this way.
pub const HOST: &str = "host-direct";
