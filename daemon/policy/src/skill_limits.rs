//! What the `allowed-tools` of a skill rule out while it is in force. They allow nothing: what they leave is judged as ever.
//!
//! Called by the session, which knows the skills in force.

use std::path::Path;

use contract::{Basis, Decision, EffectivePermissions, Family, ToolSpec};
use proto::record::{Rules, SkillUse, Verdict};
use proto::state::ApprovalMode;

use crate::call::Call;
use crate::context::Context;
use crate::decide::explain;
use crate::names::KnownTools;
use crate::ruleset::{Layer, RuleSet};

/// All tools.
const ALL: &str = "*";
/// Names of families, which are not to be taken for the other product's names of single tools.
const FAMILIES: [&str; 4] = ["Bash", "Edit", "Read", "Write"];

/// What becomes of a decision under the skills in force. The first that rules the call out is named.
#[must_use]
pub fn under_skills(
    decision: Decision,
    skills: &[SkillUse],
    tools: &[&ToolSpec],
    context: &Context,
    call: &Call<'_>,
) -> Decision {
    if decision.verdict == Verdict::Deny {
        return decision;
    }
    let mut refusals = skills
        .iter()
        .filter_map(|skill| refusal(skill, tools, context, call));
    let Some(rule) = refusals.next() else {
        return decision;
    };
    Decision {
        verdict: Verdict::Deny,
        rule,
        basis: Basis::Rule,
        layer: Decision::SKILL_LAYER.to_owned(),
        scopes: Vec::new(),
        confinement_suffices: false,
        ..decision
    }
}

/// Why a skill rules a call out. `None`: it does not.
fn refusal(
    skill: &SkillUse,
    tools: &[&ToolSpec],
    context: &Context,
    call: &Call<'_>,
) -> Option<String> {
    let allowed = skill.allowed_tools.as_deref()?;
    // What changes nothing outside of the session is how the model asks, plans, and loads other skills.
    let is_free = call.tool.family == Family::Session || reads_own_files(skill, context, call);
    if is_free || allowed.iter().any(|entry| entry == ALL) || covers(allowed, tools, context, call)
    {
        return None;
    }
    let named = match allowed {
        [] => "no tool".to_owned(),
        names => format!("only {}", names.join(", ")),
    };
    Some(format!(
        "the skill `{}` allows {named} until the turn ends",
        skill.name
    ))
}

/// Whether a call only reads the files of the skill.
fn reads_own_files(skill: &SkillUse, context: &Context, call: &Call<'_>) -> bool {
    let directory = Path::new(&skill.directory);
    let is_inside = |path: &Option<std::path::PathBuf>| {
        let absolute = path.as_deref();
        absolute.is_some_and(|path| path.starts_with(directory))
    };
    let mut paths = context.paths.iter().map(|path| &path.absolute);
    call.tool.family == Family::Read
        && call.tool.read_only
        && !context.paths.is_empty()
        && directory.is_absolute()
        && paths.all(is_inside)
}

/// Whether the entries name the tool, or all that the call is about.
fn covers(allowed: &[String], tools: &[&ToolSpec], context: &Context, call: &Call<'_>) -> bool {
    let known = KnownTools(tools);
    let rules = Rules {
        allow: allowed.iter().map(|entry| rule(entry, known)).collect(),
        ..Rules::default()
    };
    let rules = RuleSet::parse(&[(Layer::Run, &rules, true)], tools).0;
    if rules.allow.whole(call).is_some() {
        return true;
    }
    let context = Context {
        approval_mode: ApprovalMode::Ask,
        effective_permissions: EffectivePermissions::default(),
        ..context.clone()
    };
    let explained = explain(&rules, &context, call);
    let layer = Layer::Run.to_string();
    let mut parts = explained.parts.iter();
    explained.doubt.is_none()
        && !explained.parts.is_empty()
        && parts.all(|part| part.verdict == Verdict::Allow && part.layer == layer)
}

/// An entry as a rule of ours: names of the other product become those of our tools.
fn rule(entry: &str, known: KnownTools<'_>) -> String {
    let (name, rest) = entry.split_at(entry.find('(').unwrap_or(entry.len()));
    let rest = match rest {
        "(*)" | "(:*)" | "()" => "",
        rest => rest,
    };
    let is_family = FAMILIES.contains(&name);
    match known.foreign(name).filter(|_| !is_family) {
        Some(tool) => format!("{}{rest}", tool.name),
        None => format!("{name}{rest}"),
    }
}
