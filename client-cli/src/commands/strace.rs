//! `reasonix strace`: what a session does, one line a happening.

use client::trace::{Line, Trace};
use client::{DecodedEvent, FollowEvent, FollowFrom};
use proto::Seq;

use crate::exit::{self, Error};
use crate::messages::language;
use crate::signals::{OsSignal, Signals};
use crate::{output, reach, text};

/// Trace a session: requests, calls and questions, with times.
///
/// The first column is seconds since the turn started. Answers, calls and hooks that took 10 s or more are marked as
/// slow. The trace comes from the log, so that a past and a live trace are the same.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Keep running and trace new events, until the session exits.
    #[arg(short, long)]
    follow: bool,
    /// Only this turn.
    #[arg(long, value_name = "N", value_parser = crate::numbers::whole::<u64>(1..=u64::MAX, 2))]
    turn: Option<u64>,
    /// Print JSON, one object per line.
    #[arg(long)]
    json: bool,
}

/// Prints the trace.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("strace").await?;
    let mut printer = Printer {
        trace: Trace::in_language(language()),
        turn: args.turn,
        json: args.json,
        printed: false,
    };
    if !args.follow {
        reach::read(&client, &args.session, Seq(1), |event| printer.print(event)).await?;
        if let (Some(turn), false) = (args.turn, printer.printed) {
            reach::has_turn(&client, &args.session, turn).await?;
        }
        return Ok(0);
    }
    let mut signals = Signals::listen()?;
    let mut follow = client
        .follow(&args.session, FollowFrom::After(Seq(0)), false)
        .await?;
    // An exit before this one is past: the session was taken up again, or is looked at afterwards.
    let newest = follow.attached().seq;
    loop {
        tokio::select! {
            followed = follow.next() => if let FollowEvent::Event(event) = followed? {
                printer.print(&event)?;
                if event.kind() == "session.exited" && event.seq >= Some(newest) {
                    return Ok(0);
                }
            },
            arrived = signals.next() => return Ok(match arrived {
                OsSignal::Int => exit::INTERRUPTED,
                OsSignal::Term => exit::TERMINATED,
                OsSignal::Hup => 0,
            }),
        }
    }
}

struct Printer {
    trace: Trace,
    turn: Option<u64>,
    json: bool,
    /// Something was.
    printed: bool,
}

impl Printer {
    /// All events are folded, so that numbers and names are right; only the turn that was asked for is printed.
    fn print(&mut self, event: &DecodedEvent) -> Result<(), Error> {
        let lines = self.trace.fold(event);
        let wanted = |line: &Line| self.turn.is_none_or(|turn| line.turn == Some(turn));
        for line in lines.iter().filter(|line| wanted(line)) {
            if self.json {
                output::json(line)?;
            } else {
                output::line(&text::line(&line.words(language())))?;
            }
            self.printed = true;
        }
        Ok(())
    }
}
