//! `reasonix` alone: what can be done, and the sessions of this directory that can be gone on with.

use std::time::Duration;

use proto::hello::Role;
use proto::methods::SessionList;
use proto::params::session::{ListParams, SessionSummary};
use proto::state::State;

use crate::exit::Error;
use crate::{output, reach, terminal, text};

/// How long the daemon may take to tell of sessions.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sessions that are offered.
const SESSIONS: usize = 5;

/// Says what can be done. Starts no daemon.
pub async fn run() -> Result<u8, Error> {
    if terminal::is_interactive() {
        // Without an answer there is nothing to offer.
        if let Ok(Ok(sessions)) = tokio::time::timeout(PATIENCE, live_here()).await {
            for session in sessions.iter().take(SESSIONS) {
                output::progress(&offer(session));
            }
        }
    }
    Err(Error::usage(
        "the full-screen interface is not in this build",
        "`reasonix run PROMPT` does one turn, `reasonix attach --plain` talks with a session, `reasonix setup` sets up a provider; see `reasonix --help`",
    ))
}

/// Sessions of this directory that have not exited, those that a person can go on with first.
async fn live_here() -> Result<Vec<SessionSummary>, Error> {
    let cwd = reach::utf8(&reach::cwd(None)?)?;
    let Some(client) = reach::running("here", Role::Watch).await? else {
        return Ok(Vec::new());
    };
    let params = ListParams {
        cwd: Some(cwd),
        limit: 20,
        ..ListParams::default()
    };
    let mut sessions = client.call::<SessionList>(&params).await?.sessions;
    sessions.retain(|session| session.state != State::Exited);
    let rank = |session: &SessionSummary| match session.state {
        State::Waiting => 0,
        State::Running | State::Paused => 1,
        State::Idle | State::Exited => 2,
    };
    sessions.sort_by_key(|session| (rank(session), std::cmp::Reverse(session.active_at)));
    Ok(sessions)
}

/// One session, and how it is gone on with.
fn offer(session: &SessionSummary) -> String {
    let pid = session.pid;
    let state = match (
        session.pending_approvals + session.pending_questions,
        session.state,
    ) {
        (0, State::Waiting) => "waits",
        (0, State::Running) => "is at work",
        (0, State::Paused) => "is paused",
        (0, State::Idle | State::Exited) => "is open",
        (_, _) => "waits for you",
    };
    let last = match session.last_line.is_empty() {
        true => String::new(),
        false => format!(": {}", session.last_line),
    };
    text::line(&format!(
        "· `reasonix attach --plain {pid}` session {pid} {state}{last}"
    ))
}
