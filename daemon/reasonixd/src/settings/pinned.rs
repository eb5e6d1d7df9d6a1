//! `tools.pinned`: names of tools, and what is wrong with those that name none. Called by `layers` and `edit`.

use std::sync::OnceLock;

use proto::near::nearest;
use toml_edit::Item;

use super::near::{hint, shown};
use super::value::Refused;

/// The names of all tools.
pub(super) fn tool_names() -> &'static [String] {
    static NAMES: OnceLock<Vec<String>> = OnceLock::new();
    NAMES.get_or_init(|| {
        let all = tools::builtin(tools::Options { bash_timeout_ms: 0 });
        all.iter()
            .map(|tool| tool.spec().name.to_string())
            .collect()
    })
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
    let known = tool_names().iter().map(String::as_str);
    let unknown = names.iter().find(|name| !tool_names().contains(name))?;
    Some(format!(
        "there is no tool `{}`{}",
        shown(unknown),
        hint(&nearest(unknown, known))
    ))
}
