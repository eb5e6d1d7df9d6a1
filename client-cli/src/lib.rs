//! The command line `reasonix`: one file per command under `commands`, and shared code.

#[macro_use]
mod messages;

mod agent_dialogs;
mod args;
mod commands;
mod dialog;
mod ended;
mod exit;
mod interface;
mod json_schema;
mod near;
mod numbers;
mod other_agents;
mod output;
mod paint;
mod person;
mod pieces;
mod reach;
pub mod schema;
mod session_options;
mod signals;
mod terminal;
mod unread_rules;
mod when;

use std::process::ExitCode;

use client::text;

/// The program: runs the command that the arguments name, and exits with its code.
pub fn main() -> ExitCode {
    ExitCode::from(args::start(std::env::args_os().collect()))
}

/// The whole command line, also for the reference.
#[must_use]
pub fn command() -> clap::Command {
    let command = command_without_overview();
    let overview = commands::help::overview(&command, false);
    messages::help::translated(command).override_help(overview)
}

/// The same with clap's own help of the program.
fn command_without_overview() -> clap::Command {
    <args::Cli as clap::CommandFactory>::command()
}
