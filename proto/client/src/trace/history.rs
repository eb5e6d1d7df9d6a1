//! Interactions with the user, the todo list, checkpoints and rewinds as happenings.

use proto::params::interaction::{
    ApprovalDecision, Interaction, InteractionAnswer, InteractionRequest, PlanDecision,
};
use proto::record::{
    CheckpointCreated, InteractionResolved, RewoundResult, SessionRewound, Todo, TodoStatus,
};

use super::what::Asked;
use super::{What, short};
use crate::messages::Language;
use crate::transcript::words;

pub(super) fn asked(interaction: Interaction) -> What {
    let asked = match interaction.request {
        InteractionRequest::Approval(approval) => Asked::Approval {
            tool: approval.tool,
            subject: short(&approval.subject),
            escape: approval.escape,
        },
        InteractionRequest::Questions { questions } => {
            let text = questions.first().map(|first| short(&first.question));
            Asked::Questions {
                count: questions.len() as u64,
                text: text.unwrap_or_default(),
            }
        }
        InteractionRequest::Plan { plan } => Asked::Plan { text: short(&plan) },
    };
    What::Asked {
        interaction: interaction.interaction_id,
        asked,
    }
}

/// `after_ms`: absent where it was not seen to be opened.
pub(super) fn answered(resolved: InteractionResolved, after_ms: Option<u64>) -> What {
    let (answers, note) = match resolved.answer {
        Some(InteractionAnswer::Approval { decision, note, .. }) => {
            (vec![decision_name(decision).to_owned()], note)
        }
        Some(InteractionAnswer::Questions { replies }) => {
            let replies = replies.iter();
            let said = replies.map(|reply| short(&words::reply(Language::English, reply)));
            (said.collect(), None)
        }
        Some(InteractionAnswer::Plan { decision, note }) => {
            let name = match decision {
                PlanDecision::Approve => "approve",
                PlanDecision::Reject => "reject",
            };
            (vec![name.to_owned()], note)
        }
        None => (Vec::new(), resolved.reason),
    };
    What::Answered {
        interaction: resolved.interaction_id,
        answers,
        by: resolved.by,
        unattended: resolved.unattended,
        after_ms,
        note: note.as_deref().map(short),
    }
}

fn decision_name(decision: ApprovalDecision) -> &'static str {
    match decision {
        ApprovalDecision::AllowOnce => "allow_once",
        ApprovalDecision::AllowSession => "allow_session",
        ApprovalDecision::AllowAlways => "allow_always",
        ApprovalDecision::Deny => "deny",
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
