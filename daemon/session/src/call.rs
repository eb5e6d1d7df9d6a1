//! One call's life outside the machine: arguments, policy, preview; then the run.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use contract::tool::{Cancel, Progress, Shells};
use contract::{CallContext, Outcome, Spawn, Tool};
use futures::FutureExt;
use futures::future::BoxFuture;
use policy::{Access, Call, Context, ResolvedPath, RuleSet, Sandbox};
use proto::item::{CallStatus, Display, ToolCall};
use proto::params::approval::Approval;
use proto::record::Verdict;
use proto::state::Posture;
use proto::{ApprovalId, CallId, Pid, Stamp};
use serde_json::{Map, Value};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;
use turn::Judgement;
use workspace::{PathError, Workspace};

use crate::arguments;
use crate::commands::Happened;
use crate::prefix::digest;

/// What the calls of a session share.
#[derive(Clone)]
pub struct Bench {
    pub session: Pid,
    pub tools: BTreeMap<&'static str, Arc<dyn Tool>>,
    pub workspace: Arc<Workspace>,
    pub memory: Arc<dyn std::any::Any + Send + Sync>,
    pub env: Arc<Vec<(String, String)>>,
    pub spill_dir: PathBuf,
    pub spawn: Arc<dyn Spawn>,
    pub shells: Arc<dyn Shells>,
    pub user_home: PathBuf,
    pub trusted: bool,
    /// The agent's own directories.
    pub masked: Vec<PathBuf>,
}

/// What a judgement depends on beside the call.
pub struct Standpoint {
    pub rules: Arc<RuleSet>,
    pub posture: Posture,
}

impl Bench {
    fn context(
        &self,
        call: CallId,
        progress: Arc<dyn Progress>,
        cancel: Arc<dyn Cancel>,
    ) -> CallContext {
        CallContext {
            session: self.session,
            call,
            cwd: self.workspace.cwd().to_path_buf(),
            env: Arc::clone(&self.env),
            spill_dir: self.spill_dir.clone(),
            spawn: Arc::clone(&self.spawn),
            memory: Arc::clone(&self.memory),
            progress,
            cancel,
            shells: Arc::clone(&self.shells),
        }
    }

    /// Judges a call: its arguments, its paths, the rules; what a person would be shown. Blocks.
    pub fn judge(
        &self,
        call: &ToolCall,
        standpoint: &Standpoint,
    ) -> (Judgement, Map<String, Value>) {
        match self.try_judge(call, standpoint) {
            Ok(judged) => judged,
            Err(outcome) => (Judgement::Refused(outcome), Map::new()),
        }
    }

    fn try_judge(
        &self,
        call: &ToolCall,
        standpoint: &Standpoint,
    ) -> Result<(Judgement, Map<String, Value>), Outcome> {
        let Some(tool) = self.tools.get(call.name.as_str()) else {
            let known: Vec<_> = self.tools.keys().copied().collect();
            let text = format!(
                "There is no tool `{}`. Tools: {}.",
                call.name,
                known.join(", ")
            );
            return Err(Outcome::refused(text));
        };
        let raw = arguments::read(&call.arguments).map_err(Outcome::refused)?;
        let arguments = tool.parse(&raw)?;
        let spec = tool.spec();
        let asked = Call {
            tool: spec.name,
            family: spec.family,
            read_only_tool: spec.read_only,
            arguments: &arguments,
        };
        let subjects = policy::subjects(&asked);
        let context = Context {
            paths: subjects
                .paths
                .iter()
                .map(|subject| self.resolve(&subject.text, subject.access))
                .collect(),
            root: self.workspace.root().to_path_buf(),
            cwd: self.workspace.cwd().to_path_buf(),
            user_home: self.user_home.clone(),
            posture: standpoint.posture,
            sandbox: Sandbox::None,
            masked: self.masked.clone(),
            trusted: self.trusted,
        };
        let decision = policy::decide(&standpoint.rules, &context, &asked);
        let subject = subjects
            .command
            .or_else(|| subjects.paths.first().map(|subject| subject.text.clone()))
            .unwrap_or_default();
        let quiet = self.context(call.id.clone(), Arc::new(Quiet), Arc::new(Never));
        let preview = if decision.verdict == Verdict::Ask {
            tool.preview(&arguments, &quiet)?.display
        } else {
            Display::Line {
                text: subject.clone(),
            }
        };
        // What was judged is what runs: a path that leads elsewhere by then is refused.
        let judged = context
            .paths
            .iter()
            .find_map(|path| path.absolute.as_deref());
        if let Some(place) = judged.filter(|_| decision.verdict != Verdict::Deny) {
            tool.bind(place, &quiet);
        }
        let canonical = Value::Object(arguments.clone()).to_string();
        let shown = serde_json::to_string(&preview).unwrap_or_default();
        let input_sha256 = digest(&[call.name.as_bytes(), canonical.as_bytes()]);
        let question = Approval {
            approval_id: ApprovalId(String::new()),
            session: self.session,
            call: call.id.clone(),
            tool: call.name.clone(),
            shown_hash: digest(&[
                call.name.as_bytes(),
                subject.as_bytes(),
                canonical.as_bytes(),
                shown.as_bytes(),
            ]),
            subject: subject.clone(),
            preview,
            rule: decision.rule.clone(),
            scopes: decision.scopes.clone(),
            asked_at: Stamp::default(),
        };
        Ok((
            Judgement::Decided {
                decision,
                subject,
                input_sha256,
                question,
                // The actor says: it knows who is attached when the judgement comes in.
                unattended: turn::input::Unattended::Wait,
            },
            arguments,
        ))
    }

    fn resolve(&self, text: &str, access: Access) -> ResolvedPath {
        let wanted = match access {
            Access::Read => workspace::Access::Read,
            Access::Edit => workspace::Access::Write,
        };
        let error = self.workspace.resolve(text, wanted).err();
        let located = self.workspace.locate(self.workspace.cwd(), text).ok();
        let at = located.as_ref();
        ResolvedPath {
            text: text.to_owned(),
            access,
            absolute: at.map(|at| at.path().to_path_buf()),
            writable: at.is_some_and(workspace::Resolved::writable),
            protected: at.is_some_and(workspace::Resolved::protected),
            // What leads through `/proc/self` leads elsewhere for the command that will follow it.
            masked: matches!(error, Some(PathError::Masked { .. }))
                || at.is_some_and(workspace::Resolved::through_process),
            denied: matches!(error, Some(PathError::Denied { .. })),
            holds_closed: at.is_some_and(workspace::Resolved::holds_closed),
            error: error.map(|error| error.to_string()),
        }
    }

    /// Starts a call. Its end comes back as `Happened::CallEnded`, also where the tool panics.
    pub fn start(
        &self,
        call: &ToolCall,
        arguments: Map<String, Value>,
        printed: &Arc<Printed>,
        stop: &Arc<Stop>,
        happened: UnboundedSender<Happened>,
    ) -> Option<tokio::task::AbortHandle> {
        let tool = Arc::clone(self.tools.get(call.name.as_str())?);
        let progress: Arc<dyn Progress> = Arc::clone(printed) as Arc<dyn Progress>;
        let cancel: Arc<dyn Cancel> = Arc::clone(stop) as Arc<dyn Cancel>;
        let context = self.context(call.id.clone(), progress, cancel);
        let id = call.id.clone();
        let task = tokio::spawn(async move {
            let started = Instant::now();
            let run =
                AssertUnwindSafe(async move { tool.run(arguments, context).await }).catch_unwind();
            let outcome = run.await.unwrap_or_else(|_| {
                Outcome::failed("The tool crashed: a bug in Reasonix. What it did before is not known; look before you go on.")
            });
            let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let _ = happened.send(Happened::CallEnded {
                call: id,
                outcome: Box::new(outcome),
                duration_ms,
            });
        });
        Some(task.abort_handle())
    }
}

/// The outcome of a call that did not come back after it was told to stop.
pub fn overdue() -> Outcome {
    Outcome::with_status(
        CallStatus::Unknown,
        "The call was told to stop and did not come back in time. What it did is not known.",
    )
}

/// What a running call has printed since it was looked at last.
pub struct Printed {
    state: Mutex<Fresh>,
    happened: UnboundedSender<Happened>,
}

#[derive(Default)]
struct Fresh {
    text: String,
    /// Bytes of the output that came before `text`.
    offset: u64,
    /// Bytes that came after `text` and are not shown.
    dropped: u64,
}

/// Output that waits to be shown: what comes on top of it is dropped from the live view (the result has it).
const PRINTED_MAX: usize = 64 * 1024;

impl Printed {
    pub fn new(happened: UnboundedSender<Happened>) -> Self {
        Self {
            state: Mutex::default(),
            happened,
        }
    }

    /// Takes what is fresh, with the bytes that came before it.
    pub fn take(&self) -> Option<(u64, String)> {
        let mut fresh = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (offset, text) = (fresh.offset, std::mem::take(&mut fresh.text));
        fresh.offset += text.len() as u64 + std::mem::take(&mut fresh.dropped);
        (!text.is_empty()).then_some((offset, text))
    }
}

impl Progress for Printed {
    fn output(&self, text: &str) {
        let mut fresh = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // Once something was dropped, the rest is too until this was taken: a text has no holes.
        if fresh.dropped > 0 || fresh.text.len() + text.len() > PRINTED_MAX {
            fresh.dropped += text.len() as u64;
            return;
        }
        let first = fresh.text.is_empty();
        fresh.text.push_str(text);
        drop(fresh);
        if first {
            let _ = self.happened.send(Happened::Output);
        }
    }
}

/// Tells a running call to stop, and how hard.
#[derive(Default)]
pub struct Stop {
    token: CancellationToken,
    grace_ms: AtomicU64,
}

impl Stop {
    pub fn stop(&self, grace_ms: u64) {
        self.grace_ms.store(grace_ms, Ordering::Relaxed);
        self.token.cancel();
    }
}

impl Cancel for Stop {
    fn is_cancelled(&self) -> bool {
        self.token.is_cancelled()
    }

    fn cancelled(&self) -> BoxFuture<'static, ()> {
        let token = self.token.clone();
        Box::pin(async move { token.cancelled().await })
    }

    fn grace_ms(&self) -> u64 {
        self.grace_ms.load(Ordering::Relaxed)
    }
}

/// For previews: nothing is printed, nothing is stopped.
struct Quiet;

impl Progress for Quiet {
    fn output(&self, _text: &str) {}
}

struct Never;

impl Cancel for Never {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn cancelled(&self) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

#[cfg(test)]
mod tests;
