//! Prompts that wait until their hooks have let them through. Those that came later wait too: prompts enter in the
//! order in which they came.

use std::collections::VecDeque;

use contract::ExternalChanges;
use hooks::{HookChain, HookPayload};
use knowledge::ResolvedReferences;
use proto::hook::HookEvent;
use proto::params::session::{EditParams, PromptOutput, PromptParams, QueueOutput, When};
use proto::record::PromptQueued;
use proto::{ErrorName, Failure, PromptId, UntypedText};
use tokio_util::sync::CancellationToken;
use turn::StopReason;
use turn::facts::{content_of_edit, content_of_prompt};

use crate::actor::Actor;
use crate::actor::commands::queue::Edit;
use crate::actor::inbox::{Happened, Reply};
use crate::actor::replies::refuse;
use crate::calls::hooks::refused;
use crate::tasks;

/// Prompts that their hooks have not let through yet.
#[derive(Default)]
pub(crate) struct PromptGate {
    waiting: VecDeque<Gated>,
    /// The hooks of the first are under way.
    asking: Option<CancellationToken>,
}

/// What enters a session as words of a person.
pub enum Gated {
    Prompt {
        prompt: PromptQueued,
        when: When,
        /// What the model gets beside it.
        note: Option<ExternalChanges>,
        /// References that are not attached, in words for the user.
        problems: Vec<String>,
        reply: Reply<PromptOutput>,
    },
    Edit {
        edit: Edit,
        problems: Vec<String>,
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

impl Actor {
    /// See `session.prompt`. `note`: what the model gets beside it.
    pub(crate) fn take_prompt(
        &mut self,
        params: PromptParams,
        by: String,
        note: Option<ExternalChanges>,
        references: ResolvedReferences,
        reply: Reply<PromptOutput>,
    ) {
        self.requests.keys().put(params.credentials);
        self.calls.fill_environment(params.env);
        let prompt = PromptQueued {
            untyped: params.untyped,
            from: None,
            added: None,
            references: references.found,
            prompt_id: PromptId::new(),
            text: params.text,
            steer: params.when == When::Steer,
            on_ask: params.on_ask,
            by,
            request_id: params.request_id,
        };
        self.gate(Gated::Prompt {
            prompt,
            when: params.when,
            note,
            problems: references.problems,
            reply,
        });
    }

    /// See `session.edit`.
    pub(crate) fn take_edit(
        &mut self,
        params: EditParams,
        untyped: Vec<UntypedText>,
        by: String,
        references: ResolvedReferences,
        reply: Reply<QueueOutput>,
    ) {
        let edit = Edit {
            prompt_id: params.prompt_id,
            text: params.text,
            untyped,
            references: references.found,
            steer: params.steer,
            by,
            request_id: params.request_id,
        };
        self.gate(Gated::Edit {
            edit,
            problems: references.problems,
            reply,
        });
    }

    /// Takes in a prompt, or an edit of one: at once if no hook is for it.
    pub(crate) fn gate(&mut self, gated: Gated) {
        if self.gate.waiting.is_empty() && !self.hooks.any(HookEvent::UserPromptSubmit) {
            return self.admit(gated);
        }
        self.gate.waiting.push_back(gated);
        self.ask_gate();
    }

    /// Asks about the first that waits, unless that is already being asked.
    pub(crate) fn ask_gate(&mut self) {
        while self.gate.asking.is_none() {
            let Some(first) = self.gate.waiting.front() else {
                return;
            };
            let asker = self.asker(HookEvent::UserPromptSubmit);
            // A prompt that is refused anyway, or a repeat, is answered without asking.
            let plain = self.refusal().is_some() || self.is_repeat(first);
            let (Some(asker), false) = (asker, plain) else {
                if let Some(first) = self.gate.waiting.pop_front() {
                    self.admit(first);
                }
                continue;
            };
            let text = first.text().to_owned();
            let (stop, happened) = (self.life.ended.child_token(), self.happened.clone());
            self.gate.asking = Some(stop.clone());
            tasks::spawn(async move {
                let chain = asker.ask(HookPayload::Prompt { text: &text }, &stop).await;
                // If it was stopped, its waiters have been answered.
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
        if self.gate.asking.take().is_none() {
            return;
        }
        let failure = refused(&chain);
        self.tell_hooks(chain.finished);
        match (self.gate.waiting.pop_front(), failure) {
            (Some(mut gated), Some(failure)) => {
                if let Gated::Prompt { note, .. } = &mut gated
                    && let Some(note) = note.take()
                {
                    // It comes with the next prompt.
                    self.machine.add_note(note);
                }
                gated.refuse(failure);
            }
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
                problems,
                reply,
            } => {
                if let Some(note) = note {
                    self.machine.add_note(note);
                }
                self.calls.note_references(prompt.references.as_ref());
                self.prompt(prompt, when, problems, reply);
            }
            Gated::Edit {
                edit,
                problems,
                reply,
            } => {
                self.calls.note_references(edit.references.as_ref());
                self.edit(edit, problems, reply);
            }
        }
    }

    /// Whether prompts wait for their hooks.
    pub(crate) fn has_gated(&self) -> bool {
        !self.gate.waiting.is_empty()
    }

    /// Refuses prompts that wait for hooks, and stops the hooks. A mere interrupt is for the turn, if one is running.
    /// Whether there was anything.
    pub(crate) fn refuse_gated(&mut self, reason: StopReason) -> bool {
        let for_the_turn = reason == StopReason::User && !self.machine.is_idle();
        if for_the_turn || !self.has_gated() {
            return false;
        }
        if let Some(stop) = self.gate.asking.take() {
            stop.cancel();
        }
        for gated in std::mem::take(&mut self.gate.waiting) {
            gated.refuse(Failure::new(
                ErrorName::Blocked,
                "Interrupted while hooks ran: the prompt was not sent.",
                "Send it again.",
            ));
        }
        true
    }
}
