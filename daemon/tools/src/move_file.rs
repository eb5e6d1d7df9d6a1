//! `move_file`: another name or place for a file, a link or a directory.

use std::path::PathBuf;
use std::sync::Arc;

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::future::BoxFuture;
use proto::item::Display;
use serde_json::{Map, Value};
use workspace::{Access, Moved, State};

use crate::arguments;
use crate::files;
use crate::memory::Memory;
use crate::transfer::{self, Args, Pair};

pub(crate) struct MoveFile {
    spec: ToolSpec,
}

impl MoveFile {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "move_file",
                description: include_str!("move_file.md").trim_ascii(),
                schema: arguments::schema::<Args>(),
                family: Family::Edit,
                read_only: false,
                deferred: true,
            },
        }
    }
}

impl Tool for MoveFile {
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
        let places = files::places_shown(&memory, context, &args.spots(Access::Write))?;
        let pair = transfer::pair(&memory, &args, places)?;
        let text = transfer::line(&memory, "move", &pair);
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
            let places = files::places(&memory, &context, &args.spots(Access::Write))?;
            let pair = transfer::pair(&memory, &args, places)?;
            moved(&memory, &pair)
        })
    }
}

fn moved(memory: &Arc<Memory>, pair: &Pair) -> Result<Outcome, Outcome> {
    let (from, to) = (pair.from.path(), pair.to.path());
    let how = memory
        .workspace()
        .move_entry(&pair.from, &pair.to, pair.expected, &mut |_| Ok(()))
        .map_err(|error| files::file_failed(&error))?;
    let mut changed = transfer::landed(memory, pair);
    // Each place once: first what is gone, in the order of what has come.
    let gone: Vec<_> = changed
        .iter()
        .filter_map(|changed| {
            PathBuf::from(&changed.path)
                .strip_prefix(to)
                .map(|rest| {
                    if rest.as_os_str().is_empty() {
                        from.to_owned()
                    } else {
                        from.join(rest)
                    }
                })
                .ok()
        })
        .map(|path| files::changed(&path, State::Absent))
        .collect();
    changed.splice(0..0, gone);
    let note = match how {
        Moved::Renamed => "",
        Moved::Copied => " (another device: copied, then deleted)",
    };
    let text = format!("{}{note}", transfer::line(memory, "moved", pair));
    Ok(Outcome {
        changed,
        ..files::done_line(text.clone(), text)
    })
}

#[cfg(test)]
mod tests;
