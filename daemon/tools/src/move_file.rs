//! `move_file`: another name or place for a file, a link or a directory.

use std::path::PathBuf;

use contract::{ArgumentUse, Family, Outcome, ToolSpec};
use proto::item::{Display, ToolKind};
use workspace::{Access, MoveMethod, PathState};

use crate::arguments;
use crate::file_tool::{Call, FileTool};
use crate::files;
use crate::transfer::{self, Args, TransferPaths};

/// For the model.
const DESCRIPTION: &str = "Move or rename a file, link or directory; directories above are made. `destination` is the whole new path. An existing file is replaced only with `overwrite`, after it was read.";

pub(crate) struct MoveFile;

impl FileTool for MoveFile {
    type Args = Args;
    type Plan = TransferPaths;

    fn spec() -> ToolSpec {
        ToolSpec {
            kind: ToolKind::Move,
            deferred: true,
            ..arguments::spec::<Args>("move_file", DESCRIPTION, Family::Edit).with_arguments(&[
                ("source", ArgumentUse::Edit),
                ("destination", ArgumentUse::Create),
            ])
        }
    }

    fn plan(args: &Args, call: &Call<'_>) -> Result<TransferPaths, Outcome> {
        transfer::pair(args, call, Access::Write)
    }

    fn shown(_: &Args, pair: &TransferPaths, call: &Call<'_>) -> Result<Display, Outcome> {
        let text = transfer::line(call, "move", pair);
        Ok(Display::Line { text })
    }

    fn act(_: &Args, pair: TransferPaths, call: &Call<'_>) -> Result<Outcome, Outcome> {
        moved(call, &pair)
    }
}

fn moved(call: &Call<'_>, pair: &TransferPaths) -> Result<Outcome, Outcome> {
    let (from, to) = (pair.from.path(), pair.to.path());
    let how = call
        .memory
        .workspace()
        .move_entry(&pair.from, &pair.to, pair.expected, &mut |_| Ok(()))
        .map_err(|error| files::file_failed(&error))?;
    let (mut changed, known) = transfer::landed(&call.memory, pair);
    // Each place once: first the removed ones, in the order of the created ones.
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
        .map(|path| files::changed(&path, PathState::Absent))
        .collect();
    changed.splice(0..0, gone);
    let note = match how {
        MoveMethod::Renamed => "",
        MoveMethod::Copied => " (another device: copied, then deleted)",
    };
    let text = format!("{}{note}", transfer::line(call, "moved", pair));
    Ok(Outcome {
        changed,
        known,
        ..files::done_line(text.clone(), text)
    })
}

#[cfg(test)]
mod tests;
