//! `reasonix search`: words in the messages of all sessions.

use std::io::stdout;

use client::transcript::words::author;
use proto::Stamp;
use proto::hello::Role;
use proto::methods::HistorySearch;
use proto::params::history::{
    Hit, IndexingProgress, MessageRole, SearchOutput, SearchParams, SearchScope,
};

use super::{Listing, stats};
use crate::exit::Error;
use crate::messages::stored::Msg;
use crate::session_options::one_of;
use crate::{messages, output, reach, text};

/// Search the messages of all sessions, best hits first.
///
/// Searches the sessions of all projects. `reasonix history around SESSION SEQ` shows the messages around a hit.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Words to find, in any order, ignoring case; "two words" in quotation marks follow each other.
    #[arg(required = true)]
    words: Vec<String>,
    /// Only sessions of this workspace.
    #[arg(long)]
    here: bool,
    /// Only messages of this author.
    #[arg(long, value_name = "ROLE", value_parser = one_of!(MessageRole))]
    role: Option<MessageRole>,
    /// Only messages since this time: `7d` ago, a date (`2026-11-01`), or a timestamp.
    #[arg(long, value_name = "WHEN", value_parser = stats::moment)]
    since: Option<Stamp>,
    /// Maximum number of messages.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50, value_parser = crate::numbers::whole::<u64>(1..=u64::MAX, 50))]
    limit: u64,
    #[command(flatten)]
    listing: Listing,
}

/// Searches.
pub async fn run(args: Args) -> Result<u8, Error> {
    let query = args.words.join(" ");
    if query.trim().is_empty() {
        return Err(Error::usage(
            say!(Msg::NothingToSearch),
            say!(Msg::NothingToSearchHint),
        ));
    }
    let cwd = super::here(args.here)?;
    let client = reach::with("search", |options| options.role = Role::Watch).await?;
    let params = SearchParams {
        query,
        scope: match cwd {
            Some(_) => SearchScope::Project,
            None => SearchScope::Global,
        },
        session: None,
        cwd,
        role: args.role,
        since: args.since,
        limit: args.limit,
    };
    let found = client.call::<HistorySearch>(&params).await?;
    print(&found, &args)?;
    Ok(0)
}

impl Args {
    /// The options that leave messages out, as they are written.
    fn narrowing(&self) -> String {
        let options = [
            (self.here, "`--here`"),
            (self.role.is_some(), "`--role`"),
            (self.since.is_some(), "`--since`"),
        ];
        let given = options.into_iter().filter(|(given, _)| *given);
        given
            .map(|(_, option)| option)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

fn print(found: &SearchOutput, args: &Args) -> Result<(), Error> {
    let listing = &args.listing;
    if listing.json {
        return output::json(found);
    }
    if listing.quiet {
        let mut pids: Vec<_> = Vec::new();
        for hit in &found.hits {
            if !pids.contains(&hit.pid) {
                pids.push(hit.pid);
            }
        }
        return pids
            .iter()
            .try_for_each(|pid| output::line(&pid.to_string()));
    }
    let groups = found.hits.chunk_by(|one, next| one.session == next.session);
    for (index, group) in groups.enumerate() {
        if index > 0 {
            output::line("")?;
        }
        output::fitted(&group.first().map_or_else(String::new, head))?;
        for hit in group {
            let (line, marks) = place(hit);
            output::marked(&line, &marks, output::colour(&stdout()))?;
        }
    }
    notes(found, &args.narrowing());
    Ok(())
}

/// What the list does not say. `narrowing`: the options that leave messages out.
fn notes(found: &SearchOutput, narrowing: &str) {
    if let Some(progress) = found.indexing {
        indexing(progress);
    } else if found.hits.is_empty() {
        match narrowing.is_empty() {
            true => output::progress(say!(Msg::NoMatch)),
            false => output::progress(&say!(Msg::NoMatchHere, narrowing)),
        }
    }
    if let Some(reason) = &found.behind {
        output::progress(&say!(Msg::NewestMissing, text::line(reason)));
    }
    if found.too_many {
        output::progress(say!(Msg::TooManyMatches));
    } else if !found.complete && found.indexing.is_none() && found.behind.is_none() {
        output::progress(say!(Msg::NotAllShown));
    }
}

/// Reports that the index is being built.
pub(super) fn indexing(progress: IndexingProgress) {
    match progress.of {
        // Nobody has counted them yet.
        0 => output::progress(say!(Msg::IndexingUnknown)),
        of => output::progress(&say!(Msg::Indexing, progress.sessions, of)),
    }
}

/// The session of a group.
fn head(hit: &Hit) -> String {
    let name = hit
        .name
        .as_ref()
        .map_or_else(String::new, |name| format!(" {name}"));
    text::line(&format!("{}{name} · {}", hit.pid, hit.cwd))
}

/// One message: record, turn, time, author and the words around, and which characters of that line match.
fn place(hit: &Hit) -> (String, Vec<(usize, usize)>) {
    let turn = hit
        .turn
        .map_or_else(String::new, |turn| say!(Msg::TurnSpace, turn));
    let at: String = hit.at.to_string().chars().take(16).collect();
    let mut line = format!(
        "  #{} {turn}{at} {}: ",
        hit.seq,
        author(messages::language(), hit.role)
    );
    let letters: Vec<char> = hit.text.chars().collect();
    let number = |place: u64| {
        usize::try_from(place)
            .unwrap_or(usize::MAX)
            .min(letters.len())
    };
    let (mut marks, mut done) = (Vec::new(), 0);
    // Cleaned piece by piece: cleaned text may have another length.
    let clean = |first: usize, end: usize| {
        let piece: String = letters.get(first..end).unwrap_or_default().iter().collect();
        text::line(&piece)
    };
    for (first, end) in &hit.marks {
        let (first, end) = (number(*first).max(done), number(*end));
        if first >= end {
            continue;
        }
        line.push_str(&clean(done, first));
        let start = line.chars().count();
        line.push_str(&clean(first, end));
        marks.push((start, line.chars().count()));
        done = end;
    }
    line.push_str(&clean(done, letters.len()));
    (line, marks)
}
