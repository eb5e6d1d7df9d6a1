//! `reasonix top`: everything that runs, live, on the whole screen.

use client_tui::Open;
use proto::hello::Role;

use crate::exit::Error;
use crate::interface::{self, Fresh, Look};

/// Watch everything that runs: sessions, their commands, what waits for you.
///
/// Keys: `p` pauses or goes on, `x` ends, Enter attaches, `a` goes to what a session asks, `q` leaves. Without a terminal
/// use `reasonix ps`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    look: Look,
}

pub async fn run(args: Args) -> Result<u8, Error> {
    let otherwise = "use `reasonix ps`, or `reasonix ps --json` in scripts";
    let client = interface::connect("reasonix top", Role::Drive, otherwise).await?;
    interface::run(
        client,
        Role::Drive,
        Open::Processes,
        Fresh::default(),
        &args.look,
    )
    .await
}
