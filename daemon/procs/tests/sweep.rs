//! All scenes, with commands held by their helper alone.
#![cfg(target_os = "linux")]

mod scenes;
mod stage;

pub const WAY: procs::Layers = procs::Layers::Off;
/// What makes `procs-probe` hold a command in this way.
pub const HOST: &str = "host-off";
