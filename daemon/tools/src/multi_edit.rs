//! `multi_edit`: several replacements in one file, all or none.

use contract::{ArgumentUse, Family, Outcome, ToolSpec};
use proto::item::{Display, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::{Access, ExpectedFile, FileContent, ResolvedPath, replace};

use crate::arguments::{self, Arguments, path_aliases};
use crate::edit_file;
use crate::file_tool::{Call, FileTool};
use crate::files::{self, CallPath};

/// For the model.
const DESCRIPTION: &str = "Several `edit_file` replacements in one file, in order, each on the result of the one before: all are made, or none.";

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
pub(crate) struct Args {
    path: String,
    edits: Vec<Edit>,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] =
        path_aliases![("changes", "edits"), ("replacements", "edits")];
}

pub(crate) struct MultiEdit;

impl FileTool for MultiEdit {
    type Args = Args;
    type Plan = PlannedEdits;

    fn spec() -> ToolSpec {
        ToolSpec {
            kind: ToolKind::Edit,
            ..arguments::spec::<Args>("multi_edit", DESCRIPTION, Family::Edit)
                .with_names(Some("MultiEdit"), &[])
                .with_arguments(&[("path", ArgumentUse::Edit)])
        }
    }

    fn plan(args: &Args, call: &Call<'_>) -> Result<PlannedEdits, Outcome> {
        let at = call.place(CallPath::at(&args.path, Access::Write))?;
        plan(call, at, args)
    }

    fn shown(_: &Args, planned: &PlannedEdits, call: &Call<'_>) -> Result<Display, Outcome> {
        let PlannedEdits {
            at, before, bytes, ..
        } = planned;
        Ok(files::diff(&call.name(at), Some(&before.bytes), bytes))
    }

    fn act(args: &Args, planned: PlannedEdits, call: &Call<'_>) -> Result<Outcome, Outcome> {
        edit(call, &planned, args.edits.len())
    }
}

/// The content before, and after all the edits.
pub(crate) struct PlannedEdits {
    at: ResolvedPath,
    before: FileContent,
    bytes: Vec<u8>,
    /// Replacements in all.
    count: usize,
}

fn plan(call: &Call<'_>, at: ResolvedPath, args: &Args) -> Result<PlannedEdits, Outcome> {
    if args.edits.is_empty() {
        return Err(Outcome::refused(
            "`edits` is empty; give at least one `old_string` with its `new_string`",
        ));
    }
    let before = edit_file::known_content(&call.memory, &at)?;
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
            edit_file::not_replaced(&call.name(&at), &which, &error)
        })?;
        bytes = edited.bytes;
        count += edited.count;
    }
    Ok(PlannedEdits {
        at,
        before,
        bytes,
        count,
    })
}

fn edit(call: &Call<'_>, planned: &PlannedEdits, edits: usize) -> Result<Outcome, Outcome> {
    let PlannedEdits {
        at,
        before,
        bytes,
        count,
    } = planned;
    let memory = &call.memory;
    let shown = call.name(at);
    if *bytes == before.bytes {
        return Err(Outcome::failed(format!(
            "`{shown}` was not changed: the edits take each other back"
        )));
    }
    let stamp = memory
        .workspace()
        .write(at, bytes, ExpectedFile::File(before.stamp))
        .map_err(|error| files::file_failed(&error))?;
    let known = memory.know(at.path(), stamp);
    let display = files::diff(&shown, Some(&before.bytes), bytes);
    Ok(Outcome {
        changed: vec![files::changed_file(memory, at.path(), &stamp)],
        known: known.into_iter().collect(),
        ..files::done(
            format!("edited `{shown}`: {edits} edits, {count} replacements"),
            display,
        )
    })
}

#[cfg(test)]
mod tests;
