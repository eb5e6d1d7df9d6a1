//! `reasonix rename`: another name for a session.

use proto::SessionOptions;

use crate::exit::Error;
use crate::{output, reach, text};

/// Give a session a name, by which it can be called from then on.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Pid, id, or name.
    session: String,
    /// The name it is to have.
    #[arg(required_unless_present = "clear", conflicts_with = "clear")]
    name: Option<String>,
    /// Take its name away.
    #[arg(long)]
    clear: bool,
    /// Print JSON: the session in short.
    #[arg(long)]
    json: bool,
}

/// Names it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let name = args.name.unwrap_or_default();
    // The protocol's word for "no name" is the empty one: typed by accident it would take the name away.
    if !args.clear && name.trim().is_empty() {
        return Err(Error::usage(
            "the name is empty",
            "`--clear` takes the name of a session away",
        ));
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
        Some(name) => format!("· session {} is `{}` now", summary.pid, text::line(name)),
        None => format!("· session {} has no name now", summary.pid),
    });
    Ok(0)
}
