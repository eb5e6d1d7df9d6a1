//! `reasonix trust`: may the config of a project take effect?

use std::path::PathBuf;

use proto::methods::{TrustGet, TrustSet};
use proto::params::config::{TrustGetParams, TrustOutput, TrustSetParams};

use crate::exit::Error;
use crate::person::Person;
use crate::{output, reach, terminal, text};

/// Show what a project's config asks for that has no effect until you trust it, and trust it or not.
///
/// At a terminal it asks; without one it fails where there is something to trust, unless you give `--yes`, `--no` or
/// `--show`. What was agreed to is what was shown: when the project's config changes, it is asked again.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A directory of the project [default: this one].
    directory: Option<PathBuf>,
    /// Only show it.
    #[arg(long)]
    show: bool,
    /// Trust it as it is now.
    #[arg(long, conflicts_with = "show")]
    yes: bool,
    /// Trust it no more.
    #[arg(long, conflicts_with_all = ["show", "yes"])]
    no: bool,
    /// Print JSON; asks nothing.
    #[arg(long)]
    json: bool,
}

/// What to say where nobody can be asked.
const HOW: &str = "trust it as shown with `reasonix trust --yes`";

/// Shows, asks, sets.
pub async fn run(args: Args) -> Result<u8, Error> {
    let asks = !(args.show || args.yes || args.no || args.json) && terminal::is_interactive();
    let cwd = reach::utf8(&reach::cwd(args.directory.as_deref())?)?;
    let client = reach::daemon("trust").await?;
    let shown = client
        .call::<TrustGet>(&TrustGetParams { cwd: cwd.clone() })
        .await?;
    if !args.json {
        show(&shown)?;
    }
    let trusted = match (args.yes, args.no) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ if asks && can_be_trusted(&shown) => {
            let mut person = Person::new("cancelled; nothing was changed")?;
            let agrees = person
                .agrees("Trust the config shown above?", false)
                .await?;
            agrees.then_some(true)
        }
        _ => None,
    };
    let Some(trusted) = trusted else {
        match args.json {
            true => output::json(&shown)?,
            false if asks || !can_be_trusted(&shown) => {}
            false if args.show => output::progress(&format!("  {HOW}")),
            false => {
                let what = "nothing was trusted: cannot ask without a terminal";
                return Err(Error::usage(what, HOW));
            }
        }
        return Ok(0);
    };
    let params = TrustSetParams {
        cwd,
        trusted,
        hash: shown.hash,
    };
    let done = client.call::<TrustSet>(&params).await?;
    if args.json {
        output::json(&done)?;
        return Ok(0);
    }
    output::progress(match done.trusted {
        true => "· trusted; new sessions use it",
        false => "· no longer trusted; it can only make your settings stricter",
    });
    Ok(0)
}

fn can_be_trusted(shown: &TrustOutput) -> bool {
    shown.directory.is_some() && !shown.trusted && !shown.held_back.is_empty()
}

/// The state, and every line that is held back, with nothing hidden in it.
fn show(shown: &TrustOutput) -> Result<(), Error> {
    let Some(directory) = &shown.directory else {
        output::progress("· no project config here, so there is nothing to trust");
        return Ok(());
    };
    let directory = text::exact(directory).replace('\n', "⏎");
    output::line(&match (shown.trusted, shown.held_back.is_empty()) {
        (true, true) => format!("{directory}: trusted"),
        (true, false) => format!("{directory}: trusted; these settings are in effect:"),
        (false, true) => format!("{directory}: not trusted; no setting needs trust"),
        (false, false) => format!("{directory}: not trusted; these settings have no effect:"),
    })?;
    let mut lines = shown.held_back.iter().flat_map(|line| line.lines());
    lines.try_for_each(|line| output::line(&format!("  {}", text::exact(line))))
}
