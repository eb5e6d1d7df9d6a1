//! A workspace that is the user's home, or holds it. Called by the session, which knows.

use contract::{Basis, Decision};
use proto::record::Verdict;

use crate::ruleset::Layer;

/// What becomes of a decision there: whatever changes something is asked about, for this once, in every approval mode.
/// What starts at a login has too many names to know them all.
#[must_use]
pub fn in_home(decision: Decision) -> Decision {
    if decision.read_only || decision.verdict == Verdict::Deny {
        return decision;
    }
    Decision {
        verdict: Verdict::Ask,
        basis: Basis::AlwaysAsked,
        rule: "always asked: the workspace is your home directory, or holds it".to_owned(),
        layer: Layer::BuiltIn.to_string(),
        scopes: Vec::new(),
        confinement_suffices: false,
        ..decision
    }
}
