//! `reasonix send`: a prompt for a session, and no waiting.

use proto::params::session::{PromptParams, When};

use super::run::prompt;
use crate::exit::Error;
use crate::messages::run::Msg;
use crate::{output, reach, text};

/// Queue a prompt in a session and print its id.
///
/// The prompt starts when the running turn has ended. Standard input is added to the text if it is a file, or a pipe
/// with data within 0.3 seconds; `-` waits for it. `reasonix wait SESSION` waits for the end, `reasonix queue SESSION` lists the queue.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Session: pid, id, or name.
    session: String,
    /// Prompt; `-` reads standard input.
    text: Vec<String>,
    /// Fail if a turn is running.
    #[arg(long)]
    now: bool,
    /// Add it to the running turn, after its next tool results.
    #[arg(long, conflicts_with = "now")]
    steer: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Sends it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let hint = say!(Msg::SendPrompt);
    let prompt = prompt::gather(&args.text, hint)?;
    let client = reach::daemon("send").await?;
    let when = match (args.now, args.steer) {
        (true, _) => When::Now,
        (false, true) => When::Steer,
        (false, false) => When::Queue,
    };
    let params = PromptParams {
        session: args.session.clone(),
        text: prompt.text,
        untyped: prompt.untyped,
        when,
        ..PromptParams::default()
    };
    let accepted = client.prompt(params, true).await?;
    if args.json {
        output::json(&accepted)?;
        return Ok(0);
    }
    output::line(&accepted.prompt_id.to_string())?;
    let session = text::line(&args.session);
    let what = match (accepted.position, when) {
        (0, When::Steer) => say!(Msg::Joins).to_owned(),
        (0, _) => say!(Msg::IsNext).to_owned(),
        (1, _) => say!(Msg::OneBefore).to_owned(),
        (count, _) => say!(Msg::ManyBefore, count),
    };
    output::progress(&say!(Msg::SentFollow, what, session));
    Ok(0)
}
