//! `ls`: what is in a directory, as a tree.

use std::path::PathBuf;
use std::sync::Arc;

use contract::{CallContext, Family, Outcome, Preview, Tool, ToolSpec};
use futures::future::BoxFuture;
use proto::item::Display;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};
use workspace::{Access, FileKind, Inside, Leaf, PathError, Resolved, What};

use crate::arguments::{self, Arguments, path_aliases};
use crate::files;
use crate::memory::Memory;
use crate::truncate::{self, Pieces};

const DEPTH_DEFAULT: u64 = 2;
const DEPTH_MAX: u64 = 5;
const ENTRIES_MAX: usize = 1000;
const TOKENS_MAX: usize = 16_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    path: Option<String>,
    /// 1 to 5; default 2
    depth: Option<u64>,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = path_aliases![
        ("directory", "path"),
        ("dir", "path"),
        ("max_depth", "depth")
    ];
}

impl Args {
    fn place(&self) -> &str {
        self.path.as_deref().unwrap_or(".")
    }
}

pub(crate) struct Ls {
    spec: ToolSpec,
}

impl Ls {
    pub(crate) fn new() -> Self {
        Self {
            spec: ToolSpec {
                name: "ls",
                description: include_str!("ls.md").trim_ascii(),
                schema: arguments::schema::<Args>(),
                family: Family::Read,
                read_only: true,
                deferred: false,
            },
        }
    }
}

impl Tool for Ls {
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
        let at = files::place_shown(&memory, context, args.place(), Access::Read)?;
        let text = format!("list {}", at.path().display());
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
            let at = files::place(&memory, &context, args.place(), Access::Read)?;
            list(&memory, &at, &args)
        })
    }
}

fn list(memory: &Arc<Memory>, at: &Resolved, args: &Args) -> Result<Outcome, Outcome> {
    let depth = args.depth.unwrap_or(DEPTH_DEFAULT);
    if !(1..=DEPTH_MAX).contains(&depth) {
        return Err(Outcome::refused(format!(
            "`depth` must be 1 to {DEPTH_MAX}, not {depth}"
        )));
    }
    let shown = memory.workspace().shown(at.path());
    let listing = memory
        .workspace()
        .list(at, usize::try_from(depth).unwrap_or(1), ENTRIES_MAX)
        .map_err(|error| match error {
            workspace::FileError::Path(error @ PathError::NotADirectory { .. }) => {
                Outcome::failed(format!(
                    "`{shown}` is not a directory ({error}); look into a file with `read_file`"
                ))
            }
            error => files::file_failed(&error),
        })?;
    let mut text = String::new();
    rows(&mut text, &listing.entries, 0);
    if listing.entries.is_empty() {
        text.push_str("empty\n");
    }
    let count = text.lines().count();
    let mut text = truncate::cut(Pieces::whole(&text), TOKENS_MAX, "list a part with `path`").text;
    if listing.left_out > 0 || listing.shut > 0 {
        text.push_str(&format!(
            "[{ENTRIES_MAX} entries shown; {} more, and {} directories that were not opened. List a part with `path`]\n",
            listing.left_out, listing.shut
        ));
    }
    Ok(files::done_line(text, format!("{shown}: {count} lines")))
}

fn rows(text: &mut String, entries: &[Leaf], level: usize) {
    for Leaf { name, what } in entries {
        let indent = "  ".repeat(level);
        // A name must not look like several lines.
        let name = name.to_string_lossy().replace(['\n', '\r'], "\u{fffd}");
        match what {
            What::File { bytes } => text.push_str(&format!("{indent}{name}  {}\n", size(*bytes))),
            What::Link { target } => {
                let target = target.to_string_lossy().replace(['\n', '\r'], "\u{fffd}");
                text.push_str(&format!("{indent}{name} -> {target}\n"));
            }
            What::Closed => text.push_str(&format!("{indent}{name}  [closed to tools]\n")),
            What::Special(kind) => {
                let kind = match kind {
                    FileKind::Fifo => "pipe",
                    FileKind::Socket => "socket",
                    _ => "device",
                };
                text.push_str(&format!("{indent}{name}  [{kind}]\n"));
            }
            What::Directory(inside) => directory(text, &name, inside, level),
        }
    }
}

fn directory(text: &mut String, name: &str, inside: &Inside, level: usize) {
    let indent = "  ".repeat(level);
    match inside {
        Inside::Shown { entries, left_out } => {
            text.push_str(&format!("{indent}{name}/\n"));
            rows(text, entries, level + 1);
            if *left_out > 0 {
                text.push_str(&format!("{indent}  [{left_out} more]\n"));
            }
        }
        Inside::Shut => text.push_str(&format!("{indent}{name}/\n")),
        Inside::Folded { entries } => {
            text.push_str(&format!("{indent}{name}/  [folded: {entries} entries]\n"));
        }
        Inside::Unreadable { why } => text.push_str(&format!("{indent}{name}/  [{why}]\n")),
    }
}

fn size(bytes: u64) -> String {
    let units = ["KB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    // Tenths, so that nothing is computed with a point.
    let (mut tenths, mut unit) = (bytes.saturating_mul(10) / 1000, 0);
    while tenths >= 10_000 && unit + 1 < units.len() {
        tenths /= 1000;
        unit += 1;
    }
    let unit = units.get(unit).copied().unwrap_or_default();
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests;
