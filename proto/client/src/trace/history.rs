//! Interactions with the user, the todo list, checkpoints, rewinds and pins as happenings.

use proto::Stamp;
use proto::params::interaction::Interaction;
use proto::record::{
    CheckpointCreated, InteractionResolved, RewoundResult, SessionRewound, Todo, TodoStatus,
};
use proto::reset::Pinned;

use super::{Trace, What, between, short};
use crate::form::kinds::AskedLine;
use crate::form::lines::traced_answer;
use crate::messages::Language;

impl Trace {
    pub(super) fn opened(&mut self, interaction: Interaction, at: Stamp) -> What {
        self.asked.insert(interaction.interaction_id.clone(), at);
        What::Asked {
            interaction: interaction.interaction_id,
            asked: AskedLine::new(interaction.request),
        }
    }

    pub(super) fn resolved(&mut self, resolved: InteractionResolved, at: Stamp) -> What {
        // `None`: its opening was not seen.
        let asked = self.asked.remove(&resolved.interaction_id);
        let closed = (Vec::new(), resolved.reason);
        let (answers, note) = resolved
            .answer
            .map_or(closed, |answer| traced_answer(self.language, answer));
        What::Answered {
            interaction: resolved.interaction_id,
            answers,
            by: resolved.by,
            unattended: resolved.unattended,
            after_ms: asked.map(|asked| between(asked, at)),
            note: note.as_deref().map(short),
        }
    }
}

pub(super) fn todos(todos: &[Todo]) -> What {
    let is = |status: TodoStatus| todos.iter().filter(move |todo| todo.status == status);
    What::Todos {
        done: is(TodoStatus::Completed).count() as u64,
        all: todos.len() as u64,
        now: is(TodoStatus::InProgress)
            .next()
            .map(|todo| short(&todo.active_form)),
    }
}

pub(super) fn checkpoint(language: Language, checkpoint: CheckpointCreated) -> What {
    let skipped = checkpoint.skipped.as_deref();
    What::Checkpoint {
        files: checkpoint.files.len() as u64,
        tree: checkpoint.tree.is_some(),
        skipped: skipped.map(|why| short(&language.translate(why))),
    }
}

pub(super) fn rewound(rewound: SessionRewound) -> What {
    let mut counts = [0, 0, 0];
    for file in &rewound.files {
        let [restored, left, failed] = &mut counts;
        match file.result {
            RewoundResult::Restored => *restored += 1,
            RewoundResult::Same => {}
            RewoundResult::ChangedSince => *left += 1,
            RewoundResult::Failed { .. } => *failed += 1,
        }
    }
    let [restored, left, failed] = counts;
    What::Rewound {
        to_turn: rewound.to_turn,
        of: rewound.what,
        undoes: rewound.undoes,
        restored,
        left,
        failed,
        by: rewound.by,
    }
}

pub(super) fn pinned(pinned: Pinned) -> What {
    What::Pinned {
        item: pinned.item.0,
        pinned: pinned.pinned,
        by: pinned.by,
    }
}
