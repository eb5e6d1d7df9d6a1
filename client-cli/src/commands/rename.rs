//! `reasonix rename`: another name for a session.

use proto::SessionOptions;

use crate::exit::Error;
use crate::messages::stored::Msg;
use crate::{output, reach, text};

/// Set or clear the name of a session.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// New name.
    #[arg(required_unless_present = "clear", conflicts_with = "clear")]
    name: Option<String>,
    /// Clear the name.
    #[arg(long)]
    clear: bool,
    /// Print JSON: the summary of the session.
    #[arg(long)]
    json: bool,
}

/// Names it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let name = args.name.unwrap_or_default();
    // The protocol's word for "no name" is the empty one: typed by accident it would take the name away.
    if !args.clear && name.trim().is_empty() {
        return Err(Error::usage(say!(Msg::NameEmpty), say!(Msg::NameEmptyHint)));
    }
    let client = reach::daemon("rename").await?;
    let options = SessionOptions {
        name: Some(name),
        ..SessionOptions::default()
    };
    let summary = client.set(&args.session, options).await?;
    if args.json {
        output::json(&summary)?;
        return Ok(0);
    }
    output::progress(&match &summary.name {
        Some(name) => say!(Msg::RenamedTo, summary.pid, text::line(name)),
        None => say!(Msg::NameRemoved, summary.pid),
    });
    Ok(0)
}
