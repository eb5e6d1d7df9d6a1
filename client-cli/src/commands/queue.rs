//! `reasonix queue`: prompts that wait in a session.

use clap::Subcommand;
use client::Client;
use proto::methods::{SessionEdit, SessionInspect, SessionReorder, SessionUnqueue};
use proto::params::session::{
    EditParams, InspectOutput, InspectParams, InspectPart, QueuedPrompt, ReorderParams,
    UnqueueParams,
};
use proto::{PromptId, RequestId};

use super::Listing;
use crate::exit::Error;
use crate::messages::Head;
use crate::messages::run::Msg;
use crate::{output, reach, text};

/// List and change the queued prompts of a session.
///
/// PROMPT is the position of a prompt in the queue, from 1, or the start of its id.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    #[command(flatten)]
    listing: Listing,
    #[command(subcommand)]
    change: Option<Change>,
}

#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Change {
    /// Replace the text of a prompt.
    Edit {
        /// Prompt: position, or start of its id.
        prompt: String,
        /// New text.
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Move a prompt to another position.
    Move {
        /// Prompt: position, or start of its id.
        prompt: String,
        /// New position, from 1; a number past the end moves it to the end.
        #[arg(value_parser = crate::numbers::whole::<u64>(1..=u64::MAX, 1))]
        place: u64,
    },
    /// Remove a prompt from the queue.
    Rm {
        /// Prompt: position, or start of its id.
        prompt: String,
    },
    /// Add a prompt to the running turn, after its next tool results.
    Steer {
        /// Prompt: position, or start of its id.
        prompt: String,
    },
}

/// Lists, or changes and then lists.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("queue").await?;
    let queue = waiting(&client, &args.session).await?;
    let queue = match args.change {
        None => queue,
        Some(change) => match self::change(&client, args.session.clone(), change, &queue).await? {
            Some(queue) => queue,
            None => waiting(&client, &args.session).await?,
        },
    };
    if args.listing.json {
        output::json(&queue)?;
    } else if args.listing.quiet {
        for queued in &queue {
            output::line(&queued.prompt_id.to_string())?;
        }
    } else if queue.is_empty() {
        output::progress(say!(Msg::NoneQueued));
    } else {
        let rows: Vec<_> = queue.iter().enumerate().map(row).collect();
        output::table(
            [Head::Place, Head::When, Head::By, Head::Id, Head::Prompt],
            &rows,
        )?;
    }
    Ok(0)
}

fn row((index, queued): (usize, &QueuedPrompt)) -> [String; 5] {
    let when = if queued.steer {
        say!(Msg::Steer)
    } else {
        say!(Msg::NextTurn)
    };
    [
        (index + 1).to_string(),
        when.to_owned(),
        queued.by.clone(),
        queued.prompt_id.to_string(),
        queued.text.replace('\n', "⏎"),
    ]
}

/// The queue as it is now.
async fn waiting(client: &Client, session: &str) -> Result<Vec<QueuedPrompt>, Error> {
    let params = InspectParams {
        session: session.to_owned(),
        part: InspectPart::Status,
    };
    match client.call::<SessionInspect>(&params).await? {
        InspectOutput::Status { queue, .. } => Ok(queue),
        _ => Err(Error::Failed {
            what: say!(Msg::NoQueueReturned).to_owned(),
            hint: say!(Msg::DoctorVersions).to_owned(),
        }),
    }
}

/// Changes a prompt of the queue. Returns the queue as it is then, if the daemon's answer holds it.
///
/// # Errors
/// No such prompt, or the daemon refuses.
pub async fn change(
    client: &Client,
    session: String,
    change: Change,
    queue: &[QueuedPrompt],
) -> Result<Option<Vec<QueuedPrompt>>, Error> {
    let (Change::Edit { prompt, .. }
    | Change::Move { prompt, .. }
    | Change::Rm { prompt }
    | Change::Steer { prompt }) = &change;
    let queued = pick(queue, prompt)?;
    let prompt_id = queued.prompt_id;
    let request_id = Some(RequestId::new());
    let (text, steer) = match change {
        Change::Edit { text, .. } => (text.join(" "), None),
        Change::Steer { .. } => (queued.text.clone(), Some(true)),
        Change::Move { place, .. } => {
            let params = ReorderParams {
                session,
                prompt_id,
                position: place.saturating_sub(1),
                request_id,
            };
            return Ok(Some(client.call::<SessionReorder>(&params).await?.queue));
        }
        Change::Rm { .. } => {
            let params = UnqueueParams { session, prompt_id };
            client.call::<SessionUnqueue>(&params).await?;
            return Ok(None);
        }
    };
    let params = EditParams {
        session,
        prompt_id,
        text,
        steer,
        request_id,
    };
    Ok(Some(client.call::<SessionEdit>(&params).await?.queue))
}

/// The prompt that is meant: by its place from 1, or by the start of its id.
///
/// # Errors
/// None, or several.
pub fn pick<'a>(queue: &'a [QueuedPrompt], named: &str) -> Result<&'a QueuedPrompt, Error> {
    /// Shorter starts of an id are places.
    const ID_MIN: usize = 4;
    let place = named.parse::<usize>().ok().filter(|_| named.len() < ID_MIN);
    if let Some(place) = place {
        let queued = place.checked_sub(1).and_then(|index| queue.get(index));
        return queued.ok_or_else(|| none(queue, named));
    }
    let begins = |id: PromptId| {
        let id = id.to_string();
        named.len() >= ID_MIN && id.starts_with(&named.to_lowercase())
    };
    let mut fitting = queue.iter().filter(|queued| begins(queued.prompt_id));
    match (fitting.next(), fitting.next()) {
        (Some(queued), None) => Ok(queued),
        (Some(_), Some(_)) => Err(Error::usage(
            say!(Msg::SeveralPrompts, text::line(named)),
            say!(Msg::SeveralPromptsHint),
        )),
        (None, _) => Err(none(queue, named)),
    }
}

fn none(queue: &[QueuedPrompt], named: &str) -> Error {
    let what = match queue.len() {
        0 => say!(Msg::NoneQueued).to_owned(),
        1 => say!(Msg::NoSuchPromptOne, text::line(named)),
        count => say!(Msg::NoSuchPrompt, text::line(named), count),
    };
    Error::usage(what, say!(Msg::QueueShows))
}

#[cfg(test)]
mod tests;
