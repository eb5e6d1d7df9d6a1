//! `delete_file`: a file, a link or an empty directory less.

use contract::{ArgumentUse, Family, Outcome, ToolSpec};
use proto::item::{Display, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::{Access, FileKind, PathState, ResolvedPath};

use crate::arguments::{self, Arguments, path_aliases};
use crate::file_tool::{Call, FileTool};
use crate::files::{self, CallPath};

/// For the model.
const DESCRIPTION: &str = "Delete a file, a link (not what it leads to) or an empty directory.";

/// Bytes of a text that a person is shown before it is deleted.
const SHOWN_MAX: usize = 64 * 1024;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    path: String,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = path_aliases![
        ("source", "path"),
        ("directory", "path"),
        ("target", "path")
    ];
}

pub(crate) struct DeleteFile;

impl FileTool for DeleteFile {
    type Args = Args;
    type Plan = ResolvedPath;

    fn spec() -> ToolSpec {
        ToolSpec {
            kind: ToolKind::Delete,
            deferred: true,
            ..arguments::spec::<Args>("delete_file", DESCRIPTION, Family::Edit)
                .with_arguments(&[("path", ArgumentUse::Edit)])
        }
    }

    fn plan(args: &Args, call: &Call<'_>) -> Result<ResolvedPath, Outcome> {
        let at = call.place(CallPath::itself(&args.path, Access::Write))?;
        unchanged(call, &at)?;
        Ok(at)
    }

    fn shown(_: &Args, at: &ResolvedPath, call: &Call<'_>) -> Result<Display, Outcome> {
        shown(call, at)
    }

    fn act(_: &Args, at: ResolvedPath, call: &Call<'_>) -> Result<Outcome, Outcome> {
        delete(call, &at)
    }
}

/// A file need not have been read to be deleted; but one that was read goes only as it was seen.
fn unchanged(call: &Call<'_>, at: &ResolvedPath) -> Result<(), Outcome> {
    if at.kind() != Some(FileKind::File) || call.memory.known(at.path()).is_none() {
        return Ok(());
    }
    // An unreadable file is reported when it is shown or deleted.
    match call.memory.workspace().read(at) {
        Ok(now) => files::guard(&call.memory, at.path(), &now.stamp),
        Err(_) => Ok(()),
    }
}

/// What would go.
fn shown(call: &Call<'_>, at: &ResolvedPath) -> Result<Display, Outcome> {
    let workspace = call.memory.workspace();
    let shown = call.name(at);
    let line = |text: String| Ok(Display::Line { text });
    match at.kind() {
        None => Err(files::file_failed(&workspace::FileError::Missing {
            path: at.path().to_owned(),
        })),
        Some(FileKind::File) => match workspace.read(at) {
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
        Some(FileKind::Link) => match workspace.state(at.path()) {
            PathState::Link { target } => {
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

fn delete(call: &Call<'_>, at: &ResolvedPath) -> Result<Outcome, Outcome> {
    let name = call.name(at);
    let display = match at.kind() {
        Some(FileKind::File) => shown(call, at)?,
        _ => Display::Line {
            text: format!("deleted {name}"),
        },
    };
    call.memory
        .workspace()
        .delete_entry(at)
        .map_err(|error| files::file_failed(&error))?;
    let what = match at.kind() {
        Some(FileKind::Directory) => "the directory ",
        Some(FileKind::Link) => "the link ",
        _ => "",
    };
    Ok(Outcome {
        changed: vec![files::changed(at.path(), PathState::Absent)],
        ..files::done(format!("deleted {what}`{name}`"), display)
    })
}

#[cfg(test)]
mod tests;
