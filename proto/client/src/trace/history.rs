//! Questions of the model, its list, checkpoints and rewinds as happenings.

use proto::params::question::Question;
use proto::record::{CheckpointCreated, RewoundResult, SessionRewound, Todo, TodoStatus};

use super::{What, short};

pub(super) fn question(question: Question) -> What {
    let text = question.questions.first().map(|ask| short(&ask.question));
    What::Question {
        question: question.question_id,
        count: question.questions.len() as u64,
        text: text.unwrap_or_default(),
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

pub(super) fn checkpoint(checkpoint: CheckpointCreated) -> What {
    What::Checkpoint {
        files: checkpoint.files.len() as u64,
        tree: checkpoint.tree.is_some(),
        skipped: checkpoint.skipped.as_deref().map(short),
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
