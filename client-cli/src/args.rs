//! Parses the arguments and runs the command that they name.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{FromArgMatches, Parser};
use client::messages::Language;

use crate::commands::{self, Command, Done};
use crate::exit::{self, Error};
use crate::messages::common::Msg;
use crate::messages::help;
use crate::{messages, near, other_agents, output};

/// Reasonix, a coding agent for the terminal. Sessions run in a background daemon.
#[derive(Debug, Parser)]
#[command(name = "reasonix", version = proto::VERSION, disable_help_subcommand = true, max_term_width = 100)]
pub struct Cli {
    /// Show more: full error chains, more columns.
    #[arg(short, long, global = true)]
    pub verbose: bool,
    #[command(flatten)]
    pub bare: commands::bare::Args,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Runs the command that the arguments name; returns the exit code.
pub fn start(arguments: Vec<OsString>) -> u8 {
    messages::start(&arguments);
    let parsed = crate::command().try_get_matches_from(&arguments);
    let cli = match parsed.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(error) => return refused(&without_far_values(error), &arguments),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(source) => return exit::tell(&Error::io(say!(Msg::DoRuntime), source), cli.verbose),
    };
    let result = runtime.block_on(dispatch(cli.command, cli.bare, cli.verbose));
    // Threads that wait for a key must not keep the program.
    runtime.shutdown_background();
    match result.and_then(|code| output::flush().map(|()| code)) {
        Ok(code) => code,
        Err(error) => exit::tell(&error, cli.verbose),
    }
}

fn dispatch(command: Option<Command>, bare: commands::bare::Args, verbose: bool) -> Done {
    match command {
        None => Box::pin(commands::bare::run(bare)),
        Some(_) if !bare.is_empty() => {
            let refused = commands::bare::before_command(&bare);
            Box::pin(std::future::ready(Err(refused)))
        }
        Some(command) => command.run(verbose),
    }
}

/// Removes clap's suggestion of a value that is not like the one that was typed.
fn without_far_values(mut error: clap::Error) -> clap::Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text),
        _ => None,
    };
    let typed = text(ContextKind::InvalidValue).zip(text(ContextKind::SuggestedValue));
    if typed.is_some_and(|(typed, suggested)| !near::is_near(typed, suggested)) {
        error.remove(ContextKind::SuggestedValue);
    }
    error
}

/// Prints help and version on standard output, and everything else as a usage error.
fn refused(error: &clap::Error, arguments: &[OsString]) -> u8 {
    let asked = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    let known = commands::bare::suggest_run(error, arguments)
        .or_else(|| other_agents::error(error, arguments))
        .or_else(|| commands::resume::refused(error))
        .or_else(|| commands::bare::refused(error, arguments));
    if let Some(known) = known {
        commands::run::refused(error, arguments);
        return exit::tell(&known, false);
    }
    // Nothing can be said about a standard output or error that is closed.
    let is_help = asked || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    let _ = match messages::language() {
        Language::Chinese if !is_help => std::io::Write::write_all(
            &mut std::io::stderr(),
            help::refusal::words(error).as_bytes(),
        ),
        Language::English | Language::Chinese => error.print(),
    };
    if asked {
        return 0;
    }
    // A script that reads results gets one, also for arguments that were wrong.
    commands::run::refused(error, arguments);
    exit::USAGE
}
