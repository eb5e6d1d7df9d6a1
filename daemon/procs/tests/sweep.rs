//! All scenarios, with commands managed only by their helper.
#![cfg(target_os = "linux")]

mod scenes;
mod stage;

pub const BACKEND: procs::BackendChoice = procs::BackendChoice::Off;
/// The argument of `procs-probe` that runs commands this way.
pub const HOST: &str = "host-off";
