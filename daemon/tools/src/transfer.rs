//! The common part of `move_file` and `copy_file`: their arguments, the two paths, and the changes to report.

use proto::record::{Changed, KnownFile};
use schemars::JsonSchema;
use serde::Deserialize;
use workspace::{Access, ExpectedFile, FileKind, MOVED_MAX, PathState, ResolvedPath};

use contract::Outcome;

use crate::arguments::Arguments;
use crate::edit_file;
use crate::file_tool::Call;
use crate::files::{self, CallPath};
use crate::memory::Memory;

/// Files of a directory that are reported one by one.
const TOLD_MAX: usize = 1000;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Args {
    source: String,
    destination: String,
    #[serde(default)]
    overwrite: bool,
}

impl Arguments for Args {
    const ALIASES: &'static [(&'static str, &'static str)] = &[
        ("source_path", "source"),
        ("src", "source"),
        ("from", "source"),
        ("path", "source"),
        ("file_path", "source"),
        ("old_path", "source"),
        ("destination_path", "destination"),
        ("dest", "destination"),
        ("dst", "destination"),
        ("to", "destination"),
        ("target", "destination"),
        ("new_path", "destination"),
        ("force", "overwrite"),
    ];
}

/// The two paths, and the current state of the second.
pub(crate) struct TransferPaths {
    pub(crate) from: ResolvedPath,
    pub(crate) to: ResolvedPath,
    pub(crate) expected: ExpectedFile,
}

/// Resolves both paths: the source must exist, and the destination must be free or a known file that may be replaced.
/// `access` is the access to the source.
pub(crate) fn pair(args: &Args, call: &Call<'_>, access: Access) -> Result<TransferPaths, Outcome> {
    let places = call.places(&[
        CallPath::itself(&args.source, access),
        CallPath::at(&args.destination, Access::Write),
    ])?;
    let Ok([from, to]) = <[ResolvedPath; 2]>::try_from(places) else {
        return Err(Outcome::failed("the call names no pair of paths"));
    };
    if from.kind().is_none() {
        return Err(files::file_failed(&workspace::FileError::Missing {
            path: from.path().to_owned(),
        }));
    }
    let shown = call.name(&to);
    let expected = match to.kind() {
        None => ExpectedFile::Absent,
        Some(FileKind::Directory) => {
            let name = from.path().file_name().unwrap_or_default();
            let whole = call.memory.workspace().shown(&to.path().join(name));
            return Err(Outcome::failed(format!(
                "`{shown}` is a directory; `destination` is the whole new path, such as `{whole}`"
            )));
        }
        Some(_) if !args.overwrite => {
            return Err(Outcome::failed(format!(
                "`{shown}` exists already; nothing was changed. Choose another name, or read the file and set `overwrite`"
            )));
        }
        Some(_) => ExpectedFile::File(edit_file::known_content(&call.memory, &to)?.stamp),
    };
    Ok(TransferPaths { from, to, expected })
}

/// A one-line description of the operation.
pub(crate) fn line(call: &Call<'_>, verb: &str, pair: &TransferPaths) -> String {
    let what = match pair.from.kind() {
        Some(FileKind::Directory) => "the directory ",
        Some(FileKind::Link) => "the link ",
        _ => "",
    };
    let over = match pair.expected {
        ExpectedFile::Absent => "",
        ExpectedFile::File(_) => ", in place of the file there",
    };
    format!(
        "{verb} {what}`{}` to `{}`{over}",
        call.name(&pair.from),
        call.name(&pair.to)
    )
}

/// The new state of the destination, and the known content there: that of the source.
pub(crate) fn landed(memory: &Memory, pair: &TransferPaths) -> (Vec<Changed>, Vec<KnownFile>) {
    let (from, to) = (pair.from.path(), pair.to.path());
    let workspace = memory.workspace();
    let mut known = Vec::new();
    if let Some(stamp) = memory.known(from) {
        known.extend(memory.know(to, stamp));
    }
    if pair.from.kind() == Some(FileKind::Directory) {
        for (path, _) in workspace.below(to, MOVED_MAX).unwrap_or_default() {
            let old = path.strip_prefix(to).map(|rest| from.join(rest));
            if let Some(stamp) = old.ok().and_then(|old| memory.known(&old)) {
                known.extend(memory.know(&path, stamp));
            }
        }
    }
    let states: Vec<(_, PathState)> = workspace.states(to, TOLD_MAX);
    let changed = states
        .into_iter()
        .map(|(path, state)| files::changed(&path, state))
        .collect();
    known.truncate(TOLD_MAX);
    (changed, known)
}
