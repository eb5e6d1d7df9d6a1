//! The prompts that wait in the session that somebody is attached to, as events change them. Pure.

use proto::params::session::QueuedPrompt;
use proto::{Body, PromptId, Seq};

/// The queue as of a record.
#[derive(Debug, Default)]
pub struct Queue {
    /// The snapshot covers records up to here: earlier events are not taken again.
    known: Seq,
    waiting: Vec<QueuedPrompt>,
}

impl Queue {
    /// The queue of a snapshot.
    pub fn new(seq: Seq, waiting: Vec<QueuedPrompt>) -> Self {
        Self {
            known: seq,
            waiting,
        }
    }

    /// The prompts that wait, the next one first.
    pub fn waiting(&self) -> &[QueuedPrompt] {
        &self.waiting
    }

    /// Takes what a record says of the queue.
    pub fn fold(&mut self, seq: Seq, body: &Body) {
        if seq <= self.known {
            return;
        }
        self.known = seq;
        match body {
            Body::PromptQueued(queued) => self.waiting.push(QueuedPrompt {
                untyped: queued.untyped.clone(),
                on_ask: None,
                prompt_id: queued.prompt_id,
                text: queued.text.clone(),
                steer: queued.steer,
                by: queued.by.clone(),
            }),
            Body::PromptUnqueued(unqueued) => {
                self.take(unqueued.prompt_id);
            }
            Body::PromptEdited(edited) => {
                let of = |queued: &&mut QueuedPrompt| queued.prompt_id == edited.prompt_id;
                if let Some(queued) = self.waiting.iter_mut().find(of) {
                    queued.text.clone_from(&edited.text);
                    queued.untyped.clone_from(&edited.untyped);
                    queued.steer = edited.steer;
                }
            }
            Body::PromptMoved(moved) => {
                if let Some(queued) = self.take(moved.prompt_id) {
                    let place = usize::try_from(moved.position).unwrap_or(usize::MAX);
                    self.waiting.insert(place.min(self.waiting.len()), queued);
                }
            }
            // It has become a message: it waits no more.
            Body::User(message) => {
                if let Some(id) = message.prompt_id {
                    self.take(id);
                }
            }
            _ => {}
        }
    }

    fn take(&mut self, id: PromptId) -> Option<QueuedPrompt> {
        let index = self
            .waiting
            .iter()
            .position(|queued| queued.prompt_id == id)?;
        Some(self.waiting.remove(index))
    }
}

#[cfg(test)]
mod tests;
