//! Where a session asks its hooks: before a call is judged and after it ran, before a prompt enters, behind a turn, and
//! while it waits for a person.
//!
//! The actor never waits for a hook: each chain runs in a task of its own, and what it came to comes back as a message.
//! A prompt stands in `Gate` until its hooks have let it through, and those behind it wait there too: they enter in the
//! order in which they came.

use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use contract::Outcome;
use futures::FutureExt as _;
use hooks::{HookChain, HookEnvironment, HookPayload, HookSession, Hooks, run_all};
use proto::hook::{HookEvent, HookFinished, HookOutcome};
use proto::item::{CallStatus, ToolCall};
use proto::params::hook::{HookStatus, LastRun, ListOutput};
use proto::params::session::{PromptOutput, QueueOutput, When};
use proto::record::PromptQueued;
use proto::state::WaitingFor;
use proto::{Body, CallId, ErrorName, Failure};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use turn::facts::{content_of_edit, content_of_prompt};
use turn::{Input, StopReason};

use crate::actor::Actor;
use crate::answers::refuse;
use crate::commands::{Happened, Reply};
use crate::queue::Edit;

/// What the actor knows of hooks.
#[derive(Default)]
pub struct Hooked {
    pub set: Arc<Hooks>,
    /// How each went last, by event, file and name.
    last: HashMap<(HookEvent, String, String), LastRun>,
    /// Calls of this turn that have been let through: a call is judged more than once, and asked about once.
    passed: HashSet<CallId>,
    /// The call that hooks are asked about.
    judging: Option<(CallId, CancellationToken)>,
    gate: Gate,
    /// Who is told of a turn's end.
    telling: Option<CancellationToken>,
}

impl Hooked {
    pub fn new(set: Hooks) -> Self {
        Self {
            set: Arc::new(set),
            ..Self::default()
        }
    }
}

/// Prompts that their hooks have not let through yet.
#[derive(Default)]
struct Gate {
    waiting: VecDeque<Gated>,
    /// The hooks of the first are under way.
    asking: Option<CancellationToken>,
}

/// What enters a session as words of a person.
pub enum Gated {
    Prompt {
        prompt: PromptQueued,
        when: When,
        /// What the model is told beside it.
        note: Option<String>,
        reply: Reply<PromptOutput>,
    },
    Edit {
        edit: Edit,
        reply: Reply<QueueOutput>,
    },
}

impl Gated {
    fn text(&self) -> &str {
        match self {
            Self::Prompt { prompt, .. } => &prompt.text,
            Self::Edit { edit, .. } => &edit.text,
        }
    }

    fn refuse(self, failure: Failure) {
        match self {
            Self::Prompt { reply, .. } => refuse(reply, failure),
            Self::Edit { reply, .. } => refuse(reply, failure),
        }
    }
}

/// Everything that it takes to ask hooks, away from the actor.
#[derive(Clone)]
pub struct Asker {
    set: Arc<Hooks>,
    ground: HookEnvironment,
    told: HookSession,
}

impl Asker {
    /// Asks all that are for this. `None`: it was stopped.
    pub async fn ask(&self, what: HookPayload<'_>, stop: &CancellationToken) -> Option<HookChain> {
        let asked = run_all(&self.ground, &self.set, &self.told, what, stop);
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
            reason: Some("it could not be asked, because of a bug in Reasonix".to_owned()),
            duration_ms: 0,
            call: what.call().cloned(),
        };
        HookChain {
            finished: vec![finished],
        }
    }

    /// Whether any is for this.
    pub fn has(&self, event: HookEvent, tool: &str) -> bool {
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
                "The prompt was not sent. Say it otherwise, or change the hook in {}.",
                source.unwrap_or_default()
            ),
        )
        .with("event", HookEvent::UserPromptSubmit.as_str()),
    )
}

impl Actor {
    /// What is needed to ask, as of now; none where no hook is for the event.
    pub(crate) fn asker(&self, event: HookEvent) -> Option<Asker> {
        if !self.hooked.set.any(event) {
            return None;
        }
        let workspace = &self.bench.workspace;
        Some(Asker {
            set: Arc::clone(&self.hooked.set),
            ground: HookEnvironment {
                spawn: Arc::clone(&self.bench.spawn),
                session: self.bench.session,
                env: Arc::clone(&self.bench.env),
                cwd: workspace.cwd().to_path_buf(),
                root: workspace.root().to_path_buf(),
            },
            told: HookSession {
                session: self.id,
                pid: self.bench.session,
                cwd: workspace.cwd().to_path_buf(),
            },
        })
    }

    /// As [`Actor::asker`], for a call that is to be judged: none where it has been asked about.
    pub(crate) fn asker_before(&mut self, call: &ToolCall) -> Option<(Asker, CancellationToken)> {
        let asker = self.asker(HookEvent::PreToolUse)?;
        if self.hooked.passed.contains(&call.id) {
            return None;
        }
        let stop = self.ended.child_token();
        self.hooked.judging = Some((call.id.clone(), stop.clone()));
        Some((asker, stop))
    }

    /// A call was judged, and hooks had let it through before (or had not).
    pub(crate) fn hooks_before(&mut self, call: &CallId, finished: Vec<HookFinished>) {
        // Not those of another call, where this one comes late.
        self.hooked.judging.take_if(|(asked, _)| asked == call);
        if !finished.is_empty() && !finished.iter().any(HookFinished::blocks) {
            self.hooked.passed.insert(call.clone());
        }
        self.tell_hooks(finished);
    }

    /// Stops hooks of a call that nobody wants judged any more, and forgets those of a turn that is over.
    pub(crate) fn drop_hooks(&mut self) {
        let wanted = self.machine.judging();
        if let Some((_, stop)) = self
            .hooked
            .judging
            .take_if(|(call, _)| Some(&*call) != wanted)
        {
            stop.cancel();
        }
        if self.machine.is_idle() {
            self.hooked.passed.clear();
        }
    }

    /// Logs what hooks came to.
    pub(crate) fn tell_hooks(&mut self, finished: Vec<HookFinished>) {
        for finished in finished {
            let key = (
                finished.event,
                finished.source.clone(),
                finished.hook.clone(),
            );
            let last = LastRun {
                outcome: finished.outcome,
                duration_ms: finished.duration_ms,
            };
            self.hooked.last.insert(key, last);
            // Behind the mark of a hand-over nothing is said: it must stay the last word.
            if self.journal.failed.is_some() || self.machine.facts().suspended {
                continue;
            }
            let now = self.now();
            let effects = self.machine.record(Body::HookFinished(finished), now);
            self.perform(effects);
        }
    }

    // Prompts.

    /// Takes in a prompt, or an edit of one: at once where no hook is for it.
    pub(crate) fn gate(&mut self, gated: Gated) {
        if self.hooked.gate.waiting.is_empty() && !self.hooked.set.any(HookEvent::UserPromptSubmit)
        {
            return self.admit(gated);
        }
        self.hooked.gate.waiting.push_back(gated);
        self.ask_gate();
    }

    /// Asks about the first that waits, where that is not under way.
    fn ask_gate(&mut self) {
        while self.hooked.gate.asking.is_none() {
            let Some(first) = self.hooked.gate.waiting.front() else {
                return;
            };
            let asker = self.asker(HookEvent::UserPromptSubmit);
            // What is refused anyway, or a repeat, is answered without asking.
            let plain = self.refusal().is_some() || self.is_repeat(first);
            let (Some(asker), false) = (asker, plain) else {
                if let Some(first) = self.hooked.gate.waiting.pop_front() {
                    self.admit(first);
                }
                continue;
            };
            let text = first.text().to_owned();
            let (stop, happened) = (self.ended.child_token(), self.happened.clone());
            self.hooked.gate.asking = Some(stop.clone());
            tokio::spawn(async move {
                let chain = asker.ask(HookPayload::Prompt { text: &text }, &stop).await;
                // Where it was stopped, what waited has been answered.
                if let Some(chain) = chain {
                    let _ = happened.send(Happened::PromptAsked(chain));
                }
            });
        }
    }

    fn is_repeat(&self, gated: &Gated) -> bool {
        let (id, content) = match gated {
            Gated::Prompt { prompt, .. } => (
                prompt.request_id,
                content_of_prompt(&prompt.text, prompt.steer),
            ),
            Gated::Edit { edit, .. } => (
                edit.request_id,
                content_of_edit(edit.prompt_id, &edit.text, edit.steer.unwrap_or_default()),
            ),
        };
        self.repeated(id, &content).is_some()
    }

    /// Hooks have spoken about the first prompt that waits.
    pub(crate) fn prompt_asked(&mut self, chain: HookChain) {
        if self.hooked.gate.asking.take().is_none() {
            return;
        }
        let failure = refused(&chain);
        self.tell_hooks(chain.finished);
        match (self.hooked.gate.waiting.pop_front(), failure) {
            (Some(gated), Some(failure)) => gated.refuse(failure),
            (Some(gated), None) => self.admit(gated),
            (None, _) => {}
        }
        self.ask_gate();
    }

    fn admit(&mut self, gated: Gated) {
        match gated {
            Gated::Prompt {
                prompt,
                when,
                note,
                reply,
            } => {
                if let Some(note) = note {
                    self.machine.add_note(&note);
                }
                self.prompt(prompt, when, reply);
            }
            Gated::Edit { edit, reply } => self.edit(edit, reply),
        }
    }

    /// Whether prompts wait for their hooks.
    pub(crate) fn has_gated(&self) -> bool {
        !self.hooked.gate.waiting.is_empty()
    }

    /// Refuses what waits for its hooks, and stops those. A mere interrupt is for the turn, where one is under way.
    /// Whether there was anything.
    pub(crate) fn refuse_gated(&mut self, reason: StopReason) -> bool {
        let for_the_turn = reason == StopReason::User && !self.machine.is_idle();
        if for_the_turn || !self.has_gated() {
            return false;
        }
        if let Some(stop) = self.hooked.gate.asking.take() {
            stop.cancel();
        }
        for gated in std::mem::take(&mut self.hooked.gate.waiting) {
            gated.refuse(Failure::new(
                ErrorName::Blocked,
                "It was interrupted while its hooks ran: the prompt was not sent.",
                "Send it again.",
            ));
        }
        true
    }

    // The end of a turn, and waiting.

    /// Tells of the end of a turn. What comes of it comes back in any case.
    pub(crate) fn tell_end(&mut self) {
        let facts = self.machine.facts();
        let (turn, ended) = (facts.turns, facts.ended.clone());
        let (asker, stop) = (self.asker(HookEvent::Stop), self.ended.child_token());
        self.hooked.telling = Some(stop.clone());
        let happened = self.happened.clone();
        tokio::spawn(async move {
            let mut finished = Vec::new();
            if let (Some(asker), Some(ended)) = (asker, ended) {
                let outcome = serde_json::to_value(ended.outcome).unwrap_or_default();
                let what = HookPayload::Stop {
                    last_text: &ended.text,
                    turn,
                    outcome: outcome.as_str().unwrap_or_default(),
                };
                let chain = asker.ask(what, &stop).await.unwrap_or_default();
                finished = chain.finished;
            }
            let _ = happened.send(Happened::EndTold(finished));
        });
    }

    pub(crate) fn stop_telling(&mut self) {
        if let Some(stop) = self.hooked.telling.take() {
            stop.cancel();
        }
    }

    pub(crate) fn end_told(&mut self, finished: Vec<HookFinished>) {
        self.hooked.telling = None;
        self.tell_hooks(finished);
        self.step(Input::EndTold);
    }

    /// Tells who wants to know that the session waits for a person. Nothing waits for that.
    pub(crate) fn notify(&self, body: &Body) {
        let (message, kind) = match body {
            Body::ApprovalRequested(question) => (
                format!("May `{}` run: {}?", question.tool, question.subject),
                "approval",
            ),
            Body::QuestionAsked(_) => ("The model has a question.".to_owned(), "question"),
            Body::PlanProposed(_) => ("The model proposes a plan.".to_owned(), "plan"),
            Body::SessionState(state) if state.waiting_for == Some(WaitingFor::Credentials) => (
                "A key for the provider is missing.".to_owned(),
                "credentials",
            ),
            _ => return,
        };
        let Some(asker) = self.asker(HookEvent::Notification) else {
            return;
        };
        let (stop, happened) = (self.ended.child_token(), self.happened.clone());
        tokio::spawn(async move {
            let what = HookPayload::Waits {
                message: &message,
                kind,
            };
            if let Some(chain) = asker.ask(what, &stop).await {
                let _ = happened.send(Happened::HooksRan(chain.finished));
            }
        });
    }

    // What is configured.

    /// Reads the settings again, beside the actor.
    pub(crate) fn reload_hooks(&mut self, reply: Reply<ListOutput>) {
        let assembly = Arc::clone(&self.assembly);
        let cwd = self.bench.workspace.cwd().to_path_buf();
        let happened = self.happened.clone();
        tokio::task::spawn_blocking(move || {
            let read = Box::new(assembly.hooks(&cwd));
            let _ = happened.send(Happened::HooksRead { read, reply });
        });
    }

    /// They count from now on: for what is asked next, not for what is under way.
    pub(crate) fn hooks_read(&mut self, read: Hooks, reply: Reply<ListOutput>) {
        self.hooked.set = Arc::new(read);
        self.hooked.passed.clear();
        self.machine.tell_ends(self.hooked.set.any(HookEvent::Stop));
        let _ = reply.send(Ok(self.list_hooks()));
        self.ask_gate();
    }

    pub(crate) fn list_hooks(&self) -> ListOutput {
        let mut list = status_of(&self.hooked.set);
        for hook in &mut list.hooks {
            let name = hook.description.as_ref().unwrap_or(&hook.command);
            let key = (hook.event, hook.source.clone(), name.clone());
            hook.last = self.hooked.last.get(&key).cloned();
        }
        list
    }
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

/// A call as hooks are told of it.
pub struct Seen {
    pub call: CallId,
    pub tool: String,
    pub arguments: Map<String, Value>,
}

impl Seen {
    /// As it is before it runs.
    pub fn before(&self) -> HookPayload<'_> {
        HookPayload::Call {
            call: &self.call,
            tool: &self.tool,
            arguments: &self.arguments,
        }
    }

    /// As it is when it has its result.
    pub fn after<'a>(&'a self, outcome: &'a Outcome, status: &'a str) -> HookPayload<'a> {
        HookPayload::Result {
            call: &self.call,
            tool: &self.tool,
            arguments: &self.arguments,
            result: &outcome.text,
            status,
        }
    }
}

#[cfg(test)]
mod tests;
