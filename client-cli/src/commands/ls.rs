//! `reasonix ls`: stored sessions.

use proto::methods::SessionList;
use proto::params::session::{ListParams, SessionSummary};

use super::Listing;
use crate::exit::Error;
use crate::output;
use crate::reach;

/// List stored sessions, newest first.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    listing: Listing,
}

/// Lists them, all pages.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("ls").await?;
    let mut sessions: Vec<SessionSummary> = Vec::new();
    let mut before = None;
    loop {
        let page = client
            .call::<SessionList>(&ListParams {
                before,
                ..ListParams::default()
            })
            .await?;
        sessions.extend(page.sessions);
        // A page that does not go on ends the list, whatever it says.
        if page.next.is_none() || page.next == before {
            break;
        }
        before = page.next;
    }
    print(&sessions, &args.listing)?;
    Ok(0)
}

/// Prints sessions in the form that was asked for.
pub fn print(sessions: &[SessionSummary], listing: &Listing) -> Result<(), Error> {
    if listing.json {
        return output::json(&sessions);
    }
    if listing.quiet {
        return sessions
            .iter()
            .try_for_each(|session| output::line(&session.pid.to_string()));
    }
    let rows: Vec<_> = sessions.iter().map(row).collect();
    output::table(
        [
            "PID", "STATE", "MODEL", "TURNS", "TOKENS", "ACTIVE", "CWD", "LAST",
        ],
        &rows,
    )
}

/// A session as a row: what `ls` and `ps` show.
fn row(session: &SessionSummary) -> [String; 8] {
    let name = session
        .name
        .as_deref()
        .map_or_else(String::new, |name| format!("{name}: "));
    [
        session.pid.to_string(),
        state(session),
        session.model.clone(),
        session.turns.to_string(),
        output::short(session.usage.prompt_tokens + session.usage.output_tokens),
        // Date and time to the minute.
        session.active_at.to_string().chars().take(16).collect(),
        session.cwd.clone(),
        format!("{name}{}", session.last_line),
    ]
}

/// The state in words, with what it waits for and how it exited.
pub fn state(session: &SessionSummary) -> String {
    use proto::state::{State, WaitingFor};
    if session.read_only.is_some() {
        return "read-only".to_owned();
    }
    match (session.state, session.waiting_for, session.exit_code) {
        // They wait for a word: behind a turn that was cut off nothing starts by itself.
        (State::Idle, _, _) if session.queued > 0 => format!("idle, {} queued", session.queued),
        (State::Idle, _, _) => "idle".to_owned(),
        (State::Running, _, _) => match session.silent_since {
            None => "running".to_owned(),
            Some(since) => format!("running, no data {}", output::ago(since)),
        },
        (State::Waiting, None, _) => "waiting".to_owned(),
        (State::Waiting, Some(WaitingFor::Approval), _) => "waiting: approval".to_owned(),
        (State::Waiting, Some(WaitingFor::Retry), _) => "waiting: retry".to_owned(),
        (State::Waiting, Some(WaitingFor::Credentials), _) => "waiting: key".to_owned(),
        (State::Paused, _, _) if session.pending_approvals > 0 => "paused: approval".to_owned(),
        (State::Paused, _, _) => "paused".to_owned(),
        (State::Exited, _, Some(code)) => format!("exited {code}"),
        (State::Exited, _, None) => "exited".to_owned(),
    }
}
