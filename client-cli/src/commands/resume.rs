//! `reasonix resume`: paused sessions go on.

use proto::params::session::Signal;

use super::{Many, signal};
use crate::exit::Error;
use crate::reach;

/// Resume paused sessions.
///
/// A session that has exited is not paused: continue it with a new prompt, as in `reasonix run -s SESSION PROMPT`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON: one result object per session, one per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    many: Many,
}

/// Sends RESUME to each.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("resume").await?;
    let sessions = args.many.named(&client).await?;
    signal::send(&client, sessions, Signal::Resume, args.json).await
}
