//! `reasonix kill`: signals to sessions, and an end to commands in the background.

use clap::ValueEnum;
use proto::params::session::Signal;

use super::{SessionSelection, signal};
use crate::exit::Error;
use crate::reach;

/// Signal sessions: INT stops the turn, TERM and KILL end them.
///
/// TERM ends the turn and closes the session, KILL does it at once. The number of a background command, as `reasonix
/// ps` shows it, stops that command with any signal.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Signal to send.
    #[arg(short, long, value_enum, default_value = "TERM", ignore_case = true)]
    signal: Name,
    /// Print JSON: one result object per session, one per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    many: SessionSelection,
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

/// Sends it to each, also if one of them does not exist.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("kill").await?;
    let signal = match args.signal {
        Name::Int => Signal::Int,
        Name::Term => Signal::Term,
        Name::Kill => Signal::Kill,
    };
    let sessions = args.many.named(&client).await?;
    signal::send(&client, sessions, signal, (false, args.json)).await
}
