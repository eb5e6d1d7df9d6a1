//! `reasonix kill`: signals to sessions.

use clap::ValueEnum;
use proto::RequestId;
use proto::methods::SessionSignal;
use proto::params::session::{Signal, SignalParams};

use crate::exit::{self, Error};
use crate::output;
use crate::reach;

/// Send a signal to sessions: INT stops the turn, TERM also ends the session, KILL ends it at once.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which signal.
    #[arg(short, long, value_enum, default_value = "TERM", ignore_case = true)]
    signal: Name,
    /// Pids, ids, or names.
    #[arg(required = true)]
    session: Vec<String>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
#[value(rename_all = "UPPER")]
enum Name {
    #[value(alias = "2", alias = "SIGINT")]
    Int,
    #[value(alias = "15", alias = "SIGTERM")]
    Term,
    #[value(alias = "9", alias = "SIGKILL")]
    Kill,
}

/// Sends it to each, also where one of them does not exist.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("kill").await?;
    let signal = match args.signal {
        Name::Int => Signal::Int,
        Name::Term => Signal::Term,
        Name::Kill => Signal::Kill,
    };
    let mut code = 0;
    for session in args.session {
        let params = SignalParams {
            session: session.clone(),
            signal,
            request_id: Some(RequestId::new()),
        };
        match client.call::<SessionSignal>(&params).await {
            Ok(answer) if answer.delivered => {}
            Ok(_) => output::progress(&format!("{session}: nothing to stop")),
            Err(error) => code = exit::tell(&error.into(), false),
        }
    }
    Ok(code)
}
