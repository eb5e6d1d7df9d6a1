//! `reasonix fork`: a session that begins as another one did.

use proto::SessionId;
use proto::methods::SessionFork;
use proto::params::history::ForkParams;

use crate::exit::Error;
use crate::{output, reach, text};

/// Make a session that begins with the same conversation; the first one stays as it is. Prints its pid.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Pid, id, or name.
    session: String,
    /// The last turn that it takes over [default: the newest that has ended].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    at_turn: Option<u64>,
    /// A name for the new session.
    #[arg(long)]
    name: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Forks it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("fork").await?;
    let params = ForkParams {
        session: args.session,
        fork: SessionId::new(),
        at_turn: args.at_turn,
        name: args.name,
    };
    let forked = client.call::<SessionFork>(&params).await?;
    if args.json {
        output::json(&forked)?;
        return Ok(0);
    }
    let pid = forked.pid;
    output::line(&pid.to_string())?;
    output::progress(&format!(
        "· forked from {} after turn {}; continue with `reasonix run -s {pid} PROMPT` or `reasonix attach {pid}`",
        text::line(&params.session),
        forked.at_turn
    ));
    if let Some(forecast) = &forked.forecast {
        output::progress(&format!(
            "· its first prompt, sent now: {}",
            forecast.words()
        ));
    }
    Ok(0)
}
