//! `reasonix pause`: sessions start nothing new.

use proto::params::session::Signal;

use super::{SessionSelection, signal};
use crate::exit::Error;
use crate::reach;

/// Pause sessions: running work finishes, nothing new starts.
///
/// `reasonix resume` continues them. The current answer and running commands finish; the next step waits, and the time
/// limit of the turn stops. Prompts and answers are still accepted. A pause survives a restart of the daemon.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON: one result object per session, one per line.
    #[arg(long)]
    json: bool,
    /// Pause the sub-agents below each session too, also those that start during the pause.
    #[arg(long)]
    tree: bool,
    #[command(flatten)]
    many: SessionSelection,
}

/// Sends PAUSE to each.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("pause").await?;
    let sessions = args.many.named(&client).await?;
    signal::send(&client, sessions, Signal::Pause, (args.tree, args.json)).await
}
