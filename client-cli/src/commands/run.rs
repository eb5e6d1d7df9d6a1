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
use crate::output;
use crate::session_options::SessionArgs;

use report::Report;
pub use report::RunResult;

/// Do one turn: the answer on standard output, progress on standard error.
///
/// Standard input joins the prompt where it is a pipe or a file, or where `-` is given.
///
/// With `--session` or `--continue` the session keeps the options that are given, for all its later turns. With `--plan`,
/// where no client can approve the plan, the run ends with the plan and with exit code 3.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do; `-` stands for standard input.
    prompt: Vec<String>,
    /// What to do, as an option: it comes before the words without one.
    #[arg(short = 'p', long = "prompt", value_name = "PROMPT")]
    first: Option<String>,
    /// What to print: the answer, one JSON object, or every event and that object, one a line.
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    output_format: Format,
    /// The same as `--output-format json`.
    #[arg(long, conflicts_with = "output_format")]
    json: bool,
    /// Go on in this session: pid, id, or name. It keeps the settings that are given here.
    #[arg(short, long, conflicts_with_all = ["continue_last", "cwd"])]
    session: Option<String>,
    /// Go on in the last session of this directory. It keeps the settings that are given here.
    #[arg(short, long = "continue")]
    continue_last: bool,
    #[command(flatten)]
    options: SessionArgs,
    /// Return as soon as the prompt is accepted; print the session's pid.
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
    report.fail(&Error::usage(
        what,
        "`reasonix run --help` lists the arguments",
    ));
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
