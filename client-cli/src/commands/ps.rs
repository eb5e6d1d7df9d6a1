//! `reasonix ps`: loaded sessions.

use client::tree;
use proto::Pid;
use proto::hello::Role;
use proto::methods::ProcessList;
use proto::params::process::{ChildProcess, ListOutput, ListParams};
use proto::params::session::SessionSummary;
use serde_json::json;

use super::Listing;
use super::ls::SessionTableRow;
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
    /// Show sub-agents and processes below the session that started them.
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
    if args.tree && !args.listing.quiet && !args.listing.json {
        commands::ls::print_table(&tree_rows(&mut list), verbose)?;
        return table_below(&list.children).map(|()| 0);
    }
    if args.tree {
        // Programs read the parent from `ppid`, and the session of a process from `session`.
        let tree = tree::ordered(list.processes).into_iter();
        list.processes = tree.map(|(_, session)| session).collect();
    }
    if args.listing.json {
        output::json(&list)?;
        return Ok(0);
    }
    commands::ls::print(&list.processes, &args.listing, verbose)?;
    if !args.listing.quiet {
        table_below(&list.children)?;
    }
    Ok(0)
}

/// Prints the processes in a table of their own, after a blank line; nothing if there are none.
fn table_below(processes: &[ChildProcess]) -> Result<(), Error> {
    if processes.is_empty() {
        return Ok(());
    }
    output::line("")?;
    commands_table(processes)
}

/// Row of `ps --tree`. A process has its depth; a session's title already shows it.
enum TreeRow {
    Session(Box<SessionSummary>),
    Process(usize, ChildProcess),
}

/// Sessions, each followed by its processes and then by its sub-agents. Processes of no listed session stay in the list, such
/// as shared MCP servers.
fn tree_rows(list: &mut ListOutput) -> Vec<TreeRow> {
    let mut rows = Vec::new();
    for (depth, mut session) in tree::ordered(std::mem::take(&mut list.processes)) {
        session.title.insert_str(0, &tree::branch(depth));
        let is_own = |process: &mut ChildProcess| process.session == session.pid;
        let own: Vec<_> = list.children.extract_if(.., is_own).collect();
        rows.push(TreeRow::Session(Box::new(session)));
        rows.extend(own.into_iter().map(|own| TreeRow::Process(depth + 1, own)));
    }
    rows
}

impl SessionTableRow for TreeRow {
    fn default_cells(&self) -> [String; 8] {
        match self {
            Self::Session(session) => session.default_cells(),
            Self::Process(depth, process) => {
                let [pid, kind, _, _, runs, _] = process_cells(process);
                let title = format!("{}{}", tree::branch(*depth), process.command);
                [
                    pid,
                    kind,
                    String::new(),
                    String::new(),
                    String::new(),
                    runs,
                    String::new(),
                    title,
                ]
            }
        }
    }

    fn verbose_cells(&self) -> [String; 16] {
        match self {
            Self::Session(session) => session.verbose_cells(),
            Self::Process(..) => {
                let [pid, kind, _, _, _, runs, _, title] = self.default_cells();
                let mut cells = [const { String::new() }; 16];
                (cells[0], cells[1], cells[9], cells[14]) = (pid, kind, runs, title);
                cells
            }
        }
    }
}

/// The operating-system processes of tools. Those in the background have a number of their own, by which `kill` ends
/// them.
pub fn commands_table(children: &[ChildProcess]) -> Result<(), Error> {
    let rows: Vec<_> = children.iter().map(process_cells).collect();
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

/// Number, kind, session, process, how long it runs, and command line.
fn process_cells(child: &ChildProcess) -> [String; 6] {
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
}
