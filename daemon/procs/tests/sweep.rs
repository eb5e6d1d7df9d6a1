//! All scenes, with commands held by their helper alone.
#![cfg(target_os = "linux")]

mod scenes;

const WAY: procs::Namespaces = procs::Namespaces::Off;
/// What makes `procs-probe` hold a command in this way.
const HOST: &str = "host-off";
