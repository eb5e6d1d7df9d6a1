//! Plans of a model and their answers, in words. Pure.

use proto::params::plan::{Decision, Plan};
use proto::record::PlanResolved;

use super::{Piece, Tone, block};

/// A plan, whole: what a person must see to answer it.
#[must_use]
pub fn plan_pieces(plan: &Plan) -> Vec<Piece> {
    let mut pieces = block(
        Tone::Approval,
        format!("the model proposes a plan [{}]", plan.plan_id),
    );
    pieces.extend(block(Tone::Approval, plan.plan.trim().to_owned()));
    pieces.extend(block(
        Tone::Approval,
        "a yes ends plan mode, and what the plan needs runs unasked until the turn ends".to_owned(),
    ));
    pieces
}

/// Who answered it, and how.
#[must_use]
pub fn planned_words(resolved: &PlanResolved) -> String {
    let (id, by) = (&resolved.plan_id, &resolved.by);
    let note = resolved
        .note
        .as_deref()
        .map_or_else(String::new, |note| format!(": {note}"));
    match resolved.decision {
        Some(Decision::Approve) => format!("[{id}] plan approved by {by}{note}"),
        Some(Decision::Reject) => format!("[{id}] plan sent back by {by}{note}"),
        None if resolved.unattended => format!("[{id}] nobody was there to approve the plan"),
        None => format!("[{id}] plan closed without an answer by {by}"),
    }
}
