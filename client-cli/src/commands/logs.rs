//! `reasonix logs`: what happened in a session, from its log.

use client::{Client, DecodedEvent, FollowEvent, FollowFrom};
use proto::methods::SessionRead;
use proto::params::session::ReadParams;
use proto::{Seq, Stamp};

use crate::exit::Error;
use crate::messages::stored::Msg;
use crate::messages::translated;
use crate::paint::Painter;
use crate::pieces::Transcript;
use crate::signals::{OsSignal, Signals};
use crate::{exit, output, reach, when};

/// Print the transcript of a session, running or exited.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON: the stored events, one per line.
    #[arg(long)]
    json: bool,
    /// Start at this record number, or at a time: `10m` ago, `2h` ago, `2026-11-01`.
    #[arg(long, value_name = "WHEN", default_value = "1", value_parser = since)]
    since: Since,
    /// Keep running and print new events.
    #[arg(short, long)]
    follow: bool,
    /// Session: pid, id, or name.
    session: String,
}

/// Where to start.
#[derive(Clone, Copy, Debug)]
enum Since {
    Record(Seq),
    Moment(Stamp),
}

/// Digits alone are the number of a record.
fn since(text: &str) -> Result<Since, String> {
    if !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit()) {
        return match text.parse() {
            Ok(0) | Err(_) => Err(say!(Msg::RecordsFrom1).to_owned()),
            Ok(seq) => Ok(Since::Record(Seq(seq))),
        };
    }
    when::moment(text, Stamp::now(), &when::zone())
        .map(Since::Moment)
        .ok_or_else(|| say!(Msg::RecordOr, say!(when::FORMS)))
}

/// Prints page after page.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("logs").await?;
    let mut printer = Printer::new(args.json);
    let first = match args.since {
        Since::Record(seq) => seq,
        Since::Moment(at) => first_of(&client, &args.session, at).await?,
    };
    if args.follow {
        return follow(&client, &args.session, first, &mut printer).await;
    }
    reach::read(&client, &args.session, first, |event| printer.print(event)).await?;
    printer.close()?;
    if let Some(reason) = client.session(&args.session).await?.read_only {
        output::progress(&say!(
            Msg::ReadOnly,
            crate::text::line(&translated(&reason))
        ));
    }
    Ok(0)
}

/// The first record that is not older than this, by halving: a long log is not read for its end. After the newest
/// if all are older.
async fn first_of(client: &Client, session: &str, at: Stamp) -> Result<Seq, Error> {
    let newest = client.session(session).await?.seq;
    let (mut low, mut high) = (1, newest.next().0);
    while low < high {
        let middle = low + (high - low) / 2;
        let params = ReadParams {
            session: session.to_owned(),
            from_seq: Seq(middle),
            limit: 1,
        };
        let page = client.call::<SessionRead>(&params).await?;
        // If nothing can be read, in a damaged log, the records after it are not older.
        match page.events.first() {
            Some(event) if event.at < at => low = middle + 1,
            _ => high = middle,
        }
    }
    Ok(Seq(low))
}

async fn follow(
    client: &Client,
    session: &str,
    first: Seq,
    printer: &mut Printer,
) -> Result<u8, Error> {
    let mut signals = Signals::listen()?;
    let after = Seq(first.0.saturating_sub(1));
    let mut follow = client
        .follow(session, FollowFrom::After(after), false)
        .await?;
    loop {
        tokio::select! {
            followed = follow.next() => if let FollowEvent::Event(event) = followed?
                && event.seq.is_some()
            {
                printer.print(&event)?;
            },
            arrived = signals.next() => {
                printer.close()?;
                return Ok(match arrived {
                    OsSignal::Int => exit::INTERRUPTED,
                    OsSignal::Term => exit::TERMINATED,
                    OsSignal::Hup => 0,
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

    fn print(&mut self, event: &DecodedEvent) -> Result<(), Error> {
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
