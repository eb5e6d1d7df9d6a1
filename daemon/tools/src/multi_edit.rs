//! `multi_edit`: several replacements in one file, all or none.

use std::path::PathBuf;
use std::sync::Arc;

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::future::BoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use workspace::{Access, Content, Expected, Resolved, replace};

use crate::arguments::{self, Arguments, path_aliases};
use crate::memory::Memory;
use crate::{edit_file, files};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Edit {
    #[serde(alias = "old", alias = "old_str", alias = "old_text")]
    old_string: String,
    #[serde(alias = "new", alias = "new_str", alias = "new_text")]
    new_string: String,
    #[serde(default, alias = "all")]
    replace_all: bool,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
    edits: Vec<Edit>,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] =
        path_aliases![("changes", "edits"), ("replacements", "edits")];
}

pub(crate) struct MultiEdit {
    spec: ToolSpec,
}

impl MultiEdit {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "multi_edit",
                description: include_str!("multi_edit.md").trim_ascii(),
                schema: arguments::schema::<Args>(),
                family: Family::Edit,
                read_only: false,
                deferred: false,
            },
        }
    }
}

impl Tool for MultiEdit {
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
        let planned = plan(&memory, &at, &args)?;
        Ok(Preview {
            display: files::diff(&shown, Some(&planned.before.bytes), &planned.bytes),
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
            edit(&memory, &at, &args)
        })
    }
}

/// The content before, and after all the edits.
struct Planned {
    before: Content,
    bytes: Vec<u8>,
    /// Replacements in all.
    count: usize,
}

fn plan(memory: &Arc<Memory>, at: &Resolved, args: &Args) -> Result<Planned, Outcome> {
    if args.edits.is_empty() {
        return Err(Outcome::refused(
            "`edits` is empty; give at least one `old_string` with its `new_string`",
        ));
    }
    let before = edit_file::known_content(memory, at)?;
    let mut bytes = before.bytes.clone();
    let mut count = 0;
    for (index, edit) in args.edits.iter().enumerate() {
        let edited = replace(&bytes, &edit.old_string, &edit.new_string, edit.replace_all);
        let edited = edited.map_err(|error| {
            // Each works on what those before it have left, and line numbers are of that.
            let which = match index {
                0 => format!("edit 1 of {}: ", args.edits.len()),
                _ => format!(
                    "edit {} of {} (after those before it): ",
                    index + 1,
                    args.edits.len()
                ),
            };
            edit_file::not_replaced(&memory.workspace().shown(at.path()), &which, &error)
        })?;
        bytes = edited.bytes;
        count += edited.count;
    }
    Ok(Planned {
        before,
        bytes,
        count,
    })
}

fn edit(memory: &Arc<Memory>, at: &Resolved, args: &Args) -> Result<Outcome, Outcome> {
    let Planned {
        before,
        bytes,
        count,
    } = plan(memory, at, args)?;
    let shown = memory.workspace().shown(at.path());
    if bytes == before.bytes {
        return Err(Outcome::failed(format!(
            "`{shown}` was not changed: the edits take each other back"
        )));
    }
    let stamp = memory
        .workspace()
        .write(at, &bytes, Expected::File(before.stamp))
        .map_err(|error| files::file_failed(&error))?;
    memory.know(at.path(), stamp);
    let display = files::diff(&shown, Some(&before.bytes), &bytes);
    let edits = args.edits.len();
    Ok(Outcome {
        changed: vec![files::changed_file(memory, at.path(), &stamp)],
        ..files::done(
            format!("edited `{shown}`: {edits} edits, {count} replacements"),
            display,
        )
    })
}

#[cfg(test)]
mod tests;
