//! A command that no sandbox restricts and that starts a program which the session may change: no rule covers it.
//!
//! Called by the session, which has looked for the programs.

use contract::{Basis, Decision, EffectivePermissions};
use proto::record::Verdict;
use proto::state::ApprovalMode;

use crate::ruleset::Layer;

/// What becomes of a decision about a command with such a program. Whoever wrote the program decides what runs, so it is
/// no reader, and what would allow it by name is not meant for it. `why`: which program it is.
#[must_use]
pub fn with_own_program(
    decision: Decision,
    (approval_mode, effective_permissions): (ApprovalMode, EffectivePermissions),
    why: &str,
) -> Decision {
    let decision = Decision {
        read_only: false,
        scopes: Vec::new(),
        ..decision
    };
    if decision.verdict == Verdict::Deny {
        return decision;
    }
    if let Some(refused) = effective_permissions.refuses() {
        return Decision {
            verdict: Verdict::Deny,
            basis: Basis::EffectivePermissions,
            rule: refused.to_owned(),
            layer: EffectivePermissions::LAYER.to_owned(),
            confinement_suffices: false,
            ..decision
        };
    }
    if decision.verdict == Verdict::Ask || approval_mode == ApprovalMode::Yolo {
        return decision;
    }
    Decision {
        verdict: Verdict::Ask,
        basis: Basis::NotAnalysed,
        rule: why.to_owned(),
        layer: Layer::BuiltIn.to_string(),
        confinement_suffices: false,
        ..decision
    }
}
