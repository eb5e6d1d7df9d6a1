//! The arguments, and the way from them to a command. What each command does is its own file's business.

use std::ffi::OsString;
use std::future::Future;
use std::pin::Pin;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::commands;
use crate::exit::{self, Error};
use crate::output;

/// Reasonix, a coding agent: sessions live in a daemon, and this is a client of it.
#[derive(Debug, Parser)]
#[command(name = "reasonix", version = proto::VERSION, disable_help_subcommand = true, max_term_width = 100)]
pub struct Cli {
    /// Tell more: the whole chain of causes of an error, more columns of a listing.
    #[arg(short, long, global = true)]
    pub verbose: bool,
    #[command(flatten)]
    pub bare: commands::bare::Args,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(alias = "code")]
    Chat(commands::bare::Args),
    Run(Box<commands::run::Args>),
    Attach(commands::attach::Args),
    Ls(commands::ls::Args),
    Ps(commands::ps::Args),
    Top(commands::top::Args),
    Send(commands::send::Args),
    Kill(commands::kill::Args),
    Pause(commands::pause::Args),
    Resume(commands::resume::Args),
    Queue(commands::queue::Args),
    Inspect(commands::inspect::Args),
    Strace(commands::strace::Args),
    Steps(commands::steps::Args),
    Cache(commands::cache::Args),
    Prompt(commands::prompt::Args),
    Show(commands::show::Args),
    Wait(commands::wait::Args),
    #[command(alias = "log")]
    Logs(commands::logs::Args),
    Search(commands::search::Args),
    Export(commands::export::Args),
    Rename(commands::rename::Args),
    Fork(commands::fork::Args),
    Rewind(commands::rewind::Args),
    Compact(commands::compact::Args),
    Pin(commands::pin::Args),
    Model(commands::model::Args),
    Budget(commands::budget::Args),
    Close(commands::close::Args),
    Rm(commands::rm::Args),
    Stats(commands::stats::Args),
    Hooks(commands::hooks::Args),
    Inbox(commands::inbox::Args),
    Daemon(commands::daemon::Args),
    Demo(commands::demo::Args),
    Setup(commands::setup::Args),
    Login(commands::login::Args),
    Models(commands::models::Args),
    Config(commands::config::Args),
    Trust(commands::trust::Args),
    Permissions(commands::permissions::Args),
    Doctor(commands::doctor::Args),
    Completions(commands::completions::Args),
    Man(commands::man::Args),
    Rpc(commands::rpc::Args),
}

/// Runs the command that the arguments name; returns the exit code.
pub fn start(arguments: Vec<OsString>) -> u8 {
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) => return refused(&error, &arguments),
    };
    let runtime = match tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    {
        Ok(runtime) => runtime,
        Err(source) => return exit::tell(&Error::io("start the runtime", source), cli.verbose),
    };
    let result = runtime.block_on(dispatch(cli.command, cli.bare, cli.verbose));
    // Threads that wait for a key must not keep the program.
    runtime.shutdown_background();
    match result.and_then(|code| output::flush().map(|()| code)) {
        Ok(code) => code,
        Err(error) => exit::tell(&error, cli.verbose),
    }
}

/// Boxed, so that the one future of all commands is not as large as the largest on the stack of each.
type Done = Pin<Box<dyn Future<Output = Result<u8, Error>>>>;

fn dispatch(command: Option<Command>, bare: commands::bare::Args, verbose: bool) -> Done {
    let Some(command) = command else {
        return Box::pin(commands::bare::run(bare));
    };
    if !bare.is_empty() {
        return Box::pin(std::future::ready(Err(misplaced())));
    }
    match command {
        Command::Chat(args) => Box::pin(commands::bare::run(args)),
        Command::Top(args) => Box::pin(commands::top::run(args)),
        Command::Run(args) => Box::pin(commands::run::run(*args)),
        Command::Attach(args) => Box::pin(commands::attach::run(args)),
        Command::Ls(args) => Box::pin(commands::ls::run(args, verbose)),
        Command::Ps(args) => Box::pin(commands::ps::run(args, verbose)),
        Command::Kill(args) => Box::pin(commands::kill::run(args)),
        Command::Pause(args) => Box::pin(commands::pause::run(args)),
        Command::Resume(args) => Box::pin(commands::resume::run(args)),
        Command::Strace(args) => Box::pin(commands::strace::run(args)),
        Command::Inspect(args) => Box::pin(commands::inspect::run(args)),
        Command::Steps(args) => Box::pin(commands::steps::run(args)),
        Command::Cache(args) => Box::pin(commands::cache::run(args)),
        Command::Prompt(args) => Box::pin(commands::prompt::run(args)),
        Command::Show(args) => Box::pin(commands::show::run(args)),
        Command::Queue(args) => Box::pin(commands::queue::run(args)),
        Command::Wait(args) => Box::pin(commands::wait::run(args)),
        Command::Logs(args) => Box::pin(commands::logs::run(args)),
        Command::Close(args) => Box::pin(commands::close::run(args)),
        Command::Export(args) => Box::pin(commands::export::run(args)),
        Command::Fork(args) => Box::pin(commands::fork::run(args)),
        Command::Rename(args) => Box::pin(commands::rename::run(args)),
        Command::Compact(args) => Box::pin(commands::compact::run(args)),
        Command::Pin(args) => Box::pin(commands::pin::run(args)),
        Command::Model(args) => Box::pin(commands::model::run(args)),
        Command::Budget(args) => Box::pin(commands::budget::run(args)),
        Command::Rewind(args) => Box::pin(commands::rewind::run(args)),
        Command::Rm(args) => Box::pin(commands::rm::run(args)),
        Command::Search(args) => Box::pin(commands::search::run(args)),
        Command::Send(args) => Box::pin(commands::send::run(args)),
        Command::Hooks(args) => Box::pin(commands::hooks::run(args)),
        Command::Stats(args) => Box::pin(commands::stats::run(args)),
        Command::Inbox(args) => Box::pin(commands::inbox::run(args)),
        Command::Daemon(args) => Box::pin(commands::daemon::run(args)),
        Command::Demo(args) => Box::pin(commands::demo::run(args)),
        Command::Doctor(args) => Box::pin(commands::doctor::run(args)),
        Command::Setup(args) => Box::pin(commands::setup::run(args)),
        Command::Login(args) => Box::pin(commands::login::run(args)),
        Command::Models(args) => Box::pin(commands::models::run(args)),
        Command::Config(args) => Box::pin(commands::config::run(args)),
        Command::Permissions(args) => Box::pin(commands::permissions::run(args)),
        Command::Trust(args) => Box::pin(commands::trust::run(args)),
        Command::Completions(args) => Box::pin(commands::completions::run(args)),
        Command::Man(args) => Box::pin(commands::man::run(args)),
        Command::Rpc(args) => Box::pin(commands::rpc::run(args)),
    }
}

/// What is said of the interface before the name of a command.
fn misplaced() -> Error {
    Error::usage(
        "options before a command belong to `reasonix` alone",
        "put what belongs to the command behind its name",
    )
}

/// Arguments that are no command: help and version on standard output, all else as a usage error.
fn refused(error: &clap::Error, arguments: &[OsString]) -> u8 {
    let asked = matches!(
        error.kind(),
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion
    );
    // Nothing can be said about a standard output or error that is closed.
    let _ = error.print();
    if asked {
        return 0;
    }
    // A script that reads results gets one, also for arguments that were wrong.
    commands::run::refused(error, arguments);
    exit::USAGE
}
