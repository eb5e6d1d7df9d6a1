//! `reasonix show`: a session in short, or exactly what one step sent, or got.

mod exchange;
mod facts;

use std::io::IsTerminal;

use client::Client;
use proto::params::session::StepPart;

use crate::exit::Error;
use crate::messages::stored::Msg;
use crate::text::Cleaner;
use crate::{output, reach};

/// Show the state, last prompt and last answer of a session.
///
/// With `--step N`: the exact request of that step, and its answer.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Step, as `reasonix steps` numbers it.
    #[arg(long, value_name = "N", value_parser = crate::numbers::whole::<u64>(1..=u64::MAX, 2))]
    step: Option<u64>,
    /// Print only the request body, rebuilt from the log.
    #[arg(long, conflicts_with = "got", requires = "step")]
    sent: bool,
    /// Print only the answer and its tool results, as JSON lines.
    #[arg(long, requires = "step")]
    got: bool,
    /// Print JSON: the summary, as in `reasonix ls --json`.
    #[arg(long, conflicts_with = "step")]
    json: bool,
}

/// Prints it; on a terminal without what that would obey.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("show").await?;
    let Some(step) = args.step else {
        facts::show(&client, args.session, args.json).await?;
        return Ok(0);
    };
    if !args.got {
        let head = (!args.sent).then(|| say!(Msg::StepSent, step));
        print(&client, &args, step, StepPart::Sent, head).await?;
    }
    if !args.sent {
        let head = (!args.got).then(|| say!(Msg::StepGot, step));
        print(&client, &args, step, StepPart::Got, head).await?;
    }
    Ok(0)
}

/// `head`: a line before it. It comes with the first piece, so that there is none before an error.
async fn print(
    client: &Client,
    args: &Args,
    step: u64,
    part: StepPart,
    mut head: Option<String>,
) -> Result<(), Error> {
    let terminal = std::io::stdout().is_terminal();
    let mut cleaner = Cleaner::default();
    let mut ended = true;
    client
        .step(&args.session, step, part, |piece| {
            if let Some(head) = head.take() {
                output::progress(&head);
            }
            if !piece.is_empty() {
                ended = piece.ends_with('\n');
            }
            if terminal {
                output::part(&cleaner.push(piece))
            } else {
                output::part(piece)
            }
        })
        .await?;
    // A single part is printed byte for byte; else what follows begins on a line of its own.
    if !ended && (terminal || !(args.sent || args.got)) {
        output::line("")?;
    }
    Ok(())
}
