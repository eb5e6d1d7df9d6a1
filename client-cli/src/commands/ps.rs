//! `reasonix ps`: what runs.

use proto::hello::Role;
use proto::methods::ProcessList;
use proto::params::process::ListParams;
use serde_json::json;

use super::Listing;
use crate::exit::Error;
use crate::output;
use crate::{commands, reach};

/// List sessions that run, wait or are open, and the processes of their tools.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Also sessions that have exited.
    #[arg(short, long)]
    all: bool,
    /// Only sessions with this label.
    #[arg(short, long)]
    label: Option<String>,
    #[command(flatten)]
    listing: Listing,
}

/// Lists them. Starts no daemon: without one nothing runs.
pub async fn run(args: Args) -> Result<u8, Error> {
    let Some(client) = reach::running("ps", Role::Watch).await? else {
        reach::say_none(&client::paths::from_env()?);
        if args.listing.json {
            output::json(&json!({"processes": [], "children": []}))?;
        }
        return Ok(0);
    };
    let list = client
        .call::<ProcessList>(&ListParams {
            all: args.all,
            label: args.label,
        })
        .await?;
    if args.listing.json {
        output::json(&list)?;
        return Ok(0);
    }
    commands::ls::print(&list.processes, &args.listing)?;
    if !args.listing.quiet && !list.children.is_empty() {
        output::line("")?;
        let rows: Vec<_> = list
            .children
            .iter()
            .map(|child| {
                let seconds = format!("{} s", child.running_ms / 1000);
                [
                    child.session.to_string(),
                    child.os_pid.to_string(),
                    seconds,
                    child.command.clone(),
                ]
            })
            .collect();
        output::table(["SESSION", "OS PID", "RUNS", "COMMAND"], &rows)?;
    }
    Ok(0)
}
