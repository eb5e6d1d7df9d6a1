//! `write_file`: a whole file, or more at its end.

use contract::{ArgumentUse, Family, Outcome, ToolSpec};
use proto::item::{Display, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::{Access, ExpectedFile, FileContent, ResolvedPath};

use crate::arguments::{self, Arguments, path_aliases};
use crate::file_tool::{Call, FileTool};
use crate::files::{self, CallPath};

/// For the model.
const DESCRIPTION: &str = "Write a whole file; directories above it are made. An existing file must have been read in this session and be unchanged since. To change a part of a file use `edit_file`. For very long content write a first part, then add the others with `append`.";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
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

pub(crate) struct WriteFile;

impl FileTool for WriteFile {
    type Args = Args;
    type Plan = PlannedContent;

    fn spec() -> ToolSpec {
        ToolSpec {
            kind: ToolKind::Write,
            ..arguments::spec::<Args>("write_file", DESCRIPTION, Family::Edit)
                .with_names(Some("Write"), &[])
                .with_arguments(&[("path", ArgumentUse::Edit)])
        }
    }

    fn plan(args: &Args, call: &Call<'_>) -> Result<PlannedContent, Outcome> {
        let at = call.place(CallPath::at(&args.path, Access::Write))?;
        plan(call, at, args)
    }

    fn shown(_: &Args, planned: &PlannedContent, call: &Call<'_>) -> Result<Display, Outcome> {
        let shown = call.name(&planned.at);
        Ok(files::diff(&shown, planned.old(), &planned.bytes))
    }

    fn act(args: &Args, planned: PlannedContent, call: &Call<'_>) -> Result<Outcome, Outcome> {
        write(call, &planned, args.append)
    }
}

/// The current and the new content of the file.
pub(crate) struct PlannedContent {
    at: ResolvedPath,
    before: Option<FileContent>,
    bytes: Vec<u8>,
    /// The content before is what this session last saw (or there was none).
    known: bool,
}

impl PlannedContent {
    fn old(&self) -> Option<&[u8]> {
        self.before.as_ref().map(|before| before.bytes.as_slice())
    }
}

fn plan(call: &Call<'_>, at: ResolvedPath, args: &Args) -> Result<PlannedContent, Outcome> {
    if workspace::names_directory(&args.path) && at.kind().is_none() {
        return Err(Outcome::refused(format!(
            "`{}` names a directory: leave out the slash at the end to write a file",
            args.path
        )));
    }
    let Some(_) = at.kind() else {
        return Ok(PlannedContent {
            at,
            before: None,
            bytes: args.content.clone().into_bytes(),
            known: true,
        });
    };
    let before = call
        .memory
        .workspace()
        .read(&at)
        .map_err(|error| files::file_failed(&error))?;
    let guarded = files::guard(&call.memory, at.path(), &before.stamp);
    let bytes = if args.append {
        // Appending removes nothing, so the file need not have been read before.
        [before.bytes.as_slice(), args.content.as_bytes()].concat()
    } else {
        guarded.clone()?;
        args.content.clone().into_bytes()
    };
    Ok(PlannedContent {
        at,
        before: Some(before),
        bytes,
        known: guarded.is_ok(),
    })
}

fn write(call: &Call<'_>, planned: &PlannedContent, append: bool) -> Result<Outcome, Outcome> {
    let PlannedContent {
        at,
        before,
        bytes,
        known,
    } = planned;
    let memory = &call.memory;
    let shown = call.name(at);
    let old = planned.old();
    if old == Some(bytes.as_slice()) {
        return Ok(files::done_line(
            format!("`{shown}` has this content already"),
            format!("{shown}: no change"),
        ));
    }
    let expected = before.as_ref().map_or(ExpectedFile::Absent, |before| {
        ExpectedFile::File(before.stamp)
    });
    let stamp = memory
        .workspace()
        .write(at, bytes, expected)
        .map_err(|error| files::file_failed(&error))?;
    // Appending to a file that was not read does not make its content known.
    let known = known.then(|| memory.know(at.path(), stamp)).flatten();
    let display = files::diff(&shown, old, bytes);
    let verb = match (before, append) {
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
        known: known.into_iter().collect(),
        ..files::done(
            format!("{verb} `{shown}`{counts}, now {} bytes", bytes.len()),
            display,
        )
    })
}

#[cfg(test)]
mod tests;
