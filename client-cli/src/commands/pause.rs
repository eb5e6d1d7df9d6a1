//! `reasonix pause`: sessions start nothing new.

use proto::params::session::Signal;

use super::{Many, signal};
use crate::exit::Error;
use crate::reach;

/// Pause sessions: what runs ends in peace, nothing new starts until `reasonix resume`.
///
/// A stream is let finish and a running command too; the next step waits, and the time limit of the turn with it.
/// Prompts and answers are still taken. A pause outlives the daemon.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON: what came of it, one object a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    many: Many,
}

/// Sends PAUSE to each.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("pause").await?;
    let sessions = args.many.named(&client).await?;
    signal::send(&client, sessions, Signal::Pause, args.json).await
}
