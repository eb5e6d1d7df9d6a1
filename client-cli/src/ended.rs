//! An end that an event did not contain: one too large for a frame comes without its data, and is asked for again.
//!
//! Called by `run`, which ends by it, and `attach`, which shows it. Prints nothing. Of a session whose log cannot be
//! written for a while the daemon reports ends that are not real: they are ignored.

use std::time::Duration;

use client::{CallError, Client, DecodedEvent};
use proto::methods::SessionWait;
use proto::params::session::{Until, WaitOutput, WaitParams};
use proto::record::SessionExited;
use proto::{Body, Failure};
use tokio::time::Instant;

use crate::exit::Error;
use crate::messages::common::Msg;
use crate::messages::translated;
use crate::text;

/// How long the daemon may take to say how a turn ended that has ended.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long a run waits for a log that cannot be written.
pub const UNWRITABLE_TIMEOUT: Duration = Duration::from_secs(30);

/// How often it is looked at meanwhile.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// Says that a log cannot be written, and is waited for.
pub fn unwritable(failure: &Failure) -> String {
    say!(
        Msg::LogUnwritable,
        text::line(translated(&failure.message).trim_end_matches(['.', '。']))
    )
}

/// Waits, as `session.wait`. The answer about a session that can only be read is not taken before so long has passed.
///
/// # Errors
/// The daemon refuses, or is gone.
pub async fn wait(
    client: &Client,
    params: &WaitParams,
    patience: Duration,
) -> Result<WaitOutput, CallError> {
    let begun = Instant::now();
    loop {
        let answer = client.call::<SessionWait>(params).await?;
        let summary = client.session(&params.session).await?;
        if summary.read_only.is_none() || begun.elapsed() >= patience {
            return Ok(answer);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Whether an event is the end of a turn or session, and does not say how it ended.
pub fn lacks_outcome(event: &DecodedEvent) -> bool {
    matches!(event.body(), Some(Body::Unknown { .. }))
        && matches!(event.kind(), "turn.ended" | "session.exited")
}

/// The same event, with what the daemon says of that end when it is asked.
///
/// # Errors
/// The daemon refuses, or knows a later end only.
pub async fn with_outcome(
    client: &Client,
    session: &str,
    event: &DecodedEvent,
) -> Result<DecodedEvent, Error> {
    let untold = || Error::Failed {
        what: say!(Msg::EndUnreported, event.kind()),
        hint: say!(Msg::LogsShow, session),
    };
    // A session that went on says how its newest turn ended, which is another one. It is asked before, so that
    // nobody waits for that turn, and afterwards, because it may have begun in between.
    if went_on(client, session, event).await? {
        return Err(untold());
    }
    let wait = WaitParams {
        session: session.to_owned(),
        until: match event.kind() {
            "session.exited" => Until::Exit,
            _ => Until::Turn,
        },
        timeout_ms: u64::try_from(PATIENCE.as_millis()).ok(),
    };
    let answer = self::wait(client, &wait, UNWRITABLE_TIMEOUT).await?;
    if went_on(client, session, event).await? {
        return Err(untold());
    }
    with(event, &answer).ok_or_else(untold)
}

async fn went_on(client: &Client, session: &str, event: &DecodedEvent) -> Result<bool, Error> {
    let summary = client.session(session).await?;
    Ok(event.turn.is_some_and(|turn| summary.turns > turn))
}

fn with(event: &DecodedEvent, answer: &WaitOutput) -> Option<DecodedEvent> {
    event.with_body(match event.kind() {
        "turn.ended" => Body::TurnEnded(answer.ended.clone()?),
        _ => {
            let exited = answer.exited?;
            Body::SessionExited(SessionExited {
                outcome: exited.outcome,
                reason: exited.reason,
                exit_code: exited.exit_code,
                request_id: None,
            })
        }
    })
}
