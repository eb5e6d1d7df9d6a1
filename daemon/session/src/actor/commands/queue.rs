//! Prompts that wait: taken in, taken back, given other words or another place. Each is acknowledged when it is on disk.

use proto::params::Empty;
use proto::params::session::{PromptOutput, QueueOutput, QueuedPrompt, ReorderParams, When};
use proto::record::{PromptEdited, PromptMoved, PromptQueued, PromptReferences};
use proto::{ErrorName, Failure, PromptId, RequestId, Seq, UntypedText};
use turn::Input;
use turn::facts::{content_of_edit, content_of_move, content_of_prompt};

use crate::actor::Actor;
use crate::actor::handle::SessionHandle;
use crate::actor::inbox::Reply;
use crate::actor::replies::refuse;

/// Prompts that may wait in a session.
const QUEUE_MAX: usize = 1_000;

/// What an edit changes.
pub(crate) struct Edit {
    pub prompt_id: PromptId,
    pub text: String,
    pub untyped: Vec<UntypedText>,
    pub references: Option<PromptReferences>,
    /// `None`: as it was.
    pub steer: Option<bool>,
    pub by: String,
    pub request_id: Option<RequestId>,
}

impl Actor {
    /// `problems`: references of the prompt that are not attached, in words for the user.
    pub(crate) fn prompt(
        &mut self,
        prompt: PromptQueued,
        when: When,
        problems: Vec<String>,
        reply: Reply<PromptOutput>,
    ) {
        let content = content_of_prompt(&prompt.text, prompt.steer);
        match self.repeated(prompt.request_id, &content) {
            Some(Ok(done)) => {
                let prompt_id = done.prompt_id.unwrap_or(prompt.prompt_id);
                let output = PromptOutput {
                    prompt_id,
                    position: 0,
                    seq: done.seq,
                };
                return self.reply_when(done.seq, reply, output);
            }
            Some(Err(failure)) => return refuse(reply, failure),
            None => {}
        }
        let facts = self.machine.facts();
        let refusal = self
            .refusal()
            .or_else(|| wordless(&prompt.text))
            .or_else(|| {
                let command = facts.user_command().is_some();
                let rests = self.machine.is_idle() && facts.queue.is_empty() && !command;
                if when == When::Now && !rests {
                    let (what, hint) = match self.machine.is_idle() {
                        true if command => (
                            "A command of a user is running.",
                            "Queue the prompt after it, or interrupt it first.",
                        ),
                        true => (
                            "Other prompts are queued before it.",
                            "Queue it after them, or remove them first.",
                        ),
                        false => (
                            "A turn is running.",
                            "Queue the prompt, steer the turn with it, or interrupt the turn.",
                        ),
                    };
                    return Some(Failure::new(ErrorName::Busy, what, hint));
                }
                (facts.queue.len() >= QUEUE_MAX).then(|| {
                    Failure::new(
                        ErrorName::Limit,
                        "Too many prompts are queued.",
                        "Remove some first.",
                    )
                })
            });
        if let Some(refusal) = refusal {
            return refuse(reply, refusal);
        }
        let position = facts.queue.len() as u64;
        let (prompt_id, seq) = (prompt.prompt_id, facts.seq.next());
        self.step(Input::Prompt { prompt, when });
        self.look_up_window();
        self.warn_of(problems);
        self.reply_when(
            seq,
            reply,
            PromptOutput {
                prompt_id,
                position,
                seq,
            },
        );
    }

    pub(crate) fn unqueue(&mut self, prompt_id: PromptId, reply: Reply<Empty>) {
        if let Some(refusal) = self.refusal().or_else(|| self.not_waiting(prompt_id)) {
            return refuse(reply, refusal);
        }
        self.step(Input::Unqueue(prompt_id));
        self.reply_when(self.machine.facts().seq, reply, Empty {});
    }

    pub(crate) fn edit(&mut self, edit: Edit, problems: Vec<String>, reply: Reply<QueueOutput>) {
        let waiting = self.machine.facts().queue.iter();
        let standing = waiting
            .filter(|queued| queued.prompt_id == edit.prompt_id)
            .map(|queued| queued.steer)
            .next();
        let mut edited = PromptEdited {
            untyped: edit.untyped,
            references: edit.references,
            prompt_id: edit.prompt_id,
            text: edit.text,
            steer: edit.steer.or(standing).unwrap_or_default(),
            by: edit.by,
            request_id: edit.request_id,
        };
        let content =
            |edited: &PromptEdited| content_of_edit(edited.prompt_id, &edited.text, edited.steer);
        // What "as it was" meant when this was asked first may be gone: then either counts as the same request.
        if edit.steer.is_none()
            && let Some(Err(_)) = self.repeated(edited.request_id, &content(&edited))
        {
            edited.steer = !edited.steer;
        }
        let content = content(&edited);
        let refusal = wordless(&edited.text);
        let prompt_id = edited.prompt_id;
        self.rearrange(
            Rearranged {
                prompt_id,
                request_id: edited.request_id,
                content,
                refusal,
                problems,
            },
            Input::Edit(edited),
            reply,
        );
    }

    /// A prompt that waits.
    pub(crate) fn queued(&self, prompt_id: PromptId) -> Option<QueuedPrompt> {
        let mut queue = self.machine.facts().queue.iter();
        queue.find(|queued| queued.prompt_id == prompt_id).cloned()
    }

    pub(crate) fn reorder(&mut self, params: ReorderParams, by: String, reply: Reply<QueueOutput>) {
        let moved = PromptMoved {
            prompt_id: params.prompt_id,
            position: params.position,
            by,
            request_id: params.request_id,
        };
        let prompt_id = moved.prompt_id;
        self.rearrange(
            Rearranged {
                prompt_id,
                request_id: moved.request_id,
                content: content_of_move(prompt_id, moved.position),
                refusal: None,
                problems: Vec::new(),
            },
            Input::Move(moved),
            reply,
        );
    }

    /// Changes the queue, and answers with it.
    fn rearrange(&mut self, wanted: Rearranged, input: Input, reply: Reply<QueueOutput>) {
        match self.repeated(wanted.request_id, &wanted.content) {
            Some(Ok(done)) => return self.reply_queue(done.seq, reply),
            Some(Err(failure)) => return refuse(reply, failure),
            None => {}
        }
        let refusal = self
            .refusal()
            .or(wanted.refusal)
            .or_else(|| self.not_waiting(wanted.prompt_id));
        if let Some(refusal) = refusal {
            return refuse(reply, refusal);
        }
        self.step(input);
        self.warn_of(wanted.problems);
        self.reply_queue(self.machine.facts().seq, reply);
    }

    fn reply_queue(&mut self, seq: Seq, reply: Reply<QueueOutput>) {
        let queue = self.machine.facts().queue.iter().cloned().collect();
        self.reply_when(seq, reply, QueueOutput { queue });
    }

    /// The refusal where this prompt does not wait.
    fn not_waiting(&self, prompt_id: PromptId) -> Option<Failure> {
        (!self.machine.facts().is_queued(prompt_id)).then(|| {
            Failure::new(
                ErrorName::NotFound,
                "There is no such queued prompt.",
                "It has started or was removed; to stop it, interrupt the turn.",
            )
        })
    }
}

/// A change of one prompt that waits.
struct Rearranged {
    prompt_id: PromptId,
    request_id: Option<RequestId>,
    /// In the form that repeats are compared by.
    content: String,
    /// What is wrong with the entry by itself.
    refusal: Option<Failure>,
    /// References that are not attached, in words for the user.
    problems: Vec<String>,
}

/// The refusal of a prompt that says nothing.
fn wordless(text: &str) -> Option<Failure> {
    text.trim().is_empty().then(|| {
        Failure::new(
            ErrorName::InvalidParams,
            "The prompt is empty.",
            "Describe what to do.",
        )
    })
}

impl SessionHandle {
    /// Takes a prompt back that has not started.
    ///
    /// # Errors
    /// `not_found` if it has started, or never existed.
    pub async fn unqueue(&self, prompt_id: PromptId) -> Result<Empty, Failure> {
        self.change(move |actor, reply| actor.unqueue(prompt_id, reply))
            .await
    }

    /// Gives a prompt that has not started another place. Answers when that is on disk.
    ///
    /// # Errors
    /// `not_found` if it has started, or never existed; `request_id_reused`, `storage`.
    pub async fn reorder(&self, params: ReorderParams, by: String) -> Result<QueueOutput, Failure> {
        self.change(|actor, reply| actor.reorder(params, by, reply))
            .await
    }
}
