//! What the file tools share: finding the place of a call, the guard against stale content, and words for what failed.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::{CallContext, Outcome};
use futures::FutureExt;
use futures::future::BoxFuture;
use proto::item::{CallStatus, Display};
use proto::record::Changed;
use workspace::{
    Access, FileDiff, FileError, FileStamp, PathError, PathState, ResolvedPath, unified,
};

use crate::memory::Memory;

/// The session's memory.
pub(crate) fn memory(context: &CallContext) -> Result<Arc<Memory>, Outcome> {
    Memory::of(&context.memory).ok_or_else(|| {
        Outcome::failed("file tools are not available: this session has no workspace")
    })
}

/// Runs blocking work of a call beside the runtime.
pub(crate) fn blocking(
    work: impl FnOnce() -> Result<Outcome, Outcome> + Send + 'static,
) -> BoxFuture<'static, Outcome> {
    async move {
        match tokio::task::spawn_blocking(work).await {
            Ok(Ok(outcome) | Err(outcome)) => outcome,
            Err(_) => {
                Outcome::failed("the tool failed inside Reasonix; nothing is known of its effects")
            }
        }
    }
    .boxed()
}

/// A path of a call, and the kind of access.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallPath<'a> {
    path: &'a str,
    access: Access,
    /// A link at its end is used itself, not its target.
    itself: bool,
}

impl<'a> CallPath<'a> {
    /// Where a path leads.
    pub(crate) fn at(path: &'a str, access: Access) -> Self {
        Self {
            path,
            access,
            itself: false,
        }
    }

    /// What a path names, if a link then the link.
    pub(crate) fn itself(path: &'a str, access: Access) -> Self {
        Self {
            path,
            access,
            itself: true,
        }
    }
}

/// Where the paths of a call lead, for a look before it runs: the call is bound to those places.
pub(crate) fn places_shown(
    memory: &Memory,
    context: &CallContext,
    spots: &[CallPath<'_>],
) -> Result<Vec<ResolvedPath>, Outcome> {
    let found = found(memory, spots)?;
    memory.pin(&context.call, &judged(&found));
    Ok(found.into_iter().map(|(_, at)| at).collect())
}

/// Binds a call to the places that were judged.
pub(crate) fn bind(places: &[PathBuf], context: &CallContext) {
    if let Some(memory) = Memory::of(&context.memory) {
        memory.pin(&context.call, places);
    }
}

/// Where the paths of a call lead, now that it runs: each to the place that was judged for it.
pub(crate) fn places(
    memory: &Memory,
    context: &CallContext,
    spots: &[CallPath<'_>],
) -> Result<Vec<ResolvedPath>, Outcome> {
    let pinned = memory.unpin(&context.call);
    let found = found(memory, spots)?;
    if let Some(pinned) = pinned.filter(|pinned| !pinned.is_empty()) {
        same_places(spots, &found, &pinned)?;
    }
    Ok(found.into_iter().map(|(_, at)| at).collect())
}

/// For each path: the resolved path by which it is judged, and the path that it names.
fn found(memory: &Memory, spots: &[CallPath<'_>]) -> Result<Vec<(PathBuf, ResolvedPath)>, Outcome> {
    let workspace = memory.workspace();
    let find = |spot: &CallPath<'_>| {
        let led = workspace.resolve(spot.path, spot.access)?;
        let place = led.path().to_owned();
        let at = if spot.itself {
            workspace.entry(spot.path, spot.access)?
        } else {
            led
        };
        Ok((place, at))
    };
    let found: Result<Vec<_>, PathError> = spots.iter().map(find).collect();
    found.map_err(|error| path_failed(&error))
}

/// The place of a call that names one path.
pub(crate) fn only(places: Vec<ResolvedPath>) -> Result<ResolvedPath, Outcome> {
    let mut places = places.into_iter();
    places
        .next()
        .ok_or_else(|| Outcome::failed("the call names no path"))
}

/// The places as they are judged: each once, in the order of the call.
fn judged(found: &[(PathBuf, ResolvedPath)]) -> Vec<PathBuf> {
    let mut places: Vec<PathBuf> = Vec::new();
    for (place, _) in found {
        if !places.contains(place) {
            places.push(place.clone());
        }
    }
    places
}

/// Whether each path still resolves to the place that was judged for it.
///
/// The list of judged places has each place once. If paths that had different places now share one, the lists differ in
/// length, and the call is refused. If several shared one and others do now, the caller refuses shared places anyway.
fn same_places(
    spots: &[CallPath<'_>],
    found: &[(PathBuf, ResolvedPath)],
    pinned: &[PathBuf],
) -> Result<(), Outcome> {
    let now = judged(found);
    if now == pinned {
        return Ok(());
    }
    let differs = now.iter().zip(pinned).find(|(now, then)| now != then);
    let (place, then) = match differs {
        Some((now, then)) => (now.display().to_string(), then.display().to_string()),
        None => (listed(&now), listed(pinned)),
    };
    let path = found
        .iter()
        .zip(spots)
        .find(|((at, _), _)| differs.is_some_and(|(now, _)| now == at))
        .or(found.iter().zip(spots).next())
        .map_or("", |(_, spot)| spot.path);
    Err(Outcome::failed(format!(
        "`{path}` led to `{then}` when it was judged and leads to `{place}` now; nothing was done. Call again to have it judged anew"
    )))
}

fn listed(places: &[PathBuf]) -> String {
    let places: Vec<_> = places
        .iter()
        .map(|place| place.display().to_string())
        .collect();
    places.join("`, `")
}

/// Checks that the file at `path`, now in state `now`, is unchanged since this session last saw it.
pub(crate) fn guard(memory: &Memory, path: &Path, now: &FileStamp) -> Result<(), Outcome> {
    let shown = memory.workspace().shown(path);
    match memory.known(path) {
        None => Err(Outcome::failed(format!(
            "`{shown}` was not read in this session; read it with `read_file` first, then try again"
        ))),
        Some(known) if !known.same_content(now) => Err(Outcome::failed(format!(
            "`{shown}` was changed since it was last read, by a command or another program; read it again with `read_file`, then try again"
        ))),
        Some(_) => Ok(()),
    }
}

/// What a call has left of a file that it wrote.
pub(crate) fn changed_file(memory: &Memory, path: &Path, stamp: &FileStamp) -> Changed {
    let now = match memory.workspace().mode(path) {
        Some(mode) => PathState::File {
            sha256: stamp.sha256,
            bytes: stamp.size,
            mode,
        },
        None => PathState::Unknown {
            why: "another program has moved it".to_owned(),
        },
    };
    changed(path, now)
}

/// What a call has left at a place.
pub(crate) fn changed(path: &Path, state: PathState) -> Changed {
    Changed {
        path: path.to_string_lossy().into_owned(),
        now: state.into(),
    }
}

/// The display of a file that is deleted.
pub(crate) fn diff_gone(shown: &str, old: &[u8]) -> Display {
    let mut display = diff(shown, Some(old), b"");
    if let Display::Diff { diff, .. } = &mut display {
        *diff = diff.replacen(&format!("+++ b/{shown}\n"), "+++ /dev/null\n", 1);
    }
    display
}

/// The display of a change.
pub(crate) fn diff(shown: &str, old: Option<&[u8]>, new: &[u8]) -> Display {
    let FileDiff {
        text,
        added,
        removed,
    } = unified(shown, old, new);
    Display::Diff {
        path: shown.to_owned(),
        diff: text,
        added,
        removed,
    }
}

/// A success with separate words for model and person.
pub(crate) fn done(text: String, display: Display) -> Outcome {
    Outcome {
        status: CallStatus::Ok,
        text,
        display,
        images: Vec::new(),
        spill: None,
        changed: Vec::new(),
        known: Vec::new(),
        reported: Vec::new(),
        blocked: None,
        quarantined: Vec::new(),
        skill: None,
        agent: None,
    }
}

/// A success whose words for the person are one line.
pub(crate) fn done_line(text: String, line: String) -> Outcome {
    done(text, Display::Line { text: line })
}

/// Words for a path that cannot be used.
pub(crate) fn path_failed(error: &PathError) -> Outcome {
    Outcome::failed(error.to_string())
}

/// Words for a file that cannot be read or written.
pub(crate) fn file_failed(error: &FileError) -> Outcome {
    let next = match error {
        FileError::Missing { .. } => "; look for it with `glob` or `grep`",
        FileError::NotAFile {
            kind: workspace::FileKind::Directory,
            ..
        } => "; list it with `ls`",
        FileError::TooLarge { .. } => "; take a part of it with `bash` (`head`, `sed -n`, `rg`)",
        FileError::ReadOnly { .. } => "; nothing was changed",
        FileError::Changed { .. } => "; read it again, then try again",
        FileError::Exists { .. } => "; choose another name, or delete it first",
        FileError::NotEmpty { .. } => {
            "; look into it with `ls`, then delete it with `bash` (`rm -r`)"
        }
        FileError::TooMany { .. } | FileError::AcrossDevices { .. } => {
            "; use `bash` (`mv`, `cp -a`)"
        }
        FileError::Root { .. } => "; it stays where it is",
        FileError::Holds { .. } => "; take what else is in it by itself, or use `bash`",
        FileError::Stopped => {
            return Outcome::with_status(
                CallStatus::Interrupted,
                "stopped before it was done; nothing was changed",
            );
        }
        FileError::Path(_)
        | FileError::Inside { .. }
        | FileError::NotAFile { .. }
        | FileError::Io { .. } => "",
    };
    Outcome::failed(format!("{error}{next}"))
}

#[cfg(test)]
mod tests;
