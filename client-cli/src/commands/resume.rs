//! `reasonix resume`: paused sessions go on.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use proto::params::session::Signal;

use super::{Many, signal};
use crate::exit::Error;
use crate::messages::running::Msg;
use crate::reach;

/// Resume paused sessions.
///
/// A session that has exited is not paused: continue it with a new prompt, as in `reasonix run -s SESSION PROMPT`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON: one result object per session, one per line.
    #[arg(long)]
    json: bool,
    /// Resume the sub-agents below each session too.
    #[arg(long)]
    tree: bool,
    #[command(flatten)]
    many: Many,
}

/// The error for `reasonix resume` without a session; `None`: the arguments are wrong in another way.
pub fn refused(error: &clap::Error) -> Option<Error> {
    let usage = match error.get(ContextKind::Usage)? {
        ContextValue::StyledStr(usage) => usage.to_string(),
        _ => return None,
    };
    let is_ours =
        error.kind() == ErrorKind::MissingRequiredArgument && usage.contains("reasonix resume ");
    is_ours.then(|| Error::usage(say!(Msg::ResumeWhich), say!(Msg::ResumeWhichHint)))
}

/// Sends RESUME to each.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("resume").await?;
    let sessions = args.many.named(&client).await?;
    signal::send(&client, sessions, Signal::Resume, (args.tree, args.json)).await
}
