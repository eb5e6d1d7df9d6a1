//! `reasonix logs`: what happened in a session, from its log.

use client::transcript::Transcript;
use client::{Client, Followed, From};
use proto::methods::SessionGet;
use proto::params::session::OneParams;
use proto::{Event, Seq};

use crate::exit::Error;
use crate::paint::Painter;
use crate::signals::{Arrived, Signals};
use crate::{exit, output, reach};

/// Print what happened in a session, from the first record, also of one that has exited.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the durable events, one a line.
    #[arg(long)]
    json: bool,
    /// Start with the record of this number.
    #[arg(long, value_name = "SEQ", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    since: u64,
    /// Go on with what happens from now on.
    #[arg(short, long)]
    follow: bool,
    /// Pid, id, or name.
    session: String,
}

/// Prints page after page.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("logs").await?;
    let mut printer = Printer::new(args.json);
    if args.follow {
        return follow(&client, &args, &mut printer).await;
    }
    reach::read(&client, &args.session, Seq(args.since), |event| {
        printer.print(event)
    })
    .await?;
    printer.close()?;
    let one = OneParams {
        session: args.session.clone(),
    };
    if let Some(reason) = client.call::<SessionGet>(&one).await?.read_only {
        output::progress(&format!(
            "· the session can only be read: {}",
            crate::text::line(&reason)
        ));
    }
    Ok(0)
}

async fn follow(client: &Client, args: &Args, printer: &mut Printer) -> Result<u8, Error> {
    let mut signals = Signals::listen()?;
    let after = Seq(args.since.saturating_sub(1));
    let mut follow = client
        .follow(&args.session, From::After(after), false)
        .await?;
    loop {
        tokio::select! {
            followed = follow.next() => if let Followed::Event(event) = followed?
                && event.seq.is_some()
            {
                printer.print(&event)?;
            },
            arrived = signals.next() => {
                printer.close()?;
                return Ok(match arrived {
                    Arrived::Int => exit::INTERRUPTED,
                    Arrived::Term => exit::TERMINATED,
                    Arrived::Hup => 0,
                });
            }
        }
    }
}

/// Events as lines of JSON, or as a transcript.
struct Printer {
    json: bool,
    transcript: Transcript,
    painter: Painter,
}

impl Printer {
    fn new(json: bool) -> Self {
        let colour = output::colour(&std::io::stdout());
        Self {
            json,
            transcript: Transcript::default(),
            painter: Painter::new(colour, usize::MAX),
        }
    }

    fn print(&mut self, event: &Event) -> Result<(), Error> {
        if self.json {
            return output::json(event);
        }
        for piece in self.transcript.fold(event) {
            output::part(&self.painter.paint(&piece))?;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), Error> {
        output::part(&self.painter.close())
    }
}
