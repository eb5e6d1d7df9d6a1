//! What the repair of calls has to know of a session's tools.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{Family, ToolDeclaration, ToolSet};
use turn::repair::flatten::{FlatSchema, flatten};
use turn::repair::{RepairTool, RepairTools};

use crate::assembly::setup::ModelSetup;

/// All tools, as calls of them are repaired.
pub fn means(tools: &ToolSet) -> RepairTools {
    let known = tools.specs().map(|spec| {
        let known = RepairTool {
            // What asks a person or changes the session's own state changes no file, but is not to be done by half.
            may_run_truncated: spec.family == Family::Read && spec.read_only,
            flat: flatten(&spec.schema),
        };
        (spec.name.to_string(), known)
    });
    RepairTools(known.collect())
}

/// What the repair of calls needs, if it is enabled.
pub fn wanted(model: &ModelSetup, tools: &ToolSet) -> Option<RepairTools> {
    model.repair.then(|| means(tools))
}

/// The tools whose parameters are shown flat, and the way back. Calls are nested again whatever the setting says now:
/// the prefix may have been frozen when it was on.
pub fn flat(tools: &ToolSet) -> BTreeMap<Arc<str>, FlatSchema> {
    let specs = tools.specs();
    specs
        .filter_map(|spec| Some((Arc::clone(&spec.name), flatten(&spec.schema)?)))
        .collect()
}

/// A tool as a model reads of it that makes mistakes with nested parameters.
pub fn flattened(tool: &ToolDeclaration) -> ToolDeclaration {
    let mut flattened = tool.clone();
    if let Some(flat) = flatten(&tool.schema) {
        flattened.schema = Arc::new(flat.schema);
    }
    flattened
}
