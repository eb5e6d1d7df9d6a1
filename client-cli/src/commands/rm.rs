//! `reasonix rm`: sessions deleted for good, by name or by age.

use client::{CallError, Client};
use proto::ErrorName;
use proto::hello::Role;
use proto::methods::{SessionDelete, SessionPrune, SessionSignal, SessionWait};
use proto::params::history::{DeleteOutput, DeleteParams, PruneOutput, PruneParams};
use proto::params::session::{Signal, SignalParams, Until, WaitParams};
use proto::{Failure, RequestId};
use serde_json::Value;

use super::Listing;
use crate::exit::{self, Error};
use crate::messages::back::Msg;
use crate::messages::translated;
use crate::messages::{Head, Thing};
use crate::terminal::{self, Lines};
use crate::{output, reach, text};

/// How long a killed session may take to be gone, in milliseconds.
const GONE_MS: u64 = 15_000;

/// Delete sessions for good, with their logs and saved files.
///
/// Shows what would be lost, and asks; without a terminal it needs `--yes`. `--older-than` never deletes running,
/// waiting or paused sessions. `reasonix stats` still counts the usage of deleted sessions.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Sessions: pids, ids, or names.
    #[arg(required_unless_present = "older_than", conflicts_with = "older_than")]
    session: Vec<String>,
    /// Delete every session that has been unused for more than this many days.
    #[arg(long, value_name = "DAYS", value_parser = crate::numbers::whole::<u64>(1..=u64::MAX, 30))]
    older_than: Option<u64>,
    /// Show what would be deleted; delete nothing.
    #[arg(long)]
    dry_run: bool,
    /// Delete without asking.
    #[arg(short, long)]
    yes: bool,
    /// Also delete running sessions; they are killed first.
    #[arg(short, long, conflicts_with = "older_than")]
    force: bool,
    #[command(flatten)]
    listing: Listing,
}

/// Deletes them.
pub async fn run(args: Args) -> Result<u8, Error> {
    if !(args.yes || args.dry_run || terminal::is_interactive()) {
        return Err(unasked(&args).await);
    }
    let client = reach::daemon("rm").await?;
    match args.older_than {
        Some(days) => prune(&client, &args, days).await,
        None => delete(&client, &args).await,
    }
}

/// The error where nobody can be asked: a session that does not exist, for which `--yes` would not help, else how to do it
/// without being asked.
async fn unasked(args: &Args) -> Error {
    if let Ok(Some(client)) = reach::running("rm", Role::Watch).await {
        for session in &args.session {
            if let Err(error) = client.session(session).await {
                return error.into();
            }
        }
    }
    Error::usage(
        say!(Msg::NothingDeletedAsk),
        say!(Msg::NothingDeletedAskHint),
    )
}

/// Asks the person who sits there. Nothing is a no.
async fn agreed(question: &str) -> bool {
    let mut lines = Lines::start();
    lines.flush();
    output::question(&format!("{question} [y/N] "));
    let answer = lines.next().await.unwrap_or_default();
    matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")
}

fn nothing_done() -> Result<u8, Error> {
    output::progress(say!(Msg::NothingDeleted));
    Ok(1)
}

/// Those that were named: first what would be lost of each, then one question for all.
async fn delete(client: &Client, args: &Args) -> Result<u8, Error> {
    let mut named: Vec<&String> = Vec::new();
    for session in &args.session {
        if !named.contains(&session) {
            named.push(session);
        }
    }
    let mut code = 0;
    let mut wanted = Vec::new();
    for session in named {
        match cost(client, session, args.force).await {
            Ok(failure) => {
                output::progress(&format!("· {}", text::line(&translated(&failure.message))));
                wanted.push((session, failure));
            }
            Err(error) => code = exit::tell(&error.into(), false),
        }
    }
    let question = match wanted.as_slice() {
        [(one, _)] => say!(Msg::DeleteOne, text::line(one)),
        several => say!(Msg::DeleteMany, sessions(several.len())),
    };
    let asks = !(args.yes || args.dry_run || wanted.is_empty());
    if asks && !agreed(&question).await {
        return nothing_done();
    }
    let mut deleted = Vec::new();
    for (session, failure) in wanted {
        let answer = if args.dry_run {
            would_go(client, session, &failure).await
        } else {
            gone(client, session, args.force).await
        };
        match answer {
            Ok(output) => deleted.push(output),
            Err(error) => code = exit::tell(&error.into(), false),
        }
    }
    if args.listing.json {
        output::json(&deleted)?;
    } else if args.listing.quiet {
        for output in &deleted {
            output::line(&output.pid.to_string())?;
        }
    } else {
        let bytes = deleted
            .iter()
            .fold(0_u64, |sum, output| sum.saturating_add(output.bytes));
        report_deleted(deleted.len(), bytes, args.dry_run);
        for worktree in deleted.iter().filter_map(|output| output.worktree.as_ref()) {
            output::progress(&say!(Msg::WorktreeStays, text::line(worktree)));
        }
    }
    Ok(code)
}

/// What deleting a session would cost, in the daemon's words. `force`: one that runs can go too.
///
/// # Errors
/// There is no such session, it runs, or the daemon is gone.
async fn cost(client: &Client, session: &str, force: bool) -> Result<Failure, CallError> {
    let params = DeleteParams {
        session: session.to_owned(),
        confirm: false,
    };
    match client.call::<SessionDelete>(&params).await {
        Err(CallError::Failure(failure)) if failure.name == ErrorName::ConfirmNeeded => {
            Ok(*failure)
        }
        Err(CallError::Failure(failure)) if force && failure.name == ErrorName::Busy => {
            Ok(*failure)
        }
        Err(error) => Err(error),
        // The daemon always asks back; one that did not has deleted it.
        Ok(output) => Err(Failure::new(
            ErrorName::Internal,
            say!(Msg::DeletedUnasked, output.pid),
            say!(Msg::DoctorVersions),
        )
        .into()),
    }
}

/// What the answer would be, as far as the refusal says.
async fn would_go(
    client: &Client,
    session: &str,
    failure: &Failure,
) -> Result<DeleteOutput, CallError> {
    let summary = client.session(session).await?;
    let bytes = failure.details.get("bytes").and_then(Value::as_u64);
    Ok(DeleteOutput {
        session: summary.session,
        pid: summary.pid,
        bytes: bytes.unwrap_or(0),
        worktree: None,
    })
}

async fn gone(client: &Client, session: &str, force: bool) -> Result<DeleteOutput, CallError> {
    if force {
        let kill = SignalParams {
            session: session.to_owned(),
            signal: Signal::Kill,
            tree: false,
            request_id: Some(RequestId::new()),
        };
        client.call::<SessionSignal>(&kill).await?;
        let wait = WaitParams {
            session: session.to_owned(),
            until: Until::Exit,
            timeout_ms: Some(GONE_MS),
        };
        client.call::<SessionWait>(&wait).await?;
    }
    let params = DeleteParams {
        session: session.to_owned(),
        confirm: true,
    };
    client.call::<SessionDelete>(&params).await
}

/// Those that nobody has used for long: what would go, a question, and the deed.
async fn prune(client: &Client, args: &Args, days: u64) -> Result<u8, Error> {
    let call = |dry_run| PruneParams {
        keep_days: Some(days),
        dry_run,
    };
    let mut found = client.call::<SessionPrune>(&call(true)).await?;
    let asks = !args.yes && !args.dry_run && !found.sessions.is_empty();
    if asks {
        // The user sees what the question is about, whatever is printed in the end.
        output::progress(&format!(
            "· {}, {}:",
            sessions(found.sessions.len()),
            output::bytes(found.bytes)
        ));
        for row in rows(&found) {
            output::progress(&format!("  {}", text::line(&row.join("  "))));
        }
        if !agreed(say!(Msg::DeleteThem)).await {
            return nothing_done();
        }
    }
    let deletes = !args.dry_run && !found.sessions.is_empty();
    if deletes {
        found = client.call::<SessionPrune>(&call(false)).await?;
    }
    if args.listing.json {
        output::json(&found)?;
        return Ok(0);
    }
    if args.listing.quiet {
        for session in &found.sessions {
            output::line(&session.pid.to_string())?;
        }
        return Ok(0);
    }
    if !found.sessions.is_empty() {
        output::table(
            [Head::Pid, Head::Size, Head::Active, Head::Name, Head::Cwd],
            &rows(&found),
        )?;
    }
    if found.kept > 0 {
        output::progress(&say!(Msg::NotDeleted, found.kept));
    }
    if found.sessions.is_empty() {
        output::progress(&say!(Msg::NoneUnused, output::counted(days, Thing::Day)));
    }
    report_deleted(found.sessions.len(), found.bytes, args.dry_run);
    Ok(0)
}

fn rows(found: &PruneOutput) -> Vec<[String; 5]> {
    let row = |session: &proto::params::history::Pruned| {
        [
            session.pid.to_string(),
            output::bytes(session.bytes),
            say!(Msg::Ago, output::ago(session.active_at)),
            session.name.clone().unwrap_or_default(),
            session.cwd.clone(),
        ]
    };
    found.sessions.iter().map(row).collect()
}

fn sessions(count: usize) -> String {
    output::counted(count as u64, Thing::Session)
}

fn report_deleted(count: usize, bytes: u64, dry_run: bool) {
    let would = if dry_run { say!(Msg::Would) } else { "" };
    if count > 0 {
        output::progress(&say!(
            Msg::Deleted,
            sessions(count),
            would,
            output::bytes(bytes)
        ));
    }
}
