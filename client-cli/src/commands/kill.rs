//! `reasonix kill`: signals to sessions, and an end to commands in the background.

use clap::ValueEnum;
use proto::params::session::Signal;

use super::{Many, signal};
use crate::exit::Error;
use crate::reach;

/// Send a signal to sessions: INT stops the turn, TERM also ends the session, KILL ends it at once.
///
/// The number of a command in the background, as `reasonix ps` shows it, stops that command, whichever the signal.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which signal.
    #[arg(short, long, value_enum, default_value = "TERM", ignore_case = true)]
    signal: Name,
    /// Print JSON: what came of it, one object a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    many: Many,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "UPPER")]
enum Name {
    #[value(alias = "2", alias = "SIGINT")]
    Int,
    #[value(alias = "15", alias = "SIGTERM")]
    Term,
    #[value(alias = "9", alias = "SIGKILL")]
    Kill,
}

/// Sends it to each, also where one of them does not exist.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("kill").await?;
    let signal = match args.signal {
        Name::Int => Signal::Int,
        Name::Term => Signal::Term,
        Name::Kill => Signal::Kill,
    };
    let sessions = args.many.named(&client).await?;
    signal::send(&client, sessions, signal, args.json).await
}
