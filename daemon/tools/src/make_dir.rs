//! `make_dir`: a directory, and those above it.

use std::path::PathBuf;
use std::sync::Arc;

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::future::BoxFuture;
use proto::item::Display;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use workspace::{Access, Resolved, State};

use crate::arguments::{self, Arguments, path_aliases};
use crate::files;
use crate::memory::Memory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] =
        path_aliases![("directory", "path"), ("dir", "path")];
}

pub(crate) struct MakeDir {
    spec: ToolSpec,
}

impl MakeDir {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "make_dir",
                description: include_str!("make_dir.md").trim_ascii(),
                schema: arguments::schema::<Args>(),
                family: Family::Edit,
                read_only: false,
                deferred: true,
            },
        }
    }
}

impl Tool for MakeDir {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn parse(&self, arguments: &Map<String, Value>) -> Result<Map<String, Value>, Outcome> {
        arguments::canonical::<Args>(&self.spec.schema, arguments)
    }

    fn preview(
        &self,
        arguments: &Map<String, Value>,
        context: &CallContext,
    ) -> Result<Preview, Outcome> {
        let args: Args = arguments::typed(arguments.clone())?;
        let memory = files::memory(context)?;
        let at = files::place_shown(&memory, context, &args.path, Access::Write)?;
        let shown = memory.workspace().shown(at.path());
        Ok(Preview {
            display: Display::Line {
                text: format!("make the directory {shown}"),
            },
        })
    }

    fn bind(&self, places: &[PathBuf], context: &CallContext) {
        files::bind(places, context);
    }

    fn run(
        &self,
        arguments: Map<String, Value>,
        context: CallContext,
    ) -> BoxFuture<'static, Outcome> {
        files::blocking(move || {
            let args: Args = arguments::typed(arguments)?;
            let memory = files::memory(&context)?;
            let at = files::place(&memory, &context, &args.path, Access::Write)?;
            make(&memory, &at)
        })
    }
}

fn make(memory: &Arc<Memory>, at: &Resolved) -> Result<Outcome, Outcome> {
    let workspace = memory.workspace();
    let shown = workspace.shown(at.path());
    // Those that are missing now are those that are made.
    let mut missing: Vec<_> = at
        .path()
        .ancestors()
        .take_while(|path| workspace.state(path) == State::Absent)
        .collect();
    missing.reverse();
    let made = workspace
        .make_directory(at)
        .map_err(|error| files::file_failed(&error))?;
    if !made {
        return Ok(files::done_line(
            format!("the directory `{shown}` exists already"),
            format!("{shown}: exists already"),
        ));
    }
    let changed = missing
        .iter()
        .map(|path| files::changed(path, State::Directory));
    Ok(Outcome {
        changed: changed.collect(),
        ..files::done_line(
            format!("made the directory `{shown}`"),
            format!("made {shown}"),
        )
    })
}

#[cfg(test)]
mod tests;
