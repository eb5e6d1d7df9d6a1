//! `edit_file`: replaces one exact passage, or all that are alike.

use contract::{ArgumentUse, Family, Outcome, ToolSpec};
use proto::item::{Display, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::{Access, EditError, EditResult, ExpectedFile, FileContent, ResolvedPath, replace};

use crate::arguments::{self, Arguments, path_aliases};
use crate::file_tool::{Call, FileTool};
use crate::files::{self, CallPath};
use crate::memory::Memory;
use crate::truncate::{self, TextPieces};

/// For the model.
const DESCRIPTION: &str = "Replace text in a file that was read in this session. `old_string` must match the file exactly, blanks included, and only once: add lines around it to make it unique, or set `replace_all`. Write out all of `new_string`; placeholders for unchanged code are refused.";

/// Tokens of an error with a passage in it.
const ERROR_TOKENS_MAX: usize = 1500;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    path: String,
    old_string: String,
    new_string: String,
    #[serde(default)]
    replace_all: bool,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = path_aliases![
        ("old", "old_string"),
        ("new", "new_string"),
        ("old_str", "old_string"),
        ("new_str", "new_string"),
        ("old_text", "old_string"),
        ("new_text", "new_string"),
        ("all", "replace_all"),
    ];
}

pub(crate) struct EditFile;

impl FileTool for EditFile {
    type Args = Args;
    type Plan = PlannedEdit;

    fn spec() -> ToolSpec {
        ToolSpec {
            kind: ToolKind::Edit,
            ..arguments::spec::<Args>("edit_file", DESCRIPTION, Family::Edit)
                .with_names(Some("Edit"), &[])
                .with_arguments(&[("path", ArgumentUse::Edit)])
        }
    }

    fn plan(args: &Args, call: &Call<'_>) -> Result<PlannedEdit, Outcome> {
        let at = call.place(CallPath::at(&args.path, Access::Write))?;
        let before = known_content(&call.memory, &at)?;
        let (old, new) = (&args.old_string, &args.new_string);
        let edited = replace(&before.bytes, old, new, args.replace_all);
        let edited = edited.map_err(|error| not_replaced(&call.name(&at), "", &error))?;
        Ok(PlannedEdit { at, before, edited })
    }

    fn shown(_: &Args, planned: &PlannedEdit, call: &Call<'_>) -> Result<Display, Outcome> {
        let PlannedEdit { at, before, edited } = planned;
        Ok(files::diff(
            &call.name(at),
            Some(&before.bytes),
            &edited.bytes,
        ))
    }

    fn act(_: &Args, planned: PlannedEdit, call: &Call<'_>) -> Result<Outcome, Outcome> {
        edit(call, &planned)
    }
}

/// The content before, and after the edit.
pub(crate) struct PlannedEdit {
    at: ResolvedPath,
    before: FileContent,
    edited: EditResult,
}

/// The content of a file, if it is unchanged since this session last saw it.
pub(crate) fn known_content(memory: &Memory, at: &ResolvedPath) -> Result<FileContent, Outcome> {
    let content = memory.workspace().read(at).map_err(|error| match error {
        workspace::FileError::Missing { .. } => Outcome::failed(format!(
            "{error}; make it with `write_file`, or look for the right path with `glob`"
        )),
        error => files::file_failed(&error),
    })?;
    files::guard(memory, at.path(), &content.stamp)?;
    Ok(content)
}

fn edit(call: &Call<'_>, planned: &PlannedEdit) -> Result<Outcome, Outcome> {
    let PlannedEdit { at, before, edited } = planned;
    let memory = &call.memory;
    let stamp = memory
        .workspace()
        .write(at, &edited.bytes, ExpectedFile::File(before.stamp))
        .map_err(|error| files::file_failed(&error))?;
    let known = memory.know(at.path(), stamp);
    let shown = call.name(at);
    let display = files::diff(&shown, Some(&before.bytes), &edited.bytes);
    let times = if edited.count == 1 {
        "1 replacement".to_owned()
    } else {
        format!("{} replacements", edited.count)
    };
    Ok(Outcome {
        changed: vec![files::changed_file(memory, at.path(), &stamp)],
        known: known.into_iter().collect(),
        ..files::done(
            format!("edited `{shown}`: {times}, from line {}", edited.first_line),
            display,
        )
    })
}

/// The failure if nothing was replaced. `which` names the edit if there are several.
pub(crate) fn not_replaced(shown: &str, which: &str, error: &EditError) -> Outcome {
    let next = match error {
        EditError::Empty => "; `old_string` must hold the passage to replace (a whole file is written with `write_file`)".to_owned(),
        EditError::TooLong => "; replace less at a time".to_owned(),
        EditError::Same => "; nothing would change".to_owned(),
        EditError::Elision { .. } => "; write out the whole text, without placeholders".to_owned(),
        EditError::Missing { nearest: None } => "; read the file again and copy the passage exactly".to_owned(),
        EditError::Missing { nearest: Some(passage) } => {
            // People see the first line alone.
            format!("; {passage}\n{}\nCopy it exactly, without line numbers.", passage.text)
        }
        EditError::Several { count, lines } => {
            let listed: Vec<String> = lines.iter().map(u64::to_string).collect();
            let more = if *count > lines.len() { ", …" } else { "" };
            format!(", from lines {}{more}; add lines around it until it is unique, or set `replace_all`", listed.join(", "))
        }
    };
    let text = format!("`{shown}` was not changed: {which}{error}{next}");
    Outcome::failed(
        truncate::cut(
            TextPieces::whole(&text),
            ERROR_TOKENS_MAX,
            "read the file for the rest",
        )
        .text,
    )
}

#[cfg(test)]
mod tests;
