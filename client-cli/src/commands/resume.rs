//! `reasonix resume`: paused sessions go on.

use proto::params::session::Signal;

use super::{Many, signal};
use crate::exit::Error;
use crate::reach;

/// Let paused sessions go on where `reasonix pause` stopped them.
///
/// A session that has exited is not paused: it goes on with its next prompt, as in `reasonix run -s SESSION PROMPT`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON: what came of it, one object a line.
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
