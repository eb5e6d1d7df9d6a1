//! `apply_patch`: a patch over several files, all or nothing.

use std::path::PathBuf;

use contract::tool::Touch;
use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use workspace::{Access, FilePatch};

use crate::arguments::{self, Arguments};
use crate::files::{self, Spot};

mod plan;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
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
}

pub(crate) struct ApplyPatch {
    spec: ToolSpec,
}

impl ApplyPatch {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "apply_patch",
                description: include_str!("apply_patch.md").trim_ascii(),
                schema: arguments::schema::<Args>(),
                family: Family::Edit,
                read_only: false,
                deferred: true,
            },
        }
    }
}

impl Tool for ApplyPatch {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        let arguments = arguments::canonical::<Args>(&self.spec.schema, arguments)?;
        let args: Args = arguments::typed(arguments.clone())?;
        parsed(&args.patch)?;
        Ok(arguments)
    }

    fn preview(
        &self,
        arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<Preview, Outcome> {
        let args: Args = arguments::typed(arguments.clone())?;
        let memory = files::memory(context)?;
        let patch = parsed(&args.patch)?;
        let places = files::places_shown(&memory, context, &spots(&patch))?;
        let plan = plan::plan(&memory, &patch, &paths(&patch), &places)?;
        Ok(Preview {
            display: plan.display(),
        })
    }

    fn bind(&self, places: &[PathBuf], context: &CallContext) {
        files::bind(places, context);
    }

    fn touches(&self, arguments: &Map<String, Value>) -> Vec<Touch> {
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

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        files::blocking(move || {
            let args: Args = arguments::typed(arguments)?;
            let memory = files::memory(&context)?;
            let patch = parsed(&args.patch)?;
            let places = files::places(&memory, &context, &spots(&patch))?;
            let plan = plan::plan(&memory, &patch, &paths(&patch), &places)?;
            plan.carry_out(&memory)
        })
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

fn spots(patch: &[FilePatch]) -> Vec<Spot<'_>> {
    let paths = paths(patch).into_iter();
    paths.map(|path| Spot::at(path, Access::Write)).collect()
}

#[cfg(test)]
mod tests;
