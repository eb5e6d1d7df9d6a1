//! `copy_file`: a second file, link or directory like the first.

use std::path::PathBuf;
use std::sync::Arc;

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::future::BoxFuture;
use proto::item::Display;
use serde_json::{Map, Value};
use workspace::Access;

use crate::arguments;
use crate::files;
use crate::memory::Memory;
use crate::transfer::{self, Args, Pair};

pub(crate) struct CopyFile {
    spec: ToolSpec,
}

impl CopyFile {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "copy_file",
                description: include_str!("copy_file.md").trim_ascii(),
                schema: arguments::schema::<Args>(),
                family: Family::Edit,
                read_only: false,
                deferred: true,
            },
        }
    }
}

impl Tool for CopyFile {
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
        let places = files::places_shown(&memory, context, &args.spots(Access::Read))?;
        let pair = transfer::pair(&memory, &args, places)?;
        let text = transfer::line(&memory, "copy", &pair);
        Ok(Preview {
            display: Display::Line { text },
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
            let places = files::places(&memory, &context, &args.spots(Access::Read))?;
            let pair = transfer::pair(&memory, &args, places)?;
            copied(&memory, &context, &pair)
        })
    }
}

fn copied(memory: &Arc<Memory>, context: &CallContext, pair: &Pair) -> Result<Outcome, Outcome> {
    let stop = || context.cancel.is_cancelled();
    memory
        .workspace()
        .copy_entry(&pair.from, &pair.to, pair.expected, &stop, &mut |_| Ok(()))
        .map_err(|error| files::file_failed(&error))?;
    let text = transfer::line(memory, "copied", pair);
    Ok(Outcome {
        changed: transfer::landed(memory, pair),
        ..files::done_line(text.clone(), text)
    })
}

#[cfg(test)]
mod tests;
