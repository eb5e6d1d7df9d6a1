//! `reasonix hooks`: the user's own commands that are told what happens.

use proto::hello::Role;
use proto::methods::{HookList, HookReload};
use proto::params::hook::{HookStatus, ListOutput, ListParams, ReloadParams};

use super::Listing;
use super::setup::key::here;
use crate::exit::Error;
use crate::messages::Head;
use crate::messages::asking::Msg;
use crate::{output, reach, text};

/// List hooks: commands of yours that sessions run on events.
///
/// They are configured in `.reasonix/settings.json` of a trusted project and in `settings.json` in the home.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show the hooks of this session (pid, id, or name) and their last results [default: those of this directory].
    #[arg(long, short)]
    session: Option<String>,
    /// Make the session read its hooks again.
    #[arg(long, requires = "session")]
    reload: bool,
    #[command(flatten)]
    listing: Listing,
}

/// Asks, and prints.
pub async fn run(args: Args) -> Result<u8, Error> {
    let list = match (args.session, args.reload) {
        (Some(session), true) => {
            let client = reach::daemon("hooks").await?;
            client.call::<HookReload>(&ReloadParams { session }).await?
        }
        (session, _) => {
            let client = reach::with("hooks", |options| options.role = Role::Watch).await?;
            let cwd = session.is_none().then(here).flatten();
            client
                .call::<HookList>(&ListParams { cwd, session })
                .await?
        }
    };
    print(&list, &args.listing)?;
    Ok(0)
}

fn print(list: &ListOutput, listing: &Listing) -> Result<(), Error> {
    if listing.json {
        return output::json(list);
    }
    if listing.quiet {
        let mut commands = list.hooks.iter().map(|hook| text::line(&hook.command));
        return commands.try_for_each(|command| output::line(&command));
    }
    let rows: Vec<_> = list.hooks.iter().map(row).collect();
    let heads = [
        Head::Event,
        Head::Match,
        Head::State,
        Head::Hook,
        Head::From,
    ];
    match rows.is_empty() {
        true => output::progress(say!(Msg::NoHooks)),
        false => output::table(heads, &rows)?,
    }
    super::print_problems(&list.problems);
    Ok(())
}

fn row(hook: &HookStatus) -> [String; 5] {
    let state = match (&hook.broken, hook.trusted, &hook.last) {
        (Some(_), _, _) => say!(Msg::HookBroken).to_owned(),
        (None, false, _) => say!(Msg::HookNotTrusted).to_owned(),
        (None, true, Some(last)) => say!(Msg::HookLast, last.outcome.as_str(), last.duration_ms),
        (None, true, None) => "-".to_owned(),
    };
    let name = hook.description.as_ref().unwrap_or(&hook.command);
    [
        hook.event.as_str().to_owned(),
        text::line(hook.matches.as_deref().unwrap_or("*")),
        state,
        text::line(name),
        text::line(&hook.source),
    ]
}
