//! All scenes, with commands in a process namespace, where one can be opened.
#![cfg(target_os = "linux")]

mod scenes;

const WAY: procs::Namespaces = procs::Namespaces::Auto;
/// What makes `procs-probe` hold a command in this way.
const HOST: &str = "host";
