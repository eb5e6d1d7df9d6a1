//! `reasonix reload`: the instruction files and tools of now in the prefix of a session.

use client::transcript::words;
use proto::RequestId;
use proto::methods::SessionReload;
use proto::params::reload::ReloadParams;

use crate::exit::Error;
use crate::messages::language;
use crate::{output, reach};

/// Read the instruction files and MCP tools of a session again.
///
/// A session keeps the instructions, facts and tools of MCP servers that it started with; its next prompt reports what
/// changed in the files since. After a reload, later requests start with what there is now. That loses the prompt cache:
/// if the session has messages, `--yes` is needed. If nothing has changed, nothing is reset.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Confirm that the provider's prompt cache will be lost.
    #[arg(short, long)]
    yes: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Reloads them.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("reload").await?;
    let params = ReloadParams {
        session: args.session,
        confirm: args.yes,
        request_id: Some(RequestId::new()),
    };
    let done = client.call::<SessionReload>(&params).await?;
    if args.json {
        output::json(&done)?;
        return Ok(0);
    }
    for line in words::reloaded(language(), &done) {
        output::progress(&format!("· {line}"));
    }
    Ok(0)
}
