//! Workspaces that are the user's home, or contain it. Called by the session, which detects them.

use contract::{Basis, Decision};
use proto::record::Verdict;

use crate::ruleset::Layer;

/// Adjusts a decision for such a workspace: every change asks, once per call, in every approval mode. The files that
/// run at login are too many to list.
#[must_use]
pub fn in_home(decision: Decision) -> Decision {
    if decision.read_only || decision.verdict == Verdict::Deny {
        return decision;
    }
    Decision {
        verdict: Verdict::Ask,
        basis: Basis::AlwaysAsked,
        rule: "always asked: the workspace is your home directory or contains it".to_owned(),
        layer: Layer::BuiltIn.to_string(),
        scopes: Vec::new(),
        confinement_suffices: false,
        ..decision
    }
}
