//! `reasonix trust`: may the config of a project take effect?

use std::path::PathBuf;

use client::form::blank::{self, FoldedLine};
use proto::methods::{TrustGet, TrustSet};
use proto::params::config::{TrustGetParams, TrustOutput, TrustSetParams};

use crate::exit::Error;
use crate::messages::asking::Msg;
use crate::messages::language;
use crate::person::TerminalUser;
use crate::{output, reach, terminal, text};

/// Show the project settings that need your trust, and decide.
///
/// On a terminal it asks. Without one it fails if there is something to trust, unless you give `--yes`, `--no` or
/// `--show`. When the config of the project changes, it has to be trusted again.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Directory of the project [default: this one].
    directory: Option<PathBuf>,
    /// Show the settings; change nothing.
    #[arg(long)]
    show: bool,
    /// Trust the project with its current config.
    #[arg(long, conflicts_with = "show")]
    yes: bool,
    /// Stop trusting the project.
    #[arg(long, conflicts_with_all = ["show", "yes"])]
    no: bool,
    /// Print JSON; never ask.
    #[arg(long)]
    json: bool,
}

/// What to say if nobody can be asked.
fn how(args: &Args) -> String {
    let Some(directory) = &args.directory else {
        return say!(Msg::TrustYes, "");
    };
    let directory = text::line(&directory.to_string_lossy()).replace('\'', r"'\''");
    say!(Msg::TrustYes, format!(" '{directory}'"))
}

/// Shows, asks, sets.
pub async fn run(args: Args) -> Result<u8, Error> {
    let asks = !(args.show || args.yes || args.no || args.json) && terminal::is_interactive();
    let cwd = match &args.directory {
        Some(directory) => reach::directory(directory, "reasonix trust")?,
        None => reach::cwd(None)?,
    };
    let cwd = reach::utf8(&cwd)?;
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
            let mut person = TerminalUser::new(say!(Msg::TrustStopped))?;
            let agrees = person.agrees(say!(Msg::TrustAsk), false).await?;
            agrees.then_some(true)
        }
        _ => None,
    };
    let Some(trusted) = trusted else {
        match args.json {
            true => output::json(&shown)?,
            false if asks || !can_be_trusted(&shown) => {}
            false if args.show => output::progress(&format!("  {}", how(&args))),
            false => {
                let what = say!(Msg::TrustNoTerminal);
                return Err(Error::usage(what, how(&args)));
            }
        }
        return Ok(0);
    };
    let params = TrustSetParams {
        cwd,
        trusted,
        hash: shown.hash,
        connection: false,
    };
    let done = client.call::<TrustSet>(&params).await?;
    if args.json {
        output::json(&done)?;
        return Ok(0);
    }
    output::progress(match done.trusted {
        true => say!(Msg::TrustedNow),
        false => say!(Msg::NotTrusted),
    });
    Ok(0)
}

fn can_be_trusted(shown: &TrustOutput) -> bool {
    shown.directory.is_some() && !shown.trusted && !shown.held_back.is_empty()
}

/// The state, and every line that is held back, with nothing hidden in it.
fn show(shown: &TrustOutput) -> Result<(), Error> {
    let Some(directory) = &shown.directory else {
        output::progress(say!(Msg::NothingToTrust));
        return Ok(());
    };
    let directory = text::exact(directory).replace('\n', "⏎");
    output::line(&match (shown.trusted, shown.held_back.is_empty()) {
        (true, true) => say!(Msg::DirTrusted, directory),
        (true, false) => say!(Msg::DirTrustedEffect, directory),
        (false, true) => say!(Msg::DirNothing, directory),
        (false, false) => say!(Msg::DirNotTrusted, directory),
    })?;
    let lines = shown.held_back.iter();
    let mut lines = lines.flat_map(|line| blank::fold_blank_lines(line));
    lines.try_for_each(|stretch| match stretch {
        FoldedLine::Line(line) => output::line(&format!("  {}", text::exact(line))),
        FoldedLine::Blank(_) => output::line(&stretch.folded(language()).unwrap_or_default()),
    })?;
    if shown.trusted || shown.instructions.is_empty() {
        return Ok(());
    }
    let names = text::exact(&shown.instructions.join(", ")).replace('\n', "⏎");
    output::line(&say!(Msg::TrustInstructions, names))
}
