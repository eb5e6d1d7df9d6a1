//! Runs hooks: one after the other, each with its limit, and nothing of it is left when it has ended.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::{Child, ChildEvent, Command, Spawn};
use futures::StreamExt as _;
use proto::Pid;
use proto::hook::{HookFinished, HookOutcome};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::combine::{self, Chain, End};
use crate::settings::{Hook, Hooks, Scope};
use crate::told::{Told, What};

/// What is kept of each stream, in bytes; the rest is read and dropped.
const KEPT: usize = 256 * 1024;
/// From TERM to KILL.
const GRACE_MS: u64 = 500;
/// How long what was killed may take to be gone.
const GOING: Duration = Duration::from_secs(3);

/// What hooks of a session run with.
#[derive(Clone)]
pub struct Ground {
    pub spawn: Arc<dyn Spawn>,
    pub session: Pid,
    /// The environment of the session's commands: it has no keys.
    pub env: Arc<Vec<(String, String)>>,
    /// The session's working directory.
    pub cwd: PathBuf,
    /// The workspace's root.
    pub root: PathBuf,
}

/// Runs all hooks for what has happened, until one blocks. `None`: it was stopped, and the one that ran is gone.
pub async fn run_all(
    ground: &Ground,
    hooks: &Hooks,
    told: &Told,
    what: What<'_>,
    stop: &CancellationToken,
) -> Option<Chain> {
    let mut chain = Chain::default();
    let mut line = None;
    for hook in hooks.on(what.event(), what.tool()) {
        let line = line.get_or_insert_with(|| told.line(&what));
        let started = Instant::now();
        let (outcome, reason) = match line {
            Some(line) => one(ground, hook, line.clone(), stop).await?,
            None => too_long(hook),
        };
        let goes_on = chain.take(HookFinished {
            event: hook.event,
            hook: hook.name().to_owned(),
            source: hook.source.to_string_lossy().into_owned(),
            outcome,
            reason,
            duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            call: what.call().cloned(),
        });
        if !goes_on {
            break;
        }
    }
    Some(chain)
}

/// What nobody can be asked about is not let through.
fn too_long(hook: &Hook) -> (HookOutcome, Option<String>) {
    let outcome = match hook.event.is_gating() {
        true => HookOutcome::Block,
        false => HookOutcome::Error,
    };
    let why = "it is too large to be shown to the hook; make it in smaller pieces";
    (outcome, Some(why.to_owned()))
}

/// Runs one hook. `None`: it was stopped.
async fn one(
    ground: &Ground,
    hook: &Hook,
    line: String,
    stop: &CancellationToken,
) -> Option<(HookOutcome, Option<String>)> {
    let due = Instant::now() + hook.limit;
    let spawning = ground
        .spawn
        .spawn(ground.session, command(ground, hook, line));
    let late = || Some(combine::outcome(hook.event, &End::TimedOut, "", None));
    let child = tokio::select! {
        biased;
        // A start that is dropped leaves nothing.
        () = stop.cancelled() => return None,
        () = sleep_until(due) => return late(),
        child = spawning => child,
    };
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            let end = End::NotStarted(error.to_string());
            return Some(combine::outcome(hook.event, &end, "", None));
        }
    };
    let mut heard = Heard::default();
    let end = tokio::select! {
        biased;
        () = stop.cancelled() => None,
        end = heard.until_end(&mut child) => Some(end),
        () = sleep_until(due) => Some(End::TimedOut),
    };
    if matches!(end, None | Some(End::TimedOut)) {
        child.control.stop(GRACE_MS);
        // What is left after that dies with the child's handle.
        let gone = heard.until_end(&mut child);
        let _ = timeout(Duration::from_millis(GRACE_MS) + GOING, gone).await;
    }
    let said_no = hook
        .claude
        .then(|| combine::said_no(&String::from_utf8_lossy(&heard.stdout)))
        .flatten();
    let stderr = String::from_utf8_lossy(&heard.stderr);
    Some(combine::outcome(hook.event, &end?, &stderr, said_no))
}

fn command(ground: &Ground, hook: &Hook, line: String) -> Command {
    let cwd = match hook.scope {
        Scope::Project => hook.project().unwrap_or(&ground.cwd),
        Scope::Home => &ground.cwd,
    };
    let mut env = ground.env.as_ref().clone();
    let project = hook.project().unwrap_or(&ground.root).to_string_lossy();
    for name in ["REASONIX_PROJECT_DIR", "CLAUDE_PROJECT_DIR"] {
        env.retain(|(known, _)| known != name);
        env.push((name.to_owned(), project.clone().into_owned()));
    }
    Command {
        argv: vec!["/bin/sh".into(), "-c".into(), hook.command.clone()],
        cwd: cwd.to_path_buf(),
        env,
        title: format!("{} hook: {}", hook.event.as_str(), hook.name()),
        number: None,
        // A hook is the user's own, and runs as they would run it.
        walls: None,
        stdin: Some(line),
    }
}

/// What a hook has said so far.
#[derive(Default)]
struct Heard {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Heard {
    /// Listens until nothing of it is left. Cancel-safe: what was heard is kept.
    async fn until_end(&mut self, child: &mut Child) -> End {
        while let Some(event) = child.events.next().await {
            match event {
                ChildEvent::Stdout(bytes) => keep(&mut self.stdout, &bytes),
                ChildEvent::Stderr(bytes) => keep(&mut self.stderr, &bytes),
                ChildEvent::Exited(exit) => {
                    return match (exit.code, exit.signal) {
                        (Some(code), _) => End::Exited { code },
                        (None, Some(signal)) => End::Signal { signal },
                        (None, None) => lost(),
                    };
                }
            }
        }
        lost()
    }
}

fn lost() -> End {
    End::NotStarted("how it ended is not known".to_owned())
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    let room = KEPT.saturating_sub(kept.len()).min(bytes.len());
    kept.extend_from_slice(bytes.get(..room).unwrap_or_default());
}

#[cfg(test)]
mod tests;
