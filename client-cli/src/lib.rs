//! The command line `reasonix`: a file a verb under `commands`, and what they share.

mod args;
mod commands;
mod dialog;
mod ended;
mod exit;
mod interface;
mod near;
mod output;
mod paint;
mod person;
mod pieces;
mod reach;
pub mod schema;
mod session_options;
mod signals;
mod terminal;
mod when;

use std::process::ExitCode;

use client::text;

/// The program: reads the arguments, does what they say, says how it went by the exit code.
pub fn main() -> ExitCode {
    ExitCode::from(args::start(std::env::args_os().collect()))
}

/// Everything that can be said on the command line, for the reference.
#[must_use]
pub fn command() -> clap::Command {
    <args::Cli as clap::CommandFactory>::command()
}
