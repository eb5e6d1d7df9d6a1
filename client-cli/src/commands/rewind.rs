//! `reasonix rewind`: back to the end of a turn, and forth again.

use client::Client;
use client::transcript::words::beginning;
use proto::RequestId;
use proto::methods::{SessionCheckpoints, SessionRewind};
use proto::params::history::{CheckpointsOutput, RewindOutput, RewindParams, TurnCheckpoint, What};
use proto::params::session::OneParams;
use proto::record::{RewoundFile, RewoundResult};

use super::Listing;
use crate::exit::Error;
use crate::messages::back::Msg;
use crate::messages::{Head, Thing, language, translated};
use crate::{output, reach, text};

/// Go back to the end of a turn: hide messages, restore files.
///
/// `--undo` undoes the newest rewind. Files that somebody else has changed since are left alone and listed. Changes
/// made while a command of the session ran count as changes of that command. Exits 1 if a file was skipped, failed to
/// restore, or had no saved copy.
#[derive(Debug, clap::Args)]
#[command(
    override_usage = "reasonix rewind <SESSION> <TO_TURN>\n       reasonix rewind <SESSION> --list | --undo"
)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Last turn to keep; 0: none.
    #[arg(required_unless_present_any = ["list", "undo"], conflicts_with_all = ["list", "undo"], value_parser = crate::numbers::whole::<u64>(0..=u64::MAX, 2))]
    to_turn: Option<u64>,
    /// List the turns to rewind to, with the files that they changed.
    #[arg(long, conflicts_with_all = ["undo", "conversation", "code", "force", "dry_run"])]
    list: bool,
    /// Undo the newest rewind.
    #[arg(long)]
    undo: bool,
    /// Rewind only the conversation.
    #[arg(long, conflicts_with = "code")]
    conversation: bool,
    /// Rewind only files.
    #[arg(long)]
    code: bool,
    /// Also restore files that somebody else has changed since.
    #[arg(long)]
    force: bool,
    /// Show what would change; change nothing.
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    listing: Listing,
}

/// Lists, or goes.
pub async fn run(args: Args) -> Result<u8, Error> {
    let client = reach::daemon("rewind").await?;
    if args.list {
        list(&client, args).await?;
        return Ok(0);
    }
    let params = RewindParams {
        session: args.session,
        to_turn: args.to_turn,
        undo: args.undo,
        what: match (args.conversation, args.code) {
            (true, _) => What::Conversation,
            (false, true) => What::Code,
            (false, false) => What::Both,
        },
        force: args.force,
        dry_run: args.dry_run,
        request_id: Some(RequestId::new()),
    };
    let done = client.call::<SessionRewind>(&params).await?;
    if args.listing.json {
        output::json(&done)?;
    } else {
        print(&params, &done, args.listing.quiet)?;
    }
    // What no checkpoint holds is not as it was, either.
    let lacks = !done.notes.is_empty();
    Ok(u8::from(lacks || done.files.iter().any(is_left)))
}

async fn list(client: &Client, args: Args) -> Result<(), Error> {
    let session = args.session;
    let found = client
        .call::<SessionCheckpoints>(&OneParams {
            session: session.clone(),
        })
        .await?;
    let CheckpointsOutput { turns, undo } = &found;
    if args.listing.json {
        return output::json(&found);
    }
    if args.listing.quiet {
        return turns
            .iter()
            .try_for_each(|turn| output::line(&turn.turn.to_string()));
    }
    if turns.is_empty() {
        output::progress(say!(Msg::NoTurn));
    } else {
        let rows: Vec<_> = turns.iter().map(row).collect();
        output::table([Head::Turn, Head::Prompt, Head::Ago, Head::Files], &rows)?;
    }
    for turn in turns {
        for note in &turn.notes {
            output::progress(&say!(
                Msg::TurnNote,
                turn.turn,
                text::line(&translated(note))
            ));
        }
    }
    if *undo {
        output::progress(&say!(Msg::UndoNewest, text::line(&session)));
    }
    Ok(())
}

fn row(turn: &TurnCheckpoint) -> [String; 4] {
    /// Files that a row shows.
    const NAMED: usize = 3;
    let named = turn.files.iter().take(NAMED);
    let mut files: Vec<String> = named
        .map(|path| output::relative_to_current_dir(path))
        .collect();
    if turn.files.len() > NAMED {
        files.push(format!("+{}", turn.files.len() - NAMED));
    }
    [
        turn.turn.to_string(),
        output::half_line(&beginning(language(), turn)),
        output::ago(turn.at),
        files.join(" "),
    ]
}

/// Whether a file is not as it was then.
fn is_left(file: &RewoundFile) -> bool {
    match file.result {
        RewoundResult::Restored | RewoundResult::Same => false,
        RewoundResult::ChangedSince | RewoundResult::Failed { .. } => true,
    }
}

/// The result for each file on standard output, its meaning on standard error. `quiet`: only the paths of files that
/// are as they were then.
fn print(params: &RewindParams, done: &RewindOutput, quiet: bool) -> Result<(), Error> {
    for file in &done.files {
        let path = text::exact(&file.path).replace('\n', "⏎");
        if !quiet {
            output::line(&format!("{}: {path}", words(file, params.dry_run)))?;
        } else if !is_left(file) {
            output::line(&path)?;
        }
    }
    for note in &done.notes {
        output::progress(&format!("! {}", text::line(&translated(note))));
    }
    output::progress(&format!("· {}", summed(params, done)));
    let session = text::line(&params.session);
    if !params.force
        && done
            .files
            .iter()
            .any(|file| file.result == RewoundResult::ChangedSince)
    {
        output::progress(say!(Msg::ForceAlso));
    }
    if !params.dry_run && !params.undo {
        output::progress(&say!(Msg::UndoIt, session));
    }
    Ok(())
}

fn words(file: &RewoundFile, dry_run: bool) -> String {
    match (&file.result, dry_run) {
        (RewoundResult::Restored, false) if file.was_removed() => say!(Msg::Removed).to_owned(),
        (RewoundResult::Restored, true) if file.was_removed() => say!(Msg::WouldRemove).to_owned(),
        (RewoundResult::Restored, false) => say!(Msg::Restored).to_owned(),
        (RewoundResult::Restored, true) => say!(Msg::WouldRestore).to_owned(),
        (RewoundResult::Same, _) => say!(Msg::AlreadySo).to_owned(),
        (RewoundResult::ChangedSince, false) => say!(Msg::Skipped).to_owned(),
        (RewoundResult::ChangedSince, true) => say!(Msg::WouldSkip).to_owned(),
        (RewoundResult::Failed { why }, _) => {
            say!(Msg::NotRestored, text::line(why))
        }
    }
}

/// The state of the session now, in words.
fn summed(params: &RewindParams, done: &RewindOutput) -> String {
    let session = text::line(&params.session);
    let place = match done.turn {
        0 => say!(Msg::BeforeFirst).to_owned(),
        turn => say!(Msg::AtEnd, turn),
    };
    let position = if params.dry_run {
        say!(Msg::WouldBe)
    } else {
        say!(Msg::IsNow)
    };
    let turns = output::counted(done.turns, Thing::Turn);
    match (done.turns, params.undo) {
        (0, _) => say!(Msg::Stands, session, position, place),
        (_, false) => say!(Msg::StandsHidden, session, position, place, turns),
        (_, true) => say!(Msg::StandsShown, session, position, place, turns),
    }
}
