//! `reasonix wait`: until sessions are done.

use std::time::{Duration, Instant};

use client::{CallError, Client};
use futures::future::join_all;
use proto::methods::SessionWait;
use proto::params::session::{Until, WaitOutput, WaitParams};
use proto::state::WaitingFor;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::exit::{self, Error};
use crate::messages::running::Msg;
use crate::messages::translated;
use crate::pieces::end_lines;
use crate::{output, reach, text};

/// Wait until sessions have finished, and exit as `run` would.
///
/// With several sessions, the first code other than 0 counts.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Stop waiting after this many seconds, with exit code 124.
    #[arg(long, value_name = "SECONDS", value_parser = crate::when::seconds)]
    timeout: Option<u64>,
    /// Print JSON: one outcome per session, one per line.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    many: super::SessionSelection,
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
    let due = args
        .timeout
        .map(|limit| Instant::now() + Duration::from_millis(limit));
    let waits = sessions.iter().map(|session| wait(&client, session, due));
    let mut code = 0;
    for (session, result) in sessions.iter().zip(join_all(waits).await) {
        if args.json {
            output::json(&Waited {
                session: session.clone(),
                answer: result.as_ref().ok().cloned(),
                error: result.as_ref().err().map(Error::describe),
            })?;
        }
        let this = match result {
            Ok(answer) if answer.done => {
                for line in reasons(&answer) {
                    output::progress(&format!("{session}: {}", text::line(&line)));
                }
                u8::try_from(answer.exit_code).unwrap_or(1)
            }
            Ok(_) => {
                output::progress(&say!(Msg::NotInTime, session));
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

/// Why its end was none to be glad of: nothing for one that went well.
fn reasons(answer: &WaitOutput) -> Vec<String> {
    match (&answer.ended, answer.exit_code) {
        (_, 0) => Vec::new(),
        (Some(ended), _) => {
            let lines = end_lines(ended, |_| false).into_iter();
            lines.map(|(_, text)| text).collect()
        }
        (None, code) => vec![say!(Msg::EndedCode, code)],
    }
}

/// Waits until its turns have ended; reports if it waits for a user.
async fn wait(client: &Client, session: &str, due: Option<Instant>) -> Result<WaitOutput, Error> {
    let answer = ask(client, session, Until::Attention, due).await?;
    if !answer.attention {
        return Ok(answer);
    }
    let summary = client.session(session).await?;
    let why = match (&summary.waiting_for, &summary.cause) {
        (Some(WaitingFor::Credentials), cause) => say!(Msg::NeedsKey, translated(cause)),
        _ => say!(Msg::WaitsForYou).to_owned(),
    };
    output::progress(&format!("{session}: {}", text::line(&why)));
    Ok(ask(client, session, Until::Turn, due).await?)
}

async fn ask(
    client: &Client,
    session: &str,
    until: Until,
    due: Option<Instant>,
) -> Result<WaitOutput, CallError> {
    let left = due.map(|due| due.saturating_duration_since(Instant::now()));
    let params = WaitParams {
        session: session.to_owned(),
        until,
        timeout_ms: left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
    };
    client.call::<SessionWait>(&params).await
}
