//! The calls of one session from judgement to result, the commands that they leave in the background, and the rules that
//! decide about them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use contract::tool::StoppedBy;
use contract::{ElicitationAnswer, KnownState, ToolSet};
use policy::{Access, Layer, RuleSet};
use proto::item::ToolCall;
use proto::params::interaction::Scope;
use proto::record::{
    ChildSpawned, KnownFile, PromptReferences, Quarantined, Rules, SessionCreated,
};
use proto::{CallId, Pid, Seq};
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::assembly::guards::{GuardWatch, Guards};
use crate::assembly::persisted_rules::PersistedRules;
use crate::assembly::setup::{Assembly, RuleLayer};
use crate::assembly::tool_repair;
use crate::calls::ahead::{EarlyJudgement, EarlyJudgements};
use crate::calls::call::{CallEnvironment, Printed, Ready, Stop};
use crate::calls::environment::Environment;
use crate::calls::judgement::Standpoint;
use crate::calls::permissions::{RulesAsOf, compiled};
use crate::calls::sandbox;
use crate::tasks;

/// A call that runs.
pub(crate) struct Running {
    pub printed: Arc<Printed>,
    pub stop: Arc<Stop>,
    pub task: tokio::task::AbortHandle,
}

impl Drop for Running {
    fn drop(&mut self) {
        // Does nothing to a call that has ended. One that is dropped with its actor takes its processes along.
        self.task.abort();
    }
}

/// See the module.
pub(crate) struct CallState {
    call_environment: Arc<CallEnvironment>,
    environment: Environment,
    /// What the configuration forbids: as it was read, and as it has become stricter since.
    guards: Arc<Guards>,
    /// As the settings were seen last.
    seen: Option<Arc<Guards>>,
    /// Counts how often that was.
    tightened: u64,
    /// The rules kept for the workspace, beyond the session.
    kept_rules: Arc<dyn PersistedRules>,
    /// The rules in force, and the sources they were compiled from.
    compiled: Option<(RulesAsOf, Arc<RuleSet>)>,
    /// What judged calls will run, until they do.
    judged: HashMap<CallId, Ready>,
    ahead: EarlyJudgements,
    /// Calls that start when this record is on disk.
    held: Vec<(Seq, ToolCall)>,
    /// A user's command that starts when this record is on disk.
    held_user: Option<(Seq, ChildSpawned)>,
    running: BTreeMap<CallId, Running>,
    /// Where the answers to questions of running calls go.
    questions: HashMap<(CallId, u64), oneshot::Sender<ElicitationAnswer>>,
    /// Why commands in the background were stopped that have not ended yet.
    stopped: BTreeMap<Pid, String>,
    /// When a session that closes stops waiting for its commands in the background.
    background_due: Option<Instant>,
    /// What goes into the log beside the checkpoint of a rewind, until its record is made.
    rewind_own: Option<String>,
    /// Protected names that came, and that nobody has been asked about.
    quarantined: Vec<Quarantined>,
    /// Milliseconds from TERM to KILL.
    grace_ms: u64,
}

/// Tells the tools whose they are.
fn note_session(CallEnvironment { tools, session, .. }: &CallEnvironment) {
    tools.iter().for_each(|tool| tool.note_session(*session));
}

impl CallState {
    pub fn new(
        call_environment: CallEnvironment,
        environment: Environment,
        guards: Guards,
        kept_rules: Arc<dyn PersistedRules>,
        grace_ms: u64,
    ) -> Self {
        note_session(&call_environment);
        Self {
            call_environment: Arc::new(call_environment),
            environment,
            guards: Arc::new(guards),
            seen: None,
            tightened: 0,
            kept_rules,
            compiled: None,
            judged: HashMap::new(),
            ahead: EarlyJudgements::default(),
            held: Vec::new(),
            held_user: None,
            running: BTreeMap::new(),
            questions: HashMap::new(),
            stopped: BTreeMap::new(),
            background_due: None,
            rewind_own: None,
            quarantined: Vec::new(),
            grace_ms,
        }
    }

    pub fn call_environment(&self) -> &Arc<CallEnvironment> {
        &self.call_environment
    }

    /// The model gets these files as a whole with a prompt.
    pub fn note_references(&self, references: Option<&PromptReferences>) {
        let files = references.map_or(&[][..], |references| &references.files);
        let known = |file: &KnownFile| KnownState {
            file: file.clone(),
            left: None,
            reported: None,
            content: None,
        };
        let known: Vec<_> = files.iter().map(known).collect();
        if !known.is_empty() {
            let memory = Arc::clone(&self.call_environment.memory);
            memory.note_known_files(&known);
            // Beside the actor: nothing waits for it.
            tasks::spawn_blocking(move || memory.read_missing_contents());
        }
    }

    pub fn grace_ms(&self) -> u64 {
        self.grace_ms
    }

    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// Takes in values of the environment that were lost with an earlier life of the daemon: calls from now on see them.
    pub fn fill_environment(&mut self, env: BTreeMap<String, String>) {
        if self.environment.fill(env) {
            let mut call_environment = CallEnvironment::clone(&self.call_environment);
            let whole = self.environment.whole();
            let whole = sandbox::environment(
                whole,
                call_environment.workspace.temp(),
                &call_environment.confine,
            );
            call_environment.env = Arc::new(whole);
            self.call_environment = Arc::new(call_environment);
        }
    }

    /// Replaces the tools. Only between turns: calls were judged by the former ones.
    pub fn set_tools(&mut self, tools: ToolSet) {
        let mut call_environment = CallEnvironment::clone(&self.call_environment);
        call_environment.flat = tool_repair::flat(&tools);
        call_environment.tools = tools;
        note_session(&call_environment);
        self.call_environment = Arc::new(call_environment);
        // Rules are read with the tools that they name.
        self.compiled = None;
    }

    /// The session has exited: what its tools keep for it alone ends.
    pub fn session_exited(&self) {
        let CallEnvironment { tools, session, .. } = &*self.call_environment;
        tools.iter().for_each(|tool| tool.session_exited(*session));
    }

    pub fn kept_rules(&self) -> &Arc<dyn PersistedRules> {
        &self.kept_rules
    }

    /// The rules of the configuration, layer by layer.
    pub fn configured_layers(&self) -> &[RuleLayer] {
        &self.guards.layers
    }

    /// Whether the settings still forbid just what the session does. Asked off the actor.
    pub fn guard_watch(&self, assembly: Arc<dyn Assembly>) -> GuardWatch {
        GuardWatch {
            assembly,
            workspace: Arc::clone(&self.call_environment.workspace),
            own: Arc::clone(&self.guards),
            seen: self.seen.clone(),
            kept: self.kept_rules.in_force().0,
        }
    }

    /// Takes over what the settings forbid by now; returns what has become stricter.
    pub fn tighten(&mut self, now: &Arc<Guards>) -> Vec<String> {
        let mut guards = Guards::clone(&self.guards);
        let stricter = guards.tighten(now, self.call_environment.workspace.root());
        self.seen = Some(Arc::clone(now));
        if guards != *self.guards {
            self.tightened += 1;
            let mut call_environment = CallEnvironment::clone(&self.call_environment);
            call_environment.confine = guards.confine.clone();
            self.call_environment = Arc::new(call_environment);
            self.guards = Arc::new(guards);
        }
        stricter
    }

    /// The layers that judge its calls, the session's own last. `grants`: what users have allowed for the session.
    pub fn layers(&self, created: Option<&SessionCreated>, grants: &[Scope]) -> Vec<RuleLayer> {
        let granted = Rules {
            allow: grants.iter().map(|scope| scope.rule.clone()).collect(),
            ..Rules::default()
        };
        let pid = created.map(|created| created.pid).unwrap_or_default();
        let of_its_own = |layer, rules, origin| RuleLayer {
            layer,
            rules,
            origin,
            trusted: true,
        };
        let mut layers = self.guards.layers.clone();
        let kept = self.kept_rules.in_force().1;
        layers.extend([
            of_its_own(
                Layer::Persisted,
                Rules::clone(&kept),
                self.kept_rules.origin(),
            ),
            of_its_own(
                Layer::Run,
                created
                    .and_then(|created| created.options.rules.clone())
                    .unwrap_or_default(),
                format!("the start of session {pid}"),
            ),
            of_its_own(Layer::Session, granted, format!("answers in session {pid}")),
        ]);
        layers
    }

    /// The rules in force: the files', those kept for the workspace, the session's own, and what users allowed in it.
    pub fn rules(&mut self, created: Option<&SessionCreated>, grants: &[Scope]) -> Arc<RuleSet> {
        let as_of = RulesAsOf {
            grants: grants.iter().map(|scope| scope.rule.clone()).collect(),
            kept: self.kept_rules.in_force().0,
            tightened: self.tightened,
        };
        if let Some((known, rules)) = &self.compiled
            && *known == as_of
        {
            return Arc::clone(rules);
        }
        let rules =
            Arc::new(compiled(&self.layers(created, grants), &self.call_environment.tools).0);
        let unread = rules.denied_paths(Access::Read);
        self.call_environment.workspace.close_unasked(unread);
        self.compiled = Some((as_of, Arc::clone(&rules)));
        rules
    }

    /// Protected names came.
    pub fn add_quarantined(&mut self, items: Vec<Quarantined>) {
        self.quarantined.extend(items);
    }

    /// Those that nobody has been asked about. Once.
    pub fn take_quarantined(&mut self) -> Vec<Quarantined> {
        std::mem::take(&mut self.quarantined)
    }

    /// A call was judged: this is what will run.
    pub fn put_judged(&mut self, call: CallId, ready: Ready) {
        self.judged.insert(call, ready);
    }

    /// What will run of a call that was judged. Once.
    pub fn take_judged(&mut self, call: &CallId) -> Ready {
        self.judged.remove(call).unwrap_or_default()
    }

    /// No call waits any more.
    pub fn clear_judged(&mut self) {
        self.judged.clear();
        self.ahead.clear();
    }

    /// These calls were judged before the machine wants them.
    pub fn put_ahead(&mut self, calls: Vec<EarlyJudgement>) {
        self.ahead.put(calls);
    }

    /// The judgement of a call, if it was judged early and that still holds. Once.
    pub fn take_ahead(
        &mut self,
        call: &ToolCall,
        standpoint: &Standpoint,
    ) -> Option<EarlyJudgement> {
        self.ahead.take(call, standpoint, Instant::now().into_std())
    }

    /// The step that took the judgement of this call is over: if the session has not started it, its early result counts for
    /// nothing, and neither do those after it.
    pub fn drop_early(&mut self, call: &CallId) {
        let done = self
            .judged
            .get_mut(call)
            .and_then(|ready| ready.done.take());
        if done.is_some() {
            self.ahead.clear();
        }
    }

    /// What goes into the log beside the checkpoint of a call, or of a rewind. Once.
    pub fn take_checkpoint_own(&mut self, call: Option<&CallId>) -> Option<String> {
        match call {
            Some(call) => self.judged.get_mut(call)?.own.take(),
            None => self.rewind_own.take(),
        }
    }

    /// What goes into the log beside the next checkpoint of a rewind.
    pub fn set_rewind_own(&mut self, own: Option<String>) {
        self.rewind_own = own;
    }

    /// Holds a call back until this record is on disk.
    pub fn hold(&mut self, seq: Seq, call: ToolCall) {
        self.held.push((seq, call));
    }

    /// The held calls that may start now.
    pub fn take_held(&mut self, durable: Seq) -> Vec<ToolCall> {
        let held = std::mem::take(&mut self.held);
        let (due, held): (Vec<_>, Vec<_>) = held.into_iter().partition(|(seq, _)| *seq <= durable);
        self.held = held;
        due.into_iter().map(|(_, call)| call).collect()
    }

    /// The held calls, which never start.
    pub fn drop_held(&mut self) -> Vec<ToolCall> {
        let held = std::mem::take(&mut self.held);
        held.into_iter().map(|(_, call)| call).collect()
    }

    /// Holds a user's command back until this record is on disk.
    pub fn hold_user_command(&mut self, seq: Seq, child: ChildSpawned) {
        self.held_user = Some((seq, child));
    }

    /// The user's command that is held back, if it may start now; `None`: it never will.
    pub fn take_user_command(&mut self, durable: Option<Seq>) -> Option<ChildSpawned> {
        let due = |held: &mut (Seq, ChildSpawned)| durable.is_none_or(|durable| held.0 <= durable);
        self.held_user.take_if(due).map(|(_, child)| child)
    }

    /// A call runs.
    pub fn put_running(&mut self, call: CallId, running: Running) {
        self.running.insert(call, running);
    }

    /// A running call waits for the answer to a question.
    pub fn put_question(
        &mut self,
        call: CallId,
        number: u64,
        reply: oneshot::Sender<ElicitationAnswer>,
    ) {
        self.questions.insert((call, number), reply);
    }

    /// Gives a running call the answer to its question. One that waits no more is left alone.
    pub fn answer_question(&mut self, call: CallId, number: u64, answer: ElicitationAnswer) {
        if let Some(reply) = self.questions.remove(&(call, number)) {
            // An error means that the call does not wait any more.
            let _ = reply.send(answer);
        }
    }

    /// A call runs no more.
    pub fn take_running(&mut self, call: &CallId) -> Option<Running> {
        self.questions.retain(|(asker, _), _| asker != call);
        self.running.remove(call)
    }

    pub fn running(&self) -> &BTreeMap<CallId, Running> {
        &self.running
    }

    /// Whether no call runs or waits for the disk to run.
    pub fn is_at_rest(&self) -> bool {
        self.running.is_empty() && self.held.is_empty()
    }

    /// Stops every running call: TERM now, KILL after `grace_ms`.
    pub fn stop_running(&self, grace_ms: u64, by: StoppedBy) {
        for running in self.running.values() {
            running.stop.stop(grace_ms, by);
        }
    }

    /// Stops background commands: TERM now, KILL after `grace_ms`. `pids`: those that the log knows.
    pub fn stop_background<'a>(
        &mut self,
        pids: impl Iterator<Item = &'a Pid>,
        grace_ms: u64,
        cause: &str,
    ) {
        for pid in pids {
            self.note_stop(*pid, || cause.to_owned());
        }
        self.call_environment
            .spawn
            .stop_session(self.call_environment.session, grace_ms);
    }

    /// Somebody stops this command. Who was first did.
    pub fn note_stop(&mut self, pid: Pid, cause: impl FnOnce() -> String) {
        self.stopped.entry(pid).or_insert_with(cause);
    }

    /// Why this command was stopped, if it was. Once.
    pub fn take_stop_cause(&mut self, pid: Pid) -> Option<String> {
        self.stopped.remove(&pid)
    }

    /// When a session that closes stops waiting for its commands in the background.
    pub fn background_due(&self) -> Option<Instant> {
        self.background_due
    }

    pub fn set_background_due(&mut self, due: Option<Instant>) {
        self.background_due = due;
    }
}
