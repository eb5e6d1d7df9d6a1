//! `reasonix search`: words in the messages of all sessions.

use proto::hello::Role;
use proto::methods::HistorySearch;
use proto::params::history::{Hit, SearchOutput, SearchParams};

use super::Listing;
use crate::exit::Error;
use crate::messages::stored::Msg;
use crate::{output, reach, text};

/// Search the messages of all sessions, newest sessions first.
///
/// Searches the sessions of all projects.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Words to find, all of them, in any order, ignoring case.
    #[arg(required = true)]
    words: Vec<String>,
    /// Only sessions of this directory.
    #[arg(long)]
    here: bool,
    /// Maximum number of messages.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    limit: u64,
    #[command(flatten)]
    listing: Listing,
}

/// Searches.
pub async fn run(args: Args) -> Result<u8, Error> {
    let words = args.words.join(" ");
    if words.trim().is_empty() {
        return Err(Error::usage(
            say!(Msg::NothingToSearch),
            say!(Msg::NothingToSearchHint),
        ));
    }
    let cwd = super::here(args.here)?;
    let client = reach::with("search", |options| options.role = Role::Watch).await?;
    let params = SearchParams {
        text: words,
        cwd,
        limit: args.limit,
    };
    let found = client.call::<HistorySearch>(&params).await?;
    print(&found, &args.listing)?;
    Ok(0)
}

fn print(found: &SearchOutput, listing: &Listing) -> Result<(), Error> {
    if listing.json {
        return output::json(found);
    }
    let groups: Vec<&[Hit]> = found
        .hits
        .chunk_by(|one, next| one.session == next.session)
        .collect();
    if listing.quiet {
        return groups
            .iter()
            .filter_map(|group| group.first())
            .try_for_each(|hit| output::line(&hit.pid.to_string()));
    }
    for (index, group) in groups.iter().enumerate() {
        if index > 0 {
            output::line("")?;
        }
        output::fitted(&group.first().map_or_else(String::new, head))?;
        for hit in *group {
            output::fitted(&place(hit))?;
        }
    }
    if found.hits.is_empty() {
        output::progress(say!(Msg::NoMatch));
    }
    if !found.complete {
        output::progress(say!(Msg::NotAllShown));
    }
    Ok(())
}

/// The session of a group.
fn head(hit: &Hit) -> String {
    let name = hit
        .name
        .as_ref()
        .map_or_else(String::new, |name| format!(" {name}"));
    text::line(&format!("{}{name} · {}", hit.pid, hit.cwd))
}

/// One message: where, when, who, and the words around.
fn place(hit: &Hit) -> String {
    let turn = hit
        .turn
        .map_or_else(String::new, |turn| say!(Msg::TurnSpace, turn));
    let at: String = hit.at.to_string().chars().take(16).collect();
    text::line(&format!("  {turn}{at} {}: {}", hit.role, hit.text))
}
