//! `apply_patch`: a patch over several files, all or nothing.

use contract::tool::Touch;
use contract::{Family, Outcome, ToolSpec};
use proto::item::{Display, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use workspace::{Access, FilePatch};

use crate::arguments::{self, Arguments};
use crate::file_tool::{Call, FileTool};
use crate::files::CallPath;

/// For the model.
const DESCRIPTION: &str = "Apply a unified diff to one or more files: all of it, or nothing. Headers `--- a/path`, `+++ b/path` (`/dev/null` for new and deleted files), hunks `@@ -line,count +line,count @@` with unchanged lines around each change; line numbers may be off. Files that it changes must have been read in this session.";

mod plan;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    /// Unified diff
    patch: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("diff", "patch"),
        ("input", "patch"),
        ("patch_text", "patch"),
        ("content", "patch"),
    ];

    fn check(&self) -> Result<(), Outcome> {
        parsed(&self.patch).map(drop)
    }
}

pub(crate) struct ApplyPatch;

impl FileTool for ApplyPatch {
    type Args = Args;
    type Plan = plan::Plan;

    fn spec() -> ToolSpec {
        ToolSpec {
            kind: ToolKind::Patch,
            deferred: true,
            ..arguments::spec::<Args>("apply_patch", DESCRIPTION, Family::Edit)
                .with_names(Some("Edit"), &[])
        }
    }

    fn plan(args: &Args, call: &Call<'_>) -> Result<plan::Plan, Outcome> {
        let patch = parsed(&args.patch)?;
        let places = call.places(&spots(&patch))?;
        plan::plan(&call.memory, &patch, &paths(&patch), &places)
    }

    fn shown(_: &Args, plan: &plan::Plan, _: &Call<'_>) -> Result<Display, Outcome> {
        Ok(plan.display())
    }

    fn act(_: &Args, plan: plan::Plan, call: &Call<'_>) -> Result<Outcome, Outcome> {
        plan.carry_out(&call.memory)
    }

    fn touches(arguments: &Map<String, Value>) -> Vec<Touch> {
        // One that cannot be read touches nothing that is known, and so is never allowed.
        let text = arguments
            .get("patch")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let patch = workspace::parse(text).unwrap_or_default();
        let touch = |path: &str| Touch {
            path: path.to_owned(),
            edit: true,
        };
        paths(&patch).into_iter().map(touch).collect()
    }
}

fn parsed(text: &str) -> Result<Vec<FilePatch>, Outcome> {
    workspace::parse(text).map_err(|error| {
        Outcome::refused(format!(
            "the patch cannot be read: {error}. Nothing was changed"
        ))
    })
}

/// The paths of a patch, each once: a renamed file's old one, then its new one.
fn paths(patch: &[FilePatch]) -> Vec<&str> {
    let mut paths: Vec<&str> = Vec::new();
    for path in patch
        .iter()
        .flat_map(|file| [&file.old, &file.new])
        .flatten()
    {
        if !paths.contains(&path.as_str()) {
            paths.push(path);
        }
    }
    paths
}

fn spots(patch: &[FilePatch]) -> Vec<CallPath<'_>> {
    let paths = paths(patch).into_iter();
    paths
        .map(|path| CallPath::at(path, Access::Write))
        .collect()
}

#[cfg(test)]
mod tests;
