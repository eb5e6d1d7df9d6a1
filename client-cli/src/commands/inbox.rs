//! `reasonix inbox`: everything that waits for a person.

use clap::Subcommand;
use client::transcript::approval_pieces;
use client::{CallError, Client};
use proto::hello::Role;
use proto::methods::{ApprovalAnswer, ApprovalList};
use proto::params::approval::{AnswerParams, Approval, Decision, ListParams};
use proto::{ApprovalId, RequestId, Stamp};

use super::Listing;
use crate::exit::{self, Error};
use crate::paint::Painter;
use crate::{output, reach};

/// Show what waits for a person, oldest first, and answer it.
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
        None => list(&approvals, &args.listing)?,
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

fn list(approvals: &[Approval], listing: &Listing) -> Result<(), Error> {
    if listing.json {
        return output::json(&approvals);
    }
    if listing.quiet {
        return approvals
            .iter()
            .try_for_each(|approval| output::line(&crate::text::line(&approval.approval_id.0)));
    }
    let now = Stamp::now();
    let rows: Vec<_> = approvals
        .iter()
        .map(|approval| {
            let seconds = now.0.saturating_sub(approval.asked_at.0).max(0) / 1000;
            [
                approval.approval_id.to_string(),
                approval.session.to_string(),
                format!("{seconds} s"),
                approval.tool.clone(),
                crate::text::exact(&approval.subject).replace('\n', "⏎"),
            ]
        })
        .collect();
    output::table(["ID", "SESSION", "WAITS", "TOOL", "WANTS"], &rows)
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
