//! `reasonix run`: one turn, for scripts and for people in a hurry.

mod anew;
mod begin;
mod drive;
pub(super) mod prompt;
mod question;
mod report;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum;

use crate::exit::{self, Error};
use crate::messages::run::Msg;
use crate::output;
use crate::session_options::SessionArgs;

use report::Report;
pub use report::RunResult;

/// Run one prompt without a terminal and print the answer.
///
/// Progress goes to standard error. Standard input is added to the prompt if it is a pipe or a file, or if `-` is
/// given.
///
/// Options given with `--session` or `--continue` also apply to later turns of that session. With `--plan` and no
/// client to approve the plan, `run` prints the plan and exits with code 3.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Prompt; `-` reads standard input.
    prompt: Vec<String>,
    /// Prompt, as an option; it comes before PROMPT arguments.
    #[arg(short = 'p', long = "prompt", value_name = "PROMPT")]
    first: Option<String>,
    /// Output: the answer (`text`), one result object (`json`), or one event per line and then the result object
    /// (`jsonl`).
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    output_format: Format,
    /// Same as `--output-format json`.
    #[arg(long, conflicts_with = "output_format")]
    json: bool,
    /// Continue this session: pid, id, or name. It keeps the options given here.
    #[arg(short, long, conflicts_with_all = ["continue_last", "cwd"])]
    session: Option<String>,
    /// Continue the most recent session of this directory. It keeps the options given here.
    #[arg(short, long = "continue")]
    continue_last: bool,
    /// Continue in a fork of that session: it stays as it is. Needs `--session` or `--continue`.
    #[arg(long)]
    fork: bool,
    #[command(flatten)]
    options: SessionArgs,
    /// Print the pid of the session and return once the prompt is stored.
    #[arg(long)]
    detach: bool,
    /// Work in this directory.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
}

/// What `run` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Jsonl,
}

/// Runs it. Whatever happens, a script that reads JSON gets its result object.
pub async fn run(mut args: Args) -> Result<u8, Error> {
    if let Some(first) = args.first.take() {
        args.prompt.insert(0, first);
    }
    if args.json {
        args.output_format = Format::Json;
    }
    let format = args.output_format;
    let mut report = Report::default();
    match drive::drive(args, &mut report).await {
        Ok(code) => Ok(code),
        Err(Error::Closed) => Err(Error::Closed),
        Err(error) => {
            report.fail(&error);
            report.print(format)?;
            Err(error)
        }
    }
}

/// A result object for arguments that clap refused, where they ask for one.
pub fn refused(error: &clap::Error, arguments: &[OsString]) {
    let words: Vec<&str> = arguments
        .iter()
        .filter_map(|argument| argument.to_str())
        .collect();
    if !words.contains(&"run") {
        return;
    }
    let asked = |name: &str| {
        words
            .windows(2)
            .any(|pair| pair == ["--output-format", name])
            || words.contains(&format!("--output-format={name}").as_str())
    };
    let format = if asked("jsonl") {
        Format::Jsonl
    } else if asked("json") || words.contains(&"--json") {
        Format::Json
    } else {
        return;
    };
    let text = error.to_string();
    let what = text
        .lines()
        .next()
        .unwrap_or_default()
        .trim_start_matches("error: ");
    let mut report = Report::default();
    report.fail(&Error::usage(what, say!(Msg::RunHelp)));
    // The usage error is on standard error already; a closed standard output has nobody to tell.
    let _ = report.print(format).and_then(|()| output::flush());
}

/// How the exit code that the daemon names becomes ours.
fn code(exit_code: i32) -> u8 {
    u8::try_from(exit_code).unwrap_or(1)
}

/// What a client says it was stopped by.
fn left(code: u8) -> &'static str {
    if code == exit::PARKED {
        "waiting"
    } else {
        "interrupted"
    }
}

#[cfg(test)]
mod tests;
