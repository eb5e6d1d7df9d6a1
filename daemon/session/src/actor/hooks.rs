//! Where the actor asks its hooks. It never waits for one: what a chain came to comes back as a message.

use std::sync::Arc;

use hooks::{HookPayload, Hooks};
use proto::hook::{HookEvent, HookFinished};
use proto::item::ToolCall;
use proto::params::hook::ListOutput;
use proto::state::WaitingFor;
use proto::{Body, CallId, Pid};
use tokio_util::sync::CancellationToken;
use turn::Input;

use crate::actor::Actor;
use crate::actor::inbox::{Happened, Reply, call_reporter};
use crate::calls::events::CallEvent;
use crate::calls::hooks::HookRunner;
use crate::tasks;

impl Actor {
    /// What is needed to run the hooks of this event now. `None`: the event has no hook.
    pub(crate) fn asker(&self, event: HookEvent) -> Option<HookRunner> {
        let facts = self.machine.facts();
        let layers = || self.calls.layers(facts.created.as_ref(), &facts.grants);
        self.hooks
            .asker(event, self.id, self.calls.call_environment(), layers)
    }

    /// The same for a call that is to be judged. `None` also if hooks have let it through already.
    pub(crate) fn asker_before(
        &mut self,
        call: &ToolCall,
    ) -> Option<(HookRunner, CancellationToken)> {
        let asker = self.asker(HookEvent::PreToolUse)?;
        if self.hooks.has_passed(&call.id) {
            return None;
        }
        let stop = self.life.ended.child_token();
        self.hooks.begin_judging(call.id.clone(), stop.clone());
        Some((asker, stop))
    }

    /// A call was judged, after hooks had spoken about it.
    pub(crate) fn hooks_before(&mut self, call: &CallId, finished: Vec<HookFinished>) {
        self.hooks.end_judging(call, &finished);
        self.tell_hooks(finished);
    }

    /// Stops hooks of a call that nobody wants judged any more, and forgets those of a turn that is over.
    pub(crate) fn drop_hooks(&mut self) {
        self.hooks
            .drop_unwanted(self.machine.judging(), self.machine.is_idle());
    }

    /// Logs what hooks came to.
    pub(crate) fn tell_hooks(&mut self, finished: Vec<HookFinished>) {
        for finished in finished {
            self.hooks.note_run(&finished);
            // Append nothing after the mark of a hand-over: it must stay the last record.
            if self.journal.is_closed() || self.machine.facts().suspended {
                continue;
            }
            let now = self.now();
            let effects = self.machine.record(Body::HookFinished(finished), now);
            self.perform(effects);
        }
    }

    /// Runs the hooks for the end of a turn. Their outcome comes back in any case.
    pub(crate) fn run_stop_hooks(&mut self) {
        let facts = self.machine.facts();
        let (turn, ended) = (facts.turns, facts.ended.clone());
        let (asker, stop) = (self.asker(HookEvent::Stop), self.life.ended.child_token());
        self.hooks.begin_turn_end(stop.clone());
        let happened = self.happened.clone();
        tasks::spawn(async move {
            let mut finished = Vec::new();
            if let (Some(asker), Some(ended)) = (asker, ended) {
                let what = HookPayload::Stop {
                    last_text: &ended.text,
                    turn,
                    outcome: ended.outcome.as_str(),
                };
                let chain = asker.ask(what, &stop).await.unwrap_or_default();
                finished = chain.finished;
            }
            let _ = happened.send(Happened::TurnEndNotified(finished));
        });
    }

    pub(crate) fn stop_telling(&mut self) {
        self.hooks.stop_turn_end();
    }

    pub(crate) fn turn_end_notified(&mut self, finished: Vec<HookFinished>) {
        self.hooks.end_turn_end();
        self.tell_hooks(finished);
        self.step(Input::TurnEndNotified);
    }

    /// Notifies those who want to know that the session waits for a person, or that its goal is paused or has ended.
    /// Nothing waits for that.
    pub(crate) fn notify(&self, body: &Body) {
        let facts = self.machine.facts();
        let mut outcome = None;
        let (message, kind) = match body {
            Body::InteractionOpened(interaction) => {
                let kind = interaction.request.kind().as_str();
                (turn::facts::notification(&interaction.request), kind)
            }
            Body::SessionState(state) if state.waiting_for == Some(WaitingFor::Credentials) => (
                "A key for the provider is missing.".to_owned(),
                "credentials",
            ),
            Body::TurnEnded(_) if facts.goal.is_some() && facts.goal_is_paused() => {
                let pid = facts.created.as_ref().map_or(Pid(0), |created| created.pid);
                let hint = format!("`reasonix resume {pid} --add-minutes N` lets it go on.");
                let text = format!("The goal is paused at its time limit. {hint}");
                (text, "goal_paused")
            }
            Body::GoalEnded(ended) => {
                outcome = Some(ended.outcome.as_str());
                let words = ended.outcome.as_str().replace('_', " ");
                let text = format!("The goal has ended, {words}: {}", ended.reason);
                (text, "goal_ended")
            }
            _ => return,
        };
        let Some(asker) = self.asker(HookEvent::Notification) else {
            return;
        };
        let (stop, reporter) = (self.life.ended.child_token(), call_reporter(&self.happened));
        tasks::spawn(async move {
            let what = HookPayload::Notifies {
                message: &message,
                kind,
                outcome,
            };
            if let Some(chain) = asker.ask(what, &stop).await {
                reporter.report(CallEvent::HooksRan(chain.finished));
            }
        });
    }

    /// Reads the settings again, beside the actor.
    pub(crate) fn reload_hooks(&mut self, reply: Reply<ListOutput>) {
        let assembly = Arc::clone(&self.assembly);
        let cwd = self.calls.call_environment().workspace.cwd().to_path_buf();
        let happened = self.happened.clone();
        tasks::spawn_blocking(move || {
            let read = Box::new(assembly.hooks(&cwd));
            let _ = happened.send(Happened::HooksRead { read, reply });
        });
    }

    /// They apply from the next event on, not to hooks that are running.
    pub(crate) fn hooks_read(&mut self, read: Hooks, reply: Reply<ListOutput>) {
        self.hooks.replace(read);
        self.machine
            .set_notify_turn_end(self.hooks.any(HookEvent::Stop));
        let _ = reply.send(Ok(self.hooks.list()));
        self.ask_gate();
    }
}
