//! `bash`: a shell command, run to its end or in the background.
//!
//! Started only through the context's spawner, which owns the process tree. `command` builds the process, `run` applies
//! limits, `capture` collects output, and `shells` manages background commands.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use contract::{
    ArgumentUse, CallContext, CheckCall, Child, Family, Outcome, Preview, SandboxSpec, Tool,
    ToolSpec,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::Pid;
use proto::item::{CallStatus, Display, ToolKind};
use proto::program_variables::names_program;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::Instant;

use crate::arguments::{self, Arguments};
use crate::capture::Capture;
use crate::command;
use crate::files;
use crate::lasting;
use crate::memory::Memory;
use crate::run::{CommandEnd, GRACE_MS, RunEvent, RunningCommand, StopCause};
use crate::shells::StartedCommand;
use crate::truncate;

mod back;
mod shell_state;
mod stopped;

use back::ShellStateFile;
use shell_state::ShellState;
use stopped::SandboxDenial;

/// For the model.
const DESCRIPTION: &str = "Run a shell command and wait for its end; directory and exported variables last from call to call. Returns exit code, duration and output (stdout and stderr as they came). stdin is closed, there is no terminal, and what is still running at the end is stopped. A server or a long job needs `run_in_background`: it returns an id at once. Long output is cut in the middle; the full text is then in the file named. Quote paths with blanks. Read, search and edit files with the other tools.";

const NAME: &str = "bash";
const TIMEOUT_MAX_MS: u64 = 600_000;
/// Clean text kept of the beginning, and of the end.
pub(crate) const END_MAX: usize = 128 * 1024;
/// Tokens of output that the model gets of a command (contract, chapter 40), less the line with the exit code and notes.
pub(crate) const TOKENS_MAX: usize = 16_000 - 200;
/// Changed variables that the preview names, beside those that name programs.
const NAMES_MAX: usize = 32;
/// Characters of the end that people are shown.
pub(crate) const TAIL_CHARS: usize = 4000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    command: String,
    /// At most 600000; 0: none
    timeout_ms: Option<u64>,
    #[serde(default)]
    run_in_background: bool,
    /// What it does, in a few words
    description: Option<String>,
}

impl Args {
    /// How long it may take; `default_ms` where the call does not say.
    fn limit(&self, default_ms: u64) -> Option<Duration> {
        match self.timeout_ms.unwrap_or(default_ms) {
            0 => None,
            limit => Some(Duration::from_millis(limit)),
        }
    }

    fn title(&self) -> String {
        command::title(&self.command, self.description.as_deref())
    }
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("cmd", "command"),
        ("script", "command"),
        ("timeout", "timeout_ms"),
        ("background", "run_in_background"),
    ];
}

pub(crate) struct Bash {
    spec: ToolSpec,
    /// Where a call names no limit; 0: none.
    timeout_ms: u64,
}

impl Bash {
    pub(crate) fn new(timeout_ms: u64) -> Self {
        Self {
            timeout_ms,
            spec: ToolSpec {
                kind: ToolKind::Command,
                ..arguments::spec::<Args>(NAME, DESCRIPTION, Family::Bash)
                    .with_names(Some("Bash"), &["shell", "run_command"])
                    .with_arguments(&[("command", ArgumentUse::Command)])
            },
        }
    }
}

impl Tool for Bash {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        let arguments = arguments::canonical::<Args>(&self.spec.schema, arguments)?;
        let args: Args = arguments::typed(arguments.clone())?;
        if args.command.trim().is_empty() || args.command.contains('\0') {
            return Err(Outcome::refused(
                "`command` is empty or holds a zero byte; write a shell command",
            ));
        }
        if args.timeout_ms.is_some_and(|limit| limit > TIMEOUT_MAX_MS) {
            return Err(Outcome::refused(format!(
                "`timeout_ms` is at most {TIMEOUT_MAX_MS}, or 0 for no limit"
            )));
        }
        Ok(arguments)
    }

    fn preview(
        &self,
        arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<Preview, Outcome> {
        let args: Args = arguments::typed(arguments.clone())?;
        let memory = Memory::of(&context.memory);
        let mut text = String::new();
        if let Some(memory) = memory {
            if let Some(cwd) = memory.shell_cwd() {
                text = format!("in {}: ", lasting::shown(memory.workspace(), &cwd));
            }
            if let Some(names) = changed(&memory.shell_altered()) {
                text.push_str(&format!("with {names} changed: "));
            }
        }
        if args.run_in_background {
            text.push_str("in the background: ");
        }
        text.push_str(&args.command);
        Ok(Preview {
            display: Display::Line { text },
        })
    }

    fn altered(&self, context: &CallContext) -> BTreeMap<String, Option<String>> {
        let memory = Memory::of(&context.memory);
        memory.map_or_else(BTreeMap::new, |memory| memory.shell_altered())
    }

    /// The call is bound to this directory: a call judged for one directory does not run in another.
    fn cwd(&self, context: &CallContext) -> Option<PathBuf> {
        let memory = Memory::of(&context.memory)?;
        let cwd = memory.shell_cwd();
        memory.pin_cwd(&context.call, cwd.as_deref().unwrap_or(&context.cwd));
        cwd
    }

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        let default_ms = self.timeout_ms;
        async move {
            let args = match arguments::typed::<Args>(arguments) {
                Ok(args) => args,
                Err(outcome) => return outcome,
            };
            if !args.run_in_background {
                return run(args, default_ms, context).await;
            }
            match start(args, &context).await {
                Ok(outcome) | Err(outcome) => outcome,
            }
        }
        .boxed()
    }
}

/// The call that runs these commands, each in a subshell that starts in this directory, until one fails.
pub(crate) fn check_call(commands: &[String], cwd: &Path) -> Option<CheckCall> {
    let cwd = command::quoted(cwd.to_str()?);
    let parts = commands.iter().map(|one| format!("(cd {cwd} && {one}\n)"));
    let command = parts.collect::<Vec<_>>().join(" && ");
    let arguments = json!({ "command": command, "timeout_ms": TIMEOUT_MAX_MS });
    Some(CheckCall {
        tool: NAME.to_owned(),
        arguments: arguments.to_string(),
    })
}

/// The variables that the preview names. Those that name programs or libraries come first, all of them, with their
/// values; of the others some are left out.
fn changed(altered: &BTreeMap<String, Option<String>>) -> Option<String> {
    let known = altered.iter().filter(|(name, _)| *name != "OLDPWD");
    let (programs, others): (Vec<_>, Vec<_>) = known.partition(|(name, _)| names_program(name));
    let program = |(name, value): (&String, &Option<String>)| match value {
        // Quoted: nothing in it ends the value, or looks like another line.
        Some(value) => format!("{name}={value:?}"),
        None => format!("{name} (unset)"),
    };
    let mut names: Vec<String> = programs.into_iter().map(program).collect();
    let more = others.len().saturating_sub(NAMES_MAX);
    let others = others.into_iter().take(NAMES_MAX);
    names.extend(others.map(|(name, _)| name.clone()));
    if more > 0 {
        names.push(format!("{more} more"));
    }
    let last = names.pop()?;
    Some(match names.is_empty() {
        true => last,
        false => format!("{} and {last}", names.join(", ")),
    })
}

/// Starts the command and waits for its end; its changes of the shell's state are kept.
async fn run(args: Args, default_ms: u64, context: CallContext) -> Outcome {
    let mut state = ShellState::begin(&args.command, &context).await;
    let started = Instant::now();
    let child = match spawn(&args, None, &mut state, &context).await {
        Ok(child) => child,
        Err(outcome) => return outcome,
    };
    let run = RunningCommand::new(child, started, args.limit(default_ms));
    let mut capture = Capture::new(context.spill_dir.clone(), END_MAX);
    let end = follow(run, &context, &mut capture).await;
    capture.finish().await;
    let stopped = sandbox_denial(&end, &capture, context.sandbox.as_deref());
    let part = context
        .sandbox
        .as_deref()
        .filter(|_| end.is_success())
        .and_then(|sandbox| stopped::part_by(sandbox, &args.command, &capture.tail(TAIL_CHARS)));
    // The command may run once more, and then from the same state.
    let again = stopped.as_ref().is_some_and(SandboxDenial::is_offered);
    let mut lines = state.end(&end, !again, &context).await;
    lines.extend(part.map(|part| part.partial_report()));
    let mut outcome = outcome(&end, capture, stopped).await;
    for line in lines {
        if !outcome.text.ends_with('\n') {
            outcome.text.push('\n');
        }
        outcome.text.push_str(&line);
        outcome.text.push('\n');
    }
    outcome
}

/// Starts the command and leaves it to the session's shells. No limit of time unless the call says one.
async fn start(args: Args, context: &CallContext) -> Result<Outcome, Outcome> {
    let memory = Memory::with_shells(context)?;
    let slot = memory.shells().admit()?;
    let number = context.shells.number().await.map_err(|reason| {
        Outcome::failed(format!(
            "the command was not started: it got no number: {reason}"
        ))
    })?;
    let mut state = ShellState::begin_only(context);
    let started = Instant::now();
    let child = spawn(&args, Some(number), &mut state, context).await?;
    let title = args.title();
    let text = format!(
        "runs in the background as {number}; look at it with `bash_output`, stop it with `kill_shell` (`id`: {number})\n"
    );
    let display = Display::Line {
        text: format!("in the background as {number}: {title}"),
    };
    let run = RunningCommand::new(child, started, args.limit(0));
    memory.shells().keep(StartedCommand {
        number,
        title,
        run,
        slot,
        context,
    });
    Ok(files::done(text, display))
}

async fn spawn(
    args: &Args,
    number: Option<Pid>,
    state: &mut ShellState,
    context: &CallContext,
) -> Result<Child, Outcome> {
    if context.cancel.is_cancelled() {
        return Err(Outcome::with_status(
            CallStatus::Interrupted,
            "stopped before the command was started",
        ));
    }
    let back = state.back.as_ref().map(ShellStateFile::path);
    let start = state.start.clone();
    let command = command::command(&args.command, args.title(), number, start, back);
    context
        .spawn
        .spawn(context.session, command)
        .await
        .map_err(|error| Outcome::failed(format!("the command was not started: {error}")))
}

/// Takes what the command prints until it has ended. Stops it at a limit, or when the call is cancelled.
pub(crate) async fn follow(
    mut run: RunningCommand,
    context: &CallContext,
    capture: &mut Capture,
) -> CommandEnd {
    let mut cancelled = context.cancel.cancelled();
    loop {
        // Cancel-safe: one only waits, the other says so of itself.
        let step = tokio::select! {
            biased;
            () = &mut cancelled, if !run.is_stopped() => {
                let cause = StopCause::Cancelled(context.cancel.stopped_by());
                run.stop(cause, context.cancel.grace_ms());
                continue;
            }
            step = run.next() => step,
        };
        let bytes = match step {
            RunEvent::Output(bytes) => bytes,
            RunEvent::Quarantined(items) => {
                context.shells.quarantined(items);
                continue;
            }
            RunEvent::Ended(end) => return end,
        };
        let text = capture.push(&bytes).await;
        if !text.is_empty() {
            context.progress.output(&text);
        }
        if capture.too_much() && !run.is_stopped() {
            run.stop(StopCause::Output, GRACE_MS);
        }
    }
}

/// Why the sandbox stopped a command that failed, if it did.
fn sandbox_denial(
    end: &CommandEnd,
    capture: &Capture,
    sandbox: Option<&SandboxSpec>,
) -> Option<SandboxDenial> {
    let failed = end.stopped.is_none() && !end.is_success();
    let sandbox = sandbox.filter(|_| failed)?;
    stopped::by(sandbox, &capture.tail(TAIL_CHARS))
}

/// The two texts of the outcome of a command that no sandbox held.
pub(crate) async fn plain_outcome(end: &CommandEnd, capture: Capture) -> Outcome {
    outcome(end, capture, None).await
}

/// The two texts of the outcome.
async fn outcome(
    end: &CommandEnd,
    mut capture: Capture,
    stopped: Option<SandboxDenial>,
) -> Outcome {
    let mut text = end.report();
    text.push('\n');
    if let Some(stopped) = &stopped {
        text.push_str(&stopped.report());
        text.push('\n');
    }
    let (output, spill) = shown(&mut capture).await;
    text.push_str(&output);
    let status = match end.stopped {
        Some(StopCause::Cancelled(_)) => CallStatus::Interrupted,
        _ if end.is_success() => CallStatus::Ok,
        _ => CallStatus::Failed,
    };
    let display = Display::Command {
        exit_code: end.exit.and_then(|exit| exit.code),
        signal: end.exit.and_then(|exit| exit.signal),
        output_bytes: capture.bytes(),
        output_lines: capture.lines(),
        head: capture.first_lines(TAIL_CHARS),
        tail: capture.tail(TAIL_CHARS),
        sandbox_stopped: stopped.as_ref().is_some_and(SandboxDenial::is_clear),
        stopped: end.reached_limit(),
    };
    Outcome {
        status,
        text,
        display,
        images: Vec::new(),
        spill,
        changed: Vec::new(),
        known: Vec::new(),
        reported: Vec::new(),
        blocked: stopped.and_then(SandboxDenial::offer),
        quarantined: Vec::new(),
        skill: None,
        agent: None,
    }
}

/// The output for the model, and the file that holds all of it where the model or the event for people has less.
async fn shown(capture: &mut Capture) -> (String, Option<PathBuf>) {
    let whole = truncate::cut(capture.pieces(), TOKENS_MAX, "");
    if !whole.cut && capture.fits(TAIL_CHARS) {
        capture.discard_spill().await;
        let text = match whole.text {
            text if text.is_empty() => "(no output)\n".to_owned(),
            text => text,
        };
        return (text, None);
    }
    let kept = capture.keep_spill().await;
    if kept.file().is_none() {
        // It may be there in part, and the result does not name it.
        capture.discard_spill().await;
    }
    let text = kept.cut(capture.pieces(), TOKENS_MAX).text;
    (text, kept.file().map(std::path::Path::to_owned))
}

#[cfg(test)]
mod tests;
