//! `ls`: the contents of a directory, as a tree.

use contract::{ArgumentUse, Family, Outcome, ToolSpec};
use proto::item::{Display, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::{Access, DirContents, EntryKind, FileKind, ListEntry, PathError, ResolvedPath};

use crate::arguments::{self, Arguments, path_aliases};
use crate::file_tool::{Call, FileTool};
use crate::files::{self, CallPath};
use crate::truncate::{self, TextPieces};

/// For the model.
const DESCRIPTION: &str = "List a directory as a tree with sizes. Build output, dependencies and .git are folded to a count; list them by `path`.";

const DEPTH_DEFAULT: u64 = 2;
const DEPTH_MAX: u64 = 5;
const ENTRIES_MAX: usize = 1000;
const TOKENS_MAX: usize = 16_000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
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

pub(crate) struct Ls;

impl FileTool for Ls {
    type Args = Args;
    type Plan = ResolvedPath;

    fn spec() -> ToolSpec {
        ToolSpec {
            kind: ToolKind::List,
            shallow: true,
            ..arguments::spec::<Args>("ls", DESCRIPTION, Family::Read)
                .with_names(Some("LS"), &["list_directory"])
                .with_arguments(&[("path", ArgumentUse::Search)])
        }
    }

    fn plan(args: &Args, call: &Call<'_>) -> Result<ResolvedPath, Outcome> {
        call.place(CallPath::at(
            args.path.as_deref().unwrap_or("."),
            Access::Read,
        ))
    }

    fn shown(_: &Args, at: &ResolvedPath, _: &Call<'_>) -> Result<Display, Outcome> {
        let text = format!("list {}", at.path().display());
        Ok(Display::Line { text })
    }

    fn act(args: &Args, at: ResolvedPath, call: &Call<'_>) -> Result<Outcome, Outcome> {
        list(call, &at, args)
    }
}

fn list(call: &Call<'_>, at: &ResolvedPath, args: &Args) -> Result<Outcome, Outcome> {
    let depth = args.depth.unwrap_or(DEPTH_DEFAULT);
    if !(1..=DEPTH_MAX).contains(&depth) {
        return Err(Outcome::refused(format!(
            "`depth` must be 1 to {DEPTH_MAX}, not {depth}"
        )));
    }
    let shown = call.name(at);
    let listing = call
        .memory
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
    let mut text = truncate::cut(
        TextPieces::whole(&text),
        TOKENS_MAX,
        "list a part with `path`",
    )
    .text;
    if listing.left_out > 0 || listing.unopened > 0 {
        text.push_str(&format!(
            "[{ENTRIES_MAX} entries shown; {} more, and {} directories that were not opened. List a part with `path`]\n",
            listing.left_out, listing.unopened
        ));
    }
    Ok(files::done_line(text, format!("{shown}: {count} lines")))
}

fn rows(text: &mut String, entries: &[ListEntry], level: usize) {
    for ListEntry { name, what } in entries {
        let indent = "  ".repeat(level);
        // A name must not look like several lines.
        let name = name.to_string_lossy().replace(['\n', '\r'], "\u{fffd}");
        match what {
            EntryKind::File { bytes } => {
                text.push_str(&format!("{indent}{name}  {}\n", size(*bytes)))
            }
            EntryKind::Link { target } => {
                let target = target.to_string_lossy().replace(['\n', '\r'], "\u{fffd}");
                text.push_str(&format!("{indent}{name} -> {target}\n"));
            }
            EntryKind::Denied => text.push_str(&format!("{indent}{name}  [closed to tools]\n")),
            EntryKind::Special(kind) => {
                let kind = match kind {
                    FileKind::Fifo => "pipe",
                    FileKind::Socket => "socket",
                    _ => "device",
                };
                text.push_str(&format!("{indent}{name}  [{kind}]\n"));
            }
            EntryKind::Directory(inside) => directory(text, &name, inside, level),
        }
    }
}

fn directory(text: &mut String, name: &str, inside: &DirContents, level: usize) {
    let indent = "  ".repeat(level);
    match inside {
        DirContents::Shown { entries, left_out } => {
            text.push_str(&format!("{indent}{name}/\n"));
            rows(text, entries, level + 1);
            if *left_out > 0 {
                text.push_str(&format!("{indent}  [{left_out} more]\n"));
            }
        }
        DirContents::NotOpened => text.push_str(&format!("{indent}{name}/\n")),
        DirContents::Folded { entries } => {
            text.push_str(&format!("{indent}{name}/  [folded: {entries} entries]\n"));
        }
        DirContents::Unreadable { why } => text.push_str(&format!("{indent}{name}/  [{why}]\n")),
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
