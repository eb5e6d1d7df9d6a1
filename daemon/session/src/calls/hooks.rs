//! Where a session runs its hooks: before a call is judged and after it ran, before a prompt enters, after a turn, and
//! while it waits for the user.
//!
//! A chain of hooks runs in a task of its own, away from the actor.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use contract::{Outcome, Tool, ToolSpec};
use futures::FutureExt as _;
use hooks::{HookChain, HookEnvironment, HookPayload, HookSession, Hooks, run_all};
use proto::hook::{HookEvent, HookFinished, HookOutcome};
use proto::item::CallStatus;
use proto::params::hook::{HookStatus, LastRun, ListOutput};
use proto::{CallId, ErrorName, Failure, SessionId};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::assembly::setup::RuleLayer;
use crate::calls::call::CallEnvironment;
use crate::calls::hook_placement::SessionPlacement;

/// The hooks of one session: which there are, how they went last, and which are under way.
#[derive(Default)]
pub struct HookState {
    set: Arc<Hooks>,
    /// How each hook went last, by event, file and name.
    last_runs: HashMap<(HookEvent, String, String), LastRun>,
    /// Calls of this turn that hooks have let through. A call is judged more than once, but asked about once.
    passed: HashSet<CallId>,
    /// The call that hooks are asked about.
    judging: Option<(CallId, CancellationToken)>,
    /// Stops the hooks that hear of a turn's end.
    turn_end: Option<CancellationToken>,
}

impl HookState {
    pub fn new(set: Hooks) -> Self {
        Self {
            set: Arc::new(set),
            ..Self::default()
        }
    }

    /// Whether any hook is for this event.
    pub fn any(&self, event: HookEvent) -> bool {
        self.set.any(event)
    }

    /// Replaces the hooks. They apply from the next event on.
    pub fn replace(&mut self, set: Hooks) {
        self.set = Arc::new(set);
        self.passed.clear();
    }

    /// What is needed to run the hooks of this event now. `None`: the event has no hook.
    pub fn asker(
        &self,
        event: HookEvent,
        session: SessionId,
        call_environment: &Arc<CallEnvironment>,
        layers: impl FnOnce() -> Vec<RuleLayer>,
    ) -> Option<HookRunner> {
        if !self.set.any(event) {
            return None;
        }
        let workspace = &call_environment.workspace;
        Some(HookRunner {
            set: Arc::clone(&self.set),
            ground: HookEnvironment {
                spawn: Arc::clone(&call_environment.spawn),
                session: call_environment.session,
                env: Arc::clone(&call_environment.env),
                cwd: workspace.cwd().to_path_buf(),
                root: workspace.root().to_path_buf(),
                placement: Arc::new(SessionPlacement {
                    environment: Arc::clone(call_environment),
                    layers: layers(),
                }),
            },
            reported: HookSession {
                session,
                pid: call_environment.session,
                cwd: workspace.cwd().to_path_buf(),
            },
        })
    }

    /// Whether hooks have let this call through in this turn.
    pub fn has_passed(&self, call: &CallId) -> bool {
        self.passed.contains(call)
    }

    /// The call is another one now: hooks are asked about it again.
    pub fn forget(&mut self, call: &CallId) {
        self.passed.remove(call);
    }

    /// Hooks are asked about this call; `stop` stops them.
    pub fn begin_judging(&mut self, call: CallId, stop: CancellationToken) {
        self.judging = Some((call, stop));
    }

    /// Hooks have spoken about this call.
    pub fn end_judging(&mut self, call: &CallId, finished: &[HookFinished]) {
        // Not those of another call, where this one comes late.
        self.judging.take_if(|(asked, _)| asked == call);
        if !finished.is_empty() && !finished.iter().any(HookFinished::blocks) {
            self.passed.insert(call.clone());
        }
    }

    /// Stops hooks of a call that nobody wants judged any more. `idle`: no turn is open, so that none has passed.
    pub fn drop_unwanted(&mut self, judging: Option<&CallId>, idle: bool) {
        if let Some((_, stop)) = self.judging.take_if(|(call, _)| Some(&*call) != judging) {
            stop.cancel();
        }
        if idle {
            self.passed.clear();
        }
    }

    /// Hooks hear of a turn's end; `stop` stops them.
    pub fn begin_turn_end(&mut self, stop: CancellationToken) {
        self.turn_end = Some(stop);
    }

    /// They have heard of it.
    pub fn end_turn_end(&mut self) {
        self.turn_end = None;
    }

    pub fn stop_turn_end(&mut self) {
        if let Some(stop) = self.turn_end.take() {
            stop.cancel();
        }
    }

    /// Remembers how a hook went.
    pub fn note_run(&mut self, finished: &HookFinished) {
        let key = (
            finished.event,
            finished.source.clone(),
            finished.hook.clone(),
        );
        let last = LastRun {
            outcome: finished.outcome,
            duration_ms: finished.duration_ms,
        };
        self.last_runs.insert(key, last);
    }

    /// The hooks as clients see them, with how each went last.
    pub fn list(&self) -> ListOutput {
        let mut list = status_of(&self.set);
        for hook in &mut list.hooks {
            let name = hook.description.as_ref().unwrap_or(&hook.command);
            let key = (hook.event, hook.source.clone(), name.clone());
            hook.last = self.last_runs.get(&key).cloned();
        }
        list
    }
}

/// Everything that it takes to ask hooks, away from the actor.
#[derive(Clone)]
pub struct HookRunner {
    set: Arc<Hooks>,
    ground: HookEnvironment,
    reported: HookSession,
}

impl HookRunner {
    /// Asks all that are for this. `None`: it was stopped.
    pub async fn ask(&self, what: HookPayload<'_>, stop: &CancellationToken) -> Option<HookChain> {
        let asked = run_all(&self.ground, &self.set, &self.reported, what, stop);
        let asked = AssertUnwindSafe(asked).catch_unwind().await;
        // Somebody waits for the answer, and would wait for ever.
        asked.unwrap_or_else(|_| Some(self.crashed(&what)))
    }

    /// What nobody could be asked about is not let through, where asking lets through.
    fn crashed(&self, what: &HookPayload<'_>) -> HookChain {
        let event = what.event();
        let hook = self.set.on(event, what.tool()).next();
        let finished = HookFinished {
            event,
            hook: hook.map_or_else(String::new, |hook| hook.name().to_owned()),
            source: hook.map_or_else(String::new, |hook| {
                hook.source.to_string_lossy().into_owned()
            }),
            outcome: match event.is_gating() {
                true => HookOutcome::Block,
                false => HookOutcome::Error,
            },
            reason: Some("the hook could not run because of a bug in Reasonix".to_owned()),
            duration_ms: 0,
            call: what.call().cloned(),
        };
        HookChain {
            finished: vec![finished],
        }
    }

    /// Whether any is for this.
    pub fn has(&self, event: HookEvent, tool: &ToolSpec) -> bool {
        self.set.on(event, Some(tool)).next().is_some()
    }
}

/// A call that hooks do not let through, in the words for the model.
pub fn blocked(why: &str) -> Outcome {
    Outcome::with_status(
        CallStatus::Denied,
        format!(
            "{why}\nThe call did not run. The user has set this hook up: do not try to get the same in another way."
        ),
    )
}

/// A prompt that hooks do not let through.
pub fn refused(chain: &HookChain) -> Option<Failure> {
    let why = chain.why_blocked()?;
    let source = chain.blocked().map(|hook| hook.source.clone());
    Some(
        Failure::new(
            ErrorName::Blocked,
            why,
            format!(
                "The prompt was not sent. Rephrase it, or change the hook in {}.",
                source.unwrap_or_default()
            ),
        )
        .with("event", HookEvent::UserPromptSubmit.as_str()),
    )
}

/// Hooks as clients see them.
pub fn status_of(hooks: &Hooks) -> ListOutput {
    let hooks_of = hooks.hooks.iter().map(|hook| HookStatus {
        event: hook.event,
        matches: hook.matches.clone(),
        command: hook.command.clone(),
        description: hook.description.clone(),
        timeout_ms: u64::try_from(hook.limit.as_millis()).unwrap_or(u64::MAX),
        source: hook.source.to_string_lossy().into_owned(),
        trusted: hook.trusted,
        broken: hook.fits.as_ref().err().cloned(),
        last: None,
    });
    ListOutput {
        hooks: hooks_of.collect(),
        problems: hooks.problems.clone(),
    }
}

/// A call as hooks are notified of it.
pub struct HookedCall {
    pub call: CallId,
    pub tool: Arc<dyn Tool>,
    pub arguments: Map<String, Value>,
}

impl HookedCall {
    /// As it is before it runs.
    pub fn before(&self) -> HookPayload<'_> {
        HookPayload::Call {
            call: &self.call,
            tool: self.tool.spec(),
            arguments: &self.arguments,
        }
    }

    /// As it is when it has its result.
    pub fn after<'a>(&'a self, outcome: &'a Outcome, status: &'a str) -> HookPayload<'a> {
        HookPayload::Result {
            call: &self.call,
            tool: self.tool.spec(),
            arguments: &self.arguments,
            result: &outcome.text,
            status,
        }
    }
}

#[cfg(test)]
mod tests;
