//! `write_file`: a whole file, or more at its end.

use std::path::PathBuf;

use std::sync::Arc;

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::future::BoxFuture;
use proto::item::Display;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use workspace::{Access, Content, Expected, Resolved};

use crate::arguments::{self, Arguments, path_aliases};
use crate::files;
use crate::memory::Memory;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
    content: String,
    /// Add at the end instead
    #[serde(default)]
    append: bool,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = path_aliases![
        ("text", "content"),
        ("contents", "content"),
        ("file_text", "content")
    ];
}

pub(crate) struct WriteFile {
    spec: ToolSpec,
}

impl WriteFile {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "write_file",
                description: include_str!("write_file.md").trim_ascii(),
                schema: arguments::schema::<Args>(),
                family: Family::Edit,
                read_only: false,
                deferred: false,
            },
        }
    }
}

impl Tool for WriteFile {
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
        let old = planned
            .before
            .as_ref()
            .map(|before| before.bytes.as_slice());
        Ok(Preview {
            display: files::diff(&shown, old, &planned.bytes),
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
            write(&memory, &at, &args)
        })
    }
}

/// What the file is, and what it shall be.
struct Planned {
    before: Option<Content>,
    bytes: Vec<u8>,
    /// The content before is what this session last saw (or there was none).
    known: bool,
}

fn plan(memory: &Arc<Memory>, at: &Resolved, args: &Args) -> Result<Planned, Outcome> {
    let Some(_) = at.kind() else {
        return Ok(Planned {
            before: None,
            bytes: args.content.clone().into_bytes(),
            known: true,
        });
    };
    let before = memory
        .workspace()
        .read(at)
        .map_err(|error| files::file_failed(&error))?;
    let guarded = files::guard(memory, at.path(), &before.stamp);
    let bytes = if args.append {
        // What is added takes nothing away, so it needs no earlier look.
        [before.bytes.as_slice(), args.content.as_bytes()].concat()
    } else {
        guarded.clone()?;
        args.content.clone().into_bytes()
    };
    Ok(Planned {
        before: Some(before),
        bytes,
        known: guarded.is_ok(),
    })
}

fn write(memory: &Arc<Memory>, at: &Resolved, args: &Args) -> Result<Outcome, Outcome> {
    let shown = memory.workspace().shown(at.path());
    let Planned {
        before,
        bytes,
        known,
    } = plan(memory, at, args)?;
    let old = before.as_ref().map(|before| before.bytes.as_slice());
    if old == Some(bytes.as_slice()) {
        return Ok(files::done_line(
            format!("`{shown}` has this content already"),
            format!("{shown}: no change"),
        ));
    }
    let expected = before
        .as_ref()
        .map_or(Expected::Absent, |before| Expected::File(before.stamp));
    let stamp = memory
        .workspace()
        .write(at, &bytes, expected)
        .map_err(|error| files::file_failed(&error))?;
    if known {
        memory.know(at.path(), stamp);
    }
    let display = files::diff(&shown, old, &bytes);
    let verb = match (&before, args.append) {
        (None, _) => "created",
        (Some(_), true) => "appended to",
        (Some(_), false) => "replaced",
    };
    let counts = match &display {
        Display::Diff { added, removed, .. } => format!(" (+{added} −{removed} lines)"),
        Display::Line { .. } | Display::Command { .. } => String::new(),
    };
    Ok(Outcome {
        changed: vec![files::changed_file(memory, at.path(), &stamp)],
        ..files::done(
            format!("{verb} `{shown}`{counts}, now {} bytes", bytes.len()),
            display,
        )
    })
}

#[cfg(test)]
mod tests;
