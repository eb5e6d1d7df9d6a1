//! `reasonix commands`: the custom commands that a prompt can run.

use proto::hello::Role;
use proto::methods::CommandList;
use proto::params::command::{CommandInfo, CommandSource, ListParams};

use super::{Listing, NamedList, here};
use crate::exit::Error;
use crate::messages::asking::Msg;
use crate::messages::{Head, translated};
use crate::{reach, text};

/// List custom commands: Markdown files, run as `/name ARGUMENTS`.
///
/// They are read from `$REASONIX_HOME/commands` and `~/.claude/commands`, then from `.reasonix/commands` and
/// `.claude/commands` of the project; the first of a name counts. `git/commit.md` is `/git:commit`. In a file `$ARGUMENTS` is all
/// that follows the name, and `$1` its first word.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show the commands of this session (pid, id, or name) [default: those of this directory].
    #[arg(long, short)]
    session: Option<String>,
    #[command(flatten)]
    listing: Listing,
}

/// Asks, and prints.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::with("commands", |options| options.role = Role::Watch).await?;
    let cwd = here(args.session.is_none())?;
    let params = ListParams {
        cwd,
        session: args.session,
    };
    let output = client.call::<CommandList>(&params).await?;
    let counting = output.commands.iter().filter(|it| it.hidden_by.is_none());
    let list = NamedList {
        names: counting.map(|it| it.name.as_str()).collect(),
        heads: [Head::Command, Head::What, Head::From],
        rows: output.commands.iter().map(row).collect(),
        none: say!(Msg::NoCommands),
        problems: &output.problems,
    };
    args.listing.print(&output, &list)?;
    Ok(0)
}

fn row(command: &CommandInfo) -> [String; 3] {
    let hint = command.argument_hint.as_deref().unwrap_or_default();
    let said = format!("/{} {hint}", command.name);
    let from = match (&command.file, command.source) {
        (Some(file), _) => text::line(file),
        (None, CommandSource::BuiltIn) => say!(Msg::BuiltIn).to_owned(),
        (None, CommandSource::McpServer) => say!(Msg::McpPrompt).to_owned(),
        (None, source) => source.as_str().to_owned(),
    };
    let from = match (&command.hidden_by, client_tui::is_own_command(command)) {
        (None, true) => format!("{from}, {}", say!(Msg::OwnCommand, command.name)),
        _ => from,
    };
    let from = match (&command.hidden_by, command.trusted) {
        (Some(file), _) => say!(Msg::HiddenBy, from, text::line(file)),
        (None, false) => format!("{from}, {}", say!(Msg::HookNotTrusted)),
        (None, true) => from,
    };
    [
        text::line(said.trim_end()),
        text::line(&translated(&command.description)),
        from,
    ]
}
