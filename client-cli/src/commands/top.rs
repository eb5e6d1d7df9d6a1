//! `reasonix top`: everything that runs, live, on the whole screen.

use client_tui::Open;
use proto::hello::Role;

use crate::exit::Error;
use crate::interface::{self, NewSessionOptions, ScreenArgs};
use crate::messages::running::Msg;

/// Watch live sessions, their commands and open questions.
///
/// Keys: `p` pauses or resumes, `x` closes, Enter attaches, `a` opens the question of a session, `q` quits. Without a
/// terminal use `reasonix ps`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    look: ScreenArgs,
}

pub async fn run(args: Args) -> Result<u8, Error> {
    let otherwise = say!(Msg::TopOtherwise);
    let client = interface::connect("reasonix top", Role::Drive, otherwise).await?;
    interface::run(
        client,
        Role::Drive,
        Open::Processes,
        NewSessionOptions::default(),
        &args.look,
    )
    .await
}
