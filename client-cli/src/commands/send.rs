//! `reasonix send`: a prompt for a session, and no waiting.

use proto::params::session::{PromptParams, When};

use super::run::prompt;
use crate::exit::Error;
use crate::{output, reach, text};

/// Give a session a prompt and return once it is stored; prints the id of the prompt.
///
/// It starts when the running turn has ended. Standard input joins the text where it is a pipe or a file, or where `-`
/// is given. `reasonix wait SESSION` waits for the end, `reasonix queue SESSION` shows what waits.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Pid, id, or name.
    session: String,
    /// What to do; `-` stands for standard input.
    text: Vec<String>,
    /// At once or not at all: where a turn runs, it is refused.
    #[arg(long)]
    now: bool,
    /// Fold it into the running turn, behind its next results.
    #[arg(long, conflicts_with = "now")]
    steer: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

/// Sends it.
pub async fn run(args: Args) -> Result<u8, Error> {
    let hint = "no prompt given; example: `reasonix send SESSION \"now the tests\"`";
    let prompt = prompt::gather(&args.text, hint)?;
    let client = reach::daemon("send").await?;
    let when = match (args.now, args.steer) {
        (true, _) => When::Now,
        (false, true) => When::Steer,
        (false, false) => When::Queue,
    };
    let params = PromptParams {
        session: args.session.clone(),
        text: prompt,
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
        (0, When::Steer) => "joins the running turn after its next tool results".to_owned(),
        (0, _) => "next in the queue".to_owned(),
        (1, _) => "one prompt is ahead of it".to_owned(),
        (count, _) => format!("{count} prompts are ahead of it"),
    };
    output::progress(&format!(
        "· {what}; follow with `reasonix logs -f {session}`, wait for the end with `reasonix wait {session}`"
    ));
    Ok(0)
}
