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
use proto::budget::Budget;
use proto::record::Rules;
use proto::state::{Mode, OnAsk, Posture};

use crate::exit::{self, Error};
use crate::output;

use report::Report;
pub use report::RunResult;

/// Do one turn: the answer on standard output, progress on standard error.
///
/// Standard input joins the prompt where it is a pipe or a file, or where `-` is given.
///
/// With `--session` or `--continue` the session keeps what `--posture`, `--plan`, `--read-only`, `--max-steps`, `--budget-usd`,
/// `--budget-tokens`, `--timeout` and `--on-ask` say,
/// for all its later turns.
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
    /// Provider, model, or provider/model.
    #[arg(long)]
    model: Option<String>,
    /// How tool calls are approved.
    #[arg(long, value_enum)]
    posture: Option<PostureName>,
    /// Plan mode: look and plan, change nothing until a person has approved the plan. Where nobody is there to, the run
    /// ends with the plan, and with exit code 3.
    #[arg(long)]
    plan: bool,
    /// Only read: calls that change anything are refused, and no plan lifts that.
    #[arg(long)]
    read_only: bool,
    /// Steps that the turn may have; 0: no limit.
    #[arg(long, value_name = "N")]
    max_steps: Option<u64>,
    /// US dollars that the session may use in its whole life; 0: no limit. Once they are used the run ends, with exit code 2.
    #[arg(long, value_name = "DOLLARS", value_parser = client::amounts::usd)]
    budget_usd: Option<u64>,
    /// Tokens, of prompts and answers, that the session may use in its whole life: `100k`, `2M`; 0: no limit. As `--budget-usd`.
    #[arg(long, value_name = "N", value_parser = client::amounts::count)]
    budget_tokens: Option<u64>,
    /// Seconds that the turn may take; then it is interrupted, with exit code 124.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    timeout: Option<u64>,
    /// What becomes of a question that nobody is there to answer [default: sandboxed].
    #[arg(long, value_enum, value_name = "WHAT")]
    on_ask: Option<OnAskName>,
    /// Allow what matches this rule, for instance `Bash(cargo test:*)`; repeatable.
    #[arg(long, value_name = "RULE")]
    allow: Vec<String>,
    /// Ask before what matches this rule; repeatable.
    #[arg(long, value_name = "RULE")]
    ask: Vec<String>,
    /// Deny what matches this rule; repeatable.
    #[arg(long, value_name = "RULE")]
    deny: Vec<String>,
    /// A label for the session; repeatable.
    #[arg(long)]
    label: Vec<String>,
    /// A name for the session.
    #[arg(long)]
    name: Option<String>,
    /// Return as soon as the prompt is accepted; print the session's pid.
    #[arg(long)]
    detach: bool,
    /// Work in this directory.
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// A bundle of model, effort and number of samples: `fast`, `smart`, `max`, or one of the config.
    #[arg(long, value_name = "NAME", conflicts_with_all = ["session", "continue_last"])]
    preset: Option<String>,
    /// Have what the model reasons turned into lists, by a request of its own.
    #[arg(long, conflicts_with_all = ["session", "continue_last"])]
    harvest: bool,
    /// Samples of each request, of which the one with the fewest uncertainties is taken (1 to 8). All cost.
    #[arg(long, value_name = "N", conflicts_with_all = ["session", "continue_last"])]
    branch: Option<u32>,
    /// How hard the model is to think, as it knows the words: `low`, `high`, …; empty: as it does by itself [default: as
    /// its entry says].
    #[arg(long, value_name = "LEVEL")]
    effort: Option<String>,
}

/// What `run` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Json,
    Jsonl,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum PostureName {
    Ask,
    Auto,
    Yolo,
}

impl From<PostureName> for Posture {
    fn from(name: PostureName) -> Self {
        match name {
            PostureName::Ask => Self::Ask,
            PostureName::Auto => Self::Auto,
            PostureName::Yolo => Self::Yolo,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnAskName {
    Sandboxed,
    Allow,
    Deny,
    Wait,
    Park,
}

impl From<OnAskName> for OnAsk {
    fn from(name: OnAskName) -> Self {
        match name {
            OnAskName::Sandboxed => Self::Sandboxed,
            OnAskName::Allow => Self::Allow,
            OnAskName::Deny => Self::Deny,
            OnAskName::Wait => Self::Wait,
            OnAskName::Park => Self::Park,
        }
    }
}

impl Args {
    /// The mode that was asked for.
    fn mode(&self) -> Option<Mode> {
        self.plan.then_some(Mode::Plan)
    }

    /// The limits that are given.
    fn budget(&self) -> Option<Budget> {
        let budget = Budget {
            cost_micros: self.budget_usd,
            tokens: self.budget_tokens,
            ..Budget::default()
        };
        (budget != Budget::default()).then_some(budget)
    }

    fn rules(&self) -> Rules {
        Rules {
            allow: self.allow.clone(),
            ask: self.ask.clone(),
            deny: self.deny.clone(),
        }
    }
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
        "`reasonix run --help` tells the arguments",
    ));
    // The usage error is on standard error already; a closed standard output has nobody to tell.
    let _ = report.print(format).and_then(|()| output::flush());
}

/// Reads seconds, whole or not, as milliseconds.
pub fn seconds(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is no number of seconds above 0");
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    if !(seconds > 0.0 && seconds <= 1e9) {
        return Err(wrong());
    }
    let duration = std::time::Duration::from_secs_f64(seconds);
    u64::try_from(duration.as_millis())
        .map(|ms| ms.max(1))
        .map_err(|_| wrong())
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
