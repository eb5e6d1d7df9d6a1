//! `reasonix wait`: until sessions are done.

use futures::future::join_all;
use proto::methods::SessionWait;
use proto::params::session::{Until, WaitOutput, WaitParams};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::exit::{self, Error};
use crate::output;
use crate::reach;

/// Wait until the turns of sessions have ended; exits as their runs would. With several, the first that is not 0 counts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Give up after so many seconds, with exit code 124.
    #[arg(long, value_name = "SECONDS", value_parser = crate::when::seconds)]
    timeout: Option<u64>,
    /// Print JSON: how each came out, one object a line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    many: super::Many,
}

/// How the wait for one session came out.
#[derive(Serialize, JsonSchema)]
pub struct Waited {
    /// As it was named.
    session: String,
    #[serde(flatten)]
    answer: Option<WaitOutput>,
    /// Why there is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
}

/// Waits for all at once.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("wait").await?;
    let sessions = args.many.named(&client).await?;
    let waits = sessions.iter().map(|session| {
        let params = WaitParams {
            session: session.clone(),
            until: Until::Turn,
            timeout_ms: args.timeout,
        };
        let client = client.clone();
        async move { client.call::<SessionWait>(&params).await }
    });
    let mut code = 0;
    for (session, result) in sessions.iter().zip(join_all(waits).await) {
        let result = result.map_err(Error::from);
        if args.json {
            output::json(&Waited {
                session: session.clone(),
                answer: result.as_ref().ok().cloned(),
                error: result.as_ref().err().map(Error::describe),
            })?;
        }
        let this = match result {
            Ok(answer) if answer.done => u8::try_from(answer.exit_code).unwrap_or(1),
            Ok(_) => {
                output::progress(&format!("{session}: not done in time"));
                exit::TIMEOUT
            }
            Err(error) => exit::tell(&error, false),
        };
        if code == 0 {
            code = this;
        }
    }
    Ok(code)
}
