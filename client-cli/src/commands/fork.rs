//! `reasonix fork`: a session that begins as another one did.

use client::transcript::words;
use proto::SessionId;
use proto::methods::SessionFork;
use proto::params::history::ForkParams;

use crate::exit::Error;
use crate::messages::language;
use crate::messages::stored::Msg;
use crate::{output, reach, text};

/// Copy a session up to a turn into a new one, and print its pid.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Last turn to copy [default: the newest one that has ended].
    #[arg(long, value_name = "N", value_parser = crate::numbers::whole::<u64>(1..=u64::MAX, 3))]
    at_turn: Option<u64>,
    /// Name of the new session.
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
        kind: None,
        ephemeral: false,
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
    output::progress(&say!(
        Msg::ForkMade,
        text::line(&params.session),
        forked.at_turn,
        pid
    ));
    if let Some(forecast) = &forked.forecast {
        let words = words::forecast(language(), forecast);
        output::progress(&say!(Msg::ForkPrompt, words));
    }
    Ok(0)
}
