//! `reasonix show`: exactly what one step sent, or got.

use std::io::IsTerminal;

use client::Client;
use proto::params::session::StepPart;

use crate::exit::Error;
use crate::text::Cleaner;
use crate::{output, reach};

/// Print what one step of a session sent to the model, byte for byte, and what it got.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Pid, id, or name.
    session: String,
    /// The number of the step, as `reasonix steps` shows it.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    step: u64,
    /// Only the body of the request, made again from the log.
    #[arg(long, conflicts_with = "got")]
    sent: bool,
    /// Only the answer and the results of its calls, as JSON lines.
    #[arg(long)]
    got: bool,
}

/// Prints it; on a terminal without what that would obey.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("show").await?;
    if !args.got {
        if !args.sent {
            output::progress(&format!("· step {} sent", args.step));
        }
        print(&client, &args, StepPart::Sent).await?;
    }
    if !args.sent {
        if !args.got {
            output::progress(&format!("· step {} got", args.step));
        }
        print(&client, &args, StepPart::Got).await?;
    }
    Ok(0)
}

async fn print(client: &Client, args: &Args, part: StepPart) -> Result<(), Error> {
    let terminal = std::io::stdout().is_terminal();
    let mut cleaner = Cleaner::default();
    let mut ended = true;
    client
        .step(&args.session, args.step, part, |piece| {
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
    // One part alone is byte for byte what it is; else what follows begins on a line of its own.
    if !ended && (terminal || !(args.sent || args.got)) {
        output::line("")?;
    }
    Ok(())
}
