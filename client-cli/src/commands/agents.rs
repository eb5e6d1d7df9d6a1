//! `reasonix agents`: the sub-agents that a session can start, and new definitions from templates.

mod templates;

use clap::Subcommand;
use proto::hello::Role;
use proto::methods::AgentList;
use proto::params::agent::{AgentInfo, ListOutput, ListParams};
use proto::params::command::CommandSource;

use super::{Listing, here};
use crate::exit::Error;
use crate::messages::asking::Msg;
use crate::messages::{Head, translated};
use crate::{output, reach, text};

/// List sub-agents and the files that define them.
///
/// They are read from `.reasonix/agents` and `.claude/agents` of the project, then from `$REASONIX_HOME/agents` and
/// `~/.claude/agents`; the first of a name counts. The front matter has `name` and `description`, and may have `tools`,
/// `disallowedTools`, `model`, `effort`, `max_steps`, `read_only`, `isolation: worktree` (work in a separate git
/// worktree), `mcp_servers` (MCP servers to start for it alone) and `fallback` (the agent that works on the same task if
/// this one fails); the body is the agent's system prompt. A directory with `agent.yaml` (the same keys) and
/// `instructions.md` (the system prompt) also defines an agent.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<Action>,
    /// Show the agents of this session (pid, id, or name) [default: those of this directory].
    #[arg(long, short)]
    session: Option<String>,
    #[command(flatten)]
    listing: Listing,
}

#[derive(Debug, Subcommand)]
enum Action {
    New(templates::NewArgs),
}

/// Asks, and prints.
pub async fn run(args: Args) -> Result<u8, Error> {
    if let Some(Action::New(new)) = args.what {
        return templates::create(new).await;
    }
    let client = reach::with("agents", |options| options.role = Role::Watch).await?;
    let cwd = here(args.session.is_none())?;
    let params = ListParams {
        cwd,
        session: args.session,
    };
    print(&client.call::<AgentList>(&params).await?, &args.listing)?;
    Ok(0)
}

fn print(list: &ListOutput, listing: &Listing) -> Result<(), Error> {
    if listing.json {
        return output::json(list);
    }
    if listing.quiet {
        let counting = list.agents.iter().filter(|it| it.hidden_by.is_none());
        return output::names(counting.map(|agent| agent.name.as_str()));
    }
    let rows: Vec<_> = list.agents.iter().map(row).collect();
    output::table([Head::Name, Head::What, Head::From], &rows)?;
    for problem in &list.problems {
        output::progress(&format!("! {}", text::line(&translated(problem))));
    }
    Ok(())
}

fn row(agent: &AgentInfo) -> [String; 3] {
    let from = match (&agent.file, agent.source) {
        (Some(file), _) => text::line(file),
        (None, CommandSource::BuiltIn) => say!(Msg::BuiltIn).to_owned(),
        (None, source) => source.as_str().to_owned(),
    };
    let from = match &agent.hidden_by {
        Some(file) => say!(Msg::HiddenBy, from, text::line(file)),
        None => from,
    };
    [
        text::line(&agent.name),
        text::line(&translated(&agent.description)),
        from,
    ]
}
