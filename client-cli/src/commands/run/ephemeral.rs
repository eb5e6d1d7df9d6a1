//! `--ephemeral`: the session goes when the run is over.
//!
//! The daemon deletes such a session by itself when it has exited and nobody follows it. Here it is done at once, so that it
//! is gone when `run` exits.

use std::time::Duration;

use client::{CallError, Start};
use proto::methods::{SessionDelete, SessionSignal};
use proto::params::history::DeleteParams;
use proto::params::session::{Signal, SignalParams};
use proto::{ErrorName, RequestId, SessionId};
use tokio::time::{Instant, sleep};

use crate::exit::Error;
use crate::messages::run::Msg;
use crate::{output, reach, text};

/// How long what still runs may take to end.
const ENDS: Duration = Duration::from_secs(10);

/// How often it is tried again meanwhile.
const LOOK: Duration = Duration::from_millis(50);

/// Ends the session, if it is not over, and deletes it. What does not work is said: the daemon does it later.
pub(super) async fn discard(session: SessionId) {
    match tokio::time::timeout(ENDS, delete(session)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => warn(&error.to_string()),
        Err(_) => warn(say!(Msg::NotEndedYet)),
    }
}

fn warn(why: &str) {
    output::progress(&say!(Msg::NotDeletedYet, text::line(why)));
}

async fn delete(session: SessionId) -> Result<(), Error> {
    let client = reach::with("run", |options| options.start = Start::Never).await?;
    let params = DeleteParams {
        session: session.to_string(),
        confirm: true,
    };
    let begun = Instant::now();
    let mut signalled = None;
    loop {
        match client.call::<SessionDelete>(&params).await {
            Ok(_) => return Ok(()),
            Err(CallError::Failure(failure)) => match failure.name {
                ErrorName::NotFound => return Ok(()),
                ErrorName::Busy => {}
                _ => return Err(CallError::Failure(failure).into()),
            },
            Err(error) => return Err(error.into()),
        }
        let signal = match signalled {
            None => Some(Signal::Term),
            Some(Signal::Term) if begun.elapsed() > ENDS / 2 => Some(Signal::Kill),
            Some(_) => None,
        };
        if let Some(signal) = signal {
            let params = SignalParams {
                session: session.to_string(),
                signal,
                tree: false,
                request_id: Some(RequestId::new()),
            };
            client.call::<SessionSignal>(&params).await?;
            signalled = Some(signal);
        }
        sleep(LOOK).await;
    }
}
