//! `bash`: a shell command in the foreground.
//!
//! Started through the context's spawner alone, which owns the process tree; here are its environment, its time limit
//! and what becomes of its output.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use contract::{
    CallContext, Child, ChildEvent, ChildExit, Command, Family, Outcome, Preview, Tool, ToolSpec,
};
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use proto::item::{CallStatus, Display};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use tokio::time::Instant;

use crate::arguments::{self, Arguments};
use crate::capture::{Capture, OUTPUT_MAX, Stream};
use crate::truncate;

const TIMEOUT_MAX_MS: u64 = 600_000;
/// Between TERM and KILL at a limit; a cancellation brings its own.
const GRACE_MS: u64 = 2000;
/// How long after KILL the end must have been reported.
const LOST_AFTER: Duration = Duration::from_secs(5);
const TOKENS_MAX: usize = 16_000;
/// Room for the line with the exit code, and for notes.
const TOKENS_SAID: usize = 200;
/// Characters of the end that people are shown.
const TAIL_CHARS: usize = 4000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    command: String,
    /// At most 600000; 0: none
    timeout_ms: Option<u64>,
    /// What it does, in a few words
    description: Option<String>,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("cmd", "command"),
        ("script", "command"),
        ("timeout", "timeout_ms"),
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
                name: "bash",
                description: include_str!("bash.md").trim_ascii(),
                schema: arguments::schema::<Args>(),
                family: Family::Bash,
                read_only: false,
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

    fn preview(&self, arguments: &Map<String, Value>, _: &CallContext) -> Result<Preview, Outcome> {
        let args: Args = arguments::typed(arguments.clone())?;
        Ok(Preview {
            display: Display::Line { text: args.command },
        })
    }

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        let default_ms = self.timeout_ms;
        async move {
            match arguments::typed(arguments) {
                Ok(args) => run(args, default_ms, context).await,
                Err(outcome) => outcome,
            }
        }
        .boxed()
    }
}

async fn run(args: Args, default_ms: u64, context: CallContext) -> Outcome {
    if context.cancel.is_cancelled() {
        return Outcome::with_status(
            CallStatus::Interrupted,
            "stopped before the command was started",
        );
    }
    let started = Instant::now();
    let child = match context
        .spawn
        .spawn(context.session, command(&args, &context))
        .await
    {
        Ok(child) => child,
        Err(error) => return Outcome::failed(format!("the command was not started: {error}")),
    };
    let limit = match args.timeout_ms.unwrap_or(default_ms) {
        0 => None,
        limit => Some(Duration::from_millis(limit)),
    };
    let mut capture = Capture::new(context.spill_dir.clone());
    let end = follow(child, &context, limit, &mut capture).await;
    capture.finish().await;
    told(&end, started.elapsed(), limit, capture).await
}

/// Why a command was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopped {
    Time,
    Cancelled,
    Output,
}

/// How it ended.
struct End {
    /// `None`: the spawner did not say.
    exit: Option<ChildExit>,
    stopped: Option<Stopped>,
}

/// Takes what the child prints until it has ended. Stops it at a limit, or when the call is cancelled.
async fn follow(
    child: Child,
    context: &CallContext,
    limit: Option<Duration>,
    capture: &mut Capture,
) -> End {
    let Child {
        mut events,
        control,
        ..
    } = child;
    let mut cancelled = context.cancel.cancelled();
    let mut until = limit.map(|limit| Instant::now() + limit);
    let mut stopped = None;
    loop {
        let asked = async {
            match until {
                Some(until) => tokio::time::sleep_until(until).await,
                None => std::future::pending().await,
            }
        };
        // Cancel-safe: `next` takes an event or none, the others only wait.
        let reason = tokio::select! {
            biased;
            () = &mut cancelled, if stopped.is_none() => Stopped::Cancelled,
            // After the stop, this is the moment at which the child counts as lost.
            () = asked => match stopped {
                None => Stopped::Time,
                Some(_) => return End { exit: None, stopped },
            },
            event = events.next() => {
                let (stream, bytes) = match event {
                    None => return End { exit: None, stopped },
                    Some(ChildEvent::Exited(exit)) => return End { exit: Some(exit), stopped },
                    Some(ChildEvent::Stdout(bytes)) => (Stream::Stdout, bytes),
                    Some(ChildEvent::Stderr(bytes)) => (Stream::Stderr, bytes),
                };
                let text = capture.push(stream, &bytes).await;
                if !text.is_empty() {
                    context.progress.output(&text);
                }
                if stopped.is_some() || !capture.too_much() {
                    continue;
                }
                Stopped::Output
            }
        };
        let grace_ms = match reason {
            Stopped::Cancelled => context.cancel.grace_ms(),
            Stopped::Time | Stopped::Output => GRACE_MS,
        };
        stopped = Some(reason);
        control.stop(grace_ms);
        until = Some(Instant::now() + Duration::from_millis(grace_ms) + LOST_AFTER);
    }
}

/// The two texts of the outcome.
async fn told(end: &End, took: Duration, limit: Option<Duration>, mut capture: Capture) -> Outcome {
    let how = match end.exit {
        Some(ChildExit {
            signal: Some(signal),
            ..
        }) => format!("ended by signal {signal}{}", signal_name(signal)),
        Some(ChildExit {
            code: Some(code), ..
        }) => format!("exit code {code}"),
        Some(ChildExit {
            code: None,
            signal: None,
            ..
        })
        | None => "its end was not reported".to_owned(),
    };
    let why = match end.stopped {
        Some(Stopped::Time) => {
            format!(
                "stopped at its time limit of {} s; ",
                limit.unwrap_or_default().as_secs_f64()
            )
        }
        Some(Stopped::Cancelled) => "stopped by the user; ".to_owned(),
        Some(Stopped::Output) => {
            format!("stopped after {} MB of output; ", OUTPUT_MAX / 1024 / 1024)
        }
        None => String::new(),
    };
    let swept = match end.exit.map_or(0, |exit| exit.swept) {
        0 => String::new(),
        count => format!("; {count} processes it left behind were stopped"),
    };
    let mut text = format!("{why}{how}, {:.2} s{swept}\n", took.as_secs_f64());
    let (output, spill) = shown(&mut capture).await;
    text.push_str(&output);
    let ok = end.stopped.is_none() && end.exit.is_some_and(|exit| exit.code == Some(0));
    let status = match end.stopped {
        Some(Stopped::Cancelled) => CallStatus::Interrupted,
        _ if ok => CallStatus::Ok,
        _ => CallStatus::Failed,
    };
    let display = Display::Command {
        exit_code: end.exit.and_then(|exit| exit.code),
        signal: end.exit.and_then(|exit| exit.signal),
        output_bytes: capture.bytes(),
        tail: capture.tail(TAIL_CHARS),
        sandbox_stopped: false,
    };
    Outcome {
        status,
        text,
        display,
        spill,
    }
}

/// The output for the model, and the file that holds all of it where that is more.
async fn shown(capture: &mut Capture) -> (String, Option<std::path::PathBuf>) {
    let tokens_max = TOKENS_MAX - TOKENS_SAID;
    if !truncate::cut(capture.pieces(), tokens_max, "").cut {
        capture.discard_spill().await;
        let text = truncate::cut(capture.pieces(), tokens_max, "").text;
        return (
            if text.is_empty() {
                "(no output)\n".to_owned()
            } else {
                text
            },
            None,
        );
    }
    capture.keep_spill().await;
    let spill = capture.spilled().map(Path::to_owned);
    let hint = match (&spill, capture.spill_failure()) {
        (Some(path), _) => format!(
            "all of it is in {}, for `read_file` or `grep`",
            path.display()
        ),
        (None, Some(reason)) => format!("the rest is lost ({reason})"),
        (None, None) => "the rest is lost".to_owned(),
    };
    (
        truncate::cut(capture.pieces(), tokens_max, &hint).text,
        spill,
    )
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        1 => " (HUP)",
        2 => " (INT)",
        6 => " (ABRT)",
        9 => " (KILL)",
        11 => " (SEGV)",
        13 => " (PIPE)",
        15 => " (TERM)",
        _ => "",
    }
}

fn command(args: &Args, context: &CallContext) -> Command {
    let env = environment(&context.env);
    let shell = shell(env.get("PATH").map_or("", String::as_str));
    let named = args
        .description
        .as_deref()
        .filter(|text| !text.trim().is_empty());
    let title = named
        .unwrap_or(&args.command)
        .trim()
        .lines()
        .next()
        .unwrap_or_default();
    Command {
        argv: vec![shell, "-c".to_owned(), args.command.clone()],
        cwd: context.cwd.clone(),
        env: env.into_iter().collect(),
        title: title
            .chars()
            .filter(|char| !char.is_control())
            .take(80)
            .collect(),
    }
}

/// The command's environment: the session's, without secrets and without what would change how programs are loaded.
fn environment(session: &[(String, String)]) -> BTreeMap<String, String> {
    let mut env: BTreeMap<String, String> = session
        .iter()
        .filter(|(name, _)| !proto::secret_name(name) && !is_loader(name))
        .cloned()
        .collect();
    env.entry("PATH".to_owned())
        .or_insert_with(|| "/usr/local/bin:/usr/bin:/bin".to_owned());
    for (name, value) in [
        ("TERM", "dumb"),
        ("PAGER", "cat"),
        ("GIT_PAGER", "cat"),
        ("GIT_TERMINAL_PROMPT", "0"),
    ] {
        env.insert(name.to_owned(), value.to_owned());
    }
    env
}

/// Whether a variable changes how programs are loaded.
fn is_loader(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.starts_with("LD_") || name.starts_with("DYLD_")
}

/// The shell: `bash` where the session's `PATH` has it, by its absolute path; else what every system has.
fn shell(path: &str) -> String {
    let runs = |file: &Path| {
        std::fs::metadata(file)
            .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join("bash"))
        .find(|file| runs(file))
        .and_then(|file| file.into_os_string().into_string().ok())
        .unwrap_or_else(|| "/bin/sh".to_owned())
}

#[cfg(test)]
mod tests;
