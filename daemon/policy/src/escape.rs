//! A command that the sandbox stopped: whether a person may be asked to let it run once outside, where nothing holds it.
//!
//! Called by the session, before the question and again before the run.

use contract::{Basis, Confinement, Decision, EffectivePermissions};
use proto::record::Verdict;
use proto::state::ApprovalMode;

use crate::call::Access;
use crate::ruleset::{Layer, RuleSet};

/// Why no such command is let out, whoever is there to ask.
///
/// What a rule over paths denies, only the walls keep from a command: while there is one, nothing leaves them. In `yolo`
/// nobody is asked, and that is never taken for a yes to this.
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

/// A deny rule that would not hold outside.
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

/// The decision whether what a command made under protected names is put back: only a person says yes, in every approval
/// mode. `denied`: a rule that denies changing one of the paths.
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

/// What becomes of a decision about a command that is to run outside: what denies it denies it still, and for all else it
/// takes a person's yes to this one run. `why`: what the sandbox stopped it for.
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
