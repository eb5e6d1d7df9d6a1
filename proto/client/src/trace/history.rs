//! Interactions with the user, the todo list, checkpoints and rewinds as happenings.

use proto::params::interaction::Interaction;
use proto::record::{
    CheckpointCreated, InteractionResolved, RewoundResult, SessionRewound, Todo, TodoStatus,
};

use super::{What, short};
use crate::form::kinds::AskedLine;
use crate::form::lines::traced_answer;
use crate::messages::Language;

pub(super) fn asked(interaction: Interaction) -> What {
    What::Asked {
        interaction: interaction.interaction_id,
        asked: AskedLine::new(interaction.request),
    }
}

/// `after_ms`: absent if its opening was not seen.
pub(super) fn answered(
    language: Language,
    resolved: InteractionResolved,
    after_ms: Option<u64>,
) -> What {
    let closed = (Vec::new(), resolved.reason);
    let (answers, note) = resolved
        .answer
        .map_or(closed, |answer| traced_answer(language, answer));
    What::Answered {
        interaction: resolved.interaction_id,
        answers,
        by: resolved.by,
        unattended: resolved.unattended,
        after_ms,
        note: note.as_deref().map(short),
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
