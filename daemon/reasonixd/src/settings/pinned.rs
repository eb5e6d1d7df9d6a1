//! `tools.pinned`: names of tools, and what is wrong with those that name none. Called by `layers` and `edit`.

use std::sync::OnceLock;

use proto::near::nearest;
use toml_edit::Item;

use super::near::{hint, shown};
use super::value::Refused;
use contract::ToolSet;

/// The tools that settings may name: the built-in ones.
pub fn known_tools() -> &'static ToolSet {
    static TOOLS: OnceLock<ToolSet> = OnceLock::new();
    TOOLS.get_or_init(|| tools::BuiltIn::default().set(tools::Options::default()))
}

/// Entries of a list that name no tool.
pub(super) fn unknown_tools(item: &Item) -> Vec<Refused> {
    let names = item.as_array().into_iter().flatten();
    let unknown = names.filter_map(|value| {
        let why = unknown_tool(&[value.as_str()?.to_owned()])?;
        let offset = value.span().map_or(0, |span| span.start);
        Some(Refused {
            offset,
            why,
            holds: false,
        })
    });
    unknown.collect()
}

/// What is wrong with the first of these that names no tool.
pub(super) fn unknown_tool(names: &[String]) -> Option<String> {
    let known = known_tools();
    let unknown = names.iter().find(|name| known.get(name).is_none())?;
    Some(format!(
        "there is no tool `{}`{}",
        shown(unknown),
        hint(&nearest(unknown, known.names()))
    ))
}
