//! The tools of MCP servers that a reload takes up. Pure. All other tools stay as they were at the session's start.

use std::collections::{BTreeMap, BTreeSet};

use contract::{PrefixText, SKILL_TOOL, ToolDeclaration, ToolSet, is_server_tool};

use crate::assembly::setup::ToolsNow;
use crate::context::prefix::declared;

/// The tools of a session after a reload.
pub(super) struct TakenUp {
    pub set: ToolSet,
    /// For the prefix.
    pub declared: Vec<ToolDeclaration>,
    /// Names of all of them. `None`: those that the session was created with.
    pub names: Option<Vec<String>>,
    /// Tools that are new, described otherwise or gone, for people.
    pub changed: Vec<String>,
    pub problems: Vec<String>,
}

/// What becomes of a session's tools. `old`: those in force; `before`: the prefix.
pub(super) fn taken_up(old: &ToolSet, before: &PrefixText, now: ToolsNow) -> TakenUp {
    let mut problems = now.problems;
    let is_known = |name: &str| old.get(name).is_some() || old.is_missing(name);
    let mut own = now.tools.names().filter(|name| !is_server_tool(name));
    let is_limited = own.any(|name| name != SKILL_TOOL && !is_known(name));
    let joins = |name: &str| match is_server_tool(name) {
        true => !is_limited || is_known(name),
        false => is_known(name),
    };
    let names: Vec<_> = now.tools.names().filter(|name| joins(name)).collect();
    if now
        .tools
        .names()
        .any(|name| is_server_tool(name) && !joins(name))
    {
        problems.push(LIMITED.to_owned());
    }
    let names: Vec<_> = names.into_iter().map(str::to_owned).collect();
    let fresh = now.tools.restricted_to(&names);
    // A tool that this build does not have any more is still named as missing.
    let kept = old.iter().filter(|tool| !is_server_tool(&tool.spec().name));
    let taken = fresh
        .iter()
        .filter(|tool| is_server_tool(&tool.spec().name));
    let mut tools: Vec<_> = taken.cloned().collect();
    let changed = changed(old, before, &fresh, &now.pinned);
    if !changed.is_empty() {
        let search = fresh.iter().filter(|tool| tool.spec().finds_deferred);
        tools.extend(search.cloned());
    }
    tools.extend(kept.cloned());
    let set = ToolSet::new(tools);
    let names: Vec<_> = set.names().map(str::to_owned).collect();
    let declared = match changed.is_empty() {
        true => before.tools.clone(),
        false => declarations(before, &fresh, &now.pinned),
    };
    let is_same = set.names().eq(old.names());
    TakenUp {
        set,
        declared,
        names: match is_same {
            true => before.tool_names.clone(),
            false => Some(names),
        },
        changed,
        problems,
    }
}

/// The declarations of the prefix with those of servers as they are now.
fn declarations(before: &PrefixText, fresh: &ToolSet, pinned: &[String]) -> Vec<ToolDeclaration> {
    let mut searches = fresh.specs().filter(|spec| spec.finds_deferred);
    let search = searches.next().map(|spec| &*spec.name);
    let had_search = before.tools.iter().any(|tool| Some(&*tool.name) == search);
    let is_replaced = |name: &str| is_server_tool(name) || Some(name) == search;
    let mut tools: Vec<_> = declared(fresh, pinned)
        .filter(|tool| is_server_tool(&tool.name) || (had_search && Some(&*tool.name) == search))
        .collect();
    let kept = before.tools.iter().filter(|tool| !is_replaced(&tool.name));
    tools.extend(kept.cloned());
    tools.sort_by(|one, other| one.name.cmp(&other.name));
    tools
}

/// Tools of servers that are new, described otherwise or gone, by what the model knows of them.
fn changed(old: &ToolSet, before: &PrefixText, fresh: &ToolSet, pinned: &[String]) -> Vec<String> {
    let now = known(fresh, declared(fresh, pinned));
    let then = known(old, before.tools.iter().cloned());
    let names: BTreeSet<_> = now.keys().chain(then.keys()).collect();
    let changes = names.into_iter().filter_map(|name| {
        let change = match (now.get(name), then.get(name)) {
            (Some(now), Some(then)) if now == then => return None,
            (Some(_), Some(_)) => "changed",
            (Some(_), None) => "new",
            (None, _) => "removed",
        };
        Some(format!("{change} tool {name}"))
    });
    changes.collect()
}

/// Tools of servers that the model can call, and whether the prefix declares them or `tool_search` finds them.
fn known(
    set: &ToolSet,
    in_prefix: impl Iterator<Item = ToolDeclaration>,
) -> BTreeMap<String, (ToolDeclaration, bool)> {
    let found = set.deferred().map(|spec| (spec.declaration(), false));
    // One that is pinned is declared although it is deferred.
    let all = found.chain(in_prefix.map(|tool| (tool, true)));
    all.filter(|(tool, _)| is_server_tool(&tool.name))
        .map(|(tool, is_declared)| (tool.name.to_string(), (tool, is_declared)))
        .collect()
}

/// Said where a session has a list of tools of its own, and servers have others.
const LIMITED: &str = "This session started with a choice of tools, so it takes up no new tools of MCP servers: start a new session for them.";
