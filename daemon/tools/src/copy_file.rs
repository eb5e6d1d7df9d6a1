//! `copy_file`: a second file, link or directory like the first.

use contract::{ArgumentUse, Family, Outcome, ToolSpec};
use proto::item::{Display, ToolKind};
use workspace::Access;

use crate::arguments;
use crate::file_tool::{Call, FileTool};
use crate::files;
use crate::transfer::{self, Args, TransferPaths};

/// For the model.
const DESCRIPTION: &str = "Copy a file (with its mode), link or directory (10,000 entries at most); directories above are made. `destination` is the whole new path. An existing file is replaced only with `overwrite`, after it was read.";

pub(crate) struct CopyFile;

impl FileTool for CopyFile {
    type Args = Args;
    type Plan = TransferPaths;

    fn spec() -> ToolSpec {
        ToolSpec {
            kind: ToolKind::Copy,
            deferred: true,
            ..arguments::spec::<Args>("copy_file", DESCRIPTION, Family::Edit).with_arguments(&[
                ("source", ArgumentUse::Read),
                ("destination", ArgumentUse::Create),
            ])
        }
    }

    fn plan(args: &Args, call: &Call<'_>) -> Result<TransferPaths, Outcome> {
        transfer::pair(args, call, Access::Read)
    }

    fn shown(_: &Args, pair: &TransferPaths, call: &Call<'_>) -> Result<Display, Outcome> {
        let text = transfer::line(call, "copy", pair);
        Ok(Display::Line { text })
    }

    fn act(_: &Args, pair: TransferPaths, call: &Call<'_>) -> Result<Outcome, Outcome> {
        let stop = || call.context.cancel.is_cancelled();
        call.memory
            .workspace()
            .copy_entry(&pair.from, &pair.to, pair.expected, &stop, &mut |_| Ok(()))
            .map_err(|error| files::file_failed(&error))?;
        let text = transfer::line(call, "copied", &pair);
        let (changed, known) = transfer::landed(&call.memory, &pair);
        Ok(Outcome {
            changed,
            known,
            ..files::done_line(text.clone(), text)
        })
    }
}

#[cfg(test)]
mod tests;
