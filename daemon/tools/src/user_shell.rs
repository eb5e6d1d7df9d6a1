//! The shell commands that users run in a session (`session.shell`).
//!
//! No tool: the model cannot call it. A command begins in the session's directory with the session's environment,
//! whatever the model's commands have made of theirs, and changes nothing of it. Output and limits are those of `bash`,
//! but for the time limit: a user's command has none.

use std::path::Path;

use contract::{CallContext, CheckCall, Outcome, UserShell};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::Pid;
use proto::item::CallStatus;
use tokio::time::Instant;
use workspace::WritableDirs;

use crate::bash::{self, END_MAX};
use crate::capture::Capture;
use crate::command;
use crate::lasting::CommandStart;
use crate::memory::Memory;
use crate::run::RunningCommand;

/// Runs users' commands as `bash` runs the model's, but unsandboxed.
#[derive(Clone, Copy, Debug, Default)]
pub struct BuiltInShell;

impl UserShell for BuiltInShell {
    fn check_call(&self, commands: &[String], cwd: &Path) -> Option<CheckCall> {
        bash::check_call(commands, cwd)
    }

    fn run(&self, line: String, number: Pid, context: CallContext) -> BoxFuture<'static, Outcome> {
        run(line, number, context).boxed()
    }
}

async fn run(line: String, number: Pid, context: CallContext) -> Outcome {
    if context.cancel.is_cancelled() {
        return Outcome::with_status(
            CallStatus::Interrupted,
            "stopped before the command was started",
        );
    }
    let started = Instant::now();
    let begin = context.clone();
    let start = tokio::task::spawn_blocking(move || start_of(&begin));
    let Ok(start) = start.await else {
        return Outcome::failed("the command was not started, because of a bug in Reasonix");
    };
    let title = command::title(&line, None);
    let command = command::command(&line, title, Some(number), start, None);
    let child = match context.spawn.spawn(context.session, command).await {
        Ok(child) => child,
        Err(error) => return Outcome::failed(format!("the command was not started: {error}")),
    };
    let run = RunningCommand::new(child, started, None);
    let mut capture = Capture::new(context.spill_dir.clone(), END_MAX);
    let end = bash::follow(run, &context, &mut capture).await;
    capture.finish().await;
    bash::plain_outcome(&end, capture).await
}

/// What a command is started with. Blocks: looks for a shell.
fn start_of(context: &CallContext) -> CommandStart {
    let env = command::environment(&context.env);
    let dirs: WritableDirs = Memory::of(&context.memory)
        .map(|memory| memory.workspace().writable_dirs(&[]))
        .unwrap_or_default();
    CommandStart {
        shell: command::shell(env.get("PATH").map_or("", String::as_str), &dirs),
        cwd: context.cwd.clone(),
        env,
        sandbox: None,
    }
}

#[cfg(test)]
mod tests;
