//! `reasonix inbox`: everything that waits for a person.

use clap::Subcommand;
use client::transcript::approval_pieces;
use client::{CallError, Client};
use proto::hello::Role;
use proto::methods::{ApprovalAnswer, ApprovalList, ProcessList};
use proto::params::approval::{AnswerParams, Approval, Decision, ListParams};
use proto::params::process;
use proto::params::session::SessionSummary;
use proto::state::{State, WaitingFor};
use proto::{ApprovalId, Pid, RequestId, Stamp};
use serde::Serialize;

use super::Listing;
use crate::exit::{self, Error};
use crate::paint::Painter;
use crate::{output, reach};

/// Show what waits for a person, oldest first, and answer it.
///
/// Beside questions: sessions that wait for a key of their provider, and paused ones with something waiting in them.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(flatten)]
    listing: Listing,
    #[command(subcommand)]
    answer: Option<Answer>,
}

#[derive(Debug, Subcommand)]
enum Answer {
    /// Allow a call to run.
    Allow {
        /// The number of the question, as `inbox` shows it.
        id: String,
        /// Also what is like it, for the rest of the session.
        #[arg(long)]
        session: bool,
    },
    /// Deny it.
    Deny {
        /// The number of the question, as `inbox` shows it.
        id: String,
        /// Words to the model.
        #[arg(long)]
        note: Option<String>,
    },
}

/// Lists, or answers. Starts no daemon: without one nothing waits.
pub async fn run(args: Args) -> Result<u8, Error> {
    let Some(client) = reach::running("inbox", Role::Approve).await? else {
        reach::say_none(&client::paths::from_env()?);
        if args.listing.json {
            output::json(&Vec::<Approval>::new())?;
        }
        return match args.answer {
            None => Ok(0),
            Some(_) => Err(Error::Failed {
                what: "there is nobody to answer to".to_owned(),
                hint: "`reasonix daemon start` starts the daemon".to_owned(),
            }),
        };
    };
    let approvals = client
        .call::<ApprovalList>(&ListParams::default())
        .await?
        .approvals;
    match args.answer {
        None => {
            let all = process::ListParams::default();
            let sessions = client.call::<ProcessList>(&all).await?.processes;
            let stuck: Vec<_> = sessions.iter().filter_map(stuck).collect();
            list(&approvals, &stuck, &args.listing)?;
        }
        Some(Answer::Allow { id, session }) => {
            let decision = if session {
                Decision::AllowSession
            } else {
                Decision::AllowOnce
            };
            answer(&client, &approvals, id, decision, None).await?;
        }
        Some(Answer::Deny { id, note }) => {
            answer(&client, &approvals, id, Decision::Deny, note).await?
        }
    }
    Ok(0)
}

/// A session that goes on only when a person does something.
#[derive(Serialize)]
struct Stuck {
    session: Pid,
    /// `credentials` or `paused`.
    waiting_for: &'static str,
    cause: String,
    since: Stamp,
    /// What would let it go on.
    hint: String,
}

fn stuck(session: &SessionSummary) -> Option<Stuck> {
    let pid = session.pid;
    let (waiting_for, cause, hint) = match (session.state, session.waiting_for) {
        (State::Waiting, Some(WaitingFor::Credentials)) => (
            "credentials",
            session.cause.clone(),
            format!("`reasonix attach --plain {pid}` where the key is set"),
        ),
        (State::Paused, _) if session.pending_approvals + session.queued > 0 => {
            let waits = [
                (session.queued, "queued prompts"),
                (session.pending_approvals, "open questions"),
            ];
            let waits = waits.iter().filter(|(count, _)| *count > 0);
            let waits: Vec<String> = waits
                .map(|(count, what)| format!("{what}: {count}"))
                .collect();
            let hint = format!("`reasonix resume {pid}` lets it go on");
            ("paused", waits.join(", "), hint)
        }
        _ => return None,
    };
    Some(Stuck {
        session: pid,
        waiting_for,
        cause,
        since: session.active_at,
        hint,
    })
}

/// Questions first, then sessions that are stuck otherwise. As JSON they stand in one list; a question has an
/// `approval_id`.
fn list(approvals: &[Approval], stuck: &[Stuck], listing: &Listing) -> Result<(), Error> {
    if listing.json {
        #[derive(Serialize)]
        #[serde(untagged)]
        enum Waits<'a> {
            Question(&'a Approval),
            Session(&'a Stuck),
        }
        let questions = approvals.iter().map(Waits::Question);
        let all: Vec<_> = questions.chain(stuck.iter().map(Waits::Session)).collect();
        return output::json(&all);
    }
    if listing.quiet {
        let ids = approvals
            .iter()
            .map(|approval| approval.approval_id.0.clone());
        return ids
            .chain(stuck.iter().map(|stuck| stuck.session.to_string()))
            .try_for_each(|id| output::line(&crate::text::line(&id)));
    }
    let rows: Vec<_> = approvals
        .iter()
        .map(|approval| {
            [
                approval.approval_id.to_string(),
                approval.session.to_string(),
                output::ago(approval.asked_at),
                approval.tool.clone(),
                crate::text::exact(&approval.subject).replace('\n', "⏎"),
            ]
        })
        .collect();
    output::table(["ID", "SESSION", "WAITS", "TOOL", "WANTS"], &rows)?;
    if stuck.is_empty() {
        return Ok(());
    }
    output::line("")?;
    let rows: Vec<_> = stuck
        .iter()
        .map(|stuck| {
            let why = match stuck.waiting_for {
                "credentials" => "waits for a key",
                _ => "is paused",
            };
            [
                stuck.session.to_string(),
                output::ago(stuck.since),
                format!("{why} ({}): {}", stuck.cause, stuck.hint),
            ]
        })
        .collect();
    output::table(["SESSION", "WAITS", "FOR"], &rows)
}

/// Answers with the hash of what is shown here: the person who types the id sees the whole question once more.
async fn answer(
    client: &Client,
    approvals: &[Approval],
    id: String,
    decision: Decision,
    note: Option<String>,
) -> Result<(), Error> {
    let shown = approvals
        .iter()
        .find(|approval| approval.approval_id.0 == id);
    if let Some(approval) = shown {
        let mut painter = Painter::new(output::colour(&std::io::stderr()), usize::MAX);
        for piece in approval_pieces(approval) {
            output::progress_part(&painter.paint(&piece));
        }
    }
    let params = AnswerParams {
        approval_id: ApprovalId(id),
        // One that is not open any more: the daemon says who answered it, or what is like it.
        shown_hash: shown.map_or_else(String::new, |approval| approval.shown_hash.clone()),
        decision,
        scope: None,
        note,
        request_id: Some(RequestId::new()),
    };
    match client.call::<ApprovalAnswer>(&params).await {
        Ok(_) => Ok(()),
        Err(CallError::Failure(failure)) => Err(match exit::answered_before(&failure) {
            Some(words) => Error::Failed {
                what: format!("question {}: {words}", params.approval_id),
                hint: String::new(),
            },
            None => CallError::Failure(failure).into(),
        }),
        Err(error) => Err(error.into()),
    }
}
