//! `reasonix run`: one turn, for scripts and for people in a hurry.

mod answers;
mod begin;
mod drive;
mod driven;
mod ephemeral;
mod goal;
mod input;
mod interrupts;
mod log_change;
pub(super) mod prompt;
mod question;
mod report;
mod structured;
mod trust;
mod watch;
mod worktree;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ValueEnum;

use proto::state::OnAsk;

use crate::exit::{self, Error};
use crate::messages::run::Msg;
use crate::output;
use crate::session_options::SessionArgs;

use report::Report;
pub use report::RunResult;

/// Run one prompt without a terminal and print the answer.
///
/// Progress goes to standard error. Standard input is added to the prompt if it is a file, or a pipe with data
/// within 0.3 seconds; `-` waits for it. If it is the JSON output of another `run`, `-` adds only its answer.
///
/// A prompt that starts with `/` runs a custom command: `reasonix run "/review"`; `reasonix commands` lists them.
///
/// Options given with `--session` or `--continue` also apply to later turns of that session. With `--plan` and no
/// client to approve the plan, `run` prints the plan and exits with code 3.
///
/// Exit codes: 0 completed; 1 failed; 2 a budget, the step limit or the context is used up; 3 blocked: nobody could
/// approve a call, or a hook refused; 64 wrong arguments; 69 no daemon; 75 waits for an answer (`--on-ask park`); 77 not
/// permitted; 78 wrong config; 124 timeout; 130 interrupted; 137 killed; 143 terminated.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Prompt; `-` reads standard input.
    prompt: Vec<String>,
    /// Prompt, as an option; it comes before PROMPT arguments.
    #[arg(short = 'p', long = "prompt", value_name = "PROMPT")]
    first: Option<String>,
    /// Output: the answer (`text`), one result object (`json`), or one event per line and then the result object
    /// (`jsonl`) [default: text].
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub output_format: Option<Format>,
    /// Same as `--output-format json`.
    #[arg(long, conflicts_with = "output_format")]
    pub json: bool,
    /// Require an answer that fits the JSON Schema in this file, and print that JSON alone
    ///
    /// The schema is added to the prompt. If an answer does not fit, the model is asked again, at most twice; then `run`
    /// exits with code 1. Results of `json` and `jsonl` have the value as `structured`. `format` is not checked.
    #[arg(long, value_name = "FILE")]
    json_schema: Option<PathBuf>,
    /// Standard input: text for the prompt (`text`), or one JSON object per line (`jsonl`): prompts, answers to
    /// questions, and interrupts [default: text]
    ///
    /// `jsonl` prints events as `--output-format jsonl` does, and a line for each line of input: `accepted` or `error`.
    /// The run ends when the input has ended and its prompts are done.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with_all = ["json", "json_schema", "detach"])]
    input_format: Option<InputFormat>,
    /// Continue this session: pid, id, or name. It keeps the options given here.
    #[arg(short, long, conflicts_with_all = ["continue_last", "cwd"])]
    pub session: Option<String>,
    /// Continue the most recent session of this directory. It keeps the options given here.
    #[arg(short, long = "continue")]
    pub continue_last: bool,
    /// Continue in a fork of that session: it stays as it is. Needs `--session` or `--continue`.
    #[arg(long)]
    fork: bool,
    /// Attach this file or directory to the prompt, as `@PATH` in it does; repeatable.
    #[arg(long, value_name = "PATH")]
    file: Vec<PathBuf>,
    /// Attach the last answer of this session to the prompt; repeatable
    ///
    /// Waits for the end of its turn. If the turn failed, this run ends without a request.
    #[arg(long, value_name = "SESSION", conflicts_with = "input_format")]
    from: Vec<String>,
    #[command(flatten)]
    pub options: SessionArgs,
    /// Keep nothing of the session: delete it when the run ends, also after Ctrl-C or a crash
    ///
    /// Losing the terminal ends the run. Usage stays in the statistics. Not with `--detach`; with `--session` or
    /// `--continue` only together with `--fork`.
    #[arg(long, conflicts_with = "detach")]
    ephemeral: bool,
    /// Trust the settings of this directory's project (hooks, rules, providers, `.env`) until the run ends
    ///
    /// They are read as they are now and shown on stderr; nothing is stored. They also count for other sessions that
    /// start in the project meanwhile. Use `reasonix trust` to trust them from now on. Only for a new session; not with
    /// `--detach`.
    #[arg(long, conflicts_with_all = ["detach", "session", "continue_last"])]
    pub trust: bool,
    /// Work in a new git worktree on a new branch and leave your checkout unchanged
    ///
    /// The worktree is created from the last commit, in `NAME.worktrees` next to the repository, without uncommitted
    /// changes. At the end, `run` lists the changes and prints the commands that merge or delete them. A worktree without
    /// changes is removed. Only for a new session.
    #[arg(long, conflicts_with_all = ["session", "continue_last"])]
    pub worktree: bool,
    /// Print the pid of the session and return once the prompt is stored.
    #[arg(long)]
    pub detach: bool,
    /// Work in this directory.
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// The prompt is a goal.
    #[arg(skip)]
    goal: Option<Goal>,
}

/// What a goal has beside its text.
#[derive(Clone, Debug)]
pub struct Goal {
    pub max_turns: Option<u64>,
    pub check: Vec<String>,
    /// Whether it is long research; `None`: its text decides.
    pub research: Option<bool>,
}

/// What `run` reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    Text,
    Jsonl,
}

impl Args {
    /// A run until this goal ends, with no other options.
    pub fn of_goal(text: Vec<String>, goal: Goal) -> Self {
        Self {
            from: Vec::new(),
            prompt: text,
            first: None,
            output_format: None,
            json: false,
            json_schema: None,
            input_format: None,
            session: None,
            continue_last: false,
            fork: false,
            file: Vec::new(),
            options: SessionArgs::default(),
            ephemeral: false,
            trust: false,
            worktree: false,
            detach: false,
            cwd: None,
            goal: Some(goal),
        }
    }

    /// Whether lines of standard input drive the run.
    fn reads_lines(&self) -> bool {
        self.input_format == Some(InputFormat::Jsonl)
    }

    /// The output format.
    fn format(&self) -> Format {
        match self.output_format {
            Some(format) => format,
            None if self.json => Format::Json,
            None if self.reads_lines() => Format::Jsonl,
            None => Format::Text,
        }
    }

    /// Whether a session goes on.
    fn continues(&self) -> bool {
        self.session.is_some() || self.continue_last
    }

    /// Refuses options that do not fit together.
    fn check(&self) -> Result<(), Error> {
        if let Some(flag) = self.options.only_for_new().filter(|_| self.continues()) {
            return Err(Error::usage(
                say!(Msg::OnlyForNew, flag),
                say!(Msg::OnlyForNewHint),
            ));
        }
        if self.reads_lines() && !self.file.is_empty() {
            return Err(Error::usage(
                say!(Msg::FileWithLines),
                say!(Msg::FileWithLinesHint),
            ));
        }
        if self.fork && !self.continues() {
            return Err(Error::usage(say!(Msg::ForkNeeds), say!(Msg::ForkNeedsHint)));
        }
        if self.ephemeral && self.continues() && !self.fork {
            return Err(Error::usage(
                say!(Msg::EphemeralKept),
                say!(Msg::EphemeralKeptHint),
            ));
        }
        if self.ephemeral && self.options.options().on_ask == Some(OnAsk::Park) {
            return Err(Error::usage(
                say!(Msg::EphemeralPark),
                say!(Msg::EphemeralParkHint),
            ));
        }
        if self.reads_lines() && self.format() != Format::Jsonl {
            return Err(Error::usage(
                say!(Msg::LinesNeedLines),
                say!(Msg::LinesNeedLinesHint),
            ));
        }
        let mut checks = self.goal.iter().flat_map(|goal| &goal.check);
        if checks.any(|command| command.trim().is_empty()) {
            return Err(Error::usage(
                say!(Msg::CheckEmpty),
                say!(Msg::CheckEmptyHint),
            ));
        }
        if self.json_schema.is_some() && self.detach {
            return Err(Error::usage(
                say!(Msg::SchemaDetached),
                say!(Msg::SchemaDetachedHint),
            ));
        }
        Ok(())
    }
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
    let (format, ephemeral) = (args.format(), args.ephemeral);
    let mut report = Report::default();
    let driven = drive::drive(args, &mut report).await;
    if let Some(session) = report.session.filter(|_| ephemeral) {
        // The result is out before: whoever reads it need not wait for the session's end.
        let _ = output::flush();
        ephemeral::discard(session).await;
    }
    match driven {
        Ok(code) => Ok(code),
        Err(Error::Closed) => Err(Error::Closed),
        Err(error) => {
            report.fail(&error);
            report.print(format)?;
            Err(error)
        }
    }
}

/// A result object for arguments that clap refused, if they ask for one.
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
    // The usage error is on standard error already; a closed standard output has no reader.
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
