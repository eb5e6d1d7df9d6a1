//! Commands that the sandbox blocked: whether a user may be asked to let one run once unsandboxed.
//!
//! Called by the session, before the question and again before the run.

use contract::{Basis, Confinement, Decision, EffectivePermissions};
use proto::record::Verdict;
use proto::state::ApprovalMode;

use crate::call::Access;
use crate::ruleset::{Layer, RuleSet};

/// Why no command may run unsandboxed, even if a user could be asked. Only the sandbox keeps commands from paths that a
/// rule denies, so while there is such a rule, none runs unsandboxed. In `yolo` nobody is asked, and that mode never
/// counts as approval of an unsandboxed run.
#[must_use]
pub fn stays_inside(
    rules: &RuleSet,
    approval_mode: ApprovalMode,
    effective_permissions: EffectivePermissions,
) -> Option<String> {
    if let Some(why) = effective_permissions.refuses() {
        return Some(why.to_owned());
    }
    if approval_mode == ApprovalMode::Yolo {
        return Some("approval mode `yolo`".to_owned());
    }
    [Access::Read, Access::Edit]
        .into_iter()
        .find_map(|access| denied(rules, access))
}

/// A deny rule that would not be enforced unsandboxed.
fn denied(rules: &RuleSet, access: Access) -> Option<String> {
    if rules.denies_all(access) {
        let family = match access {
            Access::Read => "Read",
            Access::Edit => "Edit",
        };
        return Some(format!("a rule denies `{family}`"));
    }
    let path = rules.denied_paths(access).first()?;
    let what = match access {
        Access::Read => "reading",
        Access::Edit => "changing",
    };
    Some(format!("a rule denies {what} `{path}`"))
}

/// The decision whether to restore files that a command created under protected names: only a user may approve, in
/// every approval mode. `denied`: a rule that denies changing one of the paths.
#[must_use]
pub fn put_back(
    effective_permissions: EffectivePermissions,
    decision: Decision,
    denied: Option<String>,
) -> Decision {
    let built_in = Layer::BuiltIn.to_string();
    let (verdict, basis, rule, layer) = match (effective_permissions.refuses(), denied) {
        (Some(why), _) => (
            Verdict::Deny,
            Basis::EffectivePermissions,
            why.to_owned(),
            EffectivePermissions::LAYER.to_owned(),
        ),
        (None, Some(why)) => (Verdict::Deny, Basis::AlwaysAsked, why, built_in),
        (None, None) => (
            Verdict::Ask,
            Basis::AlwaysAsked,
            "what a command made can configure or run something".to_owned(),
            built_in,
        ),
    };
    Decision {
        verdict,
        basis,
        rule,
        layer,
        scopes: Vec::new(),
        read_only: false,
        confinement: Confinement::None,
        confinement_suffices: false,
        ..decision
    }
}

/// The decision about a command that would run unsandboxed. Denials stay; everything else needs a user's approval of
/// this one run. `why`: why the sandbox blocked it.
#[must_use]
pub fn escape(
    rules: &RuleSet,
    (approval_mode, effective_permissions): (ApprovalMode, EffectivePermissions),
    decision: Decision,
    why: &str,
) -> Decision {
    let outside = Decision {
        scopes: Vec::new(),
        read_only: false,
        confinement: Confinement::None,
        confinement_suffices: false,
        ..decision
    };
    if outside.verdict == Verdict::Deny {
        return outside;
    }
    let (verdict, basis, rule, layer) =
        match stays_inside(rules, approval_mode, effective_permissions) {
            Some(rule) if effective_permissions.refuses().is_some() => (
                Verdict::Deny,
                Basis::EffectivePermissions,
                rule,
                EffectivePermissions::LAYER.to_owned(),
            ),
            Some(rule) => (
                Verdict::Deny,
                Basis::AlwaysAsked,
                rule,
                Layer::BuiltIn.to_string(),
            ),
            None => (
                Verdict::Ask,
                Basis::AlwaysAsked,
                format!("the sandbox may have blocked it: {why}"),
                Layer::BuiltIn.to_string(),
            ),
        };
    Decision {
        verdict,
        basis,
        rule,
        layer,
        ..outside
    }
}
