//! `reasonix ps`: loaded sessions.

use client::tree;
use proto::Pid;
use proto::hello::Role;
use proto::methods::ProcessList;
use proto::params::process::{ChildProcess, ListParams};
use proto::params::session::SessionSummary;
use serde_json::json;

use super::Listing;
use crate::exit::Error;
use crate::messages::{Head, Label};
use crate::output;
use crate::{commands, reach};

/// List live sessions and the processes of their tools.
///
/// Live: running, waiting, paused or idle. `no data 45 s`: the provider has been silent for that long. A background
/// command has its own number and the kind `shell`: `reasonix kill NUMBER` stops it. `-v` shows more columns.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Include sessions that have exited.
    #[arg(short, long)]
    all: bool,
    /// Only sessions with this label.
    #[arg(short, long)]
    label: Option<String>,
    /// Show sub-agents below the session that started them.
    #[arg(short, long)]
    tree: bool,
    #[command(flatten)]
    listing: Listing,
}

/// Lists them; `verbose`: with more columns. Starts no daemon: without one nothing runs.
pub async fn run(args: Args, verbose: bool) -> Result<u8, Error> {
    let Some(client) = reach::running("ps", Role::Watch).await? else {
        reach::report_no_daemon(&client::paths::from_env()?);
        if args.listing.json {
            output::json(&json!({"processes": [], "children": [], "change": 0}))?;
        }
        return Ok(0);
    };
    let mut list = client
        .call::<ProcessList>(&ListParams {
            all: args.all,
            label: args.label,
            ..ListParams::default()
        })
        .await?;
    if args.tree {
        let tree = tree::ordered(list.processes).into_iter();
        // Programs read the parent from `ppid`.
        list.processes = match args.listing.json {
            true => tree.map(|(_, session)| session).collect(),
            false => tree.map(indented).collect(),
        };
    }
    if args.listing.json {
        output::json(&list)?;
        return Ok(0);
    }
    commands::ls::print(&list.processes, &args.listing, verbose)?;
    if !args.listing.quiet && !list.children.is_empty() {
        output::line("")?;
        commands_table(&list.children)?;
    }
    Ok(0)
}

/// A session whose title shows its depth in the tree.
fn indented((depth, mut session): (usize, SessionSummary)) -> SessionSummary {
    session.title.insert_str(0, &tree::branch(depth));
    session
}

/// The operating-system processes of tools. Those in the background have a number of their own, by which `kill` ends
/// them.
pub fn commands_table(children: &[ChildProcess]) -> Result<(), Error> {
    let rows: Vec<_> = children
        .iter()
        .map(|child| {
            [
                child
                    .pid
                    .map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
                match child.server {
                    true => "server".to_owned(),
                    false => child.kind.as_str().to_owned(),
                },
                // An MCP server that sessions share is the daemon's.
                match child.session {
                    Pid(0) => "-".to_owned(),
                    session => session.to_string(),
                },
                child
                    .os_pid
                    .map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
                match child.os_pid {
                    Some(_) => output::lasted(child.running_ms),
                    None => say!(Label::Waits).to_owned(),
                },
                child.command.clone(),
            ]
        })
        .collect();
    output::table(
        [
            Head::Pid,
            Head::Kind,
            Head::Session,
            Head::OsPid,
            Head::Runs,
            Head::Command,
        ],
        &rows,
    )
}
