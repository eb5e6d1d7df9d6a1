//! The prompt queue, as a fold: prompts are queued, withdrawn, edited and moved.

use proto::params::session::QueuedPrompt;
use proto::record::{PromptEdited, PromptMoved, PromptQueued, PromptReferences};
use proto::{PromptId, Record};

use super::content::{content_of_edit, content_of_move, content_of_prompt, content_of_resume};
use contract::first_line;

use super::Facts;

impl Facts {
    /// Whether a prompt is queued: accepted, and neither started nor withdrawn.
    #[must_use]
    pub fn is_queued(&self, prompt: PromptId) -> bool {
        self.queue.iter().any(|queued| queued.prompt_id == prompt)
    }

    pub(super) fn apply_queued(&mut self, prompt: &PromptQueued, record: &Record) {
        self.queue.push_back(QueuedPrompt {
            untyped: prompt.untyped.clone(),
            on_ask: prompt.on_ask,
            prompt_id: prompt.prompt_id,
            text: prompt.text.clone(),
            steer: prompt.steer,
            by: prompt.by.clone(),
        });
        self.note_references(prompt.prompt_id, prompt.references.as_ref());
        self.woken = self.exited.is_some();
        self.asked_since = true;
        match prompt.from {
            Some(from) => {
                self.sent_by_sessions.insert(prompt.prompt_id, from);
            }
            None => {
                self.over_budget = false;
                self.take_back_restart();
            }
        }
        if let Some(added) = prompt.added {
            self.added.insert(prompt.prompt_id, added);
        }
        if self.first_line.is_empty() && prompt.from.is_none() {
            self.first_line = first_line(&prompt.text);
        }
        self.remember(
            prompt.request_id,
            record,
            match prompt.added {
                Some(added) => content_of_resume(added),
                None => content_of_prompt(&prompt.text, prompt.steer),
            },
            Some(prompt.prompt_id),
        );
    }

    pub(super) fn apply_unqueued(&mut self, prompt: PromptId) {
        self.restart_unqueued(prompt);
        self.drop_queued(prompt);
    }

    /// Removes a prompt from the queue.
    pub(super) fn drop_queued(&mut self, prompt: PromptId) {
        self.queue.retain(|queued| queued.prompt_id != prompt);
        self.references.remove(&prompt);
        self.skills.remove(&prompt);
        self.attached.remove(&prompt);
        self.added.remove(&prompt);
        self.sent_by_sessions.remove(&prompt);
    }

    /// Stores the contents of a queued prompt's references.
    fn note_references(&mut self, prompt: PromptId, references: Option<&PromptReferences>) {
        match references {
            Some(references) => self
                .references
                .insert(prompt, references.text.as_str().into()),
            None => self.references.remove(&prompt),
        };
        match references.map(|references| &references.attached) {
            Some(attached) if !attached.is_empty() => {
                self.attached.insert(prompt, attached.clone())
            }
            _ => self.attached.remove(&prompt),
        };
        match references.and_then(|references| references.skill.clone()) {
            Some(skill) => self.skills.insert(prompt, skill),
            None => self.skills.remove(&prompt),
        };
    }

    pub(super) fn apply_edited(&mut self, edited: &PromptEdited, record: &Record) {
        let waiting = self
            .queue
            .iter_mut()
            .find(|queued| queued.prompt_id == edited.prompt_id);
        if let Some(queued) = waiting {
            if self.turns == 0 && self.first_line == first_line(&queued.text) {
                self.first_line = first_line(&edited.text);
            }
            queued.text.clone_from(&edited.text);
            queued.untyped.clone_from(&edited.untyped);
            queued.steer = edited.steer;
            self.note_references(edited.prompt_id, edited.references.as_ref());
        }
        self.remember(
            edited.request_id,
            record,
            content_of_edit(edited.prompt_id, &edited.text, edited.steer),
            Some(edited.prompt_id),
        );
    }

    pub(super) fn apply_moved(&mut self, moved: &PromptMoved, record: &Record) {
        let place = self
            .queue
            .iter()
            .position(|queued| queued.prompt_id == moved.prompt_id);
        if let Some(queued) = place.and_then(|place| self.queue.remove(place)) {
            let end = self.queue.len();
            let place = usize::try_from(moved.position).unwrap_or(end).min(end);
            self.queue.insert(place, queued);
        }
        self.remember(
            moved.request_id,
            record,
            content_of_move(moved.prompt_id, moved.position),
            Some(moved.prompt_id),
        );
    }
}
