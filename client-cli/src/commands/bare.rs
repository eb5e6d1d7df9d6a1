//! `reasonix` alone: the terminal interface, with a new session in this directory or one that is there.

use client::Client;
use client_tui::Open;
use proto::hello::Role;

use crate::exit::Error;
use crate::interface::{self, Fresh, Look};
use crate::reach;
use crate::session_options::SessionArgs;

/// Talk with a session in the terminal: a new one in this directory, or one that is there.
///
/// Where a session of this directory is at work or waits for somebody, it is offered first. The session lives in the
/// daemon: leaving does not end it, and `reasonix attach` comes back to it. Without a terminal use `reasonix run`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Args {
    /// Go on with the session of this directory that was active last.
    #[arg(short = 'c', long = "continue", conflicts_with_all = ["resume", "SessionArgs"])]
    last: bool,
    /// Go on with this session; without a name: pick one of this directory.
    #[arg(short = 'r', long, value_name = "SESSION", num_args = 0..=1, default_missing_value = "", conflicts_with = "SessionArgs")]
    resume: Option<String>,
    #[command(flatten)]
    options: SessionArgs,
    #[command(flatten)]
    look: Look,
}

impl Args {
    /// Whether nothing of it was said.
    pub fn is_empty(&self) -> bool {
        !self.last && self.resume.is_none() && self.options.is_empty() && self.look.is_empty()
    }
}

pub async fn run(args: Args) -> Result<u8, Error> {
    let otherwise = "`reasonix run PROMPT` does one turn without one, `reasonix attach --plain` talks line by line; see `reasonix --help`";
    let client = interface::connect("reasonix", Role::Drive, otherwise).await?;
    let open = opened(&client, &args).await?;
    let fresh = Fresh {
        preset: args.options.preset(),
        options: args.options.options(),
    };
    interface::run(client, Role::Drive, open, fresh, &args.look).await
}

async fn opened(client: &Client, args: &Args) -> Result<Open, Error> {
    let cwd = reach::utf8(&reach::cwd(None)?)?;
    if args.last {
        let last = reach::last_session(client, &cwd).await?;
        return Ok(Open::Session(last.session.to_string()));
    }
    match &args.resume {
        Some(session) if session.is_empty() => Ok(Open::Pick),
        Some(session) => interface::named(client, session.clone()).await,
        None if args.options.is_empty() && reach::any_live(client, &cwd).await? => Ok(Open::Pick),
        None => Ok(Open::New),
    }
}
