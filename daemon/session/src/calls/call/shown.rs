//! The hashes of what a user is shown of a call: a yes counts only with the hash of what it was given to (I24).

use contract::CallAction;
use proto::item::Display;

use crate::calls::judgement::{ResolvedCall, Standpoint};
use crate::calls::outside::OutsidePrograms;
use crate::context::prefix::digest;

/// Before the reason in the hash of a question about a run outside the sandbox.
const OUTSIDE: &str = "outside the sandbox";
/// The same for each path that is to be put back.
const PUT_BACK: &str = "put back";

/// Appended to the hash of the shown content when the same is shown again.
const AGAIN: &str = "again";

/// SHA-256 over what the user is shown: what a call asks in the place of a run, or what would run. `canonical`: the
/// arguments as they are written down.
pub(super) fn shown_hash(
    found: &ResolvedCall<'_>,
    canonical: &str,
    preview: &Display,
    (subject, programs): (&str, &OutsidePrograms),
    standpoint: &Standpoint,
) -> String {
    let shown = match &found.action {
        CallAction::AskUser(questions) => serde_json::to_string(questions),
        CallAction::PresentPlan(plan) => Ok(plan.clone()),
        CallAction::Run
        | CallAction::UpdateTodos(_)
        | CallAction::ReportGoal(_)
        | CallAction::CallTool { .. } => serde_json::to_string(preview),
    };
    let shown = shown.unwrap_or_default();
    // A yes to a run within is none to one outside.
    let outside = standpoint.outside.as_deref();
    let mut hashed: Vec<&str> = outside.map_or_else(Vec::new, |why| vec![OUTSIDE, why]);
    for item in &standpoint.quarantined {
        hashed.extend([
            PUT_BACK,
            &item.path,
            item.kept.as_deref().unwrap_or_default(),
        ]);
    }
    hashed.extend([&*found.tool.spec().name, subject, canonical, &shown]);
    let files = serde_json::to_string(&programs.programs).unwrap_or_default();
    if !programs.programs.is_empty() {
        hashed.push(&files);
    }
    let hashed: Vec<&[u8]> = hashed.into_iter().map(str::as_bytes).collect();
    digest(&hashed)
}

/// The hash of the same content when it is shown again.
pub(super) fn again_hash(shown_hash: &str) -> String {
    digest(&[shown_hash.as_bytes(), AGAIN.as_bytes()])
}
