//! All scenes, with commands in a process namespace, where one can be opened.
#![cfg(target_os = "linux")]

mod scenes;
mod stage;
mod walls;

pub const WAY: procs::Layers = procs::Layers::Auto;
/// What makes `procs-probe` hold a command in this way.
pub const HOST: &str = "host";
