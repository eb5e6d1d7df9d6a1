//! `make_dir`: a directory, and those above it.

use contract::{ArgumentUse, Family, Outcome, ToolSpec};
use proto::item::{Display, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::{Access, PathState, ResolvedPath};

use crate::arguments::{self, Arguments, path_aliases};
use crate::file_tool::{Call, FileTool};
use crate::files::{self, CallPath};

/// For the model.
const DESCRIPTION: &str = "Make a directory and those above it. One that exists is fine.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    path: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] =
        path_aliases![("directory", "path"), ("dir", "path")];
}

pub(crate) struct MakeDir;

impl FileTool for MakeDir {
    type Args = Args;
    type Plan = ResolvedPath;

    fn spec() -> ToolSpec {
        ToolSpec {
            kind: ToolKind::CreateDirectory,
            deferred: true,
            shallow: true,
            ..arguments::spec::<Args>("make_dir", DESCRIPTION, Family::Edit)
                .with_names(None, &["create_directory"])
                .with_arguments(&[("path", ArgumentUse::Edit)])
        }
    }

    fn plan(args: &Args, call: &Call<'_>) -> Result<ResolvedPath, Outcome> {
        call.place(CallPath::at(&args.path, Access::Write))
    }

    fn shown(_: &Args, at: &ResolvedPath, call: &Call<'_>) -> Result<Display, Outcome> {
        Ok(Display::Line {
            text: format!("make the directory {}", call.name(at)),
        })
    }

    fn act(_: &Args, at: ResolvedPath, call: &Call<'_>) -> Result<Outcome, Outcome> {
        let workspace = call.memory.workspace();
        let shown = call.name(&at);
        // Those that are missing now are those that are made.
        let mut missing: Vec<_> = at
            .path()
            .ancestors()
            .take_while(|path| workspace.state(path) == PathState::Absent)
            .collect();
        missing.reverse();
        let made = workspace
            .make_directory(&at)
            .map_err(|error| files::file_failed(&error))?;
        if !made {
            return Ok(files::done_line(
                format!("the directory `{shown}` exists already"),
                format!("{shown}: exists already"),
            ));
        }
        let changed = missing
            .iter()
            .map(|path| files::changed(path, PathState::Directory));
        Ok(Outcome {
            changed: changed.collect(),
            ..files::done_line(
                format!("made the directory `{shown}`"),
                format!("made {shown}"),
            )
        })
    }
}

#[cfg(test)]
mod tests;
