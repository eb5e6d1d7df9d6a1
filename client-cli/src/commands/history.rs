//! `reasonix history`: searches messages, and shows those around one.

use clap::Subcommand;
use proto::Seq;
use proto::hello::Role;
use proto::methods::HistoryAround;
use proto::params::history::{AroundOutput, AroundParams, HistoryMessage};

use super::search;
use crate::exit::Error;
use crate::messages::stored::Msg;
use crate::{output, reach, text};

/// Search past messages, or show the messages around one.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    Search(Box<search::Args>),
    Around(AroundArgs),
}

/// Show the messages before and after one of a session.
#[derive(Debug, clap::Args)]
struct AroundArgs {
    /// Session: pid, id, or name.
    session: String,
    /// Number of the message, as `search` shows it after `#`.
    #[arg(value_parser = number)]
    seq: Seq,
    /// Number of messages before it, at most 50.
    #[arg(short = 'B', long, value_name = "N", default_value_t = 5, value_parser = crate::numbers::whole::<u64>(0..=50, 5))]
    before: u64,
    /// Number of messages after it, at most 50.
    #[arg(short = 'A', long, value_name = "N", default_value_t = 5, value_parser = crate::numbers::whole::<u64>(0..=50, 5))]
    after: u64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Also takes the number with its mark.
fn number(text: &str) -> Result<Seq, String> {
    let digits = text.strip_prefix('#').unwrap_or(text);
    digits
        .parse()
        .map(Seq)
        .map_err(|_| say!(Msg::NotAMessage).to_owned())
}

/// Runs the command.
pub async fn run(args: Args) -> Result<u8, Error> {
    match args.action {
        Action::Search(args) => search::run(*args).await,
        Action::Around(args) => around(args).await,
    }
}

async fn around(args: AroundArgs) -> Result<u8, Error> {
    let client = reach::with("history", |options| options.role = Role::Watch).await?;
    let params = AroundParams {
        session: args.session,
        seq: args.seq,
        before: Some(args.before),
        after: Some(args.after),
    };
    let found = client.call::<HistoryAround>(&params).await?;
    match args.json {
        true => output::json(&found)?,
        false => print(&found, args.seq)?,
    }
    Ok(0)
}

fn print(found: &AroundOutput, wanted: Seq) -> Result<(), Error> {
    if found.earlier {
        output::line("…")?;
    }
    for (index, message) in found.messages.iter().enumerate() {
        if index > 0 {
            output::line("")?;
        }
        output::line(&head(message, wanted))?;
        output::line(text::clean(&message.text).trim_end())?;
        if message.cut > 0 {
            output::line(&say!(Msg::CharactersCut, message.cut))?;
        }
    }
    if found.later {
        output::line("…")?;
    }
    if let Some(progress) = found.indexing {
        search::indexing(progress);
    }
    Ok(())
}

/// Number, turn, time and author. The wanted message has an arrow.
fn head(message: &HistoryMessage, wanted: Seq) -> String {
    let arrow = if message.seq == wanted { "→ " } else { "" };
    let turn = message
        .turn
        .map_or_else(String::new, |turn| say!(Msg::TurnSpace, turn));
    let at: String = message.at.to_string().chars().take(16).collect();
    text::line(&format!(
        "{arrow}#{} {turn}{at} {}",
        message.seq,
        message.role.as_str()
    ))
}
