//! Runs hooks one after the other, each with a time limit, and kills all their processes.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use contract::{Child, ChildEvent, Command, Spawn};
use futures::StreamExt as _;
use proto::Pid;
use proto::hook::{HookFinished, HookOutcome};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;

use crate::combine::{self, HookChain, HookExit};
use crate::payload::{HookPayload, HookSession};
use crate::placement::{HookPlacement, PlaceHook};
use crate::settings::{Hook, HookScope, Hooks};

/// Maximum bytes kept of each stream. The rest is read and dropped.
const KEPT: usize = 256 * 1024;
/// How long a hook may take to start, such as while the sandbox is tried out or all places of commands are taken. Its own
/// time limit begins afterwards.
const START_LIMIT: Duration = Duration::from_secs(30);
/// From TERM to KILL.
const GRACE_MS: u64 = 500;
/// How long a killed process may take to exit.
const GOING: Duration = Duration::from_secs(3);

/// The environment of a session's hooks.
#[derive(Clone)]
pub struct HookEnvironment {
    pub spawn: Arc<dyn Spawn>,
    pub session: Pid,
    /// The environment variables of the session's commands, without keys.
    pub env: Arc<Vec<(String, String)>>,
    /// The session's working directory.
    pub cwd: PathBuf,
    /// The workspace's root.
    pub root: PathBuf,
    /// Which of them run in the sandbox.
    pub placement: Arc<dyn PlaceHook>,
}

/// Runs all hooks of an event until one blocks. Returns `None` if stopped. The running hook has
/// then ended.
pub async fn run_all(
    ground: &HookEnvironment,
    hooks: &Hooks,
    session: &HookSession,
    what: HookPayload<'_>,
    stop: &CancellationToken,
) -> Option<HookChain> {
    let mut chain = HookChain::default();
    let mut line = None;
    for hook in hooks.on(what.event(), what.tool()) {
        let line = line.get_or_insert_with(|| session.line(&what));
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

/// An event that the hook cannot check is blocked.
fn too_long(hook: &Hook) -> (HookOutcome, Option<String>) {
    let why = "it is too large to pass to the hook; split it into smaller parts";
    refused(hook, why.to_owned())
}

/// Runs one hook. Returns `None` if stopped.
async fn one(
    ground: &HookEnvironment,
    hook: &Hook,
    line: String,
    stop: &CancellationToken,
) -> Option<(HookOutcome, Option<String>)> {
    let (placement, placed) = (Arc::clone(&ground.placement), hook.clone());
    let placing = spawn_blocking(move || placement.place(&placed));
    let starting = async {
        let placement = placing.await.unwrap_or_else(|_| {
            HookPlacement::Refused("the hook could not run because of a bug in Reasonix".to_owned())
        });
        match command(ground, hook, line, placement) {
            Ok(command) => Ok(ground.spawn.spawn(ground.session, command).await),
            Err(why) => Err(why),
        }
    };
    let child = tokio::select! {
        biased;
        // Dropping a start leaves no process.
        () = stop.cancelled() => return None,
        started = timeout(START_LIMIT, starting) => started,
    };
    let Ok(child) = child else {
        let seconds = START_LIMIT.as_secs();
        return Some(refused(
            hook,
            format!("it could not be started within {seconds} s"),
        ));
    };
    let child = match child {
        Ok(child) => child,
        Err(why) => return Some(refused(hook, why)),
    };
    let mut child = match child {
        Ok(child) => child,
        Err(error) => {
            let end = HookExit::NotStarted(error.to_string());
            return Some(combine::outcome(hook.event, &end, "", None));
        }
    };
    let due = Instant::now() + hook.limit;
    let mut heard = HookOutput::default();
    let end = tokio::select! {
        biased;
        () = stop.cancelled() => None,
        end = heard.until_end(&mut child) => Some(end),
        () = sleep_until(due) => Some(HookExit::TimedOut),
    };
    if matches!(end, None | Some(HookExit::TimedOut)) {
        child.control.stop(GRACE_MS);
        // Dropping the child's handle kills any remaining process.
        let gone = heard.until_end(&mut child);
        let _ = timeout(Duration::from_millis(GRACE_MS) + GOING, gone).await;
    }
    let block_reason = hook
        .claude
        .then(|| combine::block_reason(&String::from_utf8_lossy(&heard.stdout)))
        .flatten();
    let stderr = String::from_utf8_lossy(&heard.stderr);
    Some(combine::outcome(hook.event, &end?, &stderr, block_reason))
}

/// What a hook that may not run does to its event.
fn refused(hook: &Hook, why: String) -> (HookOutcome, Option<String>) {
    let outcome = match hook.event.is_gating() {
        true => HookOutcome::Block,
        false => HookOutcome::Error,
    };
    (outcome, Some(why))
}

/// The command of a hook, or why it does not run.
fn command(
    ground: &HookEnvironment,
    hook: &Hook,
    line: String,
    placement: HookPlacement,
) -> Result<Command, String> {
    let (sandbox, path) = match placement {
        HookPlacement::Sandboxed(sandbox) => (Some(sandbox), None),
        HookPlacement::Outside { path } => (None, path),
        HookPlacement::Refused(why) => return Err(why),
    };
    let cwd = match hook.scope {
        HookScope::Project => hook.project().unwrap_or(&ground.cwd),
        HookScope::Home => &ground.cwd,
    };
    let mut env = ground.env.as_ref().clone();
    let project = hook.project().unwrap_or(&ground.root).to_string_lossy();
    for name in ["REASONIX_PROJECT_DIR", "CLAUDE_PROJECT_DIR"] {
        env.retain(|(known, _)| known != name);
        env.push((name.to_owned(), project.clone().into_owned()));
    }
    if let Some(path) = path {
        env.retain(|(known, _)| known != "PATH");
        env.push(("PATH".to_owned(), path));
    }
    Ok(Command {
        argv: vec!["/bin/sh".into(), "-c".into(), hook.command.clone()],
        cwd: cwd.to_path_buf(),
        env,
        title: format!("{} hook: {}", hook.event.as_str(), hook.name()),
        number: None,
        sandbox,
        stdin: contract::Stdin::Text(line),
        merge_stderr: false,
    })
}

/// The output of a hook so far.
#[derive(Default)]
struct HookOutput {
    stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl HookOutput {
    /// Reads until all processes have ended. Cancel-safe: the output read so far is kept.
    async fn until_end(&mut self, child: &mut Child) -> HookExit {
        while let Some(event) = child.events.next().await {
            match event {
                ChildEvent::Stdout(bytes) => keep(&mut self.stdout, &bytes),
                ChildEvent::Stderr(bytes) => keep(&mut self.stderr, &bytes),
                // Only commands in a sandbox have it.
                ChildEvent::Quarantined(_) => {}
                ChildEvent::Exited(exit) => {
                    return match (exit.code, exit.signal) {
                        (Some(code), _) => HookExit::Exited { code },
                        (None, Some(signal)) => HookExit::Signal { signal },
                        (None, None) => lost(),
                    };
                }
            }
        }
        lost()
    }
}

fn lost() -> HookExit {
    HookExit::NotStarted("its exit status is unknown".to_owned())
}

fn keep(kept: &mut Vec<u8>, bytes: &[u8]) {
    let room = KEPT.saturating_sub(kept.len()).min(bytes.len());
    kept.extend_from_slice(bytes.get(..room).unwrap_or_default());
}

#[cfg(test)]
mod tests;
