//! Unsandboxed commands that start a program which the session may change: no rule covers them.
//!
//! Called by the session, which has located the programs.

use contract::{Basis, Decision, EffectivePermissions};
use proto::record::Verdict;
use proto::state::ApprovalMode;

use crate::ruleset::Layer;

/// Adjusts the decision about a command with such a program. The author of the program decides what runs, so it is not
/// read-only, and rules that allow it by name do not apply. `why`: names the program.
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
