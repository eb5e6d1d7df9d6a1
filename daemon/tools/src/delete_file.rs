//! `delete_file`: a file, a link or an empty directory less.

use std::path::PathBuf;
use std::sync::Arc;

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::future::BoxFuture;
use proto::item::Display;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use workspace::{Access, FileKind, Resolved, State};

use crate::arguments::{self, Arguments, path_aliases};
use crate::files::{self, Spot};
use crate::memory::Memory;

/// Bytes of a text that a person is shown before it is deleted.
const SHOWN_MAX: usize = 64 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = path_aliases![
        ("source", "path"),
        ("directory", "path"),
        ("target", "path")
    ];
}

pub(crate) struct DeleteFile {
    spec: ToolSpec,
}

impl DeleteFile {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "delete_file",
                description: include_str!("delete_file.md").trim_ascii(),
                schema: arguments::schema::<Args>(),
                family: Family::Edit,
                read_only: false,
                deferred: true,
            },
        }
    }
}

impl Tool for DeleteFile {
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
        let spot = [Spot::itself(&args.path, Access::Write)];
        let at = only(files::places_shown(&memory, context, &spot)?)?;
        Ok(Preview {
            display: shown(&memory, &at)?,
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
            let spot = [Spot::itself(&args.path, Access::Write)];
            let at = only(files::places(&memory, &context, &spot)?)?;
            delete(&memory, &at)
        })
    }
}

fn only(places: Vec<Resolved>) -> Result<Resolved, Outcome> {
    places
        .into_iter()
        .next()
        .ok_or_else(|| Outcome::failed("the call names no path"))
}

/// What would go.
fn shown(memory: &Arc<Memory>, at: &Resolved) -> Result<Display, Outcome> {
    let shown = memory.workspace().shown(at.path());
    let line = |text: String| Ok(Display::Line { text });
    match at.kind() {
        None => Err(files::file_failed(&workspace::FileError::Missing {
            path: at.path().to_owned(),
        })),
        Some(FileKind::File) => match memory.workspace().read(at) {
            Ok(content) => {
                let bytes = content.bytes;
                let text = bytes.len() <= SHOWN_MAX && std::str::from_utf8(&bytes).is_ok();
                if text && !bytes.is_empty() && !bytes.contains(&0) {
                    Ok(files::diff_gone(&shown, &bytes))
                } else {
                    line(format!("delete {shown} ({} bytes)", bytes.len()))
                }
            }
            Err(workspace::FileError::TooLarge { size, .. }) => {
                line(format!("delete {shown} ({size} bytes)"))
            }
            Err(error) => Err(files::file_failed(&error)),
        },
        Some(FileKind::Link) => match memory.workspace().state(at.path()) {
            State::Link { target } => {
                line(format!("delete the link {shown} (to {})", target.display()))
            }
            _ => line(format!("delete the link {shown}")),
        },
        Some(FileKind::Directory) => line(format!("delete the directory {shown}, if it is empty")),
        Some(FileKind::Fifo | FileKind::Socket | FileKind::Device) => {
            line(format!("delete {shown}, which is no file"))
        }
    }
}

fn delete(memory: &Arc<Memory>, at: &Resolved) -> Result<Outcome, Outcome> {
    let name = memory.workspace().shown(at.path());
    let display = match at.kind() {
        Some(FileKind::File) => shown(memory, at)?,
        _ => Display::Line {
            text: format!("deleted {name}"),
        },
    };
    memory
        .workspace()
        .delete_entry(at)
        .map_err(|error| files::file_failed(&error))?;
    let what = match at.kind() {
        Some(FileKind::Directory) => "the directory ",
        Some(FileKind::Link) => "the link ",
        _ => "",
    };
    Ok(Outcome {
        changed: vec![files::changed(at.path(), State::Absent)],
        ..files::done(format!("deleted {what}`{name}`"), display)
    })
}

#[cfg(test)]
mod tests;
