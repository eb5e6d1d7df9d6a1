//! `reasonix resume`: sessions that are paused, or stopped at a limit, go on.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use client::Client;
use proto::RequestId;
use proto::methods::SessionResume;
use proto::params::session::{ResumeParams, Signal};

use super::SessionSelection;
use super::signal::{self, Sent};
use crate::exit::{self, Error};
use crate::messages::running::Msg;
use crate::{output, reach, text};

/// Resume sessions that are paused or stopped at a limit.
///
/// A session that has exited is not paused: continue it with a new prompt, as in `reasonix run -s SESSION PROMPT`. With
/// `--add-steps` or `--add-minutes` the work that a limit has stopped continues, also in a session that has exited.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Continue work that stopped at a limit, for N more steps (requests to the model).
    #[arg(long, value_name = "N", value_parser = crate::numbers::whole::<u64>(1..=u64::MAX, 20))]
    add_steps: Option<u64>,
    /// Continue work that stopped at a limit, for this many more minutes.
    #[arg(long, value_name = "MINUTES", value_parser = client::amounts::minutes)]
    add_minutes: Option<u64>,
    /// Print JSON: one result object per session, one per line.
    #[arg(long)]
    json: bool,
    /// Resume the sub-agents below each session too.
    #[arg(long, conflicts_with_all = ["add_steps", "add_minutes"])]
    tree: bool,
    #[command(flatten)]
    many: SessionSelection,
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

/// Sends RESUME to each; with more steps or time, continues the work of each.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("resume").await?;
    let (steps, ms, json) = (args.add_steps, args.add_minutes, args.json);
    let sessions = args.many.named(&client).await?;
    if steps.is_some() || ms.is_some() {
        return more_work(&client, sessions, (steps, ms), json).await;
    }
    signal::send(&client, sessions, Signal::Resume, (args.tree, json)).await
}

/// Adds steps or time to each. Returns the exit code: that of the last that failed.
async fn more_work(
    client: &Client,
    sessions: Vec<String>,
    (add_steps, add_ms): (Option<u64>, Option<u64>),
    json: bool,
) -> Result<u8, Error> {
    let mut code = 0;
    for session in sessions {
        let params = ResumeParams {
            session: session.clone(),
            add_steps,
            add_ms,
            request_id: Some(RequestId::new()),
        };
        let answer = client.call::<SessionResume>(&params).await;
        let answer = answer.map(|_| true).map_err(Error::from);
        if json {
            output::json(&Sent::of(&session, answer.as_ref().copied()))?;
        }
        match answer {
            Ok(_) => output::progress(&say!(Msg::WorkResumed, text::line(&session))),
            Err(error) => code = exit::tell(&error, false),
        }
    }
    Ok(code)
}
