//! Prompts that wait as happenings: queued, and then edited, moved or taken back.

use proto::PromptId;
use proto::record::{PromptEdited, PromptMoved, PromptQueued, PromptUnqueued};

use super::{Trace, What, short};
use crate::messages::trace::Msg;

impl Trace {
    pub(super) fn queued(&mut self, queued: PromptQueued) -> What {
        let prompt = short(&queued.text);
        self.prompts.insert(queued.prompt_id, prompt.clone());
        What::Queued {
            prompt,
            steer: queued.steer,
            by: queued.by,
        }
    }

    pub(super) fn unqueued(&self, unqueued: &PromptUnqueued) -> What {
        self.requeued(unqueued.prompt_id, self.language.say(Msg::TakenBack))
    }

    pub(super) fn edited(&mut self, edited: &PromptEdited) -> What {
        self.prompts.insert(edited.prompt_id, short(&edited.text));
        let how = self.language.fill(Msg::EditedBy, &[&edited.by]);
        self.requeued(edited.prompt_id, &how)
    }

    pub(super) fn moved(&self, moved: &PromptMoved) -> What {
        let place = (moved.position + 1).to_string();
        let how = self.language.fill(Msg::MovedTo, &[&place, &moved.by]);
        self.requeued(moved.prompt_id, &how)
    }

    pub(super) fn prompt(&self, id: PromptId) -> String {
        self.prompts.get(&id).cloned().unwrap_or_default()
    }

    fn requeued(&self, id: PromptId, how: &str) -> What {
        What::Requeued {
            how: how.to_owned(),
            prompt: self.prompt(id),
        }
    }
}
